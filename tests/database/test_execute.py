"""Queries: rows, limits, errors as data."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.protocols import Database, Limits, Run
from sqlwright.types import ExecutionError, ExecutionResult
from tests.database.conftest import make_database

DENIAL = Path(__file__).parents[1] / "cases" / "denial" / "queries.yaml"
ENDLESS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r"
STUBBORN = "SELECT instr(printf('%30000000d', 1), replace(printf('%15000000d', 2), '2', '3'))"
"""One function call that SQLite can't interrupt."""
NUMBERS = """
    CREATE TABLE numbers (n INTEGER, t TEXT);
    WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 19999)
    INSERT INTO numbers SELECT i, 'text ' || i FROM r;
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    path = make_database(tmp_path_factory.mktemp("numbers") / "numbers.db", NUMBERS)
    opened = open_database(str(path))
    yield opened
    opened.close()


def error(result: ExecutionResult) -> ExecutionError:
    assert result.error is not None
    assert result.rows == ()
    assert result.error.message
    return result.error


def works(database: SqliteDatabase) -> bool:
    return database.execute("SELECT count(*) FROM numbers", Run()).rows == ((20_000,),)


def test_it_is_a_database(database: SqliteDatabase) -> None:
    assert isinstance(database, Database)
    assert database.dialect == "sqlite"
    assert database.url == f"sqlite:///{database.path}"


def test_rows(database: SqliteDatabase) -> None:
    result = database.execute(
        "SELECT n, n / 2.0 AS half, t, NULL, x'00ff', 9e999, -9223372036854775808 FROM numbers "
        "WHERE n IN (1, 3) ORDER BY n DESC",
        Run(),
    )
    assert result.columns[:3] == ("n", "half", "t")
    infinite = float("inf")
    smallest = -9223372036854775808
    assert result.rows == (
        (3, 1.5, "text 3", None, b"\x00\xff", infinite, smallest),
        (1, 0.5, "text 1", None, b"\x00\xff", infinite, smallest),
    )
    assert not result.truncated
    assert result.elapsed > 0


def test_no_rows_but_columns(database: SqliteDatabase) -> None:
    result = database.execute("SELECT n, t AS word FROM numbers WHERE 0", Run())
    assert (result.columns, result.rows, result.ok) == (("n", "word"), (), True)


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES (1, 'a'), (2, 'b')",
        "SELECT 1; ",
        "-- how many\nSELECT count(*) FROM numbers",
        "WITH x AS (SELECT n FROM numbers) SELECT count(*) FROM x",
        "WITH x(a, b) AS MATERIALIZED (SELECT n, t FROM numbers) SELECT count(*) FROM x",
        'SELECT n FROM numbers WHERE t = "text 5"',
        "SELECT name FROM sqlite_master",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT CAST(n AS DECIMAL(10, 2)) FROM numbers LIMIT 1",
        "SELECT row_number() OVER w FROM numbers WINDOW w AS (ORDER BY n) LIMIT 1",
        "SELECT date('now'), current_date, strftime('%Y', '2024-01-01')",
        "SELECT [n], `t` FROM main.numbers LIMIT 1",
        "SELECT count(*) FILTER (WHERE n > 3), group_concat(t, ', ' ORDER BY n) FROM numbers",
        "SELECT n -> '$', json_object('a', n) ->> '$.a' FROM numbers LIMIT 1",
        "SELECT CASE WHEN n BETWEEN 1 AND 2 THEN 'x' ELSE 'y' END FROM numbers LIMIT 1",
        "SELECT n FROM numbers WHERE n IN numbers2 LIMIT 1",
        "SELECT 1 FROM numbers EXCEPT SELECT 2 INTERSECT SELECT 1",
    ],
)
def test_queries_that_must_work(database: SqliteDatabase, sql: str) -> None:
    result = database.execute(sql, Run())
    if "numbers2" in sql:
        assert "numbers2" in error(result).message
    else:
        assert result.ok, result.error


@pytest.mark.parametrize(
    ("sql", "kind", "word"),
    [
        ("SELECT missing FROM numbers", "sql", "no such column: missing"),
        ("SELECT 1 FROM nowhere", "sql", "no such table: nowhere"),
        ("SELEC 1", "sql", "SELEC"),
        ("SELECT FROM WHERE", "sql", "read"),
        ("SELECT 'open", "sql", "quote"),
        ("", "sql", "no query"),
        ("  -- nothing\n", "sql", "no query"),
        ("SELECT YEAR(t) FROM numbers", "sql", "strftime"),
        ("SELECT ?", "sql", "parameters"),
        ("SELECT '\ud800'", "sql", "Unicode"),
        ("SELECT abs(-9223372036854775808)", "sql", "overflow"),
        ("DELETE FROM numbers", "unsafe", "DELETE"),
        ("SELECT 1; SELECT 2", "unsafe", "one statement"),
        ("SELECT load_extension('x')", "unsafe", "load_extension"),
        ("SELECT " + "(" * 200 + "1" + ")" * 200, "unsafe", "nests"),
        ("SELECT 1" + " " * 200_000, "unsafe", "longer"),
        ("SELECT '" + "x" * 99_000 + "' || t FROM numbers", "ok", ""),
        ("SELECT " + "+".join(["1"] * 400), "ok", ""),
        ("SELECT " + "+".join(["1"] * 10_000), "any", ""),
        (" UNION ALL ".join(["SELECT 1"] * 3_000), "any", ""),
        ("SELECT " + "NOT " * 20_000 + "1", "any", ""),
        ("SELECT " + "CASE WHEN 1 THEN " * 900 + "1" + " END" * 900, "any", ""),
    ],
)
def test_errors_are_data(database: SqliteDatabase, sql: str, kind: str, word: str) -> None:
    result = database.execute(sql, Run())
    if kind == "ok":
        assert result.ok, result.error
    elif kind == "any":
        assert result.error is None or result.error.kind in {"sql", "unsafe"}
    else:
        assert error(result).kind == kind
        assert word in error(result).message
    assert works(database)


@pytest.mark.parametrize(
    ("sql", "cause", "name"),
    [
        ("SELECT missing FROM numbers", "unknown_column", "missing"),
        ("SELECT numbers.missing FROM numbers", "unknown_column", "numbers.missing"),
        ("SELECT 1 FROM nowhere", "unknown_table", "nowhere"),
        ("SELECT YEAR(t) FROM numbers", "unknown_function", "year"),
        ("SELECT FROM WHERE", "syntax", ""),
        ("SELECT 'no such table: numbers' FROM numbers LIMIT 'x'", "", ""),
        ("SELECT abs(-9223372036854775808)", "", ""),
        ("DELETE FROM numbers", "", ""),
    ],
)
def test_an_error_says_what_is_wrong_with_the_query(
    database: SqliteDatabase, sql: str, cause: str, name: str
) -> None:
    found = error(database.execute(sql, Run()))
    assert (found.cause, found.name) == (cause, name)


def test_row_limit(database: SqliteDatabase) -> None:
    for rows, truncated in ((10, True), (20_000, False), (19_999, True)):
        result = database.execute("SELECT n FROM numbers", Run(), limits=Limits(rows=rows))
        assert len(result.rows) == rows
        assert result.truncated is truncated


def test_a_limit_of_time_beyond_any_clock(database: SqliteDatabase) -> None:
    assert database.execute("SELECT 1", Run(), limits=Limits(seconds=1e300)).ok


def test_the_run_brings_its_limits(database: SqliteDatabase) -> None:
    result = database.execute("SELECT n FROM numbers", Run(limits=Limits(rows=3)))
    assert (len(result.rows), result.truncated) == (3, True)


def test_result_bytes(database: SqliteDatabase) -> None:
    limits = Limits(result_bytes=50_000, rows=100_000)
    result = database.execute("SELECT printf('%1000d', n) FROM numbers", Run(), limits=limits)
    assert 45 <= len(result.rows) <= 50
    assert result.truncated


def test_cell_bytes(database: SqliteDatabase) -> None:
    limits = Limits(cell_bytes=10)
    result = database.execute(
        "SELECT 'short', 'longer than ten', x'000102030405060708090a0b', 'ééééééé', 12345678901234",
        Run(),
        limits=limits,
    )
    assert not result.truncated
    assert result.shortened == ((0, 1), (0, 2), (0, 3))
    assert result.rows == (("short", "longer tha", bytes(range(10)), "ééééé", 12345678901234),)
    exact = database.execute("SELECT '0123456789', 'ééééé'", Run(), limits=limits)
    assert not exact.shortened


def test_huge_rows_do_not_pile_up(database: SqliteDatabase) -> None:
    """Each cell 8 MB, a thousand of them: cut as they come, not after."""
    limits = Limits(cell_bytes=100, seconds=20, rows=30)
    result = database.execute("SELECT printf('%8000000d', n) FROM numbers", Run(), limits=limits)
    assert result.ok, result.error
    assert {len(str(row[0])) for row in result.rows} == {100}


def test_memory(database: SqliteDatabase) -> None:
    limits = Limits(memory_bytes=16 * 2**20, seconds=30)
    sql = "SELECT a.t, b.t FROM numbers a, numbers b ORDER BY a.t || b.t"
    assert error(database.execute(sql, Run(), limits=limits)).kind == "memory"
    assert works(database)
    big = database.execute("SELECT length(printf('%900000000d', 1))", Run())
    assert error(big).kind == "memory"
    assert works(database)


@pytest.mark.parametrize("name", yaml.safe_load(DENIAL.read_text(encoding="utf-8")))
def test_denial(database: SqliteDatabase, name: str) -> None:
    sql = yaml.safe_load(DENIAL.read_text(encoding="utf-8"))[name]
    limits = Limits(seconds=0.1, memory_bytes=256 * 2**20)
    result = database.execute(sql, Run(), limits=limits)
    if result.error is not None:
        assert result.error.kind in {"timeout", "memory"}, result.error
    assert works(database)


@pytest.mark.parametrize("sql", [ENDLESS, STUBBORN], ids=["endless", "stubborn"])
def test_cancelling(database: SqliteDatabase, sql: str) -> None:
    for delay in (0.0, 0.01, 0.1):
        run = Run()
        timer = threading.Timer(delay, run.cancelled.set)
        timer.start()
        assert error(database.execute(sql, run)).kind == "cancelled"
        timer.join()
        assert works(database)


@pytest.mark.parametrize("sql", [ENDLESS, STUBBORN], ids=["endless", "stubborn"])
def test_the_deadline_of_the_run(database: SqliteDatabase, sql: str) -> None:
    found = error(database.execute(sql, Run(seconds=0.1)))
    assert found.kind == "cancelled"
    assert "time" in found.message
    assert works(database)


def test_nothing_runs_for_a_cancelled_run(database: SqliteDatabase) -> None:
    run = Run()
    run.cancelled.set()
    assert error(database.execute("SELECT 1", run)).kind == "cancelled"
    assert error(database.execute("SELECT 1", Run(seconds=0))).kind == "cancelled"


def test_a_late_interrupt_does_not_hit_the_next_query(database: SqliteDatabase) -> None:
    """Queries that end about when their time does, each followed by one that must work."""
    sql = "SELECT sum(a.n * b.n) FROM numbers a JOIN numbers b ON b.n < 40"
    taken = database.execute(sql, Run()).elapsed
    for i in range(12):
        seconds = max(0.005, taken * (0.7 + 0.05 * i))
        result = database.execute(sql, Run(), limits=Limits(seconds=seconds))
        assert result.ok or (result.error and result.error.kind == "timeout")
        assert works(database)


def test_many_threads(database: SqliteDatabase) -> None:
    wrong: list[object] = []

    def ask(start: int) -> None:
        for n in range(start, start + 25):
            result = database.execute(f"SELECT t FROM numbers WHERE n = {n}", Run())
            if result.rows != ((f"text {n}",),):
                wrong.append(result)

    threads = [threading.Thread(target=ask, args=(i * 100,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(database.worker_pids) <= 4


def test_a_slow_query_does_not_hold_up_others(database: SqliteDatabase) -> None:
    run = Run()
    slow = threading.Thread(target=database.execute, args=(ENDLESS, run))
    slow.start()
    assert all(works(database) for _ in range(5))
    assert slow.is_alive()
    run.cancelled.set()
    slow.join()


def test_a_query_needs_no_worker_started_ahead(database: SqliteDatabase) -> None:
    program = (
        "import sys, threading; threading.stack_size(1 << 47); from pathlib import Path\n"
        "from sqlwright.database.sqlite.database import SqliteDatabase\n"
        "from sqlwright.protocols import Run\n"
        "with SqliteDatabase(Path(sys.argv[1])) as database:\n"
        "    print(database.execute('SELECT 1', Run()).rows)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(database.path)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("((1,),)\n", "")


ENDS = ["; -- the end", ";\n/* the end */ ;", " -- the ;\n", "/* never closed", "; -- ' \n;;", ""]


@pytest.mark.parametrize("end", ENDS)
def test_a_query_over_broken_text_may_end_as_others_do(tmp_path: Path, end: str) -> None:
    script = "CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'41ff' AS TEXT)), ('--;')"
    with open_database(str(make_database(tmp_path / "broken.db", script))) as database:
        result = database.execute(f"SELECT a, ';--' AS b FROM t{end}", Run())
    assert (result.error, result.rows) == (None, (("A\ufffd", ";--"), ("--;", ";--")))
