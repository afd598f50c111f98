"""An answer as a piece of HTML for notebooks and pages, light or dark.

It stands alone: its few styles are inline, colours are relative to the text around it, and there is
no script, link or image in it. Every text is escaped; see `presentation` for what else is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlwright.presentation.accounting import answered_words
from sqlwright.presentation.answer import (
    doubt_words,
    rows_words,
    shown_rows,
)
from sqlwright.presentation.asking_back import assumed_words
from sqlwright.presentation.costs import usage_words
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import CELL, NOTHING, Content, Html, element, joined
from sqlwright.presentation.html.elements import foreign as foreign_text
from sqlwright.presentation.numbers import percent
from sqlwright.presentation.spent import spent_words
from sqlwright.presentation.sureness import basis_lines

if TYPE_CHECKING:
    from sqlwright.types import Answer, Candidate, QueryPart

_FAINT = "opacity:.7"
_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = f"padding:.2em .7em;border-bottom:{_LINE};vertical-align:top"
_STYLES = {
    "foreign": "unicode-bidi:isolate",
    "paragraph": "margin:.2em 0",
    "strong": "margin:.2em 0;font-weight:600",
    "faint": f"margin:.2em 0;{_FAINT}",
    "details": "margin:.2em 0",
    "code": "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;margin:.4em 0;"
    "padding:.5em .8em;border-left:3px solid rgba(128,128,128,.5);white-space:pre-wrap",
    "rows": "border-collapse:collapse;margin:.4em 0",
    "heading": f"{_CELL};text-align:left",
    "cell": f"{_CELL};text-align:left",
    "number": f"{_CELL};text-align:right",
    "absent": f"{_CELL};text-align:left;{_FAINT}",
}


def inline(kind: str) -> Mapping[str, str]:
    """The look of a piece that stands alone: a style for each kind."""
    return {"style": _STYLES[kind]} if kind in _STYLES else {}


def answer_to_html(answer: Answer, *, rows: int | None = None, cell: int = CELL) -> str:
    """The answer as one `div`: at most `rows` rows (50, of a doubtful answer 5), each cell cut at
    `cell` characters."""
    rows = shown_rows(answer, 50) if rows is None else rows
    parts = [_said(_text(answer.question), kind="strong")]
    if answer.message:
        parts.append(_said(_text(answer.status), ": ", _text(answer.message)))
    if answer.suggestion:
        parts.append(_said(_text(answer.suggestion)))
    if answer.doubt:
        parts.append(_said(_text(doubt_words(answer)), kind="strong"))
    if answer.sql:
        parts.append(_sql(answer.sql))
    if answer.columns and answer.status == "answered":
        cut = answer.truncated
        parts.append(
            blocks.rows_table(
                answer.columns, answer.rows, inline, most=rows, truncated=cut, width=cell
            )
        )
        parts.append(_summary(answer))
    if answer.question_back is not None:
        parts.append(_said("assumed: ", _text(assumed_words(answer.question_back))))
    if spent := spent_words(answer):
        parts.append(_said("spent: ", _text(spent), kind="faint"))
    parts += [_said("\u26a0 ", _text(note.text)) for note in answer.warnings]
    parts += [_understanding(answer), _alternatives(answer.alternatives), _times(answer)]
    return str(element("div", *parts, style="max-width:100%;overflow-x:auto"))


def _text(text: str) -> Html:
    return foreign_text(text, inline)


def _said(*content: Content, kind: str = "paragraph") -> Html:
    return blocks.paragraph(*content, kind=kind, look=inline)


def _sql(sql: str) -> Html:
    return blocks.code(sql, None, inline)


def _summary(answer: Answer) -> Html:
    count = len(answer.rows)
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    cut = ", cut short" if answer.truncated else ""
    sure = (
        ""
        if answer.confidence is None or answer.doubt
        else f" \u00b7 {percent(answer.confidence)} sure"
    )
    known = (
        _said(_text(text), kind="paragraph" if against else "faint")
        for text, against in basis_lines(answer)
    )
    return joined([_said(f"{rows}{cut}{sure}", kind="faint"), *known])


def _details(title: str, *body: Content) -> Html:
    return blocks.disclosure(title, *body, look=inline)


def _understanding(answer: Answer) -> Html:
    tables = joined((_text(name) for name in answer.used_tables), ", ")
    items = [element("li", "tables: ", tables)] if answer.used_tables else []
    items += [_part(part) for part in answer.reading]
    if answer.account is not None:
        told = (_text(answered_words(one)) for one in answer.account.phrases)
        items.append(element("li", "the question's words: ", joined(told, "; ")))
    return _details("How it was understood", element("ul", *items) if items else NOTHING)


def _part(part: QueryPart) -> Html:
    inset = {"style": f"margin-left:{1.4 * min(part.depth, 8):.1f}em"} if part.depth else {}
    told: list[Content] = [_text(part.text)]
    if part.condition is not None and part.condition.matches:
        phrases = dict.fromkeys(match.phrase for match in part.condition.matches)
        rows = rows_words(part.condition)
        before = joined(map(_text, phrases), ", ")
        told = [before, " \u2192 ", *told, f" ({rows})" if rows else ""]
    return element("li", *told, **inset)


def _alternatives(candidates: tuple[Candidate, ...]) -> Html:
    shown: list[Html] = []
    for candidate in candidates:
        shown.append(_sql(candidate.sql))
        result = candidate.result
        if result and result.ok:
            cut = result.truncated
            shown.append(
                blocks.rows_table(
                    result.columns, result.rows, inline, most=5, truncated=cut, width=100
                )
            )
    return _details(f"What else it considered ({len(candidates)})", *shown)


def _times(answer: Answer) -> Html:
    by_step: dict[str, list[float]] = {}
    for time in answer.times:
        by_step.setdefault(time.step, []).append(time.seconds)
    if not by_step:
        return NOTHING
    items = (
        element(
            "li",
            _text(step),
            f" \u00d7 {len(each)}" if len(each) > 1 else "",
            f": {sum(each) * 1000:,.1f} ms",
        )
        for step, each in by_step.items()
    )
    used = usage_words(answer.usage)
    note = [element("p", _text(used))] if used else []
    by = element("p", "recipe ", _text(answer.recipe), ", trace ", _text(answer.trace_id))
    return _details("How long it took", element("ul", *items), *note, by)
