"""A query of the user's own: check it, say what it reads, run it under the guard."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from sqlwright.cli.answer import Look, sql_lines
from sqlwright.cli.layout import labelled
from sqlwright.cli.text import clean
from sqlwright.types import Answer, ExecutionResult, StepTime

if TYPE_CHECKING:
    from sqlwright.database.sqlite import SqliteDatabase
    from sqlwright.protocols import Database, Limits


def execute(
    database: Database,
    sql: str,
    *,
    limits: Limits,
    cancelled: threading.Event,
) -> ExecutionResult:
    """Run one query under the guard and within limits."""
    from sqlwright.protocols import Run

    return database.execute(sql, Run(cancelled=cancelled, limits=limits), limits=limits)


def result_answer(sql: str, result: ExecutionResult) -> Answer:
    """The result of a query nobody had to guess, in the form every answer has."""
    return Answer(
        status="answered",
        question="",
        sql=sql,
        dialect="sqlite",
        columns=result.columns,
        rows=result.rows,
        truncated=result.truncated,
        confidence=1.0,
        times=(StepTime("execute", result.elapsed),),
    )


def check_lines(database: SqliteDatabase, sql: str, look: Look, *, plan: bool) -> Iterator[Text]:
    """That the guard lets `sql` pass, what it reads, and on request how the database would go
    about it. Raises UnsafeQuery, and QueryError when the database can't make sense of it."""
    from sqlwright.sql import check_query, columns_used, format_sql, tables_used

    check_query(sql, database.dialect)
    steps = _plan(database, sql)
    schema = database.schema()
    verdict = Text.assemble((f"{look.glyphs.tick} ", "good"), "one query that only reads")
    yield from labelled("guard", [verdict], look.width)
    tables = sorted(tables_used(sql))
    columns = [clean(str(ref), 120) for ref in columns_used(sql, schema)]
    yield from labelled(
        "tables", [Text(clean(", ".join(tables), 1_000))] if tables else [], look.width
    )
    yield from labelled("columns", [Text(", ".join(columns))] if columns else [], look.width)
    if plan:
        yield Text()
        yield from sql_lines(format_sql(sql), look)
        yield Text()
        yield from labelled("plan", steps, look.width, hang=2)


def _plan(database: SqliteDatabase, sql: str) -> list[Text]:
    """SQLite's plan as an indented list. Explaining compiles a query and runs nothing of it."""
    from sqlwright.cli.sql import QueryError
    from sqlwright.database.connection import FAILURES

    depth: dict[object, int] = {}
    lines = []
    try:
        with database.reader() as connection:
            for number, parent, _, detail in connection.rows(
                f"EXPLAIN QUERY PLAN {sql.strip().rstrip(';')}"
            ):
                depth[number] = depth.get(parent, -1) + 1
                lines.append(Text("  " * min(depth[number], 10) + clean(str(detail), 300)))
    except FAILURES as error:
        raise QueryError(str(error)) from None
    return lines
