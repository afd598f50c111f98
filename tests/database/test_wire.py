"""Rows survive the way through the pipe."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from sqlwright.database.workers.wire import (
    LENGTH,
    pack_reply,
    pack_request,
    unpack_reply,
    unpack_request,
)

CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)
KINDS = [CELLS, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.none()]


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
        assert [type(cell) for cell in row] == [type(cell) for cell in other]
        assert [math.copysign(1, c) for c in row if isinstance(c, float)] == [
            math.copysign(1, c) for c in other if isinstance(c, float)
        ]


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.floats(allow_nan=False))))
def test_requests_come_back(fields: dict[str, object]) -> None:
    frame = pack_request(fields)
    assert unpack_request(frame[LENGTH.size :]) == fields
