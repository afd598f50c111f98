"""The kinds of values that expressions have on engines that hold every column to its type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal as OneOf

from sqlwright.local.form import nodes as f
from sqlwright.local.form.kept import spelled_out
from sqlwright.schema import Schema
from sqlwright.types.periods import period_of

Kind = OneOf[
    "integer", "days", "decimal", "real", "text", "boolean", "date", "timestamp", "time", "span",
    "array", "other",
]  # fmt: skip
"""`days` is a whole number that stands for a fraction: a difference of dates; `span`, an interval.
`other` is what is compared and shown as its text: identifiers, documents, lists of labels."""

NUMBERS: frozenset[Kind] = frozenset({"integer", "days", "decimal", "real"})
_SPAN = re.compile(r"\d+(?:\.\d+)? [a-z]+|\d+:[0-5]\d:[0-5]\d(?:\.\d+)?")
"""An amount with its unit, or hours, minutes and seconds."""
_ZONED = re.compile(r"\bwith time zone$|^timestamptz\b", re.IGNORECASE)
MOMENTS: frozenset[Kind] = frozenset({"date", "timestamp"})
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        (
            *("int", "integer", "bigint", "smallint", "tinyint", "mediumint", "hugeint"),
            *("int2", "int4", "int8", "uinteger", "ubigint", "usmallint", "utinyint", "uhugeint"),
            *("serial", "bigserial", "smallserial", "year", "oid"),
        ),
        "integer",
    ),
    **dict.fromkeys(("numeric", "decimal", "dec", "number", "fixed"), "decimal"),
    **dict.fromkeys(("real", "double", "float", "float4", "float8", "double precision"), "real"),
    **dict.fromkeys(
        (
            *("text", "varchar", "character varying", "char", "character", "bpchar", "string"),
            *("tinytext", "mediumtext", "longtext", "citext", "nvarchar", "nchar", "clob"),
        ),
        "text",
    ),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    "date": "date",
    "time": "time",
    "time without time zone": "time",
    **dict.fromkeys(
        (
            *("timestamp", "datetime", "timestamptz", "timestamp without time zone"),
            *("timestamp with time zone", "timestamp_s", "timestamp_ms", "timestamp_ns"),
        ),
        "timestamp",
    ),
}
_OF_FUNCTIONS: dict[str, Kind] = {
    **dict.fromkeys(("length", "instr", "integer", "quarter", "seconds_between"), "integer"),
    **dict.fromkeys(("real", "sqrt", "power"), "real"),
    **dict.fromkeys(
        (
            *("round", "round_to", "julianday", "amount", "amount_comma", "decimal_comma"),
            *("sign", "ceiling", "floor"),
        ),
        "decimal",
    ),
    **dict.fromkeys(("datetime", "now", "from_seconds", "from_milliseconds"), "timestamp"),
    **dict.fromkeys(("start_of_month", "start_of_year"), "date"),
    **dict.fromkeys(
        [f"{unit}_{way}" for unit in ("days", "months", "years") for way in ("after", "before")],
        "date",
    ),
}
"""Kinds of what functions give; those that aren't listed give texts."""
ADDED_SPANS = frozenset({"sum", "avg", "median", "percentile"})
"""Aggregates of spans that are spans; others have no meaning."""
_RANKS = frozenset({"row_number", "rank", "dense_rank", "ntile", "count"})
_PASSED = frozenset({"min", "max", "lag", "lead", "first_value"})


@lru_cache(maxsize=1024)
def kind_of_type(declared: str) -> Kind:
    """The kind of a column by its declared type, as its engine writes it."""
    name = re.sub(r"\s*\([^)]*\)", "", declared.casefold()).strip()
    if name.endswith("]"):
        return "array"
    if declared.casefold().startswith("enum"):
        return "text"
    if name.startswith("interval"):
        return "span"
    name = re.sub(r"\s+(unsigned|signed|zerofill)\b.*", "", name)
    return _KINDS.get(name, "other")


