"""Schemas and sequences of symbols as the cases write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.symbols import BY_NAME, Symbol, TableSymbol
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table

CASES = Path(__file__).parents[1] / "cases"

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The quick one where it is built in."""

_SYMBOL = re.compile(r"'(?:[^'\\]|\\.)*'|\S+")
_TABLE = re.compile(r"(\w+)\(([^)]*)\)")
_KEY = re.compile(r"(\w+)\(([^)]*)\) (->|~>) (\w+)\(([^)]*)\)")


def cases(name: str) -> list[Any]:
    """The cases of a file under tests/cases."""
    found: list[Any] = yaml.load((CASES / name).read_text("utf-8"), LOADER)
    return found


def schema_of(tables: Sequence[str], keys: Iterable[str] = ()) -> Schema:
    """A schema from lines such as `orders(id, total INTEGER)` and `orders(person) -> person(id)`;
    `~>` is a key that was inferred. Columns are texts where nothing is said."""
    made = []
    for line in tables:
        match = _TABLE.fullmatch(line)
        assert match, line
        parts = [part.split() for part in match.group(2).split(",")]
        columns = (Column(part[0], part[1] if len(part) > 1 else "TEXT") for part in parts)
        made.append(Table(match.group(1), tuple(columns)))
    joined = []
    for line in keys:
        match = _KEY.fullmatch(line)
        assert match, line
        near, own, arrow, far, other = match.groups()
        joined.append(ForeignKey(near, _names(own), far, _names(other), inferred=arrow == "~>"))
    return Schema("made", tuple(made), tuple(joined))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def symbols_of(text: str) -> tuple[Symbol, ...]:
    """A sequence as `" ".join(map(str, symbols))` writes it."""
    return tuple(map(_symbol, _SYMBOL.findall(text)))


def _symbol(word: str) -> Symbol:
    if word in BY_NAME:
        return BY_NAME[word]
    if word.startswith("'") or re.fullmatch(r"-?\d+(\.\d+)?", word):
        return Literal(ast.literal_eval(word))
    table, column = word.rsplit(".", 1)
    return TableSymbol(table) if column == "*" else ColumnRef(table, column)
