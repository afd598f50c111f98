"""One answer with its evidence: gold beside it, what both gave, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlwright.boundary.text import percent
from sqlwright.lab.evaluation.error_classes.origins import MEANINGS, ORIGINS
from sqlwright.lab.evaluation.pages.estimates import mapping, number_of
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.answer import hidden_rows
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, foreign, joined
from sqlwright.sql.pieces import cutting


def origin_words(record: Record) -> str:
    """The origin of a wrong answer: "not chosen at selection"."""
    kind, step = record.origin.get("kind", ""), record.origin.get("step", "")
    at = f" at {step}" if step else ""
    return f"{kind.replace('_', ' ')}{at}" if kind else ""


def tag(text: str) -> Html:
    """A short word about an answer."""
    return element("span", foreign(text, limit=140), class_="tag")


def told_of(record: Record) -> Html:
    """The origin of a question, in a line."""
    parts = [record.id, record.db_id, record.difficulty, *record.features]
    parts += [f"{name}: {value}" for name, value in record.tags.items()]
    if record.confidence is not None and record.status == "answered":
        parts.append(f"{percent(record.confidence)} sure")
    told = joined((foreign(part, limit=120) for part in parts if part), " · ")
    given = (
        blocks.paragraph("Evidence given: ", foreign(record.evidence)) if record.evidence else ""
    )
    return joined([blocks.paragraph(told, kind="faint"), given])


def reasons(record: Record) -> Html:
    """The classes of errors of a wrong answer, and the step that lost it."""
    items: list[Content] = []
    for one in record.errors or ():
        name = one.get("class", "")
        shown = one.get("shown_by", "") or MEANINGS.get(name, "")
        items.append(joined([element("strong", foreign(name)), ": ", foreign(shown)]))
    if words := origin_words(record):
        shown = record.origin.get("shown_by", "") or _origin_meaning(record)
        items.append(joined(["lost: ", element("strong", foreign(words)), ": ", foreign(shown)]))
    if record.message:
        items.append(joined([f"{record.status}: ", foreign(record.message)]))
    return blocks.listed(items)


def queries(shown: Sequence[tuple[str, Content, Content]]) -> Html:
    """Queries side by side: a title, the query, and what it gave."""
    entries = [
        element("div", blocks.heading(3, title, kind="small"), query, result)
        for title, query, result in shown
    ]
    return element("div", *entries, class_="pair")


def query(record: Record) -> Html:
    """The query that was answered with, or that there is none."""
    if record.sql:
        return blocks.code(record.sql, cutting(record.dialect))
    return blocks.paragraph(f"no query ({record.status})", kind="absent")


def gold_query(record: Record) -> Html:
    """The gold query, or that only its result was given."""
    if record.gold_sql:
        return blocks.code(record.gold_sql, cutting(record.dialect))
    return blocks.paragraph("a result is given")


def result_of(record: Record, name: str) -> Html:
    """The first rows that `gold` or `query` gave, as far as they are on record."""
    result: Mapping[str, Any] = mapping(record.results.get(name))
    if not result:
        return NOTHING
    if "error" in result:
        return blocks.paragraph(foreign(str(result["error"])), kind="bad")
    columns = [str(name) for name in result.get("columns", ())]
    rows = [list(row) for row in result.get("rows", ())]
    count = int(result.get("count", len(rows)))
    if not rows:
        return blocks.paragraph("no rows", kind="faint")
    table = blocks.rows_table(columns, rows, most=len(rows))
    more = hidden_rows(count - len(rows), truncated=False)
    return joined([table, blocks.paragraph(more, kind="faint")])


def _origin_meaning(record: Record) -> str:
    meanings: Mapping[str, str] = {str(kind): told for kind, told in ORIGINS.items()}
    return meanings.get(record.origin.get("kind", ""), "")


def rest_words(shown: int, total: int) -> str:
    """That more answers were wrong than are shown; empty if all are."""
    if shown >= total:
        return ""
    return (
        f"The first {shown:,} are shown; {number_of(total - shown, 'more wrong answer')} "
        "are in predictions.jsonl."
    )
