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
    """Remove what was prepared for a database, and what models replied about it.

    The database itself isn't touched. Traces stay.
    """
    target = read_database(word, database)

    from sqlwright.cli.console import Screen, settle_streams
    from sqlwright.cli.session import prepared_place, replies_place, settled
    from sqlwright.cli.text import clean
    from sqlwright.llm.cache import forget
    from sqlwright.prepare import purge

    settle_streams()
    settings = settled()
    folder = prepared_place(target, settings)
    removed = purge(target, folder=folder)
    forgotten = forget(replies_place(target, settings))
    if not quiet:
        done = "removed" if removed else "nothing was prepared in"
        screen = Screen.open()
        screen.note(f"{done} {clean(str(folder), 400)}", style="")
        if forgotten:
            kept = f"{forgotten:,} kept repl{'y' if forgotten == 1 else 'ies'}"
            screen.note(f"removed {kept} of language models", style="")
    return 0
