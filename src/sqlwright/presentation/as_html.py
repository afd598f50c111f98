"""An answer as a piece of HTML for notebooks and pages, light or dark.

It stands alone: its few styles are inline, colours are relative to the text around it, and there is
no script, link or image in it. Every text is escaped; see `presentation` for what else is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from sqlwright.presentation.answer import (
    cell_to_text,
    doubt_words,
    hidden_rows,
    percent,
    rows_words,
    shown_rows,
    usage_words,
    visible,
)
from sqlwright.presentation.sureness import basis_lines

if TYPE_CHECKING:
    from sqlwright.types import Answer, Candidate, Cell, QueryPart

_FAINT = "opacity:.7"
_LINE = "1px solid rgba(128,128,128,.35)"
_MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em"
_CELL = f"padding:.2em .7em;border-bottom:{_LINE};vertical-align:top"


def answer_to_html(answer: Answer, *, rows: int | None = None, cell: int = 300) -> str:
    """The answer as one `div`: at most `rows` rows (50, of a doubtful answer 5), each cell cut at
    `cell` characters."""
    rows = shown_rows(answer, 50) if rows is None else rows
    parts = [f'<p style="margin:.2em 0;font-weight:600">{_text(answer.question)}</p>']
    if answer.message:
        parts.append(
            f'<p style="margin:.2em 0">{_text(answer.status)}: {_text(answer.message)}</p>'
        )
    if answer.suggestion:
        parts.append(f'<p style="margin:.2em 0">{_text(answer.suggestion)}</p>')
    if answer.doubt:
        parts.append(f'<p style="margin:.2em 0;font-weight:600">{_text(doubt_words(answer))}</p>')
    if answer.sql:
        parts.append(_sql(answer.sql))
    if answer.columns and answer.status == "answered":
        parts.append(_table(answer.columns, answer.rows, rows, cell, answer.truncated))
        parts.append(_summary(answer))
    parts += [f'<p style="margin:.2em 0">\u26a0 {_text(note.text)}</p>' for note in answer.warnings]
    parts += [_understanding(answer), _alternatives(answer.alternatives), _times(answer)]
    return f'<div style="max-width:100%;overflow-x:auto">{"".join(parts)}</div>'


def _text(text: str, limit: int = 2_000) -> str:
    return f'<bdi style="unicode-bidi:isolate">{escape(visible(text, limit=limit))}</bdi>'


def _sql(sql: str) -> str:
    text = escape(visible(sql, limit=20_000, lines=True))
    return (
        f'<pre style="{_MONO};margin:.4em 0;padding:.5em .8em;border-left:3px solid '
        f'rgba(128,128,128,.5);white-space:pre-wrap">{text}</pre>'
    )


def _table(
    columns: Iterable[str],
    rows: tuple[tuple[Cell, ...], ...],
    limit: int,
    width: int,
    truncated: bool,
) -> str:
    head = "".join(f'<th style="{_CELL};text-align:left">{_text(c, width)}</th>' for c in columns)
    body = "".join(
        f"<tr>{''.join(_cell(cell, width) for cell in row)}</tr>" for row in rows[:limit]
    )
    more = ""
    if hidden := hidden_rows(len(rows) - limit, truncated):
        more = f'<p style="margin:.2em 0;{_FAINT}">{hidden}</p>'
    return (
        '<table style="border-collapse:collapse;margin:.4em 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _cell(cell: Cell, width: int) -> str:
    align = "right" if isinstance(cell, int | float) else "left"
    faint = f";{_FAINT}" if cell is None or isinstance(cell, bytes) else ""
    text = escape(cell_to_text(cell, limit=width))
    return (
        f'<td style="{_CELL};text-align:{align}{faint}">'
        f'<bdi style="unicode-bidi:isolate">{text}</bdi></td>'
    )


def _summary(answer: Answer) -> str:
    count = len(answer.rows)
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    cut = ", cut short" if answer.truncated else ""
    sure = (
        ""
        if answer.confidence is None or answer.doubt
        else f" \u00b7 {percent(answer.confidence)} sure"
    )
    known = "".join(
        f'<p style="margin:.2em 0;{"" if against else _FAINT}">{_text(text)}</p>'
        for text, against in basis_lines(answer)
    )
    return f'<p style="margin:.2em 0;{_FAINT}">{rows}{cut}{sure}</p>{known}'


def _details(title: str, body: str) -> str:
    if not body:
        return ""
    return f'<details style="margin:.2em 0"><summary>{escape(title)}</summary>{body}</details>'


def _understanding(answer: Answer) -> str:
    said = "".join(map(_part, answer.reading))
    tables = ", ".join(_text(name) for name in answer.used_tables)
    body = (f"<li>tables: {tables}</li>" if tables else "") + said
    return _details("How it was understood", f"<ul>{body}</ul>" if body else "")


def _part(part: QueryPart) -> str:
    inset = f' style="margin-left:{1.4 * min(part.depth, 8):.1f}em"' if part.depth else ""
    text = _text(part.text)
    if part.condition is not None and part.condition.matches:
        phrases = dict.fromkeys(match.phrase for match in part.condition.matches)
        rows = rows_words(part.condition)
        text = f"{', '.join(map(_text, phrases))} \u2192 {text}{f' ({rows})' if rows else ''}"
    return f"<li{inset}>{text}</li>"


def _alternatives(candidates: tuple[Candidate, ...]) -> str:
    shown = []
    for candidate in candidates:
        result = candidate.result
        table = ""
        if result and result.ok:
            table = _table(result.columns, result.rows, 5, 100, result.truncated)
        shown.append(_sql(candidate.sql) + table)
    return _details(f"What else it considered ({len(shown)})", "".join(shown))


def _times(answer: Answer) -> str:
    by_step: dict[str, list[float]] = {}
    for time in answer.times:
        by_step.setdefault(time.step, []).append(time.seconds)
    items = "".join(
        f"<li>{_text(step)}{f' × {len(each)}' if len(each) > 1 else ''}: "
        f"{sum(each) * 1000:,.1f} ms</li>"
        for step, each in by_step.items()
    )
    used = usage_words(answer.usage)
    note = f"<p>{_text(used)}</p>" if used else ""
    note += f"<p>recipe {_text(answer.recipe)}, trace {_text(answer.trace_id)}</p>"
    return _details("How long it took", f"<ul>{items}</ul>{note}" if items else "")
