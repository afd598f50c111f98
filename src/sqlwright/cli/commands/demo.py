"""`sqlwright demo`."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from sqlwright import __version__
from sqlwright.api import Session
from sqlwright.boundary.text import duration, readable
from sqlwright.cli.opening import AnswerAndState, Asking, opener, settled, warm_session
from sqlwright.cli.page import check_place
from sqlwright.cli.terminal.console import Glyphs, Screen
from sqlwright.cli.terminal.interrupt import interruptible
from sqlwright.cli.terminal.layout import labelled, shorten
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions, answer_lines
from sqlwright.demo.business import DemoQuestion, demo_questions, write_business
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.prepare.storage.paths import disk_errors, make_private
from sqlwright.protocols import Run

EXAMPLES = """\
sqlwright demo
sqlwright demo --all
sqlwright demo --save shop.sqlite
sqlwright demo --engine duckdb
"""


def command(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all thirty questions, one line each.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Only write the business's database to a file, for questions of your own.",
        ),
    ] = None,
    engine: Annotated[
        Literal["sqlite", "duckdb"],
        typer.Option("--engine", help="The engine that the business is loaded into."),
    ] = "sqlite",
    recipe: Annotated[
        str | None,
        typer.Option("--recipe", "-r", metavar="NAME", help="Recipe to answer with."),
    ] = None,
) -> int:
    """See it answer thirty questions about a made-up business.

    Five are answered in full; all thirty are scored against known answers.
    """

    if save is not None:
        return save_business(Screen.open(), save, engine)
    return run_demo(Screen.open(), recipe=recipe, everything=everything, engine=engine)


ROOM = 4 << 20
"""Bytes that the demo's file and what SQLite writes beside it may take."""
SHOWN = (
    "How many orders were cancelled?",
    "List the names of customers in Germany.",
    "How many products are there in each category? Show the category name and the count.",
    "What is the total quantity in stock in the Hamburg warehouse?",
    "Which products have never been ordered? Give their names.",
)
"""One each of: a count with a stored value, a list, a grouping, a sum over a join, a difference."""
ROWS = 6
"""Rows shown of each of the demo's answers."""


@dataclass(frozen=True, slots=True)
class _Scored:
    question: DemoQuestion
    finding: AnswerAndState
    right: bool
    seconds: float


def run_demo(
    screen: Screen, *, recipe: str | None, everything: bool, engine: str = "sqlite"
) -> int:
    """Make the database, ask, show, score."""
    settings = replace(settled(recipe=recipe), database=None, descriptions=None)
    with Spinner(screen, "making the demo database"):
        address = str(demo_database(settings.home_folder / "demo", engine))
    with Spinner(screen, "opening the database and loading the models") as spinner:
        session = warm_session(opener(address, settings), spinner)
    with session:
        return _demonstrated(screen, session, everything=everything)


def _demonstrated(screen: Screen, session: Session, *, everything: bool) -> int:

    questions = demo_questions()
    database = session.workspace.database
    path = str(database.path or database.url)
    _introduce(screen, session, path)
    display = DisplayOptions.of(screen, ROWS, more="")
    scored: list[_Scored] = []
    in_full = [q for text in SHOWN for q in questions if q.text == text]
    for question in () if everything else in_full:
        outcome = _ask(screen, session, question)
        scored.append(outcome)
        screen.show([Text.assemble((f"> {question.text}", "strong")), Text()])
        screen.show(answer_lines(outcome.finding.answer, display))
        screen.show([_verdict(outcome, display), Text()])
    done = {outcome.question.text for outcome in scored}
    for question in questions:
        if question.text not in done:
            outcome = _ask(screen, session, question)
            scored.append(outcome)
            if everything:
                screen.show([_line(outcome, display)])
    screen.show(_closing(scored, path, display))
    return 0


