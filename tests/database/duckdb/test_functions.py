"""Macros and enumerations of a DuckDB file: those that are named may be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.duckdb.database import DuckdbDatabase
from sqlwright.database.failures import ReadFailed, Refused
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.protocols import Run
from sqlwright.types.functions import OwnFunction
from tests.database.duckdb.conftest import make_database
from tests.database.named import attacks, read, shown

duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")

from sqlwright.database.duckdb.connection import GuardedConnection, Machine  # noqa: E402
from sqlwright.database.duckdb.engine import FAILURES  # noqa: E402

CASES = read("duckdb")
ATTACKS = attacks(CASES)
HIDDEN = CASES["hidden"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named")
    (folder / "secret.csv").write_text("a\ncanary\n", "utf-8")
    script = CASES["script"].replace("{file}", str(folder / "secret.csv"))
    return make_database(folder / "shop.duckdb", script)


@pytest.fixture(scope="module")
def named(path: Path) -> Iterator[DuckdbDatabase]:
    with DuckdbDatabase(path, functions=CASES["functions"]) as found:
        yield found


@pytest.fixture(scope="module")
def guarded(path: Path) -> Iterator[GuardedConnection]:
    machine = Machine(2)
    machine.set_memory(200_000_000)
    spaces = [(space or "main", own) for space, _, own in
              (name.rpartition(".") for name in CASES["functions"])]  # fmt: skip
    opening = {"file": str(path), "tables": None, "functions": spaces}
    connection = GuardedConnection(opening, machine)
    yield connection
    connection.close()


@pytest.mark.parametrize("case", CASES["passes"], ids=lambda case: case["sql"][:60])
def test_what_is_named_may_be_used(case: dict, named: DuckdbDatabase) -> None:
    assert shown(named.execute(case["sql"], Run())) == case["rows"]


@pytest.mark.parametrize("sql", ATTACKS)
def test_the_parse_tree_alone_refuses_everything_else(sql: str, named: DuckdbDatabase) -> None:
    with pytest.raises(UnsafeQuery):
        named.check(sql)


@pytest.mark.parametrize(
    "sql", [one for group in CASES["attacks"] if group["kind"] != "casts" for one in group["sql"]]
)
def test_the_connection_alone_refuses_it_too(sql: str, guarded: GuardedConnection) -> None:
    with pytest.raises((Refused, ReadFailed, *FAILURES)):
        list(guarded.execute(sql)[1])


@pytest.mark.parametrize("case", CASES["unsafe"], ids=lambda case: case["name"])
def test_a_macro_whose_text_does_not_pass_cannot_be_named(case: dict, path: Path) -> None:
    with pytest.raises(ConfigError, match=f"{case['name']} can't be .*{case['says']}") as caught:
        open_database(str(path), functions=[case["name"]])
    assert "Leave it out" in caught.value.hint
    machine = Machine(2)
    machine.set_memory(200_000_000)
    opening = {"file": str(path), "tables": None, "functions": [("main", case["name"])]}
    with pytest.raises((Refused, *FAILURES)):  # so the connection alone refuses it, too
        GuardedConnection(opening, machine)


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_a_name_that_is_not_there(case: dict, path: Path) -> None:
    with pytest.raises(ConfigError, match=case["says"]) as caught:
        open_database(str(path), functions=[case["name"]])
    assert "net_price" in caught.value.hint


def test_a_macro_shows_no_hidden_table(path: Path) -> None:
    tables = HIDDEN["tables"]
    for name in HIDDEN["unsafe"]:
        with pytest.raises(ConfigError, match="can't be among the functions: no such table: sec"):
            open_database(str(path), tables=tables, functions=["net_price", name])
    with open_database(str(path), tables=tables, functions=HIDDEN["functions"]) as shop:
        assert shop.execute("SELECT * FROM sales.above(1)", Run()).rows == ((1,),)
        assert shop.execute("SELECT price FROM priced", Run()).rows == ((100.0,),)
        for sql in HIDDEN["attacks"]:
            with pytest.raises(UnsafeQuery, match="casting"):
                shop.check(sql)
    with pytest.raises(ConfigError, match="it reads net_price"):
        open_database(str(path), tables=tables)


def test_macros_are_told(named: DuckdbDatabase) -> None:
    assert OwnFunction("net_price", "", "total, rate", "", "A price without tax") in named.functions
    assert OwnFunction("above", "sales", "low", "rows") in named.functions
    assert [one.arguments for one in named.functions if one.name == "tax"] == ["x", "x, y"]


def test_a_macro_that_is_changed_is_looked_at_again(tmp_path: Path) -> None:
    script = "CREATE TABLE t (a INTEGER); CREATE MACRO f(x) AS x + 1;"
    path = make_database(tmp_path / "shop.duckdb", script)
    with open_database(str(path), functions=["f"]) as shop:
        assert shop.execute("SELECT f(1)", Run()).rows == ((2,),)
        path.unlink()
        make_database(path, script.replace("x + 1", "(SELECT content FROM read_text('/etc/x'))"))
        result = shop.execute("SELECT f(1)", Run())
    assert result.error is not None
    assert result.error.kind == "unsafe"
    assert "read_text" in result.error.message


def test_files_hold_no_functions(tmp_path: Path) -> None:
    table = tmp_path / "sales.csv"
    table.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(ConfigError, match="files hold no functions"):
        open_database(str(table), functions=["f"])
