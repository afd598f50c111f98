"""Filled tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlwright.lab.evaluation.tables.commands import table_commands
from sqlwright.lab.evaluation.tables.filled import FilledPaper, FilledTable
from sqlwright.lab.evaluation.tables.words import COMPARABLE, beneath, body_of, head_of, title_of
from sqlwright.presentation.answer import visible


def to_markdown(filled: FilledPaper, name: str, *, out: str = "runs") -> str:
    """The tables of a paper, each with what is beneath it and the commands for what is missing."""
    return "\n".join(_lines(filled, name, out)) + "\n"


def _lines(filled: FilledPaper, name: str, out: str) -> Iterator[str]:
    yield f"# {filled.paper.title} ({filled.paper.source})"
    yield ""
    yield COMPARABLE
    for table in filled.tables:
        yield from ("", f"## {title_of(table)}", "")
        yield from _table(table)
        yield ""
        yield from (f"- {_text(one)}" for one in beneath(table, filled.choice))
        commands = table_commands(table, filled.choice, name, out=out)
        if commands:
            yield from ("", "What is missing:", "", "```sh", *commands, "```")
    yield from ("", *(f"- Not here: {one}." for one in filled.paper.left_out))
    yield from (f"- {_text(note)}." for note in filled.notes)


def _table(table: FilledTable) -> Iterator[str]:
    head = head_of(table)
    yield _row(head)
    yield _row(["---", *["---:"] * (len(head) - 1)])
    yield from (_row(body_of(table, row)) for row in table.rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _text(text: str) -> str:
    shown = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("|", "\\|").replace("*", "\\*") if shown != "---:" else shown
