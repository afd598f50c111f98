"""How well inferred joins match declared ones: Spider's declared keys, hidden and inferred again.

A declared key counts once per pair of columns, without direction. Three readings of precision,
since many of Spider's databases declare fewer keys than they have: declared; declared or following
from declared keys (two columns that refer to the same one); those, or joined so in a query.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from training.embedded.split import load_split

from sqlwright.catalog.join_names import joined_columns
from sqlwright.catalog.joins import infer_joins
from sqlwright.catalog.reading import TimedReader
from sqlwright.catalog.scan import ScanLimits, scan_table
from sqlwright.database import open_database
from sqlwright.protocols import Run
from sqlwright.schema import ForeignKey, Schema

End = tuple[str, str]
Pair = frozenset[End]


def report(data: Path, part: str) -> None:
    """Print counts, recall and precision over one part of the training databases."""
    split = load_split(data)
    listed = {
        entry["db_id"]: entry for entry in json.loads((data / "spider/tables.json").read_text())
    }
    queries = defaultdict(list)
    for item in json.loads((data / "spider/train_spider.json").read_text()):
        queries[item["db_id"]].append(item["query"])
    total: Counter[str] = Counter()
    for name in sorted(getattr(split, part)):
        path = data / "spider/database" / name / f"{name}.sqlite"
        if path.exists():
            total += compare(path, listed[name], queries[name])
    inferred = total["inferred"]
    print(
        f"{total['databases']} databases of {part}, {total['declared']} declared pairs of columns"
    )
    print(f"recall {total['hit'] / total['declared']:.3f}")
    print(
        f"precision of {inferred}: {total['hit'] / inferred:.3f} declared,"
        f" {(total['hit'] + total['follows']) / inferred:.3f} declared or following from it,"
        f" {1 - total['other'] / inferred:.3f} with joins of queries"
    )


def compare(path: Path, entry: dict[str, Any], queries: list[str]) -> Counter[str]:
    """Counts for one database; prints what is neither declared nor used."""
    with open_database(str(path)) as database, database.reader() as reader:
        schema = database.schema()
        with TimedReader(reader, Run()) as reading:
            columns = [
                c for t in schema.tables for c in scan_table(reading, t, ScanLimits()).columns
            ]
            profiles = {column.ref: column.profile for column in columns}
            found = infer_joins(replace(schema, foreign_keys=()), profiles, reading)
    declared = {
        pair for pair in (*pairs(schema.foreign_keys), *listed_pairs(entry)) if len(pair) == 2
    }
    inferred = {pair: key for key in found for pair in pairs([key])}
    root = classes(declared)
    used = joined_in(queries, schema)
    total = Counter(databases=1, declared=len(declared), inferred=len(inferred))
    for pair, key in inferred.items():
        one, other = pair if len(pair) == 2 else (*pair, *pair)
        if pair in declared:
            total["hit"] += 1
        elif root(one) == root(other):
            total["follows"] += 1
        elif pair in used:
            total["used"] += 1
        else:
            total["other"] += 1
            print(f"  {path.stem}: {key.evidence}")
    return total


def pairs(keys: Iterable[ForeignKey]) -> list[Pair]:
    return [
        joined_columns(replace(key, columns=(near,), target_columns=(far,)))
        for key in keys
        for near, far in zip(key.columns, key.target_columns, strict=True)
    ]


def listed_pairs(entry: dict[str, Any]) -> list[Pair]:
    """The keys that Spider's tables.json lists."""
    tables, columns = entry["table_names_original"], entry["column_names_original"]
    return [
        frozenset((tables[columns[at][0]].casefold(), columns[at][1].casefold()) for at in key)
        for key in entry["foreign_keys"]
    ]


def classes(keys: Iterable[Pair]) -> Callable[[End], End]:
    """The class of each column under the declared keys."""
    parent: dict[End, End] = {}

    def root(end: End) -> End:
        while parent.setdefault(end, end) != end:
            end = parent[end]
        return end

    for key in keys:
        first, *rest = key
        for other in rest:
            parent[root(first)] = root(other)
    return root


def joined_in(queries: Iterable[str], schema: Schema) -> set[Pair]:
    """Pairs of columns that queries set equal."""
    import sqlglot
    from sqlglot import exp

    found: set[Pair] = set()
    for query in queries:
        try:
            tree = sqlglot.parse_one(query, dialect=schema.dialect)
        except sqlglot.ParseError:
            continue
        for select in tree.find_all(exp.Select):
            names = {
                table.alias_or_name.casefold(): table.name.casefold()
                for table in select.find_all(exp.Table)
            }
            for equal in select.find_all(exp.EQ):
                ends = [side for side in (equal.left, equal.right) if isinstance(side, exp.Column)]
                if len(ends) == 2 and all(end.table for end in ends):
                    found.add(
                        frozenset(
                            (
                                names.get(end.table.casefold(), end.table.casefold()),
                                end.name.casefold(),
                            )
                            for end in ends
                        )
                    )
    return found