class Kinds:
    """The kinds of the expressions of one SELECT, whose derived tables are given."""

    def __init__(self, schema: Schema, derived: Sequence[f.Query] = ()) -> None:
        self._schema = schema
        self._derived = derived

    def of(self, node: f.Expression) -> Kind:
        """The kind of an expression's values."""
        match node:
            case f.Column(ref):
                column = self._schema.column(ref)
                return "other" if column is None else kind_of_type(column.type)
            case f.DerivedColumn(table, item):
                return self.of_item(self._derived[table - 1], item - 1)
            case f.Literal(value):
                return "text" if isinstance(value, str) else _of_number(value)
            case f.Aggregate() | f.Window():
                return self._of_rows(node)
            case f.Arithmetic():
                return self._of_arithmetic(node)
            case f.Function():
                return self._of_function(node)
            case f.Conditional(_, then, otherwise):
                return self.united([then] if otherwise is None else [then, otherwise])
            case f.Subquery(query):
                return self.of_item(query, 0)

    def has_label(self, node: f.Expression, value: str | float) -> bool:
        """True of a column of an enumeration that a constant is a label of."""
        found = self._schema.column(node.ref) if isinstance(node, f.Column) else None
        return found is not None and value in found.labels

    def is_zoned(self, node: f.Expression) -> bool:
        """True of a column of moments that are the same in every time zone."""
        found = self._schema.column(node.ref) if isinstance(node, f.Column) else None
        return found is not None and _ZONED.search(found.type) is not None

    def of_element(self, column: f.Column) -> Kind:
        """The kind of the elements of a column of arrays."""
        found = self._schema.column(column.ref)
        return "other" if found is None else kind_of_type(found.type.rpartition("[")[0])

    def of_item(self, query: f.Query, place: int) -> Kind:
        """The kind of an item of a query."""
        kinds = [self._of_own_item(select, place) for select in arms(query)]
        return _common(kinds)

    def _of_own_item(self, select: f.Select, place: int) -> Kind:
        select = spelled_out(select)
        item = select.items[place] if place < len(select.items) else None
        if item is None or isinstance(item, f.Star):
            return "other"
        return Kinds(self._schema, select.derived).of(item)

    def united(self, nodes: Sequence[f.Expression]) -> Kind:
        """The kind of a value that is one of several: text where they have nothing in common."""
        return _common([self.of(node) for node in nodes])

    def _of_rows(self, node: f.Aggregate | f.Window) -> Kind:
        operand = node.operand
        if node.function in _RANKS or operand is None or isinstance(operand, f.Star):
            return "integer"
        if node.function == "group_concat":
            return "text"
        kind = self.of(operand)
        if node.function in _PASSED:
            return "integer" if kind == "boolean" and isinstance(node, f.Aggregate) else kind
        if kind == "span" and node.function in ADDED_SPANS:
            return kind
        if node.function == "sum" and kind in {"integer", "boolean"}:
            return "integer"
        interpolated = node.function in {"median", "percentile"}
        return "real" if kind == "real" or interpolated else "decimal"

    def _of_arithmetic(self, node: f.Arithmetic) -> Kind:
        if node.operator == "||":
            return "text"
        if node.operator == "%":
            return "integer"
        kinds = {self.of(node.left), self.of(node.right)}
        if "real" in kinds:
            return "real"
        if node.operator in {"ratio", "percent"} or not kinds <= {"integer", "boolean", "days"}:
            return "decimal"
        return "days" if "days" in kinds and node.operator != "/" else "integer"

    def _of_function(self, node: f.Function) -> Kind:
        arguments = node.arguments
        if node.name == "abs":
            kind = self.of(arguments[0])
            return kind if kind in NUMBERS else "decimal"
        if node.name == "nullif":
            kind, other = self.of(arguments[0]), self.of(arguments[1])
            fits = {kind, other} <= NUMBERS or (kind in MOMENTS and is_moment(arguments[1], self))
            return kind if fits else _common([kind, other])
        if node.name in {"coalesce", "greatest", "least"}:
            return self.united(arguments)
        if node.name == "date":
            return "date" if is_moment(arguments[0], self) else "text"
        if node.name == "days_between":
            dates = all(self.of(argument) == "date" for argument in arguments)
            return "days" if dates else "decimal"
        return _OF_FUNCTIONS.get(node.name, "text")


def arms(query: f.Query) -> list[f.Select]:
    """The SELECTs that a query combines, in order."""
    if isinstance(query, f.Select):
        return [query]
    return [*arms(query.left), query.right]


def is_moment(node: f.Expression, kinds: Kinds) -> bool:
    """True of dates and times by their type, and of a constant that is a whole date."""
    if isinstance(node, f.Literal):
        return (isinstance(node.value, str) and is_date(node.value)) or is_timestamp(
            str(node.value)
        )
    return kinds.of(node) in MOMENTS


def is_date(text: str) -> bool:
    """True of a day as every engine reads it."""
    return len(text) == 10 and period_of(text) is not None


def is_timestamp(text: str) -> bool:
    """True of a day with a time of day as every engine reads it."""
    match = re.fullmatch(r"(.{10})[ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?", text)
    return match is not None and is_date(match[1])


def is_span(value: str | float) -> bool:
    """True of a span of time as engines that have them read it: 30 minutes, 01:30:00."""
    return _SPAN.fullmatch(str(value)) is not None


def is_number(text: str) -> bool:
    """True of a text that is a number, as comparisons with columns of numbers read it."""
    return re.fullmatch(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\s*", text) is not None


def _of_number(value: float) -> Kind:
    return "integer" if isinstance(value, int) else "decimal"


def _common(kinds: Sequence[Kind]) -> Kind:
    several = set(kinds)
    if len(several) == 1:
        return kinds[0]
    if several <= NUMBERS:
        return "real" if "real" in several else "decimal"
    return "timestamp" if several <= MOMENTS else "text"
