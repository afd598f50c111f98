"""An answer in the form that was asked for."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from sqlwright.cli.failure import INTERRUPTED, STATUS_CODES
from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.table import shape
from sqlwright.cli.terminal.text import portable_sql
from sqlwright.cli.views.answer import (
    DisplayOptions,
    answer_lines,
    assumed_lines,
    doubt_lines,
    result_lines,
    verdict_lines,
    warning_lines,
)
from sqlwright.cli.views.explain import explain_lines
from sqlwright.types import Answer


def show(
    screen: Screen,
    finding: AnswerAndState,
    form: str = "",
    *,
    explain: bool = False,
    max_rows: int | None = None,
    more: str = "--max-rows",
) -> None:
    """Print an answer: `form` is 'json', 'csv', 'csv-safe', 'sql', or empty for reading."""
    answer = finding.answer
    if form == "json":
        from sqlwright.presentation.answer import answer_to_json

        write_result(answer_to_json(answer, rows=max_rows).rstrip("\n") + "\n")
    elif form in {"csv", "csv-safe"}:
        _explain_absence(screen, answer, max_rows)
        if answer.columns:
            write_result(_csv(screen, answer, safe=form == "csv-safe", rows=max_rows))
    elif form == "sql":
        _explain_absence(screen, answer)
        if answer.sql:
            write_result(portable_sql(answer.sql.strip()) + "\n")
    elif explain:
        screen.show(explain_lines(answer, finding.state, DisplayOptions.of(screen, max_rows, more)))
    else:
        screen.show(answer_lines(answer, DisplayOptions.of(screen, max_rows, more)))


def show_found(
    screen: Screen, finding: AnswerAndState, interrupted: bool, form: str = "", **options: Any
) -> int:
    """Print an answer, complete or the best at hand when Ctrl-C came; give the exit code."""
    if not interrupted:
        show(screen, finding, form, **options)
        return STATUS_CODES[finding.answer.status]
    if finding.answer.status != "answered":
        screen.note("stopped before there was an answer", style="warning")
        return INTERRUPTED
    show(screen, finding, form, **options)
    screen.note("stopped early: this is the best that was at hand", style="warning")
    return INTERRUPTED


def show_rows(screen: Screen, answer: Answer, form: str, *, max_rows: int | None) -> None:
    """Print the rows of a query nobody had to guess."""
    if form:
        show(screen, AnswerAndState(answer), form, max_rows=max_rows)
        return
    display = DisplayOptions.of(screen, max_rows)
    screen.show(doubt_lines(answer, display))
    screen.show(result_lines(answer, display))
    screen.say(warning_lines(answer.warnings, display))


def _csv(screen: Screen, answer: Answer, *, safe: bool, rows: int | None) -> str:
    """Exact where it goes to a program or a file; on a terminal nothing in it acts."""
    from sqlwright.boundary.text import visible
    from sqlwright.presentation.as_csv import answer_to_csv

    text = answer_to_csv(answer, safe=safe, rows=rows)
    return visible(text, lines=True) if screen.interactive else text


def _explain_absence(screen: Screen, answer: Answer, rows: int | None = None) -> None:
    """Write to standard error what rows or a query alone wouldn't say."""
    display = DisplayOptions(max(screen.err.width, 20), screen.glyphs, screen.coloured, 0)
    screen.say(verdict_lines(answer, display))
    screen.say(doubt_lines(answer, display))
    screen.say(assumed_lines(answer, display.width))
    if answer.status == "answered" and not answer.rows and not answer.doubt:
        screen.say(labelled("note", [Text("no rows")], display.width))
    screen.say(warning_lines(answer.warnings, display))
    if rows is not None and rows < len(answer.rows):
        more = f"{len(answer.rows) - rows:,} more of {shape(1, len(answer.rows))}: --max-rows"
        screen.say(labelled("note", [Text(more)], display.width))
    elif answer.truncated:
        screen.say(
            labelled(
                "note",
                [Text(f"cut off after {len(answer.rows):,} rows; there are more")],
                display.width,
            )
        )
