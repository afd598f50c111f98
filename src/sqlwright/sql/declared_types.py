"""The class of values that a column's declared type announces.

`type_class` is the rule, `standard_type` what a type is called where nothing is written for the
engine. `type_feature` is the parser's input, kept as it was trained, and
`affinity` is SQLite's own rule of how stored values are compared. Nothing binds a SQLite column to
its type.
"""

from __future__ import annotations

from functools import lru_cache

from sqlwright.schema import ColumnRef, Schema


@lru_cache(maxsize=1024)
def type_class(declared: str) -> str:
    """One of number, text, date, boolean and untyped, from a declared SQLite type."""
    name = declared.casefold()
    if not name:
        return "untyped"
    if "bool" in name or name.startswith("bit"):
        return "boolean"
    if any(part in name for part in ("date", "time", "year")):
        return "date"
    if any(part in name for part in ("char", "text", "clob", "string", "enum", "uuid")):
        return "text"
    parts = ("int", "real", "num", "dec", "doub", "float", "money", "serial")
    return "number" if any(part in name for part in parts) else "untyped"


_STANDARD = {
    **dict.fromkeys(
        ("DATETIME", "DATETIME2", "DATETIME64", "SMALLDATETIME", "TIMESTAMPNTZ", "TIMESTAMP_S",
         "TIMESTAMP_MS", "TIMESTAMP_NS"), "TIMESTAMP",
    ),
    **dict.fromkeys(("TIMESTAMPLTZ", "TIMESTAMPTZ"), "TIMESTAMPTZ"),
    **dict.fromkeys(
        ("BIGDECIMAL", "DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256", "DECFLOAT", "UDECIMAL",
         "MONEY", "SMALLMONEY"), "DECIMAL",
    ),
    **dict.fromkeys(("INT128", "INT256", "UINT128", "UINT256", "BIGNUM"), "HUGEINT"),
    **dict.fromkeys(("ENUM8", "ENUM16", "FIXEDSTRING", "NAME"), "TEXT"),
    "UINT": "UINTEGER", "UMEDIUMINT": "UINTEGER", "UDOUBLE": "DOUBLE", "DATE32": "DATE",
}  # fmt: skip
"""Standard names of types, by the parser's own; others are called as the parser calls them."""


def standard_type(declared: str, dialect: str) -> str:
    """A type's name that every engine's reader knows, for a dialect that nothing is written for:
    without what only says how it is stored. As declared where the parser doesn't know it."""
    from sqlglot import ParseError, exp

    try:
        found = exp.DataType.build(declared, dialect=dialect)
    except (ParseError, ValueError):
        return declared
    while found.this.name in {"LOWCARDINALITY", "SIMPLEAGGREGATEFUNCTION"} and found.expressions:
        inner = found.expressions[-1]
        if not isinstance(inner, exp.DataType):
            return declared
        found = inner
    name = getattr(found.this, "name", "")
    return _STANDARD.get(name) or found.sql()


@lru_cache(maxsize=1024)
def type_feature(declared: str) -> str:
    """The parser's input for a declared type, as it was trained: one of time-type, number-type,
    text-type and other-type. It differs from `type_class` for boolean, enum and serial."""
    text = declared.lower()
    if any(part in text for part in ("date", "time", "year")):
        return "time-type"
    if any(part in text for part in ("int", "real", "num", "dec", "float", "doub", "money")):
        return "number-type"
    if any(part in text for part in ("char", "text", "clob", "string")):
        return "text-type"
    return "other-type"


def affinity(schema: Schema, ref: ColumnRef) -> str:
    """A column's type affinity (SQLite documentation, "Datatypes In SQLite", section 3.1)."""
    column = schema.column(ref)
    declared = column.type.upper() if column else ""
    if "INT" in declared:
        return "integer"
    if any(word in declared for word in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if not declared or "BLOB" in declared:
        return "blob"
    if any(word in declared for word in ("REAL", "FLOA", "DOUB")):
        return "real"
    return "numeric"
