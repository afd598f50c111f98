"""Feedback on a traced answer, checked before it is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlwright.boundary.feedback import Feedback, keep_feedback
from sqlwright.database import open_database
from sqlwright.database.address import whole_address
from sqlwright.errors import UserError, WorkspaceError
from sqlwright.presentation.answer import readable
from sqlwright.protocols import Limits, Run
from sqlwright.running.trace import read_trace
from sqlwright.settings.values import Settings


def judge(
    path: Path,
    *,
    right: bool,
    sql: str = "",
    usual: str | None = None,
    chosen: Settings | None = None,
) -> Feedback:
    """Keep beside a trace whether its answer was right, with a right query where it wasn't.

    The query must be one that reads, and run on the trace's database. `usual` is the address that
    questions go to without one: where it is the same database, it has the password. `chosen` says
    what the query may read and call. Raises WorkspaceError for a trace without an answer, UserError
    for another query, DatabaseUnavailable.
    """
    trace = read_trace(path)
    if not trace.answer:
        raise WorkspaceError(f"{trace.id} never came to an answer", hint="Judge another one.")
    if right and (trace.answer.get("status") != "answered" or not trace.answer.get("sql")):
        raise WorkspaceError(
            f"{trace.id} has no query that could be right", hint="Say --wrong, or judge another."
        )
    if sql:
        _check(
            sql, whole_address(str(trace.start.get("database", "")), usual), chosen or Settings()
        )
    said = datetime.now(UTC).isoformat(timespec="seconds")
    feedback = Feedback(right, readable(sql), said)
    keep_feedback(path, feedback)
    return feedback


def _check(sql: str, url: str, chosen: Settings) -> None:
    tables, functions = chosen.tables_for(url), chosen.functions_for(url)
    database = open_database(url, tables=tables, functions=functions)
    try:
        result = database.execute(sql, Run(), limits=Limits(scan=chosen.max_scan))
    finally:
        database.close()
    if result.error is not None:
        raise UserError(
            f"the query doesn't run: {result.error.message}",
            hint="Give a query that reads, as it would have been right.",
        )
