"""`sqlwright sql`."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.text import Text

from sqlwright.caveats import Look, expected
from sqlwright.cli.failure import INTERRUPTED, QueryError
from sqlwright.cli.opening import settled
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.interrupt import interruptible
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.options import one_form
from sqlwright.cli.typed.target import read_target
from sqlwright.cli.views.answer import DisplayOptions, sql_lines, warning_lines
from sqlwright.cli.views.ask import show_rows
from sqlwright.database import open_database
from sqlwright.errors import Cancelled, TooCostly, UnsafeQuery
from sqlwright.prepare.quick import column_profiles
from sqlwright.presentation.numbers import cost_words
from sqlwright.prompts.dialects.names import Names
from sqlwright.protocols import Database, Limits, Run
from sqlwright.running.answering import query_answer
from sqlwright.schema import Schema
from sqlwright.sql.reading import columns_used, format_sql, tables_used
from sqlwright.sql.tokens import UnreadableQuery
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.plans import QueryCost

EXAMPLES = """\
sqlwright sql shop.sqlite "SELECT country, count(*) FROM customers GROUP BY 1"
sqlwright sql shop.sqlite --check < report.sql
sqlwright sql shop.sqlite --explain "SELECT * FROM payments WHERE amount > 1000"
"""


def command(
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATABASE] SQL", help="Path or URL, then the query; - is stdin."),
    ] = None,
    database: options.Database = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether it would be run, and what it reads.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what it reads and the database's plan for it.")
    ] = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    as_csv_safe: options.AsCsvSafe = False,
    access: options.AccessOptions,
    shown: options.AnswerLimits,
    accept_login: options.AcceptLogin = False,
) -> int:
    """Check, explain or run a query of your own, under the guard.

    The guard is that of generated queries: only one query that reads is ever run, within limits
    of time, memory and rows. Notes say where NULL, equal rows or numbers held as text decide what
    comes. Ends with code 7 when the guard refuses, 12 on an SQL error.
    """
    form = one_form(json=as_json, csv=as_csv, csv_safe=as_csv_safe, check=check, explain=explain)
    target = read_target(words or (), database, what="query", accepted=accept_login)

    screen = Screen.open()
    if target.note:
        screen.note(clean(target.note, 400))
    settings = settled(access, max_rows=shown.max_rows)
    limits = settings.limits
    if shown.timeout is not None:
        limits = replace(limits, seconds=shown.timeout)
    opened = open_database(
        target.database,
        tables=settings.tables_for(target.database),
        functions=settings.functions_for(target.database),
    )
    try:
        if check or explain:
            display = DisplayOptions.of(screen, shown.max_rows)
            screen.show(check_lines(opened, target.text, display, plan=explain))
            return 0
        result, interrupted = execute(screen, opened, target.text, limits)
        if interrupted:
            return INTERRUPTED
        raise_failure(result, opened)
        answer = query_answer(target.text, result, look_at(opened, opened.schema()))
    finally:
        opened.close()
    show_rows(screen, answer, form, max_rows=shown.max_rows)
    return 0


SUGGESTED = 3
"""Names offered for one that isn't there."""


def execute(
    screen: Screen, database: Database, sql: str, limits: Limits
) -> tuple[ExecutionResult, bool]:
    """Run one query under the guard and within limits; its result, and whether Ctrl-C cut it
    short."""
    run = Run(cancelled=threading.Event(), limits=limits)
    with Spinner(screen, "running the query"):
        return interruptible(lambda: database.execute(sql, run, limits=limits), run.cancelled.set)


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Names that begin like a mistyped one, hold it, or are spelled like it; a few at most."""
    known = {name.casefold(): name for name in names}
    wanted = name.casefold()
    begin = [name for name in known if name.startswith(wanted)]
    hold = [name for name in known if len(wanted) > 1 and wanted in name]
    spelled = difflib.get_close_matches(wanted, known, n=SUGGESTED, cutoff=0.6)
    return [known[name] for name in dict.fromkeys((*begin, *hold, *spelled))][:SUGGESTED]


def advice_on(cause: ErrorCause, name: str, schema: Schema) -> str:
    """Advice on a query's mistake; for a name that isn't there, the nearest ones."""
    if cause not in {"unknown_table", "unknown_column"}:
        return ""

    last, names = name.rpartition(".")[2], Names(schema)
    if cause == "unknown_table":
        tables = [table.name for table in schema.tables]
        meant = [names.table(near) for near in nearest(last, tables) or nearest(name, tables)]
    else:
        found = nearest(last, {ref.column for ref in schema.columns})
        meant = [names.column(r) for near in found for r in schema.columns if r.column == near]
    # Written as a query has to: "Orders" may be there where Orders isn't.
    return _meant([one for one in meant if one != name][:SUGGESTED])


def _meant(names: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(clean(name, 120) for name in names)}?" if names else ""


def look_at(database: Database, schema: Schema) -> Look:
    """The database with profiles of the columns that a query makes doubtful, read then."""

    run = Run()
    return Look(database, schema, lambda refs: column_profiles(database, schema, refs, run), run)


def raise_failure(result: ExecutionResult, database: Database) -> None:
    """Turn a failed execution into the error that the command ends with."""
    error = result.error
    if error is None:
        return
    if error.kind == "unsafe":
        raise UnsafeQuery(error.message)
    if error.kind == "cancelled":
        raise Cancelled(error.message)
    if error.kind == "costly":
        advice = "Narrow the query, allow more with --max-scan, or leave that out."
        raise TooCostly(error.message, hint=advice)
    hints = {
        "timeout": "Allow more time with --timeout, or narrow the query.",
        "memory": "Narrow the query: fewer columns, a WHERE clause, a LIMIT.",
    }
    hint = hints.get(error.kind) or advice_on(error.cause, error.name, database.schema())
    raise QueryError(error.message, hint=hint)


def check_lines(
    database: Database, sql: str, display: DisplayOptions, *, plan: bool
) -> Iterator[Text]:
    """Lines saying that the guard lets `sql` pass, what it reads, and on request how the database
    would go about it. Raises UnsafeQuery, and QueryError when the database can't make sense of
    it."""

    try:
        database.check(sql)
    except UnreadableQuery as error:
        advice = advice_on(error.cause, error.name, database.schema())
        raise QueryError(str(error), hint=advice) from None
    cost = _cost(database, sql)
    steps = [Text(clean(line, 320)) for line in cost.outline]
    schema = database.schema()
    verdict = Text.assemble((f"{display.glyphs.tick} ", "good"), "one query that only reads")
    yield from labelled("guard", [verdict], display.width)
    tables = sorted(tables_used(sql, database.dialect))
    columns = [clean(str(ref), 120) for ref in columns_used(sql, schema)]
    yield from labelled(
        "tables", [Text(clean(", ".join(tables), 1_000))] if tables else [], display.width
    )
    yield from labelled("columns", [Text(", ".join(columns))] if columns else [], display.width)
    if cost.told:
        words = f"about {cost_words(cost)}, by the database's estimate"
        yield from labelled("reads", [Text(words)], display.width)
    yield from warning_lines(expected(sql, look_at(database, schema)), display)
    if plan:
        yield Text()
        yield from sql_lines(format_sql(sql, database.dialect), display, database.dialect)
        yield Text()
        yield from labelled("plan", steps, display.width, hang=2)


def _cost(database: Database, sql: str) -> QueryCost:
    """The engine's estimate of a query. Raises QueryError."""

    plan = database.cost(sql, Run())
    if plan.error is not None:
        advice = advice_on(plan.error.cause, plan.error.name, database.schema())
        raise QueryError(plan.error.message, hint=advice)
    return plan
