"""Results as judges see them: the rows in which they differ, within a bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from sqlwright.boundary.text import counted
from sqlwright.candidates import cell_key
from sqlwright.messages import Text
from sqlwright.prompts.cells import SpanWriter, flat, literal, roughly
from sqlwright.types import Cell, ExecutionResult

CHARACTERS = 12_000
"""Most characters of the rows of all results in a prompt, about 4,000 tokens; chosen."""
WHOLE = 5
"""Rows up to which a result is shown whole, whatever it shares with others."""
COLUMNS = 12
"""Most columns shown of a result."""
CELL = 50
"""Most characters shown of a cell."""
LEAST = 200
"""Characters that every result may have, however many there are."""

Rows = list[tuple[Cell, ...]]


def render_differences(
    results: Sequence[ExecutionResult], *, rows: int, characters: int
) -> list[Text]:
    """A text for each result: its size, the names of its columns, and the rows that not every one
    of the results has, those that fewest have first.

    A result of few rows is shown whole, and so are the first rows where results differ in nothing
    but order. At most `rows` rows are shown of each; `characters` is for the rows of all results
    together, in equal parts.
    """
    apart = _apart(results)
    most = max(characters // max(len(results), 1), LEAST)
    return [_rendered(result, own, rows, most) for result, own in zip(results, apart, strict=True)]


def _apart(results: Sequence[ExecutionResult]) -> list[Rows | None]:
    """Of each result the rows that not every one has, those that fewest have first; None where the
    first rows are to be shown: of all results if only order tells them apart, and of short ones."""
    keys = [[_key(row) for row in result.rows] for result in results]
    counts = [Counter(listed) for listed in keys]
    if all(count == counts[0] for count in counts):
        return [None] * len(results)
    apart: list[Rows | None] = []
    for result, listed in zip(results, keys, strict=True):
        if len(result.rows) <= WHOLE:
            apart.append(None)
            continue
        seen: Counter[Hashable] = Counter()
        own: list[tuple[int, tuple[Cell, ...]]] = []
        for row, key in zip(result.rows, listed, strict=True):
            seen[key] += 1  # a row that comes twice is in those results that have it twice
            having = sum(count[key] >= seen[key] for count in counts)
            if having < len(results):
                own.append((having, tuple(row)))
        apart.append([row for _, row in sorted(own, key=lambda pair: pair[0])])
    return apart


def _key(row: Sequence[Cell]) -> Hashable:
    """Equal for rows with the same cells, in whatever order of columns."""
    return frozenset(Counter(map(cell_key, row)).items())


def _rendered(result: ExecutionResult, own: Rows | None, rows: int, characters: int) -> Text:
    count, width = len(result.rows), len(result.columns)
    wanted = list(result.rows) if own is None else own
    lines: list[str] = []
    for row in wanted[:rows]:
        line = " | ".join(literal(cell, CELL) for cell in row[:COLUMNS])
        characters -= len(line) + 1
        if characters < 0 and lines:
            break
        lines.append(line[: max(characters + len(line), LEAST)])
    writer = SpanWriter()
    size = f"{'at least ' if result.truncated else ''}{counted(count, 'row')}"
    writer.add(size, "value", instead=roughly(count, "row"))
    writer.add(f", {counted(width, 'column')}", "template")
    if own is not None and not own:
        writer.add("; every group has them all", "value", instead="")
    elif own is not None:
        cut = "" if len(lines) == len(own) else f"{len(lines)} of "
        told = f"; {cut}the {counted(len(own), 'row')} that not every group has, the rarest first:"
        writer.add(told, "value", instead="; rows that not every group has, the rarest first:")
    elif len(lines) < count:
        writer.add(f"; the first {counted(len(lines), 'row')}:", "value", instead="")
    if width > COLUMNS:
        writer.add(f" (the first {COLUMNS} columns)", "template")
    writer.add("\n", "template")
    for number, name in enumerate(result.columns[:COLUMNS]):
        writer.add(" | " if number else "", "template")
        # A column without a name of its own is called by its expression, literals included.
        writer.add(flat(name)[:CELL], "model" if name.isidentifier() else "value")
    if lines:
        writer.add("\n", "template")
        # In one piece: as many marks as there are rows would be their number.
        writer.add("\n".join(lines), "value")
    return writer.text()
