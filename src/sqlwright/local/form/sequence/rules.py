"""The grammar's rules: the parts of an unfinished query, how deep they nest, what may replace each.

SQLite has windows in what a SELECT shows and orders by: not in its conditions and groups, not
within aggregates, not within each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal as OneOf
from typing import NamedTuple

from sqlwright.local.form.sequence.symbols import (
    AGGREGATES,
    AMOUNTS,
    ARITHMETIC,
    COMPARISONS,
    CONSTANTS,
    DERIVED,
    FUNCTIONS,
    ITEMS,
    LIKES,
    NEIGHBOURS,
    OPERATORS,
    RANKS,
    SET_OPERATORS,
    TEXT_FORMATS,
    WINDOW_AGGREGATES,
)

MAX_DEPTH = 5
"""Queries within queries."""
MAX_LEVEL = 12
"""Operators within operators; a query within a query counts as two. Keeps what is written within
the hundred entries of SQLite's parser stack."""
MAX_ITEMS = 24
"""Items of one SELECT; derived tables have at most as many as there are item keywords."""

COLUMN, TABLE, VALUE = "<column>", "<table>", "<value>"
INSTANCES = ("second", "third")


class Place(NamedTuple):
    """Surroundings of an expression or condition."""

    aggregate: bool
    """Aggregates may be used."""
    outer: bool
    """Columns of the enclosing query may be used."""
    subquery: bool
    depth: int
    level: int
    derived: tuple[int, ...]
    """Number of items of each derived table."""
    window: bool = False
    """Windows may be used."""

    def deeper(self) -> Place:
        return self._replace(level=self.level + 1)

    def aggregated(self) -> Place:
        level = self.level + 1
        return self._replace(aggregate=False, outer=False, window=False, level=level)

    def windowed(self) -> Place:
        """Within a window: aggregates of the group may be ranked, other windows may not."""
        level = self.level + 1
        return self._replace(outer=False, subquery=False, window=False, level=level)


class Frame(NamedTuple):
    """An unfinished part other than a query."""

    kind: str
    place: Place
    number: int = 0


class Scope(NamedTuple):
    """An unfinished query."""

    kind: OneOf["top", "value", "exists", "derived"]
    phase: str
    depth: int
    items: int = 0
    required: int = 0
    """Items it must have; 0 is any number."""
    star: bool = False
    derived: tuple[int, ...] = ()
    level: int = 0
    grouped: bool = False
    """Its rows are groups, so ORDER BY may use aggregates."""
    arm: bool = False
    """It is the right side of a set operation."""
    constant: bool = False
    """Some item is a bare constant."""

    def place(self, *, aggregate: bool, outer: bool = True, subquery: bool = True) -> Place:
        outer = outer and self.kind in {"value", "exists"}
        return Place(aggregate, outer, subquery, self.depth, self.level, self.derived)


Part = Frame | Scope
Moves = dict[str, tuple[Part, ...]]
"""Parts that replace the top of the stack, by symbol."""


_UNORDERED, _EITHER, _ORDERED, _RUNNING, _CLOSED = range(5)
"""The state of a window so far: an order must come, may come, is there, is there and may be cut to
the last rows; nothing more may come."""


def window_moves(place: Place) -> Moves:
    """The windows that may stand at a place."""
    inner = place.windowed()
    ranked = Frame("window", inner, _UNORDERED)
    moves: Moves = dict.fromkeys(RANKS, (ranked,))
    moves["ntile"] = (ranked, Frame("rows", inner))
    moves |= dict.fromkeys(NEIGHBOURS, (ranked, Frame("term", inner)))
    return moves | {"over": (Frame("over", inner),)}


def kept_moves(place: Place) -> Moves:
    """A window, then what it is compared with."""
    compared = Frame("compared", place)
    return {name: (compared, *parts) for name, parts in window_moves(place).items()}


def _over_moves(frame: Frame) -> Moves:
    whole = Frame("window", frame.place, _EITHER)
    moves: Moves = dict.fromkeys(WINDOW_AGGREGATES, (whole, Frame("term", frame.place)))
    return moves | {"count": (whole, Frame("counted", frame.place))}


