"""Settles which questions are kept: those for which a second reader, who saw the question and the
schema alone, wrote a query with the writer's result.

    python -m training.questions NAME WRITTEN.jsonl READ.jsonl [READ.jsonl ...]

appends the questions on which both agree to `data/questions/NAME.jsonl`, each with the reader's
query, prints the ids of the others, and says how many agreed.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

from training.databases import build

FOLDER = Path(__file__).parent / "data" / "questions"
DIGITS = 4
"""Digits behind the point to which numbers are compared: readers round differently."""
WIDEST = 6
"""Columns up to which every order of them is tried."""

Rows = list[tuple[Any, ...]]


def load(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def rows_of(database: Path, sql: str) -> Rows:
    """The rows of a query, numbers rounded. Raises sqlite3.Error."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        return [tuple(map(_rounded, row)) for row in connection.execute(sql)]


def agree(one: Rows, other: Rows) -> bool:
    """True if the rows are the same, in any order of rows and of columns."""
    if len(one) != len(other):
        return False
    width = len(one[0]) if one else 0
    if other and len(other[0]) != width:
        return False
    wanted = Counter(map(repr, one))
    orders = permutations(range(width)) if width <= WIDEST else [tuple(range(width))]
    return any(
        wanted == Counter(repr(tuple(row[place] for place in order)) for row in other)
        for order in orders
    )


def settled(
    written: Iterable[Mapping[str, Any]], read: Mapping[str, Mapping[str, Any]], database: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """The questions on which writer and reader agree, with the reader's query, and the ids of those
    that were read and aren't agreed on."""
    kept, others = [], []
    for pair in written:
        reading = read.get(pair["id"])
        if reading is None:
            continue
        try:
            same = agree(rows_of(database, pair["sql"]), rows_of(database, reading["sql"]))
        except sqlite3.Error:
            same = False
        if same:
            second = {"reader": reading["reader"], "reader_sql": reading["sql"]}
            kept.append({**pair, **second})
        else:
            others.append(pair["id"])
    return kept, others


def _rounded(cell: Any) -> Any:
    if isinstance(cell, int | float):
        number = round(float(cell), DIGITS)
        return 0.0 if number == 0 else number
    return cell


def main(name: str, written: str, *readings: str) -> None:
    """Append what is agreed on."""
    read = {one["id"]: one for path in readings for one in load(Path(path))}
    with tempfile.TemporaryDirectory() as folder:
        kept, others = settled(load(Path(written)), read, build(name, Path(folder)))
    place = FOLDER / f"{name}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(one, ensure_ascii=False)}\n" for one in kept)
    print(f"{len(kept)} of {len(kept) + len(others)} agreed; not: {', '.join(others) or 'none'}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(
            "usage: python -m training.questions NAME WRITTEN.jsonl READ.jsonl [READ.jsonl ...]"
        )
    main(*sys.argv[1:])
