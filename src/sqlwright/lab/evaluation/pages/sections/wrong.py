"""The wrong answers, each with what shows that it is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from sqlwright.lab.evaluation.error_classes.origins import MEANINGS
from sqlwright.lab.evaluation.figures.errors import main_class
from sqlwright.lab.evaluation.pages.answers import (
    gold_query,
    origin_words,
    queries,
    query,
    reasons,
    rest_words,
    result_of,
    tag,
    told_of,
)
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.blocks import filters
from sqlwright.presentation.html.elements import NOTHING, Html, element, foreign, joined

ANSWERS = 500
"""Wrong answers on a page; chosen so that a browser opens it at once."""
PLACE = "wrong-answers"


def wrong_answers(run: MeasuredRun) -> Html:
    """The section; nothing where none is wrong."""
    shown = run.wrong[:ANSWERS]
    if not shown:
        return NOTHING
    return blocks.section(
        f"Wrong answers ({len(run.wrong):,})",
        blocks.paragraph(rest_words(len(shown), len(run.wrong)), kind="faint"),
        filters(
            PLACE,
            {
                "class": ("Main class", counted(shown, main_class, MEANINGS)),
                "database": ("Database", counted(shown, lambda one: one.db_id)),
            },
        ),
        element("ol", *map(_entry, shown), class_="answers", id=PLACE),
    )


def counted(
    records: Sequence[Record],
    key: Callable[[Record], str],
    order: Sequence[str] | dict[str, str] = (),
) -> list[tuple[str, str]]:
    """The values of a choice, each with its number of records; by their order, or by name."""
    counts = Counter(map(key, records))
    names = list(order)
    ordered = sorted(
        counts, key=lambda one: (names.index(one) if one in names else len(names), one)
    )
    return [(name, f"{name} ({counts[name]:,})") for name in ordered]


def _entry(record: Record) -> Html:
    tags = [main_class(record), origin_words(record), record.db_id]
    summary = joined([foreign(record.question), *(tag(one) for one in tags if one)])
    body = element(
        "div",
        told_of(record),
        reasons(record),
        queries(
            [
                ("Gold", gold_query(record), result_of(record, "gold")),
                ("Answer", query(record), result_of(record, "query")),
            ]
        ),
    )
    details = element("details", element("summary", summary), body)
    return element("li", details, data_class=main_class(record), data_database=record.db_id)
