"""What README, documentation and help print as examples works on the demo business."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

import sqlwright as package
from sqlwright.api import Session
from sqlwright.demo.business import write_business
from sqlwright.errors import ModelUnavailable
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Run
from tests.cli.conftest import Outcome
from tests.cli.examples import ROOT, Example, examples_in, printed

CASES = Path(__file__).parents[1] / "cases" / "examples.yaml"
RIGHT: dict[str, str] = yaml.safe_load(CASES.read_text("utf-8"))
EXAMPLES = printed()
QUESTIONS = [example for example in EXAMPLES if not example.is_sql]
QUERIES = [example for example in EXAMPLES if example.is_sql]


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    models = EmbeddedModels()
    for role in ("linker", "parser", "critic"):
        try:
            models[role]
        except ModelUnavailable as error:
            pytest.skip(f"this checkout lacks an embedded model: {error}")
    folder = tmp_path_factory.mktemp("examples")
    write_business(folder / "shop.sqlite")
    with package.open(folder / "shop.sqlite", home=folder / "home", record=False) as session:
        yield session


def test_examples_are_found_by_their_form() -> None:
    text = (
        'Try `sqlwright shop.sqlite "How many?"`, then\n'
        "    sqlwright ask shop.sqlite \\\n      --csv 'Revenue by country' > x.csv  # all\n"
        'echo "Who pays?" | sqlwright ask shop.sqlite\nshop.ask("How are you?")\n'
        'sqlwright ask shop.sqlite --budget "20 calls" "..."'
    )
    found = {"How many?", "Revenue by country", "Who pays?", "How are you?"}
    assert set(examples_in(text)) == found
    places = {place for example in EXAMPLES for place in example.places}
    assert {"README.md", "docs/command-line.md", "cli/commands/ask.py", "cli/main.py"} <= places


def test_each_printed_question_has_a_checked_query_and_none_is_left_over() -> None:
    assert {example.text for example in QUESTIONS} == set(RIGHT)


@pytest.mark.parametrize("example", QUESTIONS, ids=lambda example: example.text)
def test_a_printed_question_is_answered_rightly(example: Example, business: Session) -> None:
    answer = business.ask(example.text)
    right = business.workspace.database.execute(RIGHT[example.text], Run())
    assert right.ok, right.error
    assert answer.status == "answered", f"{example.places}: {answer.message}"
    assert spider_match(answer.rows, right.rows, ordered=orders(RIGHT[example.text])), answer.sql
    assert answer.confidence >= 0.5, f"{example.places}: not sure"


@pytest.mark.parametrize("example", QUERIES, ids=lambda example: example.text)
def test_a_printed_query_finds_rows(example: Example, business: Session) -> None:
    result = business.run_sql(example.text)
    assert result.status == "answered", f"{example.places}: {result.message}"
    assert result.rows


def test_the_readme_begins_with_commands_that_run_one_after_another(
    sqlwright: Callable[..., Outcome],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block = (ROOT / "README.md").read_text("utf-8").partition("## Try it")[2].split("```")[1]
    commands = [shlex.split(line, comments=True) for line in block.splitlines()[1:]]
    ours = [words[1:] for words in commands if words and words[0] == "sqlwright"]
    assert ours[0][0] == "demo"
    monkeypatch.setattr("sys.stdin", None)  # a chat ends at once
    for words in ours:
        outcome = sqlwright(*words)
        assert outcome.code == 0, (words, outcome.err)
    assert Path("shop.sqlite").is_file()


def test_the_output_in_the_readme_is_what_the_command_prints(
    sqlwright: Callable[..., Outcome],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = text.partition("```text\n")[2].partition("```")[0].strip()
    assert sqlwright("demo", "--save", "shop.sqlite").code == 0
    assert sqlwright("prepare", "shop.sqlite").code == 0
    steps = ("repair.execution_guided", "repair.veto")
    patient = [word for step in steps for word in ("--set", f"{step}.seconds=60")]  # however busy
    question = "How many support tickets are still open?"
    outcome = sqlwright("ask", "shop.sqlite", *patient, question)
    printed = outcome.out.strip().rpartition("\n\n")[0]  # the last line is the time it took
    assert plain(shown) == plain(printed)


def plain(text: str) -> str:
    """Without the confidence, which differs in its last digits from processor to processor, and
    without the lines' width."""
    return " ".join(re.sub(r"[━─]+ \d+% [a-z ]+", "", text).split())


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.split()) <= 1_000
