"""Profiles of real tables, ordinary and odd."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from sqlwright.catalog.reading import OutOfTime, Unreadable
from sqlwright.catalog.records import ColumnProfile
from sqlwright.catalog.scan import ScanLimits, TableScan, estimated_rows, scan_table
from sqlwright.catalog.tally import ColumnTally, Sketch
from sqlwright.errors import Cancelled
from sqlwright.protocols import Run

from .conftest import Opened

COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"


def scan(opened: Opened, table: str = "t", caps: ScanLimits | None = None) -> TableScan:
    schema, reading = opened
    found = schema.table(table)
    assert found is not None
    return scan_table(reading, found, caps or ScanLimits())


def profiles(scanned: TableScan) -> dict[str, ColumnProfile]:
    return {column.ref.column: column.profile for column in scanned.columns}


def texts(scanned: TableScan, column: str) -> dict[str, int]:
    return dict(next(c.texts for c in scanned.columns if c.ref.column == column))


def test_an_ordinary_table(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL, joined TEXT);"
            "INSERT INTO t VALUES (1, 'ann', 1.5, '2024-01-02'), (2, 'bob', NULL, '2024-01-03'),"
            " (3, 'ann', 3, '2024-01-03')"
        )
    )
    assert scanned.profile.rows == 3
    assert scanned.profile.rows_exact
    found = profiles(scanned)
    assert found["id"].unique
    assert found["name"].storage == {"text": 3}
    assert found["name"].frequent == (("ann", 2), ("bob", 1))
    assert found["name"].distinct == 2
    assert found["name"].distinct_exact
    assert (found["name"].minimum, found["name"].maximum) == ("ann", "bob")
    assert found["name"].indexing == "whole"
    assert (found["price"].nulls, found["price"].minimum, found["price"].maximum) == (1, 1.5, 3.0)
    assert found["price"].indexing == "none"
    assert [form.name for form in found["joined"].formats] == ["iso_date"]
    assert texts(scanned, "name") == {"ann": 2, "bob": 1}


def test_stored_types_count_not_declared_ones(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (a INTEGER, b);"
            "INSERT INTO t VALUES ('unknown', 1), (5, 2.5), (NULL, 'x'), (7, x'00ff')"
        )
    )
    found = profiles(scanned)
    assert found["a"].storage == {"text": 1, "integer": 2}
    assert found["b"].storage == {"integer": 1, "real": 1, "text": 1, "blob": 1}
    assert found["a"].indexing == "whole"
    assert texts(scanned, "a") == {"unknown": 1}
    assert found["a"].minimum == 5


def test_rare_texts_among_very_many_numbers_are_found(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (a);"
            f"INSERT INTO t {COUNTED.format(5000)}"
            " SELECT CASE WHEN i = 4000 THEN 'n/a' ELSE i END FROM n"
        ),
        caps=ScanLimits(others=100),
    )
    found = profiles(scanned)["a"]
    assert texts(scanned, "a") == {"n/a": 1}
    assert found.indexing == "whole"
    assert not found.distinct_exact
    assert 4_000 < found.distinct <= 5_000
    assert (found.minimum, found.maximum) == (1, 5000)


def test_an_empty_table(opened: Callable[..., Opened]) -> None:
    scanned = scan(opened("CREATE TABLE t (a TEXT, b INTEGER)"))
    assert scanned.profile.rows == 0
    assert profiles(scanned)["a"] == ColumnProfile(indexing="none")


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)",
        "CREATE TABLE t (rowid TEXT, _rowid_ TEXT, oid TEXT); INSERT INTO t VALUES ('x', 1, 1)",
        "CREATE TABLE s (a, b); INSERT INTO s VALUES ('x', 1); CREATE VIEW t AS SELECT a, b FROM s",
        "CREATE VIRTUAL TABLE t USING fts5(a, b); INSERT INTO t VALUES ('x', 'y')",
        "CREATE TABLE t (a, b AS (a || 1) STORED, c AS (a || 2)); INSERT INTO t (a) VALUES ('x')",
        "CREATE TABLE t (rowid TEXT, a); INSERT INTO t VALUES ('x', 1)",
    ],
    ids=[
        "without rowid",
        "all row number names taken",
        "view",
        "virtual",
        "generated",
        "rowid taken",
    ],
)
def test_odd_tables(script: str, opened: Callable[..., Opened]) -> None:
    scanned = scan(opened(script))
    assert scanned.profile.rows == 1
    assert not scanned.profile.note
    assert any(dict(column.texts).get("x") == 1 for column in scanned.columns)


def test_odd_names(opened: Callable[..., Opened]) -> None:
    name = 'select "all" from [x]`;--'
    quoted = '"' + name.replace('"', '""') + '"'
    scanned = scan(
        opened(f"CREATE TABLE {quoted} ({quoted} TEXT); INSERT INTO {quoted} VALUES ('v')"), name
    )
    assert texts(scanned, name) == {"v": 1}


def test_a_broken_view_gets_a_note(opened: Callable[..., Opened]) -> None:
    schema, reading = opened(
        "CREATE TABLE s (a); CREATE VIEW t AS SELECT abs('x' || a) AS a, json(a) AS b FROM s;"
        "INSERT INTO s VALUES ('not json')"
    )
    table = schema.table("t")
    assert table is not None
    scanned = scan_table(reading, table, ScanLimits())
    assert "t could not be read" in scanned.profile.note
    assert len(scanned.columns) == 2


def test_free_text_and_identifiers_are_left_out_by_measure(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (notes TEXT, token TEXT, uuid TEXT, same TEXT);"
            f"INSERT INTO t {COUNTED.format(50)} SELECT i || ' ' || hex(zeroblob(80)),"
            " printf('%08xdeadbeef%08x', i, i), printf('%08x-0000-4000-8000-00000000%04x', i, i),"
            " hex(zeroblob(100)) FROM n"
        )
    )
    found = profiles(scanned)
    assert found["notes"].indexing == "free_text"
    assert found["token"].indexing == "identifier"
    assert found["uuid"].indexing == "identifier"
    assert found["same"].indexing == "whole"
    assert texts(scanned, "notes") == {}


def test_heavy_cells_are_not_read_whole(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (picture BLOB, page TEXT);"
            "INSERT INTO t VALUES (zeroblob(3000000), hex(zeroblob(2000000))), (x'01', 'short')"
        )
    )
    found = profiles(scanned)
    assert found["picture"].storage == {"blob": 2}
    assert found["page"].storage == {"text": 2}
    assert texts(scanned, "page") == {"short": 1}
    assert found["page"].indexing == "part"
    assert found["page"].frequent == (("short", 1),)


def test_blank_texts_are_no_values(opened: Callable[..., Opened]) -> None:
    scanned = scan(opened("CREATE TABLE t (a TEXT); INSERT INTO t VALUES (''), ('  ')"))
    assert profiles(scanned)["a"].indexing == "blank"


def test_bytes_that_are_no_text_are_counted_but_not_indexed(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened("CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'ff41' AS TEXT)), ('fine')")
    )
    assert profiles(scanned)["a"].storage == {"text": 2}
    assert texts(scanned, "a") == {"fine": 1}
    assert profiles(scanned)["a"].indexing == "part"


def test_sampling_a_large_table(opened: Callable[..., Opened]) -> None:
    state = opened(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT);"
        f"INSERT INTO t {COUNTED.format(20000)}"
        " SELECT i, CASE WHEN i <= 10000 THEN 'early' ELSE 'late' END FROM n"
    )
    scanned = scan(state, caps=ScanLimits(rows=2_000))
    assert scanned.profile.rows == 20_000
    assert not scanned.profile.rows_exact
    assert scanned.profile.sampled
    found = profiles(scanned)
    assert 1_000 <= found["kind"].rows <= 2_000
    assert found["kind"].sampled
    assert not found["kind"].distinct_exact
    assert found["kind"].indexing == "part"
    assert set(texts(scanned, "kind")) == {"early", "late"}
    again = scan(state, caps=ScanLimits(rows=2_000))
    assert profiles(again) == found


def test_sampling_without_row_numbers(opened: Callable[..., Opened]) -> None:
    script = (
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) WITHOUT ROWID;"
        f"INSERT INTO t {COUNTED.format(300)} SELECT i, 'x' || i FROM n"
    )
    state = opened(script)
    assert scan(state, caps=ScanLimits(rows=100)).profile.sampled
    assert not scan(state, caps=ScanLimits(rows=300)).profile.sampled
    schema, reading = state
    assert estimated_rows(reading, schema.tables[0]) is None


def test_sparse_row_numbers(opened: Callable[..., Opened]) -> None:
    scanned = scan(
        opened(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);"
            "INSERT INTO t VALUES (-9000000000000000000, 'x'), (1, 'y'), (9000000000000000000, 'z')"
        )
    )
    assert set(texts(scanned, "a")) == {"x", "y", "z"}


def test_progress_counts_rows(opened: Callable[..., Opened]) -> None:
    schema, reading = opened(
        f"CREATE TABLE t (a); INSERT INTO t {COUNTED.format(5000)} SELECT i FROM n"
    )
    seen: list[int] = []
    scan_table(reading, schema.tables[0], ScanLimits(), progress=seen.append)
    assert sum(seen) == 5_000
    assert len(seen) > 1


ENDLESS = (
    "CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT count(*) AS a FROM n"
)


def test_a_statement_that_never_ends_is_interrupted(opened: Callable[..., Opened]) -> None:
    scanned = scan(opened(ENDLESS, seconds=0.2))
    assert scanned.profile.sampled
    assert profiles(scanned)["a"].indexing == "waiting"


def test_cancelling_interrupts_a_statement(opened: Callable[..., Opened]) -> None:
    run = Run()
    state = opened(ENDLESS, run=run)
    timer = threading.Timer(0.1, run.cancelled.set)
    timer.start()
    with pytest.raises(Cancelled):
        scan(state)
    timer.join()


def test_the_reader_is_usable_after_an_interruption(opened: Callable[..., Opened]) -> None:
    _, reading = opened(ENDLESS + "; CREATE TABLE s (a); INSERT INTO s VALUES (1)")
    reading.limit(0.1)
    with pytest.raises(OutOfTime):
        reading.all("SELECT * FROM t")
    reading.limit(None)
    assert reading.single_row("SELECT a FROM s") == (1,)
    with pytest.raises(Unreadable):
        reading.single_row("SELECT nothing FROM s")
    assert reading.single_row("SELECT a FROM s WHERE a = 2") == ()


def test_a_sketch_estimates_within_a_few_percent() -> None:
    sketch = Sketch()
    for start in range(0, 200_000, 1_000):
        sketch.add(set(range(start, start + 1_000)), {int})
    assert abs(sketch.estimate() - 200_000) < 12_000


def test_an_overflowing_tally_goes_on_counting_what_it_knows() -> None:
    tally = ColumnTally(cap=10)
    for start in range(0, 1_000, 10):
        tally.add(["common", *(f"v{i}" for i in range(start, start + 10))])
    profile = tally.profile(sampled=False, indexing="part")
    assert tally.lost_texts
    assert profile.frequent[0] == ("common", 100)
    assert profile.distinct == 1_001
    assert not profile.distinct_exact
    assert profile.maximum == "v999"