def _parts_moves(frame: Frame) -> Moves:
    """Behind a window's operand: its partition, then its order, then its end."""
    moves: Moves = {}
    term = Frame("term", frame.place)
    if frame.number in {_UNORDERED, _EITHER}:
        moves["per"] = (frame, term)
    if frame.number != _CLOSED:
        after = _RUNNING if frame.number in {_EITHER, _RUNNING} else _ORDERED
        moves |= dict.fromkeys(("asc", "desc"), (frame._replace(number=after), term))
    if frame.number == _RUNNING:
        moves["moving"] = (frame._replace(number=_CLOSED), Frame("rows", frame.place))
    if frame.number != _UNORDERED:
        moves["end"] = ()
    return moves


def _compared_moves(frame: Frame) -> Moves:
    return dict.fromkeys(COMPARISONS, (Frame("rows", frame.place),))


_FOLLOWING = {
    "items": ("from", "join", "left", "cross", "where", "group", "keep", "order", "limit"),
    "from": ("join", "left", "cross", "where", "group", "keep", "order", "limit"),
    "join": ("join", "left", "cross", "where", "group", "keep", "order", "limit"),
    "left": ("join", "left", "cross", "where", "group", "keep", "order", "limit"),
    "where": ("group", "keep", "order", "limit"),
    "group": ("having", "keep", "order", "limit"),
    "having": ("keep", "order", "limit"),
    "keep": ("order", "limit"),
    "order": ("order", "limit"),
    "limit": ("offset",),
    "offset": (),
}
"""Clauses that may come after each clause."""


@cache
def moves_of(part: Part) -> Moves:
    """Parts that may replace a part, by symbol: a keyword's name, COLUMN, TABLE or VALUE."""
    return _scope_moves(part) if isinstance(part, Scope) else _FRAMES[part.kind](part)


def _scope_moves(scope: Scope) -> Moves:
    if scope.phase == "start":
        moves: Moves = {"select": (scope._replace(phase="select"),)}
        level = scope.level + 2
        if len(scope.derived) < len(DERIVED) and scope.depth < MAX_DEPTH and level < MAX_LEVEL:
            # The scope stays below: it gets the number of items when the derived table ends.
            child = Scope("derived", "start", scope.depth + 1, level=level)
            moves["with"] = (scope, child)
        return moves
    moves = {}
    if scope.phase in {"select", "distinct", "items"}:
        moves |= _item_moves(scope)
        if scope.phase == "select":
            moves["distinct"] = (scope._replace(phase="distinct"),)
        if scope.phase != "items":
            return moves
    if scope.required and scope.items != scope.required:
        return moves
    for clause in _FOLLOWING[scope.phase]:
        moves |= _clause_moves(scope, clause)
    moves |= _continued(scope)
    if not scope.star and not (_may_borrow(scope) and scope.phase in {"order", "limit", "offset"}):
        again = Scope(
            scope.kind,
            "start",
            scope.depth,
            required=scope.items,
            level=scope.level,
            arm=True,
        )
        moves |= dict.fromkeys(SET_OPERATORS, (again,))
    moves["end"] = ()
    return moves


def _may_borrow(scope: Scope) -> bool:
    """True if it may use columns of the query around it. An ordered side of a set operation is
    written as a derived table, which can't, so such a query has none."""
    return scope.kind in {"value", "exists"}


def _item_moves(scope: Scope) -> Moves:
    limit = len(ITEMS) if scope.kind == "derived" else MAX_ITEMS
    if scope.items >= (scope.required or limit):
        return {}
    after = scope._replace(phase="items", items=scope.items + 1)
    place = scope.place(aggregate=True)._replace(window=True)
    moves = _prefixed(after, Frame("expression", place))
    for name in (VALUE, *CONSTANTS):
        moves[name] = (after._replace(constant=True),)
    grouped = after._replace(grouped=True)
    for name in (*AGGREGATES, "count_if"):
        if name in moves:
            moves[name] = (grouped, *moves[name][1:])
    if scope.kind == "top" and not scope.required:
        moves[TABLE] = (after._replace(star=True),)
    return moves


def _prefixed(below: Part, first: Part) -> Moves:
    """The moves of `first`, with `below` waiting under it."""
    return {key: (below, *parts) for key, parts in moves_of(first).items()}


