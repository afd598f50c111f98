"""Held-out questions are measured by the reply's meaning: tables, choices, and queries by their
results. The replies of most tests are given beforehand; what reads and judges them is ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.finetuning.building.set_folder import SourceRecord
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.trainer.evaluation import ExecutionJudge, drawn, measure_of
from sqlwright.lab.finetuning.trainer.train import train
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SETTINGS, a_plan, examples, query, save_set

GOLDEN = """
- id: q1
  question: How many customers are there?
  sql: SELECT COUNT(*) FROM customers
  database: {database}
- id: q2
  question: Which cities are there, in order?
  sql: SELECT DISTINCT city FROM customers ORDER BY city
  database: {database}
"""


def measured(role: str, *pairs: tuple[TrainingExample, str]) -> dict[str, tuple[int, int]]:
    """Hits and totals for examples with the replies that they are given."""
    replies = {example.id: reply for example, reply in pairs}
    measure = measure_of(role, lambda _example, sql: sql == "SELECT 1")
    shares = measure([example for example, _ in pairs], lambda example: replies[example.id])
    return {name: (share.hits, share.total) for name, share in shares.items()}


def example(completion: str, number: int = 0, *rejected: str) -> TrainingExample:
    return replace(query(number, "?", completion), rejected=rejected)


@pytest.fixture
def judge(database_files: dict[str, Path], tmp_path: Path) -> ExecutionJudge:
    path = tmp_path / "mine.yaml"
    path.write_text(GOLDEN.format(database=database_files["shop"]), "utf-8")
    return ExecutionJudge([SourceRecord(f"golden:{path}", None, "mine", "spider", {})])


def asked(judge: ExecutionJudge, number: int, sql: str) -> bool:
    one = replace(query(number, "?", ""), source="mine", db_id="shop")
    return judge(one, sql)


def test_a_linker_is_measured_by_what_it_keeps() -> None:
    found = measured(
        "linker",
        (
            example('{"tables": ["Orders", "customers"]}'),
            'The tables: {"tables": ["customers", "orders"]}',
        ),
        (example('{"tables": ["orders"]}', 1), '{"tables": ["orders", "items"]}'),
        (example('{"tables": ["orders", "items"]}', 2), '{"tables": ["orders"]}'),
        (example('{"tables": ["items"]}', 3), "I don't know."),
    )
    assert found == {
        "all needed tables kept": (2, 4),
        "needed tables kept": (4, 6),
        "kept tables needed": (4, 5),
    }


def test_a_generator_is_measured_by_its_queries_alone() -> None:
    found = measured(
        "generator",
        (example("x"), "```sql\nSELECT 1\n```"),
        (example("y", 1), "SELECT 2"),
        (example("z", 2), ""),
    )
    assert found == {"right by execution": (1, 3)}


def test_choices_are_read_as_the_steps_read_them() -> None:
    """Of queries that aren't rejected each is right."""
    plain, either = example("2"), example("1", 1, "3")
    found = measured("critic", (plain, "Query 2 is right."), (either, "2"))
    assert found == {"right choices": (2, 2)}
    assert measured("critic", (plain, "?"), (either, "3")) == {"right choices": (0, 2)}
    few = replace(either, facts={"candidates": 3})
    assert measured("critic", (few, "4")) == {"right choices": (0, 1)}
    found = measured("selector", (example("A"), "A"), (example("B", 1), "A"))
    assert found == {"right choices": (1, 2)}


def test_a_role_without_measure_is_told() -> None:
    with pytest.raises(ConfigError, match="no evaluation of the role cook"):
        measure_of("cook", lambda _example, _sql: True)


def test_questions_are_drawn_by_the_seed_in_their_order() -> None:
    listed = [query(number, "?", "") for number in range(50)]
    some = drawn(listed, 10, 3)
    assert some == drawn(listed, 10, 3) != drawn(listed, 10, 4)
    assert [one.id for one in some] == sorted((one.id for one in some), key=lambda i: int(i[5:]))
    assert drawn(listed, 100, 3) == listed
    assert drawn(listed, 0, 3) == []


@pytest.mark.parametrize(
    ("number", "sql", "right"),
    [
        (1, "SELECT COUNT(id) FROM customers", True),
        (1, "SELECT COUNT(*) + 1 FROM customers", False),
        (1, "SELECT", False),
        (1, "DROP TABLE customers", False),
        (2, "SELECT city FROM customers GROUP BY city ORDER BY city", True),
        (2, "SELECT city FROM customers GROUP BY city ORDER BY city DESC", False),
    ],
)
def test_queries_are_judged_by_their_results(
    judge: ExecutionJudge, number: int, sql: str, right: bool
) -> None:
    try:
        assert asked(judge, number, sql) is right
    finally:
        judge.close()


def test_a_question_that_is_gone_is_told(judge: ExecutionJudge) -> None:
    with pytest.raises(DatasetError, match="no question q3 of shop"):
        asked(judge, 3, "SELECT 1")


class TestOnTheWay:
    """Of a real training."""

    pytestmark = NEEDS

    def test_evaluation_doesn_t_change_the_losses(
        self, database_files: dict[str, Path], tmp_path: Path
    ) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text(GOLDEN.format(database=database_files["shop"]), "utf-8")
        source = SourceRecord(f"golden:{path}", None, "mine", "spider", {})
        learnt = replace(
            query(1, "How many?", "SELECT COUNT(*) FROM customers"), source="mine", db_id="shop"
        )
        given = [*examples()[1:], learnt]
        save_set(tmp_path / "set", given, [learnt], sources=[source])
        settings = replace(SETTINGS, dropout=0.02)
        plan = a_plan(tmp_path, settings=settings, evaluate_steps=30)
        watched = train(plan)
        unwatched = train(replace(plan, out=tmp_path / "other", evaluate_questions=0))
        both = [
            [row["loss"] for row in folder.logged() if "loss" in row]
            for folder in (watched, unwatched)
        ]
        assert both[0] == both[1]
        on_the_way = [row for row in watched.logged() if "evaluation" in row]
        assert [row["step"] for row in on_the_way] == [30, 60]
        (share,) = watched.record()["evaluation"].values()
        assert (share["hits"], share["total"]) == (1, 1)
        assert unwatched.record()["evaluation"] == {}
        card = watched.card.read_text("utf-8")
        assert "| right by execution | 100.0% | 20.7% to 100.0% | 1 |" in card
