"""Expressions that read one column, by its declared type where the engine keeps to it.

SQLite stores anything anywhere, so there each cell says what it is (`typeof`); everywhere else the
declared type tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sqlwright.schema import Column
from sqlwright.sql.dialects import DIALECTS, SQLITE, Dialect
from sqlwright.sql.tokens import quote_name
from sqlwright.sql.tree import node_text, parse_text

Family = Literal["number", "text", "date", "time", "boolean", "uuid", "blob", "nested", "other"]
"""Kinds of types whose values compare with one another."""

HEAVY_CHARACTERS = 2_000
"""Characters read of a long text: more than a value that is indexed has."""
_NUMBER = re.compile(
    r"(?:u?(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|u?int\d+|(?:small|big)?serial\d*|oid"
    r"|numeric|decimal\d*|dec|number|fixed|real|float\d*|double|money|smallmoney|year)\Z"
)
_DATE = re.compile(r"(?:date\d*|datetime\w*|smalldatetime|timestamp\w*)\Z")
_TIME = re.compile(r"(?:time|timetz|interval)\Z")
_TEXT = re.compile(
    r"(?:n?(?:var)?char(?:acter)?2?|bpchar|(?:tiny|medium|long|n|ci)?text|string|n?clob|enum|set"
    r"|name|fixedstring)\Z"
)
_BLOB = re.compile(
    r"(?:bytea|(?:tiny|medium|long)?blob|(?:var)?binary|bytes|image|raw|rowversion)\Z"
)
_NESTED = re.compile(r"(?:json[b]?|struct|map|list|array|union|row|tuple|variant|object|hstore)\Z")
_TEXT_TYPES = {"postgres": "text", "duckdb": "VARCHAR", "mysql": "CHAR", "mariadb": "CHAR"}


@dataclass(frozen=True, slots=True)
class Expression:
    """SQL that reads a column."""

    sql: str
    presence: bool = False
    """True if it is 1 in the place of every blob."""


def family_of(declared: str) -> Family:
    """The family of a declared type of an engine that keeps to it."""
    name = declared.casefold().strip()
    if name.endswith("]"):
        return "nested"
    first = re.split(r"[\s(<]", name, maxsplit=1)[0]
    families: tuple[tuple[Family, re.Pattern[str]], ...] = (
        ("number", _NUMBER), ("date", _DATE), ("time", _TIME), ("text", _TEXT), ("blob", _BLOB),
        ("nested", _NESTED),
    )  # fmt: skip
    for family, pattern in families:
        if pattern.match(first):
            return family
    if first in {"bool", "boolean"}:
        return "boolean"
    return "uuid" if first in {"uuid", "uniqueidentifier"} else "other"


def light(column: Column, dialect: Dialect) -> Expression:
    """A column without the weight of blobs and long texts."""
    if dialect is SQLITE:
        name = quote_name(column.name)
        return Expression(
            f"CASE typeof({name}) WHEN 'blob' THEN x'' WHEN 'text'"
            f" THEN substr({name}, 1, {HEAVY_CHARACTERS}) ELSE {name} END"
        )
    family = family_of(column.type)
    if family in {"number", "date", "time", "boolean", "uuid", "blob"}:
        return whole(column, dialect)
    text = whole(column, dialect).sql
    return Expression(f"{_substring(dialect)}({text}, 1, {HEAVY_CHARACTERS})")


def whole(column: Column, dialect: Dialect) -> Expression:
    """A column as it is stored; of blobs only their presence, unless the engine is SQLite. What
    isn't a number, date or text is read as text."""
    if dialect is SQLITE:
        return Expression(quote_name(column.name))
    name, family = dialect.quoted(column.name), family_of(column.type)
    if family == "blob":
        return Expression(f"CASE WHEN {name} IS NULL THEN NULL ELSE 1 END", presence=True)
    if family in {"nested", "other"}:
        return Expression(as_text(name, dialect))
    return Expression(name)


def as_text(expression: str, dialect: Dialect) -> str:
    """An expression's value as text, to compare values of different types."""
    return f"CAST({expression} AS {_text_type(dialect)})"


def said(sql: str, dialect: Dialect) -> str:
    """A statement in a dialect that nothing is written for: LIMIT as that one says it."""
    if dialect.name in DIALECTS:
        return sql
    return node_text(parse_text(sql, dialect.name), dialect.name) or sql


def _substring(dialect: Dialect) -> str:
    return "substr" if dialect.name == "oracle" else "substring"


@cache
def _text_type(dialect: Dialect) -> str:
    known = _TEXT_TYPES.get(dialect.name)
    if known is not None:
        return known
    written = node_text(parse_text("SELECT CAST(x AS TEXT)", "postgres"), dialect.name)
    found = re.search(r"\bAS (.+)\)", written)
    return found[1] if found else "VARCHAR"
