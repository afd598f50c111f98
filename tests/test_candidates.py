"""One rule says when results are the same; everything that compares results uses it."""

from __future__ import annotations

import datetime
import math
import threading
import uuid
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwright.candidates import (
    cell_key,
    deduplicate,
    execute,
    facts_of,
    group_by_result,
    history,
    is_empty_answer,
    normalized_sql,
    rank,
    result_places,
    same_result,
    shares,
    valid,
)
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.written import WrittenForm, form_of
from sqlwright.presentation.answer import candidate_to_dict
from sqlwright.protocols import Run, Workspace
from sqlwright.types import Candidate, Cell, ExecutionError, ExecutionResult

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "candidates" / "same_result.yaml").read_text("utf-8")
)


def candidate(
    sql: str = "SELECT 1", rows: Any = ((1,),), *, score: float = 0.0, **result: Any
) -> Candidate:
    stored: tuple[tuple[Cell, ...], ...] = tuple(tuple(row) for row in rows)
    width = len(stored[0]) if stored else result.pop("width", 1)
    names = tuple(f"c{place}" for place in range(width))
    return Candidate(sql, "test", score, ExecutionResult(names, stored, **result))


def failed(sql: str = "SELECT x") -> Candidate:
    return Candidate(sql, "test", 0.0, ExecutionResult(error=ExecutionError("sql", "no column x")))


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_same_result_follows_the_rule(case: dict[str, Any]) -> None:
    orders = case.get("ordered", [False, False])
    first, second = (
        candidate(
            "SELECT a FROM t" + (" ORDER BY a" if ordered else ""),
            case[key],
            truncated=case.get("truncated", [False, False])[place],
        )
        for place, (key, ordered) in enumerate(zip(("first", "second"), orders, strict=True))
    )
    assert same_result(first, second) is case["same"]
    assert same_result(second, first) is case["same"]


def test_bytes_and_text_of_the_same_letters_differ() -> None:
    assert not same_result(candidate(rows=[(b"a",)]), candidate(rows=[("a",)]))


def test_not_a_number_equals_itself_so_that_agreement_is_seen() -> None:
    assert same_result(candidate(rows=[(math.nan,)]), candidate(rows=[(math.nan,)]))


def test_an_error_equals_nothing() -> None:
    assert not same_result(failed(), failed())


def test_results_without_rows_differ_when_their_widths_do() -> None:
    assert same_result(candidate(rows=[], width=2), candidate(rows=[], width=2))
    assert not same_result(candidate(rows=[], width=2), candidate(rows=[], width=1))


def test_columns_of_identical_content_end_the_comparison_soon() -> None:
    first = [tuple([1] * 12 + [place]) for place in range(30)]
    second = [tuple([1] * 12 + [place + 1]) for place in range(30)]
    swapped = [(row[-1], *row[:-1]) for row in first]
    assert not same_result(candidate(rows=first), candidate(rows=second))
    assert same_result(candidate(rows=first), candidate(rows=swapped))


def test_groups_keep_the_order_of_their_best_and_leave_errors_out() -> None:
    one, other = candidate("a", [(1,)]), candidate("b", [(2,)])
    again = candidate("c", [(1.0,)])
    groups = group_by_result([one, failed(), other, again, Candidate("d", "test")])
    assert [[c.sql for c in group.candidates] for group in groups] == [["a", "c"], ["b"]]
    assert groups[0].result.rows == ((1,),)


def test_a_query_without_order_joins_the_best_ordered_one() -> None:
    up = candidate("SELECT a FROM t ORDER BY a", [(1,), (2,)])
    down = candidate("SELECT a FROM t ORDER BY a DESC", [(2,), (1,)])
    plain = candidate("SELECT a FROM t", [(2,), (1,)])
    groups = group_by_result([up, down, plain])
    assert [[c.sql for c in g.candidates] for g in groups] == [[up.sql, plain.sql], [down.sql]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [([], True), ([(None,)], True), ([(0,)], True), ([(0.0, None)], True), ([(0,), (0,)], False),
     ([(1,)], False), ([("",)], False), ([("0",)], False)],
)  # fmt: skip
def test_hollow_results_say_nothing(rows: Any, expected: bool) -> None:
    assert is_empty_answer(candidate(rows=rows)) is expected


def test_rank_puts_rows_before_empty_before_unexecuted_before_errors() -> None:
    full, empty = candidate("full", [(0,)], score=-9.0), candidate("empty", [], score=-1.0)
    untried = Candidate("untried", "test", 0.0)
    broken = replace(failed("broken"), score=5.0)
    ranked = rank([broken, untried, empty, full])
    assert [c.sql for c in ranked] == ["full", "empty", "untried", "broken"]


