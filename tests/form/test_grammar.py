"""Whatever the grammar lets through can be read, written and prepared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.sequence.grammar import (
    KEYWORDS,
    GrammarState,
    Keyword,
    Literal,
    Symbol,
    TableSymbol,
    delinearize,
    linearize,
)
from sqlwright.local.form.sequence.symbols import BY_NAME, SPARE
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import ColumnRef, Schema
from tests.form.notation import cases
from tests.form.walks import SCHEMAS, make_database, walk

choices = st.lists(st.integers(0, 10_000), max_size=80)
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def databases() -> Iterator[dict[str, apsw.Connection]]:
    made = {schema.name: make_database(schema) for schema in SCHEMAS}
    yield made
    for connection in made.values():
        connection.close()


@settings(patient, max_examples=300)
@given(schema=st.sampled_from(SCHEMAS), steps=choices)
def test_what_is_finished_prepares(
    databases: dict[str, apsw.Connection], schema: Schema, steps: list[int]
) -> None:
    form = delinearize(walk(steps, schema))
    try:
        sql = write_sql(form, schema)
    except UnsupportedQuery as error:
        assume("no key joins" not in str(error))
        raise
    databases[schema.name].execute(f"EXPLAIN {sql}")


@patient
@given(schema=st.sampled_from(SCHEMAS), steps=choices)
def test_a_form_and_its_sequence_are_one(schema: Schema, steps: list[int]) -> None:
    form = delinearize(walk(steps, schema))
    symbols = linearize(form)
    assert delinearize(symbols) == form
    state = GrammarState()
    for symbol in symbols:
        assert not state.finished
        state = state.advance(symbol)
    assert state.finished
    assert not state.allowed().keywords.any()


def test_an_empty_date_pattern_stays_a_pointer() -> None:
    symbols = (
        BY_NAME["select"],
        BY_NAME["strftime"],
        Literal(""),
        ColumnRef("t", "c"),
        BY_NAME["end"],
    )
    assert linearize(delinearize(symbols)) == symbols


def sequence(text: str) -> list[Symbol]:
    """Symbols of a short notation: keywords, C a column, T a table, V a text, N a number."""
    pointers: dict[str, Symbol] = {
        "C": ColumnRef("t", "c"),
        "T": TableSymbol("t"),
        "V": Literal("v"),
        "N": Literal(7),
    }
    return [pointers[word] if word in pointers else BY_NAME[word] for word in text.split()]


@pytest.mark.parametrize(
    ("start", "refused"),
    [
        ("", "end"),
        ("select", "end"),
        ("select", "where"),
        ("select sum", "avg"),
        ("select sum + C", "avg"),
        ("select sum", "T"),
        ("select count distinct", "T"),
        ("select C where", "sum"),
        ("select C where", "V"),
        ("select C where C", "end"),
        ("select C where C contains", "N"),
        ("select C where C contains", "1"),
        ("select C where ( C = 1", "end"),
        ("select C where C in", "end"),
        ("select C where C in select C", "C"),
        ("select C where C = select C where C = 1 and C = 2", ")"),
        ("select C", "having"),
        ("select C group C asc C", "where"),
        ("select C group", "1"),
        ("select C group", "V"),
        ("select C asc", "count"),
        ("select C asc", "3"),
        ("select C limit", "V"),
        ("select C limit", "empty"),
        ("select C", "offset"),
        ("select C C union select C", "end"),
        ("select C C union select C C", "C"),
        ("select T", "union"),
        ("select", "derived_1"),
        ("with select C end select derived_1", "item_2"),
        ("with select C end select", "derived_2"),
        ("with select", "T"),
        ("select", "outer"),
        ("select C where exists select sum", "outer"),
        ("select C where C = select C group", "outer"),
        ("select C end", "end"),
    ],
)
def test_refuses(start: str, refused: str) -> None:
    state = GrammarState()
    for symbol in sequence(start):
        state = state.advance(symbol)
    (symbol,) = sequence(refused)
    if isinstance(symbol, Keyword):
        assert not state.allowed().keywords[symbol.position]
    with pytest.raises(UnsupportedQuery):
        state.advance(symbol)


@pytest.mark.parametrize(
    "broken", ["", "select", "select C", "select C end end", "select = end", "select C limit V end"]
)
def test_broken_sequences_are_not_read(broken: str) -> None:
    with pytest.raises(UnsupportedQuery):
        delinearize(sequence(broken))


def test_a_state_stays_what_it_was() -> None:
    start = GrammarState()
    before = start.allowed().keywords.copy()
    start.advance(BY_NAME["select"]).advance(ColumnRef("t", "c"))
    assert (start.allowed().keywords == before).all()
    with pytest.raises(ValueError, match="read-only"):
        start.allowed().keywords[0] = True


def test_spare_words_are_never_allowed() -> None:
    assert len(set(KEYWORDS)) == len(KEYWORDS)
    spare = [BY_NAME[name].position for name in SPARE]
    state = GrammarState()
    for symbol in sequence("select sum C where C = V group C having count T > 1 desc C"):
        assert not state.allowed().keywords[spare].any()
        state = state.advance(symbol)


def test_the_vocabulary_is_the_one_models_know() -> None:
    """Reordering or removing a word would silently break every trained parser."""
    assert KEYWORDS[:8] == ("end", "select", "distinct", "with", "from", "join", "left", "cross")
    assert KEYWORDS.index("=") == 27
    assert KEYWORDS.index("count") == 47
    assert KEYWORDS.index("spare_9") == 130


@pytest.mark.parametrize("case", cases("form/grammar.yaml"), ids=lambda case: case["after"])
def test_what_may_come_next(case: dict[str, Any]) -> None:
    state = GrammarState()
    for symbol in sequence(case["after"]):
        state = state.advance(symbol)
    for word in case.get("allowed", ()):
        (symbol,) = sequence(str(word))
        assert _may_come(state, symbol), word
        state.advance(symbol)
    for word in case["refused"]:
        (symbol,) = sequence(str(word))
        assert not _may_come(state, symbol), word
        with pytest.raises(UnsupportedQuery):
            state.advance(symbol)


def _may_come(state: GrammarState, symbol: Symbol) -> bool:
    """What `allowed` says of one symbol."""
    allowed = state.allowed()
    if isinstance(symbol, Keyword):
        return bool(allowed.keywords[symbol.position])
    if isinstance(symbol, ColumnRef):
        return allowed.column
    if isinstance(symbol, TableSymbol):
        return allowed.table
    text = isinstance(symbol.value, str)
    return allowed.value and not (allowed.integer if text else allowed.text)


def _after(state: GrammarState, symbols: Sequence[Symbol]) -> GrammarState:
    for symbol in symbols:
        state = state.advance(symbol)
    return state


@pytest.mark.parametrize("case", cases("form/depths.yaml"), ids=lambda case: case["name"])
def test_nesting_is_bounded(case: dict[str, Any]) -> None:
    state = _after(GrammarState(), sequence(case["start"]))
    step = sequence(case["step"])
    for _ in range(case["times"]):
        state = _after(state, step)
    with pytest.raises(UnsupportedQuery):
        _after(state, step)
