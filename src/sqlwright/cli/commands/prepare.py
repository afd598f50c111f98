"""`sqlwright prepare`."""

from __future__ import annotations

import threading
from typing import Annotated

import typer
from rich.progress import TaskProgressColumn

from sqlwright.boundary.text import duration
from sqlwright.cli.failure import INTERRUPTED
from sqlwright.cli.opening import settled
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.interrupt import interruptible
from sqlwright.cli.terminal.layout import shorten
from sqlwright.cli.terminal.progress import TerminalBar
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import accept, read_database
from sqlwright.doctor import reading_lines
from sqlwright.errors import Cancelled
from sqlwright.prepare import Progress, prepare
from sqlwright.protocols import Run

EXAMPLES = """\
sqlwright prepare shop.sqlite
sqlwright prepare shop.sqlite --descriptions database_description
"""


def command(
    *,
    word: options.DatabaseWord = None,
    database: options.Database = None,
    descriptions: options.Descriptions = None,
    minhash: options.MinHash = None,
    vectors: options.Vectors = False,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            metavar="N",
            parser=options.count,
            help="Rows read of each table at most; of a larger one a sample from all over it.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="S",
            parser=options.seconds,
            help="About how long the database may be read; the same command goes on later.",
        ),
    ] = None,
    accept_login: options.AcceptLogin = False,
) -> int:
    """Read a database once, so that questions find every value.

    Only what changed is read again. Interrupt it whenever you like; it goes on where it was. The
    result lies in a private folder of yours, which 'sqlwright purge' removes.
    """
    target = read_database(word, database)
    if accept_login:
        accept(target)

    screen = Screen.open()
    settings = settled(descriptions=descriptions)
    cancelled = threading.Event()
    try:
        with PreparationProgress(screen) as headway:
            prepared, _ = interruptible(
                lambda: prepare(
                    target,
                    folder=settings.prepared_folder(target),
                    descriptions=settings.descriptions_for(target),
                    minhash=minhash,
                    vectors=vectors,
                    rows=rows,
                    seconds=seconds,
                    progress=headway,
                    run=Run(cancelled=cancelled),
                ),
                cancelled.set,
            )
    except (KeyboardInterrupt, Cancelled):
        screen.note("interrupted; the same command goes on from here", style="warning")
        return INTERRUPTED
    if prepared.readings is not None:
        for line in reading_lines(prepared.readings, target):
            screen.note(clean(line, 2_000), style="")
    for note in prepared.notes:
        screen.note(f"note: {clean(note, 400)}", style="warning")
    read, kept = len(prepared.read), len(prepared.reused)
    screen.note(
        f"{prepared.values:,} distinct values of {read + kept} tables "
        f"({read} read, {kept} unchanged) in {duration(prepared.seconds)}",
        style="",
    )
    screen.note(clean(str(prepared.folder), 400))
    return 0


STAGES = {
    "waiting": "waiting",
    "changes": "looking for changes",
    "tables": "reading",
    "joins": "inferring joins",
    "texts": "embedding names",
    "descriptions": "embedding descriptions",
    "index": "indexing values",
    "signatures": "making MinHash signatures",
    "vectors": "embedding values",
    "done": "done",
}


class PreparationProgress(TerminalBar):
    """A context that shows progress. Called from the working thread."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen, "opening", TaskProgressColumn())
        self._screen = screen
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        """Show where things are."""
        words = STAGES.get(progress.stage, clean(progress.stage, 40))
        if self._bar:
            room = max(self._screen.err.width - 34, 12)
            detail = shorten(f"{words} {clean(progress.detail, 200)}", room, self._screen.glyphs)
            self.show(progress.done, progress.total, detail)
        elif progress.stage not in (self._stage, "done"):
            self._stage = progress.stage
            self._screen.note(words)
