import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

from sqlwright.api import Session
from sqlwright.cli import failure
from sqlwright.cli.commands.chat import HELP
from sqlwright.errors import SqlwrightError
from sqlwright.lab.comparison.asking import compare
from sqlwright.presentation.answer import answer_to_dict, candidate_to_dict
from sqlwright.types import Answer, Refusal
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


def test_no_exit_code_means_two_things() -> None:
    """Each kind of error has its own, but for those that inherit it or end no command."""
    owned = [failure.REFUSED, failure.FAILED, failure.UNDER_SHARE, failure.ANSWERS_LOST]
    owned.append(failure.RUN_BUDGET_SPENT)
    kinds = [*SqlwrightError.__subclasses__()]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if "exit_code" in vars(kind) and kind is not failure.UsageError:
            owned.append(kind.exit_code)
    assert sorted(owned) == sorted(set(owned))


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


def test_every_key_of_a_json_answer_is_documented() -> None:
    section = FILE.read_text("utf-8").partition("## CSV and JSON")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert documented == set(answer_to_dict(Answer("answered", "", None, "sqlite")))
    reasons = get_args(get_type_hints(Refusal)["reason"])
    assert reasons
    assert all(f"`{reason}`" in section for reason in reasons)


def test_every_key_of_a_comparison_is_documented(
    open_scripted: Callable[..., Session],
) -> None:
    section = FILE.read_text("utf-8").partition("## Comparing recipes")[2].partition("\n## ")[0]
    told = compare(open_scripted("SELECT name FROM customers"), "Who is there?", ["local"])
    whole = told.to_dict()
    keys = {*whole, *whole["recipes"][0], *whole["recipes"][0]["stages"][0]}
    known = {*candidate_to_dict(told.recipes[0].candidates[0])}
    keys |= whole["recipes"][0]["generated"][0].keys() - known
    rows = re.findall(r"^\| (`.+?) \|(.*)$", section, re.MULTILINE)
    documented = {key for row in rows for text in row for key in re.findall(r"`(\w+)`", text)}
    assert keys - documented == set()
    first = {key for row in rows for key in re.findall(r"`(\w+)`", row[0])}
    assert first - {*whole, *whole["recipes"][0]} == set()