def _clause_moves(scope: Scope, clause: str) -> Moves:
    if scope.arm and _may_borrow(scope) and clause in {"order", "limit"}:
        return {}
    after = scope._replace(phase=clause)
    plain = scope.place(aggregate=False)
    if clause == "from":
        return {"from": (after, Frame("table", plain))}
    if clause in {"join", "left"}:
        ends = (Frame("joined", plain), Frame("joined", plain))
        return {clause: (scope._replace(phase=clause), *ends)}
    if clause == "cross":
        return {"cross": (scope._replace(phase="join"), Frame("table", plain))}
    if clause == "where":
        return {"where": (after, Frame("condition", plain))}
    if clause == "group":
        return {"group": (after._replace(grouped=True), _group_term(scope))}
    if clause == "having":
        return {"having": (after, Frame("condition", scope.place(aggregate=True)))}
    if clause == "keep":
        return _keep_moves(scope)
    if clause == "order":
        term = Frame("term", scope.place(aggregate=scope.grouped, outer=False))
        if not (scope.star or scope.constant or _may_borrow(scope)):
            term = term._replace(kind="sorted", number=min(scope.items, len(ITEMS)))
        return {"asc": (after, term), "desc": (after, term)}
    rows = Frame("rows", plain)
    if clause == "limit":
        return {"limit_1": (after,), "limit": (after, rows)}
    return {"offset": (after, rows)}


def _keep_moves(scope: Scope) -> Moves:
    """Written as a query around this one, which can't borrow columns and has no star."""
    room = scope.depth < MAX_DEPTH and scope.level + 2 < MAX_LEVEL
    if scope.star or _may_borrow(scope) or not room:
        return {}
    place = scope.place(aggregate=True)._replace(window=True)
    return {"keep": (scope._replace(phase="keep"), Frame("kept", place))}


def _group_term(scope: Scope) -> Frame:
    return Frame("term", scope.place(aggregate=False, outer=False, subquery=False))


def _continued(scope: Scope) -> Moves:
    """More of the clause a query is in."""
    if scope.phase == "from":
        return _prefixed(scope, Frame("table", scope.place(aggregate=False)))
    if scope.phase == "group":
        return _prefixed(scope, _group_term(scope))
    if scope.phase == "left":
        plain = scope.place(aggregate=False, outer=False)
        return {"on": (scope._replace(phase="join"), Frame("condition", plain))}
    if scope.phase in {"where", "having"}:
        place = scope.place(aggregate=scope.phase == "having")
        return dict.fromkeys(("and", "or"), (scope, Frame("condition", place)))
    return {}


def _subquery(kind: OneOf["value", "exists"], place: Place) -> Scope | None:
    level = place.level + 2
    if not place.subquery or place.depth >= MAX_DEPTH or level >= MAX_LEVEL:
        return None
    required = 1 if kind == "value" else 0
    return Scope(kind, "start", place.depth + 1, required=required, level=level)


def _query_moves(kind: OneOf["value", "exists"], place: Place) -> Moves:
    query = _subquery(kind, place)
    return moves_of(query) if query is not None else {}


def _expression_moves(frame: Frame) -> Moves:
    """Any expression."""
    return moves_of(frame._replace(kind="term")) | dict.fromkeys((VALUE, *CONSTANTS), ())


def _term_moves(frame: Frame) -> Moves:
    """An expression other than a bare constant."""
    place = frame.place
    moves: Moves = {COLUMN: ()}
    moves |= dict.fromkeys(INSTANCES, (Frame("column", place),))
    if place.outer:
        moves["outer"] = (Frame("outer", place),)
    for table, items in enumerate(place.derived):
        moves[DERIVED[table]] = (Frame("item", place, items),)
    moves |= _query_moves("value", place)
    if place.level >= MAX_LEVEL:
        return moves
    inner = Frame("expression", place.deeper())
    moves |= dict.fromkeys(ARITHMETIC, (inner, inner))
    moves |= {name: (inner,) * count for name, count in FUNCTIONS.items()}
    moves["strftime"] = (inner, Frame("text", place))
    # These write their operand several times.
    stored = Frame("stored", place._replace(outer=False))
    moves |= dict.fromkeys((*TEXT_FORMATS, *AMOUNTS), (stored,))
    if place.window:
        moves |= window_moves(place)
    condition = Frame("condition", place.deeper())
    moves["when"] = (inner, condition)
    moves["iif"] = (inner, inner, condition)
    if place.aggregate:
        aggregated = place.aggregated()
        moves |= dict.fromkeys(AGGREGATES, (Frame("aggregate", aggregated),))
        moves["count"] = (Frame("count", aggregated),)
        moves |= dict.fromkeys(_WHOLE, (Frame("term", aggregated),))
        moves["percentile"] = (Frame("term", aggregated), Frame("rows", aggregated))
        moves["count_if"] = (Frame("condition", aggregated),)
    return moves


