"""An answer as a piece of HTML for notebooks and pages, light or dark, by the template
`answer.html`.

It stands alone: its few styles are inline, colours are relative to the text around it, and there is
no script, link or image in it. Every text is escaped; see `presentation` for what else is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.boundary.text import percent
from sqlwright.presentation.accounting import answered_words
from sqlwright.presentation.answer import (
    assumed_words,
    doubt_words,
    rows_words,
    shown_rows,
    spent_words,
)
from sqlwright.presentation.html.templates import CELL, render
from sqlwright.presentation.numbers import usage_words
from sqlwright.presentation.sureness import basis_lines

if TYPE_CHECKING:
    from sqlwright.types import Answer, QueryPart


def answer_to_html(answer: Answer, *, rows: int | None = None, cell: int = CELL) -> str:
    """The answer as one `div`: at most `rows` rows (50, of a doubtful answer 5), each cell cut at
    `cell` characters."""
    times: dict[str, list[float]] = {}
    for time in answer.times:
        times.setdefault(time.step, []).append(time.seconds)
    account = answer.account
    return render(
        "answer.html",
        answer=answer,
        rows=shown_rows(answer, 50) if rows is None else rows,
        width=cell,
        doubt=doubt_words(answer),
        summary=_summary(answer),
        basis=list(basis_lines(answer)),
        assumed="" if answer.question_back is None else assumed_words(answer.question_back),
        spent=spent_words(answer),
        account=None if account is None else [answered_words(one) for one in account.phrases],
        reading=[_part(part) for part in answer.reading],
        times=times,
        used=usage_words(answer.usage),
    )


def _summary(answer: Answer) -> str:
    count = len(answer.rows)
    cut = ", cut short" if answer.truncated else ""
    sure = ""
    if answer.confidence is not None and not answer.doubt:
        sure = f" \u00b7 {percent(answer.confidence)} sure"
    return f"{count:,} row{'' if count == 1 else 's'}{cut}{sure}"


def _part(part: QueryPart) -> tuple[QueryPart, list[str], str]:
    """A part of the query with the phrases it comes from, and how many rows hold the values."""
    if part.condition is None or not part.condition.matches:
        return part, [], ""
    phrases = dict.fromkeys(match.phrase for match in part.condition.matches)
    return part, list(phrases), rows_words(part.condition)
