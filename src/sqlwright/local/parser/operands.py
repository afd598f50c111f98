"""Finds the columns that can be worked out with, and the pairs that can be multiplied.

The grammar lets any column stand in a sum or a product; the parser, which saw prices times
quantities, then multiplies whatever it finds. Of 10,000 queries of Spider's and BIRD's training
parts none adds up, averages or multiplies dates, none takes the year of a number, and none
multiplies columns of two tables unless one is a number of things and the other what each of them is
worth, or a rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.symbols import DATE_PARTS, Symbol, keyword_name
from sqlwright.local.parser.nodes import Node
from sqlwright.schema import ColumnRef

Flags = npt.NDArray[np.bool_]

_SCALES = frozenset({"+", "*", "/", "%", "ratio", "percent"})
"""Operators that no date can be an operand of; the difference of two dates has a meaning."""
_ADDS_UP = frozenset({"sum", "avg", "total", "stddev", "stddev_pop"})
_WORKS_OUT = _SCALES | _ADDS_UP
_DATED = frozenset({"year", "month", "day", "date", "time", "datetime", *DATE_PARTS})
"""Functions of dates, which no number is."""
_WORTH = re.compile(
    r"price|cost|rate|fee|perc|pct|growth|mortality|value|worth|tax|discount|wage|pay|fare",
    re.IGNORECASE,
)
"""Parts of names for what one thing is worth, or for a rate."""
_NUMBER = re.compile(
    r"quant|qty|popul|num|count|units|hours|days|weight|copies|seats|share", re.IGNORECASE
)
"""Parts of names for a number of things."""


class Operands:
    """The columns among the nodes of one input; `kind` gives a column's type feature."""

    def __init__(self, nodes: Sequence[Node], kind: Callable[[ColumnRef], str]) -> None:
        self._nodes = nodes
        kinds = np.array([kind(node) if isinstance(node, ColumnRef) else "" for node in nodes])
        self._timeless = np.asarray(kinds != "time-type", dtype=np.bool_)
        self._numberless = np.asarray(kinds != "number-type", dtype=np.bool_)

    def possible(self, symbols: Sequence[Symbol]) -> Flags | None:
        """(N,) true for each node that may come after these symbols; None when all may."""
        last = symbols[-1] if symbols else None
        before = keyword_name(symbols[-2]) if len(symbols) > 1 else ""
        # Operators stand before their operands, so a column behind one is the first of two.
        if isinstance(last, ColumnRef):
            if before == "*":
                added = len(symbols) > 2 and keyword_name(symbols[-3]) in _ADDS_UP
                return self._timeless & self._factors(last, added=added)
            return self._timeless if before in _SCALES else None
        if keyword_name(last) in _DATED or (isinstance(last, Literal) and before == "strftime"):
            return self._numberless
        return self._timeless if keyword_name(last) in _WORKS_OUT else None

    def _factors(self, first: ColumnRef, *, added: bool) -> Flags:
        """The columns that another one may be multiplied with; a sum of squares is never meant."""
        return np.array(
            [
                not isinstance(node, ColumnRef)
                or (node == first and not added)
                or (node != first and (node.table == first.table or _pair(node, first)))
                for node in self._nodes
            ]
        )


def _pair(one: ColumnRef, other: ColumnRef) -> bool:
    """True if one column is a number of things and the other what each is worth."""
    return any(
        _WORTH.search(worth.column) and _NUMBER.search(number.column)
        for worth, number in ((one, other), (other, one))
    )