def test_deduplicate_ignores_blanks_outside_quotes_only() -> None:
    kept = deduplicate(
        Candidate(sql, "test")
        for sql in ("SELECT  'a  b'", "SELECT 'a  b' ;", "SELECT 'a b'", 'SELECT "a  b"')
    )
    assert [c.sql for c in kept] == ["SELECT  'a  b'", "SELECT 'a b'", 'SELECT "a  b"']


def test_shares_sum_to_one_whatever_the_scores() -> None:
    scores = (-1.0, -2.0, -1e9, -1e300)
    found = shares([Candidate("x", "test", score) for score in scores])
    assert sum(found) == pytest.approx(1.0)
    assert found == sorted(found, reverse=True)
    assert shares([]) == []


def test_ancestry_goes_back_to_the_first_version() -> None:
    first = Candidate("a", "test")
    last = Candidate("c", "test", parent=Candidate("b", "test", parent=first))
    assert [c.sql for c in history(last)] == ["c", "b", "a"]


def test_execute_keeps_order_results_and_errors(shop_workspace: Workspace) -> None:
    done = execute(
        [
            Candidate("SELECT COUNT(*) FROM orders", "test"),
            Candidate("SELECT nope FROM orders", "test"),
            candidate("SELECT kept", [(7,)]),
        ],
        shop_workspace.database,
        Run(),
    )
    assert done[0].result is not None
    assert done[0].result.rows == ((4,),)
    assert done[1].result is not None
    assert done[1].result.error is not None
    assert "nope" in done[1].result.error.message
    assert done[2].result is not None
    assert done[2].result.rows == ((7,),)


def test_execute_leaves_the_rest_when_time_is_up(shop_workspace: Workspace) -> None:
    time = [0.0]

    def two_seconds_each(event: object) -> None:
        time[0] += 2.0

    run = Run(clock=lambda: time[0], events=two_seconds_each)
    done = execute(
        [Candidate("SELECT 1", "test") for _ in range(3)],
        shop_workspace.database,
        run,
        seconds=2.5,
    )
    assert [valid(c) for c in done] == [True, True, False]


def test_execute_stops_when_cancelled(shop_workspace: Workspace) -> None:
    cancelled = threading.Event()
    cancelled.set()
    done = execute(
        [Candidate("SELECT 1", "test")], shop_workspace.database, Run(cancelled=cancelled)
    )
    assert done[0].result is None


CELLS = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from([0.1, 0.2, 1.0, 2.5]), st.sampled_from("ab")
)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[Cell, ...]]:
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=8))


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_rows_and_columns_in_any_order_are_the_same_result(
    rows: list[tuple[Cell, ...]], random: Any
) -> None:
    columns = list(range(len(rows[0])))
    random.shuffle(columns)
    moved = [tuple(row[i] for i in columns) for row in rows]
    random.shuffle(moved)
    assert same_result(candidate(rows=rows), candidate(rows=moved))


