"""Tables made on a PostgreSQL server, by sqlwright itself: the demo's business, in a database that
is empty. Nothing else writes."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence

from sqlwright.database.address import parse_address
from sqlwright.database.postgres.opening import opening_of
from sqlwright.errors import DatabaseUnavailable
from sqlwright.presentation.numbers import counted

Row = tuple[object, ...]
_TABLES = """
    SELECT count(*) FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
        AND n.nspname <> 'information_schema'
"""
CONNECT_SECONDS = 10
"""Seconds that connecting may take."""


def fill_postgres(url: str, script: str, tables: Iterable[tuple[str, Sequence[Row]]]) -> None:
    """Make and fill tables in a database that has none, all or nothing. Raises DatabaseUnavailable,
    also where it has some."""
    address = parse_address(url)
    shown = address.url
    if address.engine != "postgres":
        raise DatabaseUnavailable(
            f"{shown} isn't on a PostgreSQL server.", hint="Write postgresql://user@host/database."
        )
    if importlib.util.find_spec("psycopg") is None:
        raise DatabaseUnavailable(
            f"{shown}: writing it needs the package psycopg, which isn't installed.",
            hint="Install it: pip install 'sqlwright[postgres]'",
        )
    import psycopg
    from psycopg import sql

    try:
        with psycopg.connect(
            opening_of(address)["text"], connect_timeout=CONNECT_SECONDS
        ) as connection:
            ((count,),) = connection.execute(_TABLES).fetchall()
            if count:
                raise DatabaseUnavailable(
                    f"{shown} isn't empty: it has {counted(count, 'table')}. Nothing was written.",
                    hint="Make an empty database for the demo: createdb harbor_and_pine.",
                )
            connection.execute(script.encode())
            for table, rows in tables:
                copy = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
                with connection.cursor() as cursor, cursor.copy(copy) as copied:
                    for row in rows:
                        copied.write_row(row)
            connection.execute("ANALYZE")
    except psycopg.Error as error:
        told = str(error).strip().partition("\n")[0]
        raise DatabaseUnavailable(
            f"{shown}: {told}", hint="Check that the login may create tables there."
        ) from error
