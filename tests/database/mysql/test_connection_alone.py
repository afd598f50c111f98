"""Statements sent to the guarded connection alone, without the tree check, by a login that may only
read and by one that may do everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.database.mysql.database import MysqlDatabase
from sqlwright.database.workers.process import WorkerDied, WorkerStopped
from sqlwright.protocols import Limits
from tests.database.mysql.conftest import Shop, alone, gone
from tests.waiting import PATIENCE_SECONDS

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "engines" / "mysql-connection.yaml").read_text("utf-8")
)
MADE = Path("/tmp/sqlwright-made")
SECONDS = 0.4


@pytest.fixture(scope="module", params=["reader", "owner"])
def asked(request: pytest.FixtureRequest, shop: Shop) -> Iterator[tuple[str, MysqlDatabase]]:
    opened = open_database(getattr(shop, request.param))
    assert isinstance(opened, MysqlDatabase)
    yield request.param, opened
    opened.close()


def outcome(database: MysqlDatabase, sql: str, seconds: float) -> str:
    """In a word: refused, fails, stopped or answers."""
    try:
        result = alone(database, sql, Limits(seconds=seconds))
    except WorkerStopped:
        return "stopped"
    except WorkerDied:
        return "fails"
    if result.error is None:
        return "answers"
    kinds = {"unsafe": "refused", "timeout": "stopped"}
    return kinds.get(result.error.kind, "fails")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["sql"][:50])
def test_a_statement_alone(
    case: dict[str, str], asked: tuple[str, MysqlDatabase], shop: Shop
) -> None:
    login, database = asked
    before = shop.state()
    seconds = SECONDS if case[login] == "stopped" else PATIENCE_SECONDS
    assert outcome(database, case["sql"], seconds) == case[login]
    assert shop.state() == before
    assert not MADE.exists()
    assert shop.server.rows("SELECT IS_FREE_LOCK('made')") == [(1,)]
    assert gone(shop, "login_"), shop.server.running("login_")


def test_nothing_stays_in_the_session(database: MysqlDatabase) -> None:
    assert alone(database, "SELECT @made := 7").rows == ((7,),)
    assert alone(database, "SELECT @made, @@tx_read_only, @@autocommit").rows == ((None, 1, 1),)
    assert alone(database, "SELECT GET_LOCK('other', 0)").rows == ((1,),)
    assert alone(database, "SELECT IS_FREE_LOCK('other')").rows == ((1,),)


def test_a_server_without_backslashes_is_read_as_the_check_reads(
    shop: Shop, database: MysqlDatabase
) -> None:
    mode = shop.server.rows("SELECT @@GLOBAL.sql_mode")[0][0]
    shop.server.run("SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'")
    opened = open_database(shop.reader)
    assert isinstance(opened, MysqlDatabase)
    try:
        found = alone(opened, r"""SELECT 'a\'b', "text", 1 || 0""")
        assert found.rows == (("a'b", "text", 1),)
    finally:
        opened.close()
        shop.server.run(f"SET GLOBAL sql_mode = '{mode}'")
