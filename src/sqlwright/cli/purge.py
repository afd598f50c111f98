"""`sqlwright purge`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli import options
from sqlwright.cli.target import read_database

EXAMPLES = "sqlwright purge shop.sqlite"


def command(
    *,
    word: options.DatabaseWord = None,
    database: options.Database = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> int:
    """Remove what was prepared for a database. The database itself isn't touched."""
    target = read_database(word, database)

    from sqlwright.cli.console import Screen, settle_streams
    from sqlwright.cli.session import prepared_place, settled
    from sqlwright.cli.text import clean
    from sqlwright.prepare import purge

    settle_streams()
    folder = prepared_place(target, settled())
    removed = purge(target, folder=folder)
    if not quiet:
        done = "removed" if removed else "nothing was prepared in"
        Screen.open().note(f"{done} {clean(str(folder), 400)}", style="")
    return 0
