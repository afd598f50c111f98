"""`sqlwright sql`."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Annotated

import typer

from sqlwright.cli.failure import INTERRUPTED
from sqlwright.cli.typed import options
from sqlwright.cli.typed.options import one_form
from sqlwright.cli.typed.target import read_target

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

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.terminal.interrupt import interruptible
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.terminal.text import clean
    from sqlwright.cli.views.answer import DisplayOptions
    from sqlwright.cli.views.ask import show_rows
    from sqlwright.cli.views.sql import check_lines, execute, look_at, raise_failure
    from sqlwright.database import open_database
    from sqlwright.running.answering import query_answer

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
        cancelled = threading.Event()
        with Spinner(screen, "running the query"):
            result, interrupted = interruptible(
                lambda: execute(opened, target.text, limits=limits, cancelled=cancelled),
                cancelled.set,
            )
        if interrupted:
            return INTERRUPTED
        raise_failure(result, opened)
        answer = query_answer(target.text, result, look_at(opened, opened.schema()))
    finally:
        opened.close()
    show_rows(screen, answer, form, max_rows=shown.max_rows)
    return 0
