"""Where the first wrong thing came from, over whole runs with scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sqlwright.cli.commands.evaluate import summary_lines
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.llm.scripted import Says
from tests.cli.rendering import look, rendered
from tests.evaluation.sets import GERMAN, SWEDISH, answering, bird_set, spider_set

Ran = tuple[dict[str, Any], Record]
Run = Callable[..., Ran]
TABLES, COLUMNS = "schema_linking.select_tables", "schema_linking.select_columns"
RECIPE = """
name: small
description: One table chosen, values looked up, queries, a repair, a vote.
steps:
  - retrieval.question_words
  - retrieval.entities
  - schema_linking.select_tables
  - samples:
      count: {count}
      steps:
        - generation.direct: {{prompt: generation/zero_shot, sampling: {{temperature: 0.5}}}}
        - repair.execute
        - {repair}
  - selection.largest_cluster
"""


@pytest.fixture
def run(tmp_path: Path, database_files: dict[str, Path]) -> Run:
    """The summary and the record of one question asked with a small recipe."""

    def ran(
        writes: Says,
        *,
        gold: str = GERMAN,
        question: str = "Who is German?",
        tables: tuple[str, ...] = ("customers",),
        count: int = 1,
        repair: str = "repair.execute",
        more: Mapping[str, Says] | None = None,
    ) -> Ran:
        recipe = tmp_path / "small.yaml"
        recipe.write_text(RECIPE.format(count=count, repair=repair))
        chosen = json.dumps({"reasoning": "", "tables": [*tables]})
        models = answering({TABLES: chosen, "generation.direct": writes, **(more or {})})
        folder = spider_set(tmp_path / "set", database_files["shop"], {question: gold})
        summary = evaluate(
            load_spider(folder),
            EvaluationSettings(recipe=str(recipe), models=models, home=tmp_path / "home"),
            tmp_path / "out",
        )
        (record,) = records.read(tmp_path / "out")
        return summary, record

    return ran


def test_a_right_candidate_that_was_not_chosen(run: Run) -> None:
    summary, record = run([SWEDISH, SWEDISH, GERMAN], count=3)
    assert (record.origin["kind"], record.origin["step"]) == ("not_chosen", "selection")
    assert GERMAN in record.origin["shown_by"]
    assert summary["errors"]["split"]["not_chosen"]["hits"] == 1


def test_a_column_that_was_linked_away(run: Run) -> None:
    summary, record = run("SELECT count(*) FROM orders", tables=("orders",))
    assert record.origin["kind"] == "linked_away"
    assert record.origin["step"] == TABLES
    assert record.origin["shown_by"] == "gold reads customers.country"
    assert summary["errors"]["split"]["none_right"]["hits"] == 1


def test_a_hidden_column_that_the_query_reads_was_not_missing(run: Run) -> None:
    _, record = run(SWEDISH, tables=("orders",))
    assert record.origin["kind"] == "never_generated"


def test_a_value_that_was_not_retrieved(run: Run) -> None:
    gold = "SELECT id FROM orders WHERE status = 'cancelled'"
    _, record = run("SELECT id FROM orders WHERE status = 'x'", gold=gold, tables=("orders",))
    assert (record.origin["kind"], record.origin["step"]) == ("not_retrieved", "retrieval.entities")
    assert record.origin["shown_by"] == "gold compares orders.status with 'cancelled'"


def test_a_value_that_the_question_says_was_not_missing(run: Run) -> None:
    gold = "SELECT id FROM orders WHERE status = 'cancelled'"
    _, record = run(
        "SELECT id FROM orders WHERE status = 'x'",
        gold=gold, tables=("orders",), question="Which orders are cancelled?",
    )  # fmt: skip
    assert record.origin["kind"] == "never_generated"


def test_a_right_query_that_was_repaired_away(run: Run) -> None:
    none = "SELECT name FROM customers WHERE country = 'Norway'"
    some = "SELECT name FROM customers"
    summary, record = run(
        none, gold=none, repair="repair.revise: {empty: true}", more={"repair.revise": some}
    )
    assert record.sql == some
    assert (record.origin["kind"], record.origin["step"]) == ("repaired_away", "repair.revise")
    assert record.origin["shown_by"] == f"it was {none}"
    assert [one["class"] for one in record.errors or ()] == ["condition", "gold"]
    assert summary["errors"]["origins"][0]["hits"] == 1


def test_evidence_and_both_results_are_kept(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    row = {"question": "Who?", "evidence": "region refers to country", "SQL": GERMAN}
    folder = bird_set(tmp_path / "set", database_files["shop"], [row])
    models = answering({"generation.direct": "SELECT name FROM customers WHERE city = 'Germany'"})
    settings = EvaluationSettings(
        recipe="baseline", models=models, home=tmp_path / "home", stand_in=False
    )
    summary = evaluate(load_bird(folder), settings, tmp_path / "out")
    (record,) = records.read(tmp_path / "out")
    assert [one["class"] for one in record.errors or ()] == ["column", "evidence"]
    assert record.evidence == row["evidence"]
    assert record.results["gold"] == {
        "columns": ["name"], "rows": [["Ada Brandt"], ["Chen Li"]], "count": 2,
    }  # fmt: skip
    assert record.results["query"]["rows"] == []
    text = rendered(summary_lines(summary, look(120)), 120)
    assert "column 1 of 1, 100.0% (20.7% to 100.0%): another column" in text
    assert "evidence 0 of 1, 0.0% (0.0% to 79.3%), beside others in 1 more: what the" in text
    assert "wrong, no candidate right 1 of 1, 100.0%" in text
    assert "never generated at generation 1 of 1" in text


def test_a_gold_query_that_does_not_run_is_doubtful() -> None:
    broken = Record("1", "d", "q", "g", "s", "gold")
    assert summarize([broken])["errors"]["split"]["gold_doubtful"]["hits"] == 1


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    fine = summarize([Record("1", "d", "q", "g", "s", "answered", verdicts={"spider": True})])
    assert "errors" not in rendered(summary_lines(fine, look(100)), 100)
