"""A wrong answer as it is shown to whoever labels it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import indented, labelled, wrapped
from sqlwright.cli.terminal.table import table_lines
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions, sql_lines
from sqlwright.lab.evaluation.records import Record


def item_lines(record: Record, display: DisplayOptions) -> Iterator[Text]:
    """A wrong answer: question, evidence, both queries with what they gave, and what code says."""
    width = display.width
    yield from labelled("question", [Text(clean(record.question, 4_000))], width)
    if record.evidence:
        yield from labelled("evidence", [Text(clean(record.evidence, 4_000))], width)
    for name, sql in (("gold", record.gold_sql), ("query", record.sql)):
        yield Text(name, style="label")
        if sql is None:
            yield Text(f"  none: {clean(record.message or record.status, 400)}")
            continue
        yield from sql_lines(sql, display, record.dialect)
        yield from indented(_result_lines(record.results.get(name, {}), display))
    said = [
        Text.assemble((f"{clean(one['class'], 40):<12}", "strong"), clean(one["shown_by"], 1_000))
        for one in record.errors or ()
    ]
    yield from labelled("code says", said or [Text("nothing: no classes are in the run")], width)
    kind, shown = record.origin.get("kind", ""), record.origin.get("shown_by", "")
    if kind:
        told = f"{clean(kind.replace('_', ' '), 40)}{': ' if shown else ''}{clean(shown, 1_000)}"
        yield from labelled("first lost", [Text(told)], width)


def _result_lines(result: Mapping[str, Any], display: DisplayOptions) -> Iterator[Text]:
    """The first rows of a result, as the run kept them."""
    if "error" in result:
        yield from wrapped(Text(clean(str(result["error"]), 400), style="bad"), display.width - 2)
    elif result:
        yield from table_lines(
            result["columns"], result["rows"], width=display.width - 2, glyphs=display.glyphs
        )
        count = result["count"]
        yield Text(f"{count:,} row{'s' * (count != 1)}", style="quiet")
