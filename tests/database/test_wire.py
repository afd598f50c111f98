"""Rows survive the way through the pipe."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.database.workers.wire import (
    LENGTH,
    cell_size,
    cut_cell,
    pack_reply,
    pack_request,
    unpack_reply,
    unpack_request,
)
from sqlwright.types import Cell

ZONES = st.one_of(
    st.none(),
    st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds))),
)
TYPED = [
    st.booleans(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(timezones=ZONES),
    st.times(timezones=ZONES),
    st.timedeltas(),
    st.uuids(),
]
PLAIN = [st.integers(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(), st.none()]
CELLS = st.recursive(
    st.one_of(*PLAIN, *TYPED, st.binary()), lambda cells: st.lists(cells, max_size=3).map(tuple)
)
KINDS = [CELLS, *PLAIN, *TYPED, *(st.none() | kind for kind in TYPED)]


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[object, ...]]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    return draw(st.lists(st.tuples(*kinds), max_size=20))


@given(tables())
def test_rows_come_back(rows: list[tuple[object, ...]]) -> None:
    frame = pack_reply({"names": ["é"]}, rows)  # type: ignore[arg-type]
    assert LENGTH.unpack(frame[: LENGTH.size])[0] == len(frame) - LENGTH.size
    head, back = unpack_reply(frame[LENGTH.size :])
    assert head == {"names": ["é"], "count": len(rows)}
    assert back == tuple(rows)
    for row, other in zip(rows, back, strict=True):
        assert _exact(row) == _exact(other)
        assert [math.copysign(1, c) for c in row if isinstance(c, float)] == [
            math.copysign(1, c) for c in other if isinstance(c, float)
        ]


EXACT = [
    Decimal("10.50"),
    Decimal("-0"),
    Decimal("1E+3"),
    Decimal("0.1234567890123456789012345678901234567890"),
    Decimal("NaN"),
    Decimal("-Infinity"),
    datetime(2024, 10, 27, 2, 30, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999_999),
    time(23, 59, 59, 999_999, tzinfo=UTC),
    timedelta(days=-1, microseconds=1),
    timedelta.max,
    date(1, 1, 1),
    UUID("12345678-1234-5678-1234-567812345678"),
    True,
    2**63,
    -(2**127),
    ("a", None, ("\0", b"\0"), ()),
    (Decimal("1.0"), date(2024, 2, 29), (True, (1,))),
    "NUL \0 inside",
    "",
]


@pytest.mark.parametrize("cell", EXACT, ids=repr)
@pytest.mark.parametrize("others", [(), (None,), ("text",), (1, None, b"x")], ids=repr)
def test_a_cell_comes_back_exactly(cell: Cell, others: tuple[Cell, ...]) -> None:
    rows = [(one,) for one in (cell, *others, cell)]
    _, back = unpack_reply(pack_reply({}, rows)[LENGTH.size :])
    assert _exact(back) == _exact(tuple(rows))


def test_a_zone_becomes_its_distance_from_utc() -> None:
    moments = [datetime(2024, month, 1, tzinfo=ZoneInfo("Europe/Berlin")) for month in (1, 7)]
    _, back = unpack_reply(pack_reply({}, [(moment,) for moment in moments])[LENGTH.size :])
    assert [row[0] for row in back] == moments
    assert [str(row[0]) for row in back] == [
        "2024-01-01 00:00:00+01:00",
        "2024-07-01 00:00:00+02:00",
    ]


@pytest.mark.parametrize(
    ("cell", "size", "most", "cut"),
    [
        ("häuser", 7, 3, "hä"),
        (b"abcdef", 6, 2, b"ab"),
        (("abc", "def", "ghi"), 17, 4, ("abc", "d")),
        ((1, 2, 3), 32, 9, (1, 2)),
        (Decimal("1." + "0" * 40), 42, 10, Decimal("1." + "0" * 40)),
        (10**300, 124, 10, 10**300),
        (date(2024, 1, 1), 8, 1, date(2024, 1, 1)),
    ],
)
def test_sizes_and_cuts(cell: Cell, size: int, most: int, cut: Cell) -> None:
    assert cell_size(cell) == size
    assert cut_cell(cell, most) == cut
    assert cut_cell(cell, size) is cell


def test_parameters_of_a_request_come_back() -> None:
    parameters = [*EXACT[:4], b"\0x", None, "text", 1.5, *EXACT[6:17]]
    opening = {"uri": "file:x"}
    frame = pack_request({"read": "SELECT ?", "parameters": parameters, "opening": opening})
    back = unpack_request(frame[LENGTH.size :])
    assert _exact(tuple(back["parameters"])) == _exact(tuple(parameters))
    assert back["opening"] == opening


def _exact(cell: object) -> object:
    """What tells values apart that compare as equal."""
    if isinstance(cell, tuple):
        return tuple(map(_exact, cell))
    zone = cell.utcoffset() if isinstance(cell, datetime | time) else None
    return type(cell), repr(cell) if isinstance(cell, Decimal | float) else cell, zone


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.floats(allow_nan=False))))
def test_requests_come_back(fields: dict[str, object]) -> None:
    frame = pack_request(fields)
    assert unpack_request(frame[LENGTH.size :]) == fields
