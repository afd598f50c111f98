"""A question added to a golden set, and told."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.database import open_database
from sqlwright.database.address import parse_address, whole_address
from sqlwright.lab.evaluation.golden.adding import NewQuestion, add_question, stored_result
from sqlwright.lab.evaluation.golden.traced import traced_question
from sqlwright.presentation.numbers import counted
from sqlwright.settings.values import Settings

ALONE = "it followed other questions; a golden set keeps it alone, so say all that it means"


def add_traced(
    screen: Screen,
    file: Path,
    trace: Path,
    *,
    sql: str,
    with_result: bool,
    usual: str | None,
    chosen: Settings,
) -> None:
    """Add the question of a trace, whose query may do what `chosen` allows. `usual` is the address
    that questions go to without one: it may have the password that a trace doesn't. Raises
    WorkspaceError, DatasetError, DatabaseUnavailable and UnsafeQuery."""
    found = traced_question(trace, sql)
    new = found.new
    if with_result or parse_address(new.database).engine != "sqlite":
        address = whole_address(new.database, usual)
        tables, functions = chosen.tables_for(address), chosen.functions_for(address)
        opened = open_database(address, tables=tables, functions=functions)
        with closing(opened) as database:
            if with_result:
                new = replace(new, expected=stored_result(database, new.sql, chosen.max_scan))
            add_question(file, new, database.check)
    else:
        add_question(file, new)
    tell_added(screen, file, new, follows=found.follows)


def tell_added(screen: Screen, file: Path, new: NewQuestion, *, follows: bool) -> None:
    """Say what was added and where."""
    rows = "" if new.expected is None else f", with {counted(len(new.expected.rows), 'row')}"
    screen.note(f"added to {clean(str(file), 400)}{rows}: {clean(new.question, 400)}", style="")
    for line in clean_block(new.sql, 4_000).split("\n"):
        screen.note(f"  {line}")
    if follows:
        screen.note(ALONE, style="warning")
