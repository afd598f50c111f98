"""How many stored constants of gold queries the words of their questions lead to, and how many of
the phrases found lead to none.

    python benchmarks/retrieval.py DATA [--part fit] [--misses]

A constant counts when the gold query compares a column with it as a whole (=, !=, IN) and the
column holds it; it is found when retrieval gives that value of that column. A phrase is false when
none of the values it found, in whatever column, is a constant of the gold query.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from training.embedded.pairs import Pair, TrainingDatabase, load_databases, load_pairs
from training.embedded.split import load_split

from sqlwright.errors import UnsupportedQuery
from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import linearize
from sqlwright.local.parser.constants import compared_column
from sqlwright.protocols import ValueIndex
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.values import retrieve_values

WHOLE = frozenset({"=", "!=", "in", "not_in"})
FEW = 3
"""Columns of at most so many values are shown to the parser whole, found or not."""


def constants(pair: Pair, known: TrainingDatabase) -> Iterator[tuple[ColumnRef, str]]:
    """The texts that a gold query compares columns with. Raises UnsupportedQuery."""
    symbols = linearize(read_sql(pair.sql, known.schema))
    for at, symbol in enumerate(symbols):
        if isinstance(symbol, Literal) and isinstance(symbol.value, str):
            column, operator = compared_column(symbols[:at])
            if column is not None and operator in WHOLE:
                yield column, symbol.value


def measure(
    pair: Pair, known: TrainingDatabase, index: ValueIndex, misses: list[str]
) -> Counter[str]:
    """Counts for one question; what wasn't found is added to `misses`."""
    try:
        wanted = set(constants(pair, known))
    except UnsupportedQuery:
        return Counter(unread=1)
    matches = retrieve_values(pair.question, index)
    found = {(match.column, match.value.casefold()) for match in matches}
    count = Counter(questions=1, matches=len(matches))
    for column, text in sorted(wanted):
        stored = known.values.get(column, ())
        if not any(text.casefold() == value.casefold() for value, _ in stored):
            continue
        hit = (column, text.casefold()) in found
        few = len(stored) <= FEW
        count.update(stored=1, hit=hit, of_many=not few, hit_of_many=hit and not few)
        if not hit:
            misses.append(f"{pair.database}: {column} = {text!r}: {pair.question.text}")
    texts = {text.casefold() for _, text in wanted}
    phrases: dict[tuple[int, int] | None, bool] = {}
    for match in matches:
        right = match.value.casefold() in texts
        phrases[match.span] = phrases.get(match.span, False) or right
    count.update(phrases=len(phrases), false=sum(not right for right in phrases.values()))
    return count


def report(data: Path, part: str, *, source: str, show: bool) -> None:
    """Print recall and the share of false phrases over one part of the training databases."""
    pairs = [pair for pair in load_pairs(data, load_split(data), (part,)) if pair.source == source]
    known = load_databases(data, {pair.database for pair in pairs})
    total: Counter[str] = Counter()
    misses: list[str] = []
    indexes = {
        name: memory_value_index(ColumnValues(ref, texts) for ref, texts in one.values.items())
        for name, one in known.items()
    }
    for pair in pairs:
        total += measure(pair, known[pair.database], indexes[pair.database], misses)
    print(
        f"{part}: {total['questions']} questions, {total['unread']} with a gold left out, "
        f"{total['matches'] / total['questions']:.2f} values a question\n"
        f"found {total['hit']} of {total['stored']} stored constants "
        f"({total['hit'] / total['stored']:.1%}), without columns of at most {FEW} values "
        f"{total['hit_of_many']} of {total['of_many']} "
        f"({total['hit_of_many'] / total['of_many']:.1%})\n"
        f"false phrases {total['false']} of {total['phrases']} "
        f"({total['false'] / total['phrases']:.1%})"
    )
    if show:
        print("\n".join(sorted(misses)))


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("fit", "valid", "calib"), default="fit")
    parser.add_argument("--source", choices=("spider", "spider-syn"), default="spider")
    parser.add_argument("--misses", action="store_true", help="list what wasn't found")
    options = parser.parse_args(None if arguments is None else list(arguments))
    report(options.data, options.part, source=options.source, show=options.misses)


if __name__ == "__main__":
    main()
