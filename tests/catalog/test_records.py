"""The catalog and its JSON form."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlwright.catalog import Catalog, ColumnProfile, Format, TableProfile
from sqlwright.catalog.encoding import catalog_from_json, catalog_to_json
from sqlwright.errors import WorkspaceError
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table

names = st.text(min_size=1, max_size=12)
zones = st.none() | st.just(datetime.UTC)
single = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes(timezones=zones)
    | st.times()
    | st.timedeltas()
    | st.uuids()
)
cells = st.recursive(single, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
counts = st.integers(0, 10**12)
profiles = st.builds(
    ColumnProfile,
    storage=st.dictionaries(st.sampled_from(["integer", "real", "text", "blob"]), counts),
    rows=counts,
    nulls=counts,
    distinct=counts,
    distinct_exact=st.booleans(),
    minimum=cells,
    maximum=cells,
    formats=st.lists(
        st.builds(Format, names, st.floats(0, 1), st.text(max_size=5)), max_size=2
    ).map(tuple),
    frequent=st.lists(st.tuples(cells, counts), max_size=4).map(tuple),
    sampled=st.booleans(),
    mean_length=st.floats(0, 1e6),
    indexing=st.sampled_from(["whole", "part", "none", "free_text", "waiting"]),
)
columns = st.builds(
    Column,
    names,
    st.text(max_size=8),
    st.booleans(),
    st.booleans(),
    st.text(),
    st.text(),
    st.text(),
)
tables = st.builds(
    Table,
    names,
    st.lists(columns, min_size=1, max_size=3).map(tuple),
    st.lists(names, max_size=2).map(tuple),
    st.sampled_from(["table", "view"]),
    st.text(),
    st.text(),
)
keys = st.builds(
    ForeignKey,
    names,
    st.tuples(names),
    names,
    st.tuples(names),
    st.booleans(),
    st.text(),
)
catalogs = st.builds(
    Catalog,
    st.builds(
        Schema,
        names,
        st.lists(tables, max_size=3).map(tuple),
        st.lists(keys, max_size=2).map(tuple),
    ),
    st.dictionaries(
        names, st.builds(TableProfile, counts, st.booleans(), st.booleans(), st.text())
    ),
    st.dictionaries(st.builds(ColumnRef, names, names), profiles, max_size=3),
    st.lists(st.text(), max_size=2).map(tuple),
    st.dictionaries(keys, st.text(), max_size=2),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(catalogs)
def test_round_trip(catalog: Catalog) -> None:
    read = catalog_from_json(catalog_to_json(catalog))
    assert read.schema == catalog.schema
    assert dict(read.tables) == dict(catalog.tables)
    assert dict(read.columns) == dict(catalog.columns)
    assert read.notes == catalog.notes
    assert read.unmatched == catalog.unmatched


SMALL = Catalog(
    Schema("s", (Table("t", (Column("a"),)),)),
    {"t": TableProfile(1)},
    {ColumnRef("t", "a"): ColumnProfile({"text": 1}, 1, frequent=(("x", 1),), distinct=1)},
)


def test_json_is_plain() -> None:
    data = json.loads(catalog_to_json(SMALL))
    assert data["version"] == 2
    assert set(data) == {"version", "schema", "tables", "columns", "notes", "unmatched"}


def changed(path: list[Any], value: Any) -> bytes:
    data = json.loads(catalog_to_json(SMALL))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"[" * 100_000,
        changed(["version"], 999),
        changed(["schema"], None),
        changed(["schema", "tables", 0, "columns", 0], ["a"]),
        changed(["schema", "tables", 0, "columns", 0, 2], "yes"),
        changed(["tables", "t"], [1, True]),
        changed(["tables", "t", 0], "many"),
        changed(["columns", 0, 3], "many"),
        changed(["columns", 0, 2], [1]),
        changed(["columns", 0], ["t"]),
        changed(["columns", 0, 10, 0], ["x"]),
        changed(["columns", 0, 7], {"hex": "xyz"}),
    ],
)
def test_damage_is_told(content: bytes) -> None:
    with pytest.raises(WorkspaceError) as caught:
        dict(catalog_from_json(content).columns)
    assert caught.value.hint


def column(distinct: int, frequent: list[tuple[Any, int]], **more: Any) -> Catalog:
    profile = ColumnProfile({"text": 9}, 9, distinct=distinct, frequent=tuple(frequent), **more)
    return Catalog(Schema("s", ()), {}, {ColumnRef("t", "a"): profile})


@pytest.mark.parametrize(
    ("catalog", "expected"),
    [
        (column(2, [("M", 5), ("F", 4)]), ("M", "F")),
        (column(1, [("x", 9)]), ("x",)),
        (column(4, [("a", 3), ("b", 2), ("c", 2), ("d", 2)]), None),
        (column(2, [("M", 5), (1, 4)]), None),
        (column(3, [("M", 5), ("F", 4)]), None),
        (column(2, [("M", 5), ("F", 4)], sampled=True), None),
        (column(2, [("M", 5), ("F", 4)], distinct_exact=False), None),
        (column(1, [("x" * 40, 9)]), None),
        (column(2, [("M", 5), (" ", 4)]), None),
        (column(0, []), None),
    ],
)
def test_enumerations(catalog: Catalog, expected: tuple[str, ...] | None) -> None:
    found = catalog.enumerations()
    assert found == ({} if expected is None else {ColumnRef("t", "a"): expected})


def test_dates_are_told_by_how_values_are_written() -> None:
    held, made, born, note = (ColumnRef("a", name) for name in ("held", "made", "born", "note"))
    formats = {held: "iso_date", made: "iso_datetime", born: "date_words"}
    columns = {ref: ColumnProfile(formats=(Format(name, 1.0),)) for ref, name in formats.items()}
    catalog = Catalog(Schema("s", ()), columns=columns | {note: ColumnProfile()})
    assert catalog.dates == {held: True, made: True, born: False}
