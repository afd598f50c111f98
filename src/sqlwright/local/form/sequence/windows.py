"""The grammar's rules for windows, and for the rows that a SELECT keeps by one.

SQLite has windows in what a SELECT shows and orders by: not in its conditions and groups, not
within aggregates, not within each other.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlwright.local.form.sequence.parts import Frame, Moves, Place
from sqlwright.local.form.sequence.symbols import (
    COMPARISONS,
    NEIGHBOURS,
    RANKS,
    WINDOW_AGGREGATES,
)

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


WINDOW_FRAMES: dict[str, Callable[[Frame], Moves]] = {
    "window": _parts_moves,
    "over": _over_moves,
    "compared": _compared_moves,
}
