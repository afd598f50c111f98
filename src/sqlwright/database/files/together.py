"""Tables of files that are alike, as one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlwright.database.files.table import Columns, TableFile

_NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")
"""Types of numbers, the narrowest first."""


def together(tables: Sequence[TableFile], *, said: bool = False) -> TableFile | None:
    """One table of the rows of several, by the names of their columns; None where too few names
    are the same and the user hasn't `said` that they are one. A column that some lack is empty for
    their rows."""
    columns = union(tables)
    if not said and not _alike(tables):
        return None
    first = tables[0]
    made = tuple(_as_part(one, columns) for one in tables)
    paths = tuple(path for one in tables for path in one.paths)
    notes = list(dict.fromkeys(note for one in tables for note in one.notes))
    return replace(
        first, paths=paths, columns=columns,
        stored_names=tuple(name for name, _ in columns),
        size=sum(one.size for one in tables),
        empty=frozenset.intersection(*(one.empty for one in tables)),
        parts=() if first.sheets else made,
        sheets=tuple(part for one in made for part in one.sheets),
        notes=(*notes, *_lacking(tables, columns)),
        doubts=tuple(dict.fromkeys(doubt for one in tables for doubt in one.doubts)),
        details=tuple(dict.fromkeys(text for one in tables for text in one.details)),
        quoting=tuple(dict.fromkeys(text for one in tables for text in one.quoting)),
        unsure_header=any(one.unsure_header for one in tables),
    )  # fmt: skip


def _wider(kinds: set[str]) -> str:
    """The type that holds values of all of these."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds <= set(_NUMBERS):
        return max(kinds, key=_NUMBERS.index)
    return "TIMESTAMP" if kinds == {"DATE", "TIMESTAMP"} else "VARCHAR"


def union(tables: Sequence[TableFile]) -> Columns:
    """All columns, each where it first stands, and the types that hold their values."""
    names: dict[str, str] = {}
    kinds: dict[str, set[str]] = {}
    for one in tables:
        for name, kind in one.columns:
            key = name.lower()
            names.setdefault(key, name)
            held = kinds.setdefault(key, set())
            if name not in one.empty:
                held.add(kind)
    return tuple((name, _wider(kinds[key] or {"VARCHAR"})) for key, name in names.items())


def _alike(tables: Sequence[TableFile]) -> bool:
    """True if each has more than two thirds of the columns that most files have, and those are more
    than half of its own."""
    files = sum(len(one.paths) for one in tables)
    count: Counter[str] = Counter()
    for one in tables:
        count.update({name.lower(): len(one.paths) for name, _ in one.columns})
    common = {name for name, times in count.items() if 2 * times > files}
    shared = [
        (len(common & {n.lower() for n, _ in one.columns}), len(one.columns)) for one in tables
    ]
    return all(3 * same > 2 * len(common) and 2 * same > own for same, own in shared)


def _as_part(one: TableFile, columns: Columns) -> TableFile:
    """The same with the names and types of the whole."""
    whole = {name.lower(): (name, kind) for name, kind in columns}
    own = tuple(whole[name.lower()] for name, _ in one.columns)
    told = {name: whole[name.lower()][0] for name, _ in one.columns}
    return replace(
        one, columns=own, casts=one.casts or one.kind == "parquet",
        sheets=tuple(
            replace(
                part, names=tuple(told[name] for name in part.names),
                values={told[name]: value for name, value in part.values.items()},
            )
            for part in one.sheets
        ),
    )  # fmt: skip


def _lacking(tables: Sequence[TableFile], columns: Columns) -> Iterator[str]:
    for name, _ in columns:
        lack = [
            one for one in tables if name.lower() not in {own.lower() for own, _ in one.columns}
        ]
        if lack:
            files = [path for one in lack for path in one.paths]
            others = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            what = lack[0].sheets[0].sheet if lack[0].sheets and not others else files[0].name
            yield f"{name} isn't in {what}{others}, so it is empty in the rows from there."
