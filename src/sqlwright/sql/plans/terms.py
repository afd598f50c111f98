"""Conditions of a search as EXPLAIN QUERY PLAN writes them: `town=? AND weight>?`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sqlwright.sql.plans.unreadable import UnreadablePlan

TermKind = Literal["equal", "lower", "upper", "each"]
_KINDS: dict[str, TermKind] = {"=": "equal", ">": "lower", "<": "upper"}
_TERM = re.compile(
    r"ANY\((?P<each>.+?)\)|\((?P<many>[^()]+)\)(?P<bound>[<>])\([?,]+\)"
    r"|(?P<one>.+?)(?P<sign>[=<>])\?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Term:
    """A column that is looked up, or several compared as one. A bound may or may not be itself
    within: the engine doesn't tell. With `each` every value of a leading column is tried."""

    kind: TermKind
    columns: tuple[str, ...]


def read_terms(text: str) -> tuple[Term, ...]:
    """The terms of a search. Raises UnreadablePlan."""
    found, place = [], 0
    while place < len(text):
        one = _TERM.match(text, place)
        if one is None:
            raise UnreadablePlan(f"the conditions of a search can't be told in words: {text}")
        if one["each"]:
            found.append(Term("each", (_named(one["each"]),)))
        elif one["many"]:
            columns = tuple(map(_named, one["many"].split(",")))
            found.append(Term(_KINDS[one["bound"]], columns))
        else:
            found.append(Term(_KINDS[one["sign"]], (_named(one["one"]),)))
        place = one.end()
        if place < len(text) and not text.startswith(" AND ", place):
            raise UnreadablePlan(f"the conditions of a search can't be told in words: {text}")
        place += len(" AND ")
    return tuple(found)


def _named(column: str) -> str:
    return "an expression" if column == "<expr>" else column