@settings(deadline=None)
@given(tables(), st.data())
def test_one_changed_cell_is_another_result(
    rows: list[tuple[Cell, ...]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    changed = [list(row) for row in rows]
    changed[place][0] = "something else"
    assert not same_result(candidate(rows=rows), candidate(rows=changed))


def test_an_id_says_which_candidate_it_is_and_stays() -> None:
    written = Candidate("SELECT 1", "generation.direct", sample=1)
    judged = replace(written, result=candidate().result, score=-3.0, confidence=0.4)
    assert judged.id == written.id == Candidate("SELECT 1", "generation.direct", sample=1).id
    others = (
        replace(written, sql="SELECT 2"),
        replace(written, source="generation.embedded"),
        replace(written, sample=2),
        replace(written, goal="how many?"),
        replace(written, plan="count them"),
        replace(written, parent=written),
    )
    assert len({one.id for one in (written, *others)}) == 7


def test_a_repaired_candidate_knows_the_id_of_what_it_was_made_from() -> None:
    first = candidate("SELECT a FROM t")
    repaired = replace(candidate("SELECT b FROM t"), parent=first)
    assert (first.parent_id, repaired.parent_id) == ("", first.id)


def test_the_json_of_a_candidate_shows_its_id_and_its_parents() -> None:
    first = candidate("SELECT a FROM t")
    repaired = replace(candidate("SELECT b FROM t"), parent=first)
    assert candidate_to_dict(first)["id"] == first.id
    assert candidate_to_dict(first)["parent_id"] is None
    assert candidate_to_dict(repaired)["parent_id"] == first.id


def test_each_candidate_has_the_place_of_the_first_with_its_result() -> None:
    failed = replace(candidate(), result=ExecutionResult(error=ExecutionError("sql", "no")))
    waiting = replace(candidate(), result=None)
    pool = [candidate(), failed, candidate(rows=((2,),)), failed, waiting]
    pool.append(candidate(rows=((1.0,),)))
    assert result_places(pool) == [0, 1, 2, 3, 4, 0]


def test_an_authors_form_is_read_in_the_place_of_the_text(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    form = WrittenForm(read_sql("SELECT name FROM customers WHERE city = 'Rome'", schema))
    said = facts_of(replace(candidate("SELECT 1"), form=form), schema)
    assert said is not None
    assert said.texts == {"Rome"}
    assert form_of(replace(candidate("SELECT 1"), form=form), schema) is form.query
    by_text = facts_of(candidate("SELECT name FROM customers"), schema)
    assert by_text is not None
    assert by_text.tables == ("customers",)
    assert facts_of(candidate("DELETE FROM customers"), schema) is None


DAY = datetime.date(2024, 3, 1)
NOON = datetime.datetime(2024, 3, 1, 12, 30)
ZONE = datetime.timezone(datetime.timedelta(hours=2))
EQUAL_CELLS: list[tuple[Cell, ...]] = [
    (True, 1, 1.0, Decimal(1), Decimal("1.00")),
    (False, 0, -0.0, Decimal(0)),
    (Decimal("0.3"), 0.1 + 0.2),
    (Decimal(12345678901234567890), 12345678901234567890),
    (DAY, "2024-03-01", datetime.datetime(2024, 3, 1)),
    (NOON, "2024-03-01 12:30:00", NOON.replace(hour=14, tzinfo=ZONE)),
    (NOON.replace(microsecond=250_000), "2024-03-01 12:30:00.25"),
    (datetime.time(9, 5), "09:05:00"),
    (datetime.timedelta(days=1), datetime.timedelta(hours=24)),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ((1, True, DAY), (1.0, 1, "2024-03-01")),
]
"""Cells that count as equal, and differ from those of all other lines."""


def test_cells_of_several_types_are_equal_where_they_say_the_same() -> None:
    for cells in EQUAL_CELLS:
        for other in EQUAL_CELLS:
            for one, another in product(cells, other):
                same = same_result(candidate(rows=[(one,)]), candidate(rows=[(another,)]))
                assert same is (cells is other), (one, another)


def test_what_has_no_value_has_a_key() -> None:
    assert cell_key(Decimal("NaN")) == cell_key(Decimal("nan"))
    assert cell_key(Decimal("Infinity")) != cell_key(Decimal("-Infinity"))
    assert cell_key(b"1") != cell_key("1") != cell_key(1)


BLANKS = [
    ("sqlite", "SELECT  1 ;", "SELECT 1"),
    ("sqlite", "SELECT 'a  b'\n FROM  t", "SELECT 'a  b' FROM t"),
    ("postgres", "SELECT  $$a  'b$$,  $x$  '$x$", "SELECT $$a  'b$$, $x$  '$x$"),
    ("postgres", "SELECT  E'a\\'  b',  'c'", "SELECT E'a\\'  b', 'c'"),
    ("postgres", "SELECT 1 -- it's\nFROM  t", "SELECT 1 -- it's\nFROM t"),
    ("mysql", "SELECT  'it\\'s  a',  \"b\\\"  c\"", "SELECT 'it\\'s  a', \"b\\\"  c\""),
    ("mysql", "SELECT 1 # it's\nFROM  `a  b`", "SELECT 1 # it's\nFROM `a  b`"),
    ("duckdb", "SELECT  $$  $$ ", "SELECT $$  $$"),
]


@pytest.mark.parametrize(("dialect", "sql", "text"), BLANKS)
def test_blanks_within_quotes_stay_in_each_dialect(dialect: str, sql: str, text: str) -> None:
    assert normalized_sql(sql, dialect) == text


def test_executing_says_the_dialect(shop_workspace: Workspace) -> None:
    written = Candidate("SELECT 1", "test", dialect="duckdb")
    (done,) = execute([written], shop_workspace.database, Run())
    assert done.dialect == "sqlite"
    assert done.id == written.id
    assert replace(done, result=None) == written
