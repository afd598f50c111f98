"""Results with the cells of engines, stored in a golden set and compared with what engines give."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwright.lab.datasets.example import Expected
from sqlwright.lab.evaluation.golden.adding import NewQuestion, add_question
from sqlwright.lab.evaluation.golden.questions import load_golden_set
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.stored_cells import as_given
from sqlwright.types import ExecutionResult

TEXTS = st.text("abcT-:+. 0123456789ö'\"{}[]#", max_size=25)
DECIMALS = st.decimals(-(10**20), 10**20, allow_nan=False, allow_infinity=False, places=4)
ZONES = st.timezones() | st.just(UTC) | st.just(timezone(timedelta(hours=5, minutes=30)))
KINDS = (
    st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(), TEXTS, DECIMALS, st.dates(), st.datetimes(),
    st.datetimes(timezones=ZONES), st.times(), st.timedeltas(),
    st.uuids(), st.lists(DECIMALS, max_size=3).map(tuple), st.lists(TEXTS, max_size=3).map(tuple),
)  # fmt: skip


@st.composite
def results(draw: st.DrawFn) -> tuple[tuple[Any, ...], ...]:
    """Rows whose columns are each of one kind, with NULLs."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    row = st.tuples(*(st.none() | kind for kind in kinds))
    return tuple(draw(st.lists(row, min_size=1, max_size=4)))


@pytest.mark.parametrize("name", ["mine.yaml", "mine.json", "mine.jsonl", "mine.csv"])
@settings(max_examples=60)
@given(rows=results())
def test_rows_are_stored_and_found_again(name: str, rows: tuple[tuple[Any, ...], ...]) -> None:
    columns = tuple(f"c{place}" for place in range(len(rows[0])))
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        add_question(path, NewQuestion("Which?", "SELECT 1", expected=Expected(columns, rows)))
        (example,) = load_golden_set(path, database="shop.sqlite").examples
    assert example.expected is not None
    stored = ExecutionResult(columns, example.expected.rows)
    found = ExecutionResult(columns, rows)
    assert as_given(stored, found).rows == rows
    for rule in ("spider", "multiset", "bird"):
        assert find_rule(rule).agrees(found, as_given(stored, found), "")


MOMENT = datetime(2024, 1, 31, 10, 30, tzinfo=UTC)
TOKEN = UUID("5b6bd1a4-6e57-4c27-9d50-3a2c0b2ad1a1")


@pytest.mark.parametrize(
    ("stored", "found", "same"),
    [
        ([12.5, "a"], [Decimal("12.50"), "a"], True),
        ([12.5], [Decimal("12.51")], False),
        (["12345678901234567890.12"], [Decimal("12345678901234567890.12")], True),
        (["12345678901234567890.13"], [Decimal("12345678901234567890.12")], False),
        (["2024-01-31"], [date(2024, 1, 31)], True),
        (["2024-01-31"], [datetime(2024, 1, 31)], True),
        (["2024-01-31"], [MOMENT], False),
        (["2024-01-31T10:30:00Z"], [MOMENT], True),
        (["2024-01-31 12:30:00+02:00"], [MOMENT], True),
        (["2024-01-31 10:30:00+02:00"], [MOMENT], False),
        (["10:30:00"], [time(10, 30)], True),
        (["P1DT2H"], [timedelta(days=1, hours=2)], True),
        (["1 day 02:00:00"], [timedelta(days=1, hours=2)], True),
        ([str(TOKEN)], [TOKEN], True),
        ([(0.1, None)], [(Decimal("0.10"), None)], True),
        ([1, "2024-01-31"], [True, date(2024, 1, 31)], True),
        (["2024-01-31", "2024-01-31"], ["2024-01-31", date(2024, 1, 31)], True),
        # The columns in another order, as rules allow that leave it open.
        (["2024-01-31", 0.1], [Decimal("0.1"), date(2024, 1, 31)], True),
    ],
)
def test_what_people_write_is_what_an_engine_gives(
    stored: Sequence[Any], found: Sequence[Any], same: bool
) -> None:
    kept = ExecutionResult(("a", "b")[: len(stored)], (tuple(stored),))
    given_rows = ExecutionResult(("a", "b")[: len(found)], (tuple(found),))
    agrees = find_rule("spider").agrees(given_rows, as_given(kept, given_rows), "")
    assert agrees is same