def save_business(screen: Screen, path: Path, engine: str = "sqlite") -> int:
    """Write the demo's database to `path` and say what can be done with it. Raises UsageError where
    something is there already, or no folder is, and WorkspaceError when it can't be written."""
    check_place(path)
    named = readable(str(path))
    with Spinner(screen, "making the demo database"):
        _write(path, engine)
    shown = clean(shlex.quote(named), 400)
    lines = [Text.assemble((clean(named, 400), "strong"), ": Harbor & Pine, a made-up wholesaler")]
    commands = [f'sqlwright ask {shown} "{SHOWN[0]}"', f"sqlwright chat {shown}"]
    lines += labelled("your turn", map(Text, commands), screen.width)
    screen.show(lines)
    return 0


def demo_database(folder: Path, engine: str = "sqlite", *, room: int = ROOM) -> Path:
    """The demo's file in `folder`, made when it isn't there yet. Raises WorkspaceError, also when
    the disk has less than `room` bytes left for it."""

    make_private(folder)
    path = folder / f"harbor-and-pine-{__version__}.{engine}"
    if not path.exists():
        with disk_errors(folder):
            if shutil.disk_usage(folder).free < room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            _write(path, engine)
    return path


def _write(path: Path, engine: str) -> None:
    if engine == "duckdb":
        from sqlwright.demo.business import write_duckdb_business

        write_duckdb_business(path)
        return

    write_business(path)


def _introduce(screen: Screen, session: Session, path: str) -> None:
    schema = session.workspace.schema
    names = ", ".join(table.name for table in schema.tables)
    screen.show(
        [
            Text.assemble(("Harbor & Pine", "strong"), ", a wholesaler made up for this demo"),
            Text.assemble((f"{len(schema.tables)} tables: {names}", "quiet")),
            Text.assemble((clean(path, 400), "quiet")),
            Text(),
        ]
    )


def _ask(screen: Screen, session: Session, question: DemoQuestion) -> _Scored:

    asking = Asking(lambda: session, question.text)
    started = time.perf_counter()
    with Spinner(screen, question.text) as spinner:
        finding, interrupted = interruptible(lambda: asking.ask(session, spinner), asking.cancel)
    if interrupted:
        raise KeyboardInterrupt
    seconds = time.perf_counter() - started
    gold = session.workspace.database.execute(question.sql, Run())
    answer = finding.answer
    right = answer.status == "answered" and spider_match(
        answer.rows, gold.rows, ordered=orders(question.sql)
    )
    return _Scored(question, finding, right, seconds)


def _line(outcome: _Scored, display: DisplayOptions) -> Text:
    sign = _sign(outcome.right, display.glyphs)
    line = Text.assemble((f"{sign} ", "good" if outcome.right else "bad"))
    sure = outcome.finding.answer.confidence
    line.append(f"{'':4}  " if sure is None else f"{sure:4.0%}  ", style="quiet")
    line.append(shorten(outcome.question.text, max(display.width - 10, 20), display.glyphs))
    return line


def _verdict(outcome: _Scored, display: DisplayOptions) -> Text:
    words = "this is the known answer" if outcome.right else "the known answer is another one"
    style = "good" if outcome.right else "bad"
    return Text.assemble((f"{_sign(outcome.right, display.glyphs)} {words}", style))


def _sign(right: bool, glyphs: Glyphs) -> str:
    return glyphs.tick if right else glyphs.cross


def _closing(scored: Sequence[_Scored], path: str, display: DisplayOptions) -> list[Text]:
    """The score, and commands to go on with; `path` is the database."""
    right = sum(outcome.right for outcome in scored)
    typical = sorted(outcome.seconds for outcome in scored)[len(scored) // 2]
    lines = [
        Text.assemble(
            (f"{right} of {len(scored)}", "strong"),
            f" questions right, {duration(typical)} each (median), on this machine, offline",
        ),
        Text(),
    ]
    lines += labelled(
        "your turn",
        [
            Text('sqlwright ask your.sqlite "a question"'),
            Text("sqlwright chat your.sqlite"),
            Text(f"sqlwright chat {clean(path, 400)}"),
        ],
        display.width,
    )
    return lines
