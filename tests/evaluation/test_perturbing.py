"""Perturbed copies: they kill what only happens to agree with gold, and nothing that means the
same; they keep the constraints of the schema, come again by their seed and leave nothing behind."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from sqlwright.database.sqlite.copies import Filled, write_copy
from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.datasets.example import Example, Expected
from sqlwright.lab.evaluation.metrics.metric import Judged, Reference, chosen_metrics, find_metric
from sqlwright.lab.evaluation.perturbing.suite import open_suite
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.protocols import Run, Workspace
from sqlwright.sql.neighbours import neighbours
from sqlwright.sql.tied import settled_groups, settled_order
from sqlwright.types import ExecutionResult

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "perturbing" / "shop.yaml").read_text("utf-8")
)
SPIDER = find_rule("spider")


def test_there_are_some_tens_of_cases() -> None:
    assert sum(len(case["different"]) for case in CASES) >= 45
    assert sum(len(case["same"]) for case in CASES) >= 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["gold"])
def test_what_differs_is_killed_and_what_means_the_same_is_not(
    case: dict[str, list[str]], database_files: dict[str, Path], shop_workspace: Workspace
) -> None:
    gold = str(case["gold"])
    expected = shop_workspace.database.execute(gold, Run())

    def passes(sql: str) -> bool:
        return SPIDER.agrees(shop_workspace.database.execute(sql, Run()), expected, gold)

    assert [sql for sql in (*case["different"], *case["same"]) if not passes(sql)] == []
    with open_suite(database_files["shop"], gold, SPIDER) as suite:
        assert suite.accepts(gold)
        assert [sql for sql in case["different"] if suite.accepts(sql)] == []
        assert [sql for sql in case["same"] if not suite.accepts(sql)] == []


def measured(
    workspace: Workspace, file: Path, sql: str | None, *golds: str, expected: Expected | None = None
) -> float | None:
    example = Example("1", "shop", "?", golds[0] if golds else "", file, also=golds[1:],
                      expected=expected)  # fmt: skip

    def execute(text: str) -> ExecutionResult:
        return workspace.database.execute(text, Run())

    gold = execute(golds[0]) if golds else ExecutionResult()
    result = execute(sql) if sql else ExecutionResult()
    right = sql is not None and any(SPIDER.agrees(result, execute(one), one) for one in golds)
    references = tuple(Reference(one, execute(one)) for one in golds)
    judged = Judged(
        example, sql, gold, result, right, workspace.schema, SPIDER, execute, references
    )
    return find_metric("test_suite").measure(judged)


def test_the_metric_is_taken_on_request_and_says_right_wrong_or_nothing(
    database_files: dict[str, Path], shop_workspace: Workspace
) -> None:
    assert "test_suite" not in {metric.name for metric in chosen_metrics()}
    shop = shop_workspace, database_files["shop"]
    gold = "SELECT id FROM orders WHERE total > 50"
    assert measured(*shop, "SELECT id FROM orders WHERE 50 < total", gold) == 1.0
    assert measured(*shop, "SELECT id FROM orders WHERE total >= 50", gold) == 0.0
    assert measured(*shop, "SELECT id FROM orders", gold) == 0.0
    assert measured(*shop, None, gold) == 0.0
    other = "SELECT id FROM orders WHERE total >= 50"
    assert measured(*shop, "SELECT id FROM orders WHERE 50 <= total", gold, other) == 1.0
    assert measured(*shop, gold, expected=Expected(("id",), ((10,), (11,)))) is None


CHANCE = [
    # gold, and a count that is at most one on every copy on which chance doesn't decide it
    (
        "SELECT id FROM orders ORDER BY status LIMIT 1",
        "SELECT COUNT(*) FROM orders WHERE status = (SELECT MIN(status) FROM orders)",
    ),
    (
        "SELECT status, placed, COUNT(*) FROM orders GROUP BY status",
        "SELECT MAX(n) FROM (SELECT COUNT(DISTINCT placed) AS n FROM orders GROUP BY status)",
    ),
]


@pytest.mark.parametrize(("gold", "count"), CHANCE)
def test_no_copy_is_kept_on_which_chance_decides_gold(
    gold: str, count: str, database_files: dict[str, Path]
) -> None:
    with open_suite(database_files["shop"], gold, SPIDER) as suite:
        most = [copy.database.execute(count, Run()).rows[0][0] or 0 for copy in suite.copies]
        assert len(most) >= 2
        assert max(map(int, map(str, most))) <= 1


def test_gold_that_finds_nothing_on_any_copy_applies_to_nothing(
    database_files: dict[str, Path], shop_workspace: Workspace
) -> None:
    gold = "SELECT MAX(total) FROM orders WHERE 1 = 0"
    assert measured(shop_workspace, database_files["shop"], gold, gold) is None


def contents(path: Path, gold: str) -> list[list[tuple[object, ...]]]:
    with open_suite(path, gold, SPIDER) as suite:
        return [list(copy.database.execute("SELECT * FROM lines", Run()).rows)
                for copy in suite.copies]  # fmt: skip


def test_copies_come_again_by_their_seed(database_files: dict[str, Path]) -> None:
    gold = "SELECT product FROM lines WHERE quantity > 1"
    first = contents(database_files["shop"], gold)
    assert first == contents(database_files["shop"], gold)
    assert len(first) >= 4
    assert len({str(rows) for rows in first}) > 1


@pytest.mark.parametrize("name", ["shop", "composite", "desk", "mixed", "odd", "sparse"])
def test_copies_keep_the_schema_and_its_constraints(
    name: str, database_files: dict[str, Path]
) -> None:
    with closing(sqlite3.connect(database_files[name])) as stored:
        tables = stored.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' "
            "AND name NOT LIKE 'sqlite%'"
        ).fetchall()
    first = str(tables[0][0]).replace('"', '""')
    with open_suite(database_files[name], f'SELECT COUNT(*) FROM "{first}"', SPIDER) as suite:
        assert suite.copies
        for copy in suite.copies:
            with closing(sqlite3.connect(copy.database.path)) as connection:
                there = dict(connection.execute("SELECT name, sql FROM sqlite_schema"))
                assert {table: there.get(table) for table, _ in tables} == dict(tables)
                assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_nothing_is_left_on_the_disk(database_files: dict[str, Path], tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = database_files["shop"].read_bytes()
    with open_suite(database_files["shop"], "SELECT name FROM customers", SPIDER) as suite:
        assert suite.copies
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []
    assert database_files["shop"].read_bytes() == before


def test_rows_that_a_constraint_forbids_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "copy.sqlite"
    definitions = [
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n INT NOT NULL CHECK (n < 10), t TEXT UNIQUE)",
        "CREATE TRIGGER z AFTER INSERT ON a BEGIN DELETE FROM a; END",
    ]
    rows = [(1, 1, "a"), (1, 2, "b"), (2, 10, "c"), (3, None, "d"), (4, 4, "a"), ("x", 5, "e")]
    write_copy(path, definitions, [Filled("a", ("id", "n", "t"), rows)])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM a").fetchall() == [(1, 1, "a")]
        assert connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'"
                                  ).fetchall() == []  # fmt: skip


def test_a_schema_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="can't be written"):
        write_copy(tmp_path / "copy.sqlite", ["CREATE TABLE a (n INT DEFAULT (nonsense(1)), )"], [])


def test_neighbours_differ_in_one_place(shop_workspace: Workspace) -> None:
    found = neighbours("SELECT DISTINCT name FROM customers WHERE id > 3 LIMIT 2",
                       shop_workspace.schema)  # fmt: skip
    assert "SELECT name FROM customers WHERE id > 3 LIMIT 2" in found
    assert "SELECT DISTINCT name FROM customers WHERE id >= 3 LIMIT 2" in found
    assert "SELECT DISTINCT name FROM customers WHERE id > 4 LIMIT 2" in found
    assert "SELECT DISTINCT name FROM customers LIMIT 2" in found
    turned = neighbours("SELECT id FROM orders ORDER BY total DESC", shop_workspace.schema)
    assert "SELECT id FROM orders ORDER BY total ASC" in turned
    assert "SELECT DISTINCT name FROM customers WHERE id > 3 LIMIT 3" in found
    assert "SELECT DISTINCT name FROM customers WHERE id > 3 LIMIT 2" not in found
    assert neighbours("DELETE FROM customers", shop_workspace.schema) == ()


def test_order_is_settled_by_what_is_shown() -> None:
    assert settled_order("SELECT a FROM t ORDER BY b LIMIT 1", 1, descending=True) == (
        "SELECT a FROM t ORDER BY b, 1 DESC LIMIT 1"
    )
    # NULL comes first in one and last in the other, like any other value.
    assert settled_order("SELECT a FROM t ORDER BY b LIMIT 1", 1, descending=False) == (
        "SELECT a FROM t ORDER BY b, 1 ASC LIMIT 1"
    )
    assert settled_order("SELECT a FROM t", 1, descending=True) is None


def test_groups_are_settled_by_their_highest_and_lowest_values() -> None:
    gold = "SELECT a, b, COUNT(*) FROM t GROUP BY a"
    assert settled_groups(gold, highest=True) == "SELECT MAX(a), MAX(b), COUNT(*) FROM t GROUP BY a"
    assert settled_groups(gold, highest=False) == gold.replace("a, b", "MIN(a), MIN(b)")
    assert settled_groups("SELECT a, MAX(b) FROM t GROUP BY a", highest=True) is None
    assert settled_groups("SELECT a FROM t", highest=True) is None
