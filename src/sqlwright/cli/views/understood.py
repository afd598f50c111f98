"""One part of what a query says, as a line."""

from __future__ import annotations

from rich.text import Text

from sqlwright.cli.terminal.console import Glyphs
from sqlwright.cli.terminal.text import clean
from sqlwright.presentation.answer import rows_words
from sqlwright.types import QueryPart

SAID = 400
"""Characters shown of one side of a condition, or of a part that is none."""


def part_line(part: QueryPart, glyphs: Glyphs) -> Text:
    """`"munich" → customers.city = 'München' (412 rows)`, set in by its depth."""
    line = Text("  " * part.depth)
    condition = part.condition
    if condition is None:
        line.append(clean(part.text, SAID))
        return line
    if part.lead:
        line.append(f"{part.lead} ")
    phrases = dict.fromkeys(clean(match.phrase, 80) for match in condition.matches)
    if phrases:
        line.append(", ".join(f'"{phrase}"' for phrase in phrases))
        line.append(f" {glyphs.arrow} ", style="quiet")
    line.append(clean(condition.subject, SAID), style="name")
    if condition.operator:
        line.append(f" {condition.operator}", style="quiet")
    if condition.object:
        line.append(" ")
        line.append(clean(condition.object, SAID), style="value")
    if rows := rows_words(condition):
        line.append(f" ({rows})", style="quiet")
    if part.text.endswith(":"):
        line.append(":")
    return line
