"""The attack corpus against the connection alone, with a login that may only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.database.address import parse_address
from sqlwright.protocols import Limits, Run
from tests.database.postgres.conftest import UncheckedDatabase
from tests.servers.postgres import PostgresServer

CASES = Path(__file__).parents[2] / "cases"
ATTACKS = [
    sql
    for group in yaml.safe_load((CASES / "attacks/postgres/attacks.yaml").read_text("utf-8"))
    for sql in group["sql"]
]
SETUP = yaml.safe_load((CASES / "guard" / "setup.yaml").read_text("utf-8"))
MORE = """
INSERT INTO secrets VALUES (1, 'canary-4711');
INSERT INTO orders (id, total) VALUES (1, 10), (2, 20);
INSERT INTO customers (id, name) VALUES (1, 'Ann');
CREATE SEQUENCE orders_id_seq;
"""
STATE = """
SELECT pg_catalog.md5(pg_catalog.string_agg(one, '|' ORDER BY one)) FROM (
    SELECT 'o' || o::text FROM orders o UNION ALL SELECT 's' || s::text FROM secrets s
    UNION ALL SELECT 'c' || c::text FROM customers c
    UNION ALL SELECT 'r' || relname || relkind::text FROM pg_class WHERE oid >= 16384
    UNION ALL SELECT 'f' || proname FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT 'q' || last_value || is_called::text FROM orders_id_seq
    UNION ALL SELECT 'l' || oid::text FROM pg_largeobject_metadata
    UNION ALL SELECT 'p' || slot_name FROM pg_replication_slots
    UNION ALL SELECT 'g' || setdatabase::text || setconfig::text FROM pg_db_role_setting
) AS everything (one)
"""
SECONDS = 0.4


@pytest.fixture(scope="module")
def attacked(postgres_server: PostgresServer) -> Iterator[tuple[str, UncheckedDatabase]]:
    """The shop with a hidden table: its name, and opened by a login that may read the rest."""
    script = "; ".join(SETUP["postgres"]["statements"])
    name = postgres_server.create(f"{script}; {MORE}")
    listed = [*SETUP["readable"], *SETUP["postgres"]["readable"]]
    tables = [t.split(".") if "." in t else ["public", t] for t in listed]
    made = [
        "CREATE ROLE attacker LOGIN PASSWORD 'pw' NOINHERIT",
        f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC",
        *(f'GRANT USAGE ON SCHEMA "{space}" TO attacker' for space in {t[0] for t in tables}),
        *(f'GRANT SELECT ON "{space}"."{own}" TO attacker' for space, own in tables),
        "ALTER ROLE attacker SET default_transaction_read_only = on",
    ]
    postgres_server.run("; ".join(made), name)
    url = postgres_server.url(name, "attacker", "pw")
    with UncheckedDatabase.at(parse_address(url)) as found:
        yield name, found
    postgres_server.drop(name)
    postgres_server.run("DROP ROLE attacker")


def left_open(server: PostgresServer, name: str) -> list[tuple[Any, ...]]:
    return [
        *server.activity(name),
        *server.rows("SELECT * FROM pg_locks WHERE locktype = 'advisory'"),
    ]


def test_no_attack_harms_with_a_login_that_only_reads(
    postgres_server: PostgresServer, attacked: tuple[str, UncheckedDatabase]
) -> None:
    name, database = attacked
    assert len(ATTACKS) >= 150
    before = postgres_server.rows(STATE, name)
    harmed = []
    for sql in ATTACKS:
        result = database.execute(sql, Run(), limits=Limits(seconds=SECONDS))
        if "canary-4711" in str(result.rows):
            harmed.append(f"reads a hidden table: {sql}")
        if result.ok and (left_open(postgres_server, name)):
            harmed.append(f"leaves something open: {sql}")
    assert harmed == []
    assert postgres_server.rows(STATE, name) == before
    assert left_open(postgres_server, name) == []
    assert database.execute("SELECT count(*) FROM orders", Run()).rows == ((2,),)


LEFT = [
    # a statement, what tells whether it left something in the session, and what that says
    ("SELECT set_config('search_path', 'evil', false)", "current_setting('search_path')", "evil"),
    ("SELECT set_config('my.own', 'evil', false)", "current_setting('my.own', true)", "evil"),
    ("SELECT set_config('statement_timeout', '0', false)", "current_setting('statement_timeout')",
     "0"),
    ("SELECT set_config('datestyle', 'German', false)", "current_setting('datestyle')", "German"),
    ("SELECT pg_advisory_lock(7)",
     "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')", 1),
    ("SELECT pg_advisory_lock_shared(7)",
     "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')", 1),
    ("SELECT * FROM orders", "(SELECT count(*) FROM pg_locks WHERE relation = 'orders'::regclass)",
     1),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "told", "left"), LEFT)
def test_nothing_stays_in_the_session(
    sql: str, told: str, left: object, attacked: tuple[str, UncheckedDatabase]
) -> None:
    database = attacked[1]
    assert database.execute(sql, Run()).ok
    found = database.execute(f"SELECT {told}", Run())
    assert found.ok
    assert found.rows != ((left,),)
