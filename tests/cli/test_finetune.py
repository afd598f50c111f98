"""`sqlwright lab finetune`: sets built, candidates written; mistakes told."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.example import TrainingExample, Turn, write_examples
from tests.cli.conftest import Outcome

Run = Callable[..., Outcome]
ROOT = Path(__file__).parents[2]
CASES = yaml.safe_load((ROOT / "tests/cases/finetuning/command_line.yaml").read_text("utf-8"))
QUESTIONS = [
    ("How many customers are there?", "SELECT COUNT(*) FROM customers"),
    ("Who lives in Oslo?", "SELECT name FROM customers WHERE city = 'Oslo'"),
    (
        "Which customers have an open order?",
        "SELECT DISTINCT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.id "
        "WHERE o.status = 'OPEN'",
    ),
    (
        "What is the total of all shipped orders?",
        "SELECT SUM(total) FROM orders WHERE status = 'SHIPPED'",
    ),
]


@pytest.fixture
def mine(shop: Path) -> Path:
    """A golden set over the little database, in the working folder."""
    path = Path("mine.yaml")
    rows = [{"question": q, "sql": sql, "database": shop.name} for q, sql in QUESTIONS]
    path.write_text(yaml.safe_dump(rows, sort_keys=False), "utf-8")
    return path


@pytest.fixture
def small_set(home: Path) -> Path:
    """A folder with examples to train on."""
    folder = Path("set")
    folder.mkdir()
    one = TrainingExample(
        "1", "critic", "selection.multi_sample", "q", "shop", "mine",
        (Turn("user", "one two three"),), "1", ("2",),
    )  # fmt: skip
    write_examples(folder / "train.jsonl", [one])
    return folder


@pytest.mark.parametrize(("typed", "code", "told"), CASES)
def test_a_mistake_has_its_code_and_says_what_to_do(
    sqlwright: Run, mine: Path, small_set: Path, typed: str, code: int, told: str
) -> None:
    outcome = sqlwright("lab", "finetune", *shlex.split(typed))
    assert outcome.code == code, outcome.err
    assert told in outcome.err
    assert "Traceback" not in outcome.err


def build_only(mine: Path) -> list[str]:
    """The words that build a linker's set from a golden set, and train nothing."""
    words = shlex.split("lab finetune linker --out tuned --build-only --data")
    return [*words, f"golden:{mine}"]


def test_a_set_is_built_without_a_model(sqlwright: Run, mine: Path) -> None:
    typed = build_only(mine)
    outcome = sqlwright(*typed)
    assert outcome.code == 0, outcome.err
    assert "4 examples of 4 questions over 1 database" in outcome.out
    assert "the set is in tuned/set" in outcome.err
    made = SetFolder.open(Path("tuned/set"))
    assert made.about.role == "linker"
    replies = {one.question_id: one.completion for one in made.examples()}
    assert sum("customers" in reply and "orders" in reply for reply in replies.values()) == 1
    before = made.train.read_bytes()
    assert sqlwright(*typed).code == 0
    assert made.train.read_bytes() == before


def test_another_plan_for_the_same_folder_is_refused(sqlwright: Run, mine: Path) -> None:
    typed = build_only(mine)
    assert sqlwright(*typed, "--limit", "2").code == 0
    outcome = sqlwright(*typed, "--limit", "3")
    assert outcome.code != 0
    assert "tuned" in outcome.err


def test_a_set_as_json(sqlwright: Run, mine: Path) -> None:
    outcome = sqlwright(
        "lab", "finetune", "generator", "--data", f"golden:{mine}", "--out", "tuned",
        "--build-only", "--option", "distractors=none", "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["run"] is None
    assert told["set"]["role"] == "generator"
    assert told["set"]["options"] == {"distractors": "none"}
    assert told["set"]["statistics"]


@pytest.mark.skipif(find_spec("peft") is not None, reason="the extra finetune is installed")
def test_training_without_the_extra_names_it_before_anything_is_built(
    sqlwright: Run, mine: Path
) -> None:
    outcome = sqlwright(
        "lab", "finetune", "linker", "--data", f"golden:{mine}", "--out", "tuned", "--model", "."
    )
    assert outcome.code == 4
    assert "pip install 'sqlwright[finetune]'" in outcome.err
    assert not Path("tuned").exists()


def test_several_processes_do_not_build_one_set(
    sqlwright: Run, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    outcome = sqlwright(
        "lab", "finetune", "linker", "--data", f"golden:{mine}", "--out", "tuned", "--build-only"
    )
    assert (outcome.code, "several processes" in outcome.err) == (2, True)


def test_the_commands_of_the_page_run_as_far_as_a_set(sqlwright: Run, mine: Path) -> None:
    page = (ROOT / "docs/finetuning.md").read_text("utf-8")
    told = page.partition("<!-- tested: begins -->")[2].partition("<!-- tested: ends -->")[0]
    blocks = re.findall(r"```sh\n(.*?)```", told, re.DOTALL)
    commands = [line for block in blocks for line in block.split("\n")]
    lines = [shlex.split(line) for line in commands if line]
    assert [words[:4] for words in lines] == [
        ["sqlwright", "lab", "finetune", "candidates"],
        ["sqlwright", "lab", "finetune", "selector"],
    ]
    mine.rename("my-questions.yaml")
    for words in lines:
        outcome = sqlwright(*words[1:])
        assert outcome.code == 0, outcome.err
    made = SetFolder.open(Path("tuned/set"))
    examples = list(made.examples())
    assert examples
    assert {one.completion.strip() for one in examples} <= {"A", "B"}
