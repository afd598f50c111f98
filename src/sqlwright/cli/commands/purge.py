"""`sqlwright purge`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import read_database

if TYPE_CHECKING:
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.prepare.storage.inventory import KeptFolder
    from sqlwright.settings.values import Settings

EXAMPLES = """\
sqlwright purge shop.sqlite
sqlwright purge --traces
sqlwright purge --all
"""


def command(
    *,
    word: options.DatabaseWord = None,
    database: options.Database = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove everything that was kept, of all databases.")
    ] = False,
    traces: Annotated[bool, typer.Option("--traces", help="Remove the traces only.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before --all.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> int:
    """Remove what was prepared for a database, and what models replied about it.

    No database is touched. Traces stay, unless --traces or --all is given. --all removes prepared
    data, traces, replies, the lines typed in chats, the demo, descriptions of data sets and copies
    that killed processes left; what lies where you put it (--record, --out) stays.
    """
    if everything + traces + bool(word or database) > 1:
        raise UsageError(
            "only one of a database, --traces and --all at a time",
            hint="--all includes the other two.",
        )

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen

    screen = Screen.open()
    if not everything and not traces:
        target = read_database(word, database)
        _purge_one(screen, target, settled(), quiet=quiet)
        return 0

    from sqlwright.cli.terminal.text import clean
    from sqlwright.prepare.storage import inventory

    home = settled().home_folder
    found = inventory.everything(home) if everything else inventory.traces(home)
    if not found and not quiet:
        what = "nothing is kept" if everything else "there are no traces"
        screen.note(f"{what} in {clean(str(home), 400)}", style="")
    if found and everything and not yes and not _agreed(screen, found):
        screen.note("nothing was removed", style="")
        return 0
    for kept in found:
        kept.remove()
        if not quiet:
            screen.note(f"removed {kept.words}, {_size(kept.bytes)}", style="")
    if everything:
        _close_up(screen, found, inventory.close_up(home), quiet=quiet)
    return 0


def _purge_one(screen: Screen, target: str, settings: Settings, *, quiet: bool) -> None:

    from sqlwright.cli.terminal.text import clean
    from sqlwright.llm.keeping.cache import forget
    from sqlwright.prepare import purge

    folder = settings.prepared_folder(target)
    removed = purge(target, folder=folder)
    forgotten = forget(settings.replies_folder(target))
    if quiet:
        return
    done = "removed" if removed else "nothing was prepared in"
    screen.note(f"{done} {clean(str(folder), 400)}", style="")
    if forgotten:
        kept = f"{forgotten:,} kept repl{'y' if forgotten == 1 else 'ies'}"
        screen.note(f"removed {kept} of language models", style="")


def _agreed(screen: Screen, found: list[KeptFolder]) -> bool:
    """True if a person who was shown what would be removed agrees. Raises UsageError without
    anybody."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "purge --all removes everything that was kept, and there is nobody to ask",
            hint="Say --yes to remove it unasked.",
        )
    for kept in found:
        screen.note(f"would remove {kept.words}, {_size(kept.bytes)}", style="")
    screen.note("Remove all this? [y/N]", style="strong")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _close_up(screen: Screen, found: list[KeptFolder], others: int, *, quiet: bool) -> None:
    if quiet:
        return
    if found:
        total = _size(sum(kept.bytes for kept in found))
        screen.note(f"{total} in all; files of --record and --out lie where you put them")
    if others:
        files = "1 file stays" if others == 1 else f"{others:,} files stay"
        screen.note(f"{files} that sqlwright didn't write", style="")


def _size(number: int) -> str:
    return f"{number / 1e6:,.1f} MB" if number >= 1e6 else f"{number / 1e3:,.1f} kB"
