"""`sqlwright lab tables`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.cells import cell_len
from rich.text import Text

from sqlwright.boundary.text import to_json
from sqlwright.cli.failure import UsageError
from sqlwright.cli.page import check_place, keep_page
from sqlwright.cli.terminal.console import UNLIMITED, Screen, write_result
from sqlwright.cli.terminal.layout import PROSE, wrapped
from sqlwright.cli.terminal.table import GAP, table_lines
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.lab.evaluation.tables.filled import Choice, FilledPaper, FilledTable, fill, find_runs
from sqlwright.lab.evaluation.tables.forms import (
    COMPARABLE,
    beneath,
    body_of,
    commands_for,
    head_of,
    title_of,
    to_dict,
    to_markdown,
)
from sqlwright.lab.evaluation.tables.page import to_html
from sqlwright.lab.evaluation.tables.papers import find_paper

EXAMPLES = """\
sqlwright lab tables chess --runs runs/chess
sqlwright lab tables msc --runs runs --model ollama/qwen3 --markdown > msc.md
sqlwright lab tables chase --missing -m openai/gpt-4.1
"""


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="chess, chase, mag or msc.")],
    *,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            "--runs",
            "-r",
            metavar="FOLDER",
            help="Runs of 'evaluate' and 'ablate', or a folder with such folders. May be repeated.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="Only runs with this model.")
    ] = "",
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="Runs over this data set, by its name in run.json, in place of the paper's.",
        ),
    ] = "",
    missing: Annotated[
        bool, typer.Option("--missing", help="Print only the commands for what wasn't run.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.AsJson = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page of HTML.")
    ] = None,
) -> int:
    """Show the tables of a paper with the figures of your runs beside the paper's own.

    Each of ours has its interval and number of questions, a dash stands where nothing was run, and
    beneath each table is the command that runs what is missing. Of several runs that fit, the one
    with most questions counts, then the newest.
    """

    if missing + markdown + as_json > 1:
        raise UsageError("one form at a time", hint="Give one of --missing, --markdown and --json.")
    output: Output = "terminal"
    if missing or markdown or as_json:
        output = "missing" if missing else "markdown" if markdown else "json"
    return show_tables(
        Screen.open(), paper, runs or (), Choice(model, dataset), output=output, page=html
    )


Output = Literal["terminal", "missing", "markdown", "json"]


def show_tables(
    screen: Screen,
    name: str,
    folders: Sequence[Path],
    choice: Choice,
    *,
    output: Output,
    page: Path | None,
) -> int:
    """Fill the tables and show them; give the exit code. Raises ConfigError for an unknown paper,
    DatasetError for a folder that isn't there, WorkspaceError where the page can't be written."""

    check_place(page)
    paper = find_paper(name)
    filled = fill(paper, find_runs(folders), choice)
    out = str(folders[0]) if folders else "runs"
    if page is not None:
        keep_page(screen, page, to_html(filled, name, out=out))
    if output != "terminal":
        write_result(_text(filled, name, out, output))
    elif page is None:
        screen.show(tables_lines(screen, filled, name, out))
    for note in filled.notes:
        screen.warn(note)
    return 0


def tables_lines(screen: Screen, filled: FilledPaper, name: str, out: str) -> Iterator[Text]:
    """Each table, what is to be known of it, and the commands for what is missing."""

    width = screen.width if screen.width >= UNLIMITED // 2 else min(screen.width, PROSE)
    yield Text(f"{filled.paper.title} ({filled.paper.source})", style="strong")
    yield from wrapped(Text(COMPARABLE, style="quiet"), width)
    for table in filled.tables:
        yield from _table_lines(screen, table, filled, name, out)
    for one in filled.paper.left_out:
        yield from wrapped(Text(f"Not here: {one}.", style="quiet"), width)


def _table_lines(
    screen: Screen, table: FilledTable, filled: FilledPaper, name: str, out: str
) -> Iterator[Text]:

    width = screen.width if screen.width >= UNLIMITED // 2 else min(screen.width, PROSE)
    yield Text()
    yield Text(title_of(table), style="strong")
    body = [["", *head_of(table)[1:]], *(body_of(table, row) for row in table.rows)]
    for head, *rows in in_parts(body, screen.width):
        yield from table_lines(head, rows, width=screen.width, glyphs=screen.glyphs)
    for line in beneath(table, filled.choice):
        yield from wrapped(Text(clean(line, 600), style="quiet"), width)
    commands = commands_for([table], filled.choice, name, out=out)
    if commands:
        yield Text("What is missing:", style="quiet")
        # Not wrapped: a command is copied as it stands.
        yield from (Text(f"  {clean(command, 4_000)}", no_wrap=True) for command in commands)


def in_parts(body: Sequence[Sequence[str]], width: int) -> Iterator[list[list[str]]]:
    """The table, or where it is too wide its columns in several, each with the rows' labels."""
    widths = [max(map(cell_len, column)) + GAP for column in zip(*body, strict=True)]
    room, part = width - widths[0], [0]
    for place, needed in enumerate(widths[1:], start=1):
        if len(part) > 1 and needed > room:
            yield [[row[one] for one in part] for row in body]
            room, part = width - widths[0], [0]
        part.append(place)
        room -= needed
    yield [[row[one] for one in part] for row in body]


def _text(filled: FilledPaper, name: str, out: str, output: Output) -> str:

    if output == "missing":
        commands = commands_for(filled.tables, filled.choice, name, out=out)
        return "".join(f"{command}\n" for command in commands)
    if output == "markdown":
        return to_markdown(filled, name, out=out)

    return to_json(to_dict(filled, name, out=out), indent=2) + "\n"
