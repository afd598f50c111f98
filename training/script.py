"""Python values as SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Value = str | int | float | None

ROWS_A_STATEMENT = 200
"""Rows in one INSERT: few enough to read, many enough to be fast."""


def literal(value: Value) -> str:
    """A value as SQLite reads it. Booleans are refused: say whether they are 0/1, Y/N or T/F."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        raise TypeError("write a flag as the number or text that the column holds, not as a bool")
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def insert(table: str, rows: Iterable[Sequence[Value]]) -> str:
    """INSERT statements for rows of a whole table; the name is quoted. Raises ValueError where rows
    differ in length."""
    name = '"' + table.replace('"', '""') + '"'
    lines = [tuple(row) for row in rows]
    if len({len(line) for line in lines}) > 1:
        raise ValueError(f"rows of {table} differ in length")
    texts = ["(" + ", ".join(map(literal, line)) + ")" for line in lines]
    parts = [texts[i : i + ROWS_A_STATEMENT] for i in range(0, len(texts), ROWS_A_STATEMENT)]
    return "".join(f"INSERT INTO {name} VALUES\n" + ",\n".join(part) + ";\n" for part in parts)
