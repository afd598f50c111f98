"""Scoring one answer: golds of several kinds, what is executed, what a record is filled with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sqlwright.lab.datasets.example import Example, Expected
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.metrics.metric import METRICS, chosen_metrics
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import RULES, find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.protocols import Database, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import (
    Answer,
    Candidate,
    ColumnLink,
    ExecutionResult,
    Judgement,
    Note,
    Question,
    State,
)

NAMES = (("Ada Brandt",), ("Bo Carlsen",), ("Chen Li",), ("Dora Ek",))
ALL = "SELECT name FROM customers"
SORTED = "SELECT name FROM customers ORDER BY name"
BACKWARDS = "SELECT name FROM customers ORDER BY name DESC"


@dataclass
class Counting:
    """The shop, and the queries that it was asked."""

    database: Database
    asked: list[str] = field(default_factory=list)

    def execute(self, sql: str, run: Any, *, limits: Any = None) -> ExecutionResult:
        self.asked.append(sql)
        return self.database.execute(sql, run, limits=limits)


@pytest.fixture
def score(shop_workspace: Workspace):
    """A function that scores an answer to a question with such golds."""

    def scored(
        sql: str | None,
        gold: str = "",
        *,
        rule: str = "spider",
        database: Any = None,
        metrics: tuple[str, ...] = (),
        candidates: tuple[Candidate, ...] = (),
        columns: tuple[ColumnLink, ...] = (),
        judgements: tuple[Judgement, ...] = (),
        notes: tuple[Note, ...] = (),
        **example: Any,
    ) -> Record:
        asked = Example("1", "shop", "Who?", gold, Path("shop.sqlite"), **example)
        status = "failed" if sql is None else "answered"
        answer = Answer(status, "Who?", sql, "sqlite", warnings=notes)
        view = SchemaView(shop_workspace.schema)
        state = State(
            Question("Who?"), view, columns=columns, candidates=candidates, judgements=judgements
        )
        source = database or shop_workspace.database
        scorer = Scorer(source, shop_workspace.schema, find_rule(rule), chosen_metrics(metrics))
        return scorer.score(asked, answer, state, 0.0)

    return scored


@pytest.mark.parametrize("rule", RULES)
def test_rows_in_place_of_a_gold_query(rule, score):
    expected = Expected(("name",), NAMES)
    record = score(BACKWARDS, rule=rule, expected=expected)
    assert set(record.verdicts.values()) == {True}
    assert record.right(rule)
    assert (record.gold_sql, record.difficulty, record.features) == ("", "", ())
    wrong = score("SELECT city FROM customers", rule=rule, expected=expected)
    assert set(wrong.verdicts.values()) == {False}
    assert wrong.errors is not None


@pytest.mark.parametrize("rule", RULES)
def test_rows_that_are_to_stand_in_an_order(rule, score):
    expected = Expected(("name",), NAMES, ordered=True)
    assert score(SORTED, rule=rule, expected=expected).right(rule)
    # BIRD's rule knows no order.
    assert score(BACKWARDS, rule=rule, expected=expected).right(rule) == (rule == "bird")


def test_metrics_that_need_a_gold_query_leave_rows_out(score):
    record = score(ALL, expected=Expected(("name",), NAMES), metrics=("ves", "r_ves"))
    assert {name for name, figure in record.measures.items() if figure is None} == {
        "exact_match", "ves", "r_ves",
    }  # fmt: skip
    assert set(record.measures) == set(METRICS) - {"test_suite"}


def test_every_gold_query_may_be_the_right_one(score):
    golds = {"gold": "SELECT id FROM customers", "also": (ALL, "SELECT city FROM customers")}
    record = score("SELECT name FROM customers WHERE id > 0", **golds)
    assert record.right("spider")
    assert record.measures["exact_match"] == 0.0
    assert score(ALL, **golds).measures["exact_match"] == 1.0
    near = score("SELECT id, name FROM customers", **golds)
    assert (near.right("spider"), near.measures["tier:columns"]) == (False, 1.0)


def test_a_gold_query_that_fails_leaves_the_others(score):
    record = score(ALL, "SELECT nome FROM customers", also=(ALL,))
    assert (record.status, record.right("spider")) == ("answered", True)


def test_golds_that_fail_and_golds_without_rows_are_told_apart(score):
    failing = score(ALL, "SELECT nome FROM customers")
    assert (failing.status, dict(failing.verdicts), dict(failing.measures)) == ("gold", {}, {})
    empty = score("SELECT id FROM orders WHERE 0", "SELECT name FROM customers WHERE id > 99")
    assert (empty.gold_empty, empty.right("spider")) == (True, True)
    summary = summarize([failing, empty, score(ALL, ALL)])
    assert (summary["gold_does_not_run"], summary["gold_returns_nothing"]) == (1, 1)
    assert summary["execution_accuracy"]["total"] == 2
    assert summary["execution_accuracy_gold_not_empty"]["total"] == 1


def test_distinct_is_dropped_of_gold_and_answer(score):
    gold = "SELECT DISTINCT country FROM customers WHERE country IS NOT NULL"
    record = score("SELECT country FROM customers WHERE country IS NOT NULL", gold)
    assert (record.right("spider"), record.right("spider-nodistinct")) == (False, True)
    fewer = "SELECT count(DISTINCT country) FROM customers"
    record = score("SELECT count(country) FROM customers", fewer)
    assert (record.right("spider"), record.right("spider-nodistinct")) == (False, True)
    assert score("SELECT 3", fewer).right("spider-nodistinct") is False


def test_a_rule_that_rewrites_judges_candidates_so(score):
    gold = "SELECT DISTINCT country FROM customers"
    candidates = (Candidate("SELECT country FROM customers", "parser"), Candidate(ALL, "other"))
    record = score(ALL, gold, rule="spider-nodistinct", candidates=candidates)
    assert record.judged == [("parser", True), ("other", False)]
    assert (record.first, record.oracle, record.right("spider-nodistinct")) == (True, True, False)


def test_hardness_stands_in_where_the_data_set_gives_no_difficulty(score):
    assert score(ALL, ALL).difficulty == "easy"
    assert score(ALL, SORTED + " LIMIT 1").difficulty == "medium"
    assert score(ALL, ALL, difficulty="simple").difficulty == "simple"
    assert score(ALL, "SELECT nome FROM customers").difficulty == "easy"


def test_features_are_those_of_the_gold_query(score):
    assert score("SELECT DISTINCT 1", SORTED + " LIMIT 1").features == ("order", "limit")


def test_the_linker_s_tables_are_counted(score):
    links = [
        ColumnLink(ColumnRef(*at), 0.5)
        for at in (("customers", "name"), ("customers", "id"), ("orders", "id"))
    ]
    record = score(ALL, ALL, columns=tuple(links))
    assert (record.kept_columns, record.kept_tables, record.found_tables) == (3, 2, 1)


def test_candidates_are_told_apart_by_prompt_and_model_whoever_repaired_them(score):
    written = Candidate("SELECT names FROM customers", "generation.direct", prompt="by_plan")
    mended = Candidate(ALL, "repair.revise", parent=written, model="fixer")
    other = Candidate(ALL, "generation.direct", prompt="short", model="second", sample=2)
    parsed = Candidate("SELECT 1", "generation.embedded")
    record = score(ALL, ALL, candidates=(mended, other, parsed))
    assert record.judged == [
        ("by_plan", True),
        ("short, second", True),
        ("generation.embedded", False),
    ]
    told = summarize([record])
    assert told["generators"] == [{"sources": ["by_plan", "short, second"], "questions": 1}]
    assert told["by_generator"]["generation.embedded"]["oracle"]["hits"] == 0


def test_what_judges_said_is_kept_by_the_places_of_candidates(score):
    right, wrong = Candidate(ALL, "a"), Candidate("SELECT 1", "b")
    said = (
        Judgement("judge", (wrong.id, right.id), (0.25, 0.75)),
        Judgement("judge", (right.id, wrong.id), ()),
        Judgement("judge", ("gone", right.id), (1.0, 0.0)),
    )
    record = score(ALL, ALL, candidates=(right, wrong), judgements=said)
    assert record.judgements == [("judge", [1, 0], (0.25, 0.75)), ("judge", [0, 1], ())]
    judging = summarize([record])["judging"]
    assert (judging["asked"], judging["lost"], judging["pairs"]["hits"]) == (2, 1, 1)


def test_the_answers_notes_are_kept_with_their_kinds(score):
    record = score(ALL, ALL, notes=(Note("examples", "none were made", "cause"),))
    assert record.notes == [("examples", "none were made")]


def test_no_query_is_wrong_by_everything(score):
    record = score(None, ALL, metrics=("ves", "r_ves"))
    assert set(record.verdicts.values()) == {False}
    assert set(record.measures.values()) == {0.0}


def test_metrics_and_rules_run_no_query_again(score, shop_workspace):
    """Gold once, each query once; but for DISTINCT dropped, and what explains a wrong answer."""
    counting = Counting(shop_workspace.database)
    candidates = tuple(Candidate(sql, "parser") for sql in (ALL, SORTED, ALL))
    assert score(ALL, SORTED + ", id", database=counting, candidates=candidates).right("bird")
    assert counting.asked[:3] == [SORTED + ", id", ALL, SORTED]
    right = Counting(shop_workspace.database)
    score(ALL, ALL, database=right)
    assert right.asked == [ALL, ALL]
    dropped = Counting(shop_workspace.database)
    score("SELECT DISTINCT id FROM orders", "SELECT DISTINCT id FROM orders", database=dropped)
    assert dropped.asked == ["SELECT DISTINCT id FROM orders"] * 2 + ["SELECT  id FROM orders"] * 2
