"""Settles which questions are kept: those for which a second reader, who saw the question and the
schema alone, wrote a query with the writer's result.

    python -m training.questions [--data DATA] NAME WRITTEN.jsonl READ.jsonl [READ.jsonl ...]

appends the questions on which both agree to `data/questions/NAME.jsonl`, each with the reader's
query, prints the ids of the others, says how many agreed and notes it in `data/agreement.json`. Where
NAME is a database of Spider's, DATA is the folder with `spider/`, and the questions are kept in
`data/questions/spider/`, because they are under Spider's licence.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import apsw
from training.databases import build, names

FOLDER = Path(__file__).parent / "data" / "questions"
DIGITS = 4
"""Digits behind the point to which numbers are compared: readers round differently."""
WIDEST = 6
"""Columns up to which every order of them is tried."""
NUMBER = re.compile(r"-?\d+(\.\d+)?")
AGREEMENT = Path(__file__).parent / "data" / "agreement.json"

Rows = list[tuple[Any, ...]]


def load(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def rows_of(database: Path, sql: str) -> Rows:
    """The rows of a query, numbers rounded, texts that are numbers as numbers. Raises apsw.Error."""
    name, flags = f"{database.as_uri()}?mode=ro", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(name, flags=flags)) as connection:
        return [tuple(map(_rounded, row)) for row in connection.execute(sql)]


def database_file(name: str, folder: Path, data: Path | None) -> Path:
    """The file of a database: one of our own is built into the folder, one of Spider's is read
    where it lies. Raises FileNotFoundError."""
    if name in names():
        return build(name, folder)
    path = (data or Path()) / "spider" / "database" / name / f"{name}.sqlite"
    if not path.exists():
        raise FileNotFoundError(f"{name} is neither a database of our own nor at {path}")
    return path


def questions_file(name: str) -> Path:
    """Where the questions over a database are kept."""
    return FOLDER / f"{name}.jsonl" if name in names() else FOLDER / "spider" / f"{name}.jsonl"


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
        if not reading["sql"]:  # the reader found no one reading
            others.append(pair["id"])
            continue
        try:
            same = agree(rows_of(database, pair["sql"]), rows_of(database, reading["sql"]))
        except apsw.Error:
            same = False
        if same:
            second = {"reader": reading["reader"], "reader_sql": reading["sql"]}
            kept.append({**pair, **second})
        else:
            others.append(pair["id"])
    return kept, others


def _rounded(cell: Any) -> Any:
    if isinstance(cell, int | float) or (isinstance(cell, str) and NUMBER.fullmatch(cell)):
        number = round(float(cell), DIGITS)
        return 0.0 if number == 0 else number
    return cell


def note(name: str, read: int, agreed: int) -> None:
    """Add to the counts of what was read and agreed on over a database."""
    counts = json.loads(AGREEMENT.read_text("utf-8")) if AGREEMENT.exists() else {}
    before = counts.get(name, {"read": 0, "agreed": 0})
    counts[name] = {"read": before["read"] + read, "agreed": before["agreed"] + agreed}
    AGREEMENT.write_text(json.dumps(dict(sorted(counts.items())), indent=1) + "\n", "utf-8")


def main() -> None:
    """Append what is agreed on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("written", type=Path)
    parser.add_argument("readings", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, help="the folder with spider/")
    options = parser.parse_args()
    read = {one["id"]: one for path in options.readings for one in load(path)}
    place = questions_file(options.name)
    known = {one["id"] for one in load(place)} if place.exists() else set()
    written = [one for one in load(options.written) if one["id"] not in known]
    with tempfile.TemporaryDirectory() as folder:
        database = database_file(options.name, Path(folder), options.data)
        kept, others = settled(written, read, database)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(one, ensure_ascii=False)}\n" for one in kept)
    note(options.name, len(kept) + len(others), len(kept))
    print(f"{len(kept)} of {len(kept) + len(others)} agreed; not: {', '.join(others) or 'none'}")


if __name__ == "__main__":
    main()