def _sorted_moves(frame: Frame) -> Moves:
    """A term of ORDER BY, or the number of an item that says it."""
    item = Frame("item", frame.place, frame.number)
    return moves_of(frame._replace(kind="term", number=0)) | {"shown": (item,)}


def _counted_moves(frame: Frame) -> Moves:
    """The rows that a window counts."""
    moves = moves_of(frame._replace(kind="term")) | {TABLE: ()}
    return moves | {"rows": ()} if frame.place.derived else moves


def _aggregate_moves(frame: Frame) -> Moves:
    """After an aggregate's name."""
    operand = frame._replace(kind="term")
    return moves_of(operand) | {"distinct": (operand,)}


def _count_moves(frame: Frame) -> Moves:
    """After `count`."""
    moves = _aggregate_moves(frame) | {TABLE: ()}
    return moves | {"rows": ()} if frame.place.derived else moves


def _condition_moves(frame: Frame) -> Moves:
    place = frame.place
    operator = Frame("operator", place)
    moves = _prefixed(operator, Frame("term", place))
    exists = _subquery("exists", place)
    if exists is not None:
        moves |= dict.fromkeys(("exists", "not_exists"), (exists,))
    if place.level < MAX_LEVEL:
        inner = Frame("condition", place.deeper())
        moves["not"] = (inner,)
        moves["("] = (Frame("parenthesis", place), inner)
    return moves


def _operator_moves(frame: Frame) -> Moves:
    """After a condition's first operand."""
    operand = frame._replace(kind="expression")
    moves: Moves = dict.fromkeys(OPERATORS, ())
    moves |= dict.fromkeys(COMPARISONS, (operand,))
    moves |= dict.fromkeys(("between", "not_between"), (operand, operand))
    moves |= dict.fromkeys(("in", "not_in"), (frame._replace(kind="among"),))
    text = (frame._replace(kind="text"),)
    for kind in LIKES:
        moves |= {kind: text, f"not_{kind}": text}
    return moves


def _among_moves(frame: Frame) -> Moves:
    """After `in`: a query, or constants up to `end`."""
    more = (frame._replace(kind="list"),)
    return dict.fromkeys((VALUE, *CONSTANTS), more) | _query_moves("value", frame.place)


def _list_moves(frame: Frame) -> Moves:
    return dict.fromkeys((VALUE, *CONSTANTS), (frame,)) | {"end": ()}


def _parenthesis_moves(frame: Frame) -> Moves:
    more = (frame, Frame("condition", frame.place.deeper()))
    return {"and": more, "or": more, ")": ()}


def _outer_moves(frame: Frame) -> Moves:
    return {COLUMN: ()} | dict.fromkeys(INSTANCES, (Frame("column", frame.place),))


def _joined_moves(frame: Frame) -> Moves:
    derived = {
        DERIVED[table]: (Frame("item", frame.place, items),)
        for table, items in enumerate(frame.place.derived)
    }
    return _outer_moves(frame) | derived


def _table_moves(frame: Frame) -> Moves:
    """A table in FROM."""
    return {TABLE: ()} | dict.fromkeys(INSTANCES, (frame._replace(kind="name"),))


def _item_number_moves(frame: Frame) -> Moves:
    return dict.fromkeys(ITEMS[: frame.number], ())


def _rows_moves(_: Frame) -> Moves:
    numbers = [name for name, value in CONSTANTS.items() if isinstance(value, int)]
    return dict.fromkeys((VALUE, *numbers), ())


_WHOLE = ("median", "stddev", "stddev_pop")
"""Aggregates of all values, never of the different ones."""

_FRAMES: dict[str, Callable[[Frame], Moves]] = {
    "expression": _expression_moves,
    "term": _term_moves,
    "sorted": _sorted_moves,
    "counted": _counted_moves,
    "kept": lambda frame: kept_moves(frame.place),
    "aggregate": _aggregate_moves,
    "count": _count_moves,
    "condition": _condition_moves,
    "operator": _operator_moves,
    "among": _among_moves,
    "list": _list_moves,
    "parenthesis": _parenthesis_moves,
    "outer": _outer_moves,
    "joined": _joined_moves,
    "stored": _joined_moves,
    "table": _table_moves,
    "item": _item_number_moves,
    "rows": _rows_moves,
    "column": lambda _: {COLUMN: ()},
    "name": lambda _: {TABLE: ()},
    "text": lambda _: {VALUE: ()},
    "window": _parts_moves,
    "over": _over_moves,
    "compared": _compared_moves,
}
