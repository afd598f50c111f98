import ast
import re
from pathlib import Path

from sqlwright.cli import failure
from sqlwright.cli.conversation import HELP
from sqlwright.errors import SqlwrightError
from tests.cli.reference import FILE, current, reference


def test_the_reference_is_that_of_the_commands() -> None:
    assert current() == reference(), "run: python -m tests.cli.reference"


def test_every_exit_code_is_documented() -> None:
    codes = {
        value
        for name, value in vars(failure).items()
        if name.isupper() and isinstance(value, int) and not name.startswith("_")
    }
    kinds = [SqlwrightError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        codes.add(kind.exit_code)
    documented = {
        int(code) for code in re.findall(r"^\| (\d+) \|", FILE.read_text("utf-8"), re.MULTILINE)
    }
    assert documented == codes | {0}


def test_every_command_of_the_chat_is_documented() -> None:
    text = FILE.read_text("utf-8")
    assert all(f"| `{name}` | {meaning} |" in text for name, meaning in HELP.items())


def test_every_environment_variable_is_documented() -> None:
    text = FILE.read_text("utf-8")
    variable = re.compile(r"\b(?:SQLWRIGHT_[A-Z]+|DATABASE_URL|NO_COLOR)\b")
    names = set()
    for path in Path(failure.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.update(variable.findall(node.value))
    assert names
    assert all(f"`{name}`" in text for name in names)
