"""Texts of CSV files as values of a type: what DuckDB's reader does, as an expression.

The reader takes a text for no value in all columns or in none; an expression does it in one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.sql.tokens import quote_text

_WHOLE = frozenset({
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT",
})  # fmt: skip
_BROKEN = frozenset({"FLOAT", "DOUBLE", "REAL", "DECIMAL"})
_FORMATS = {"DATE": "dateformat", "TIMESTAMP": "timestampformat"}
"""Types whose texts may have a format, and DuckDB's option that says it."""


def value_of(column: str, kind: str, marks: Sequence[str], options: Mapping[str, object]) -> str:
    """The expression of a column of texts as a type, NULL for the texts that stand for no value;
    `options` are those of DuckDB's reader. It fails for a text that is no value of the type."""
    return f"CASE WHEN {column} NOT IN ({_listed(marks)}) THEN {_cast(column, kind, options)} END"


def fits(column: str, kind: str, marks: Sequence[str], options: Mapping[str, object]) -> str:
    """The condition of the rows whose text is a value of the type, or none."""
    cast = _cast(column, kind, options)
    return f"({column} IS NULL OR {column} IN ({_listed(marks)}) OR TRY({cast}) IS NOT NULL)"


def _cast(column: str, kind: str, options: Mapping[str, object]) -> str:
    if kind == "VARCHAR":
        return column
    name = kind.partition("(")[0].strip()
    written = options.get(_FORMATS.get(name, ""))
    if written:
        column = f"strptime({column}, {quote_text(str(written))})"
    if name in _WHOLE | _BROKEN:
        thousands = options.get("thousands")
        if thousands:
            column = f"replace({column}, {quote_text(str(thousands))}, '')"
        if name in _BROKEN and options.get("decimal_separator") == ",":
            column = f"translate({column}, '.,', ',.')"
    return f"CAST({column} AS {kind})"


def _listed(marks: Sequence[str]) -> str:
    return ", ".join(map(quote_text, marks))
