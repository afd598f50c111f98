"""`--data NAME:FOLDER` and golden sets: what is asked, what is left out, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome
from tests.llm.server import ModelServer

Command = Callable[..., Outcome]
COUNTED = "SELECT COUNT(*) FROM orders"


@pytest.fixture
def asking() -> list[str]:
    """Options of a run whose language model counts orders whatever is asked."""
    return ["--recipe", "baseline", "-m", "openai-compatible/m", "--no-stand-in", "--json"]


@pytest.fixture
def evaluated(
    sqlwright: Command, home: Path, asking: list[str]
) -> Callable[..., tuple[dict[str, object], str]]:
    """Runs `evaluate`; the report, and what was said besides."""

    def run(*arguments: object) -> tuple[dict[str, object], str]:
        with ModelServer(answer=lambda _: COUNTED) as server:
            outcome = sqlwright("evaluate", *arguments, *asking, "--base-url", server.url)
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out), outcome.err

    return run


Evaluated = Callable[..., tuple[dict[str, object], str]]


def bird(shop: Path, *missing: str) -> None:
    """Two questions in BIRD's layout over the shop, and one over each database that isn't there."""
    rows = [
        {"db_id": "shop", "question": "How many orders?", "SQL": COUNTED},
        {"db_id": "shop", "question": "Who?", "SQL": "SELECT name FROM customers"},
        *({"db_id": name, "question": "How many?", "SQL": COUNTED} for name in missing),
    ]
    place = Path("set/dev_databases/shop")
    place.mkdir(parents=True)
    (place / "shop.sqlite").write_bytes(shop.read_bytes())
    Path("set/dev.json").write_text(json.dumps(rows))


def test_a_missing_database_is_skipped_in_one_line(evaluated: Evaluated, shop: Path) -> None:
    bird(shop, "gone")
    report, said = evaluated("--data", "bird:set")
    assert report["rule"] == "bird"
    assert report["questions"] == 2
    skipped = report["skipped"]
    assert isinstance(skipped, dict)
    assert skipped["gone"]["questions"] == 1
    assert said.count("gone is left out with 1 question") == 1


def test_a_golden_set_is_asked_of_the_database_that_is_named(
    evaluated: Evaluated, shop: Path
) -> None:
    Path("mine.yaml").write_text(
        f"- {{question: How many orders, sql: {COUNTED}}}\n"
        "- {question: And by result, expected: {rows: [[4]]}}\n"
        "- {question: Otherwise, sql: [SELECT 3, SELECT 4]}\n"
        "- {question: Wrongly, sql: SELECT 3}\n"
        "- {question: Wrongly by result, expected: {rows: [[3]]}}\n"
        "- {question: Elsewhere, sql: SELECT 1, engine: postgresql}\n"
    )
    report, said = evaluated("mine.yaml", "--database", shop)
    share = report["execution_accuracy"]
    assert isinstance(share, dict)
    assert (share["hits"], share["total"]) == (3, 5)
    assert "1 question over postgresql left out" in said
    again, _ = evaluated("--data", "golden:mine.yaml", "-d", shop)
    assert again["execution_accuracy"] == share


def test_a_sample_is_asked_and_named_in_the_run(evaluated: Evaluated, shop: Path) -> None:
    bird(shop)
    options = ("--sample", "1", "--by", "database", "--seed", "3", "--no-evidence")
    report, _ = evaluated("--data", "bird:set", *options, "--out", "run")
    assert report["questions"] == 1
    described = json.loads(Path("run/run.json").read_text())
    assert described["dataset"] == "dev, no evidence, 1 by database, seed 3"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--data", "spider"], 2, "--data takes NAME:FOLDER"),
        (["--data", "spidr:set"], 4, "did you mean 'spider'"),
        (["--data", "spider:nowhere"], 6, "nowhere isn't there"),
        (["--data", "bird:.", "mine.yaml"], 2, "not two"),
        (["--data", "bird:.", "--database", "a.sqlite"], 2, "--database goes with a golden set"),
        (["mine.yaml"], 6, "names no database"),
        (["nowhere.yaml"], 6, "nowhere.yaml isn't there"),
        (["--data", "bird:.", "--sample", "few"], 6, "has none of dev.json"),
    ],
)
def test_what_cant_be_asked_is_told(
    sqlwright: Command, home: Path, arguments: list[str], code: int, says: str
) -> None:
    Path("mine.yaml").write_text("- {question: How many, sql: SELECT 1}\n")
    outcome = sqlwright("evaluate", *arguments)
    assert (outcome.code, says in outcome.err, "hint" in outcome.err) == (code, True, True)
    assert "Traceback" not in outcome.err
