"""Charts: bars with intervals, a bar in parts, rows of dots, lines and points over two axes, and
sets that overlap. `charts.html` draws them; a figure is a chart with its title, what it shows in a
sentence, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from sqlwright.presentation.html.templates import NOTHING, Html, part

STEPS = 4
"""Parts into which ticks cut an axis, about."""
CIRCLES = 3
"""Sets that can be drawn as circles with a region for each combination."""
COMBINATIONS = 20
"""Bars at most: the largest combinations; the table beneath the figure has all."""
_DRAWN = "charts.html"
_CENTRES = {2: ((110, 100), (190, 100)), 3: ((110, 95), (190, 95), (150, 163))}
_LETTERS = {2: ((54, 40), (246, 40)), 3: ((48, 36), (252, 36), (222, 232))}
_REGIONS: Mapping[int, Mapping[frozenset[int], tuple[int, int]]] = {
    2: {frozenset({0}): (74, 105), frozenset({1}): (226, 105), frozenset({0, 1}): (150, 105)},
    3: {
        frozenset({0}): (78, 82),
        frozenset({1}): (222, 82),
        frozenset({2}): (150, 214),
        frozenset({0, 1}): (150, 70),
        frozenset({0, 2}): (103, 142),
        frozenset({1, 2}): (197, 142),
        frozenset({0, 1, 2}): (150, 118),
    },
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with its number in words, perhaps an interval, and a note in small print."""

    label: str
    value: float
    told: str
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar in parts, with the number of its mark."""

    label: str
    share: float
    told: str
    kind: int


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`."""

    title: str
    low: float
    high: float
    told: Callable[[float], str]

    def place(self, value: float) -> float:
        """The place of a value, in [0, 1]."""
        span = self.high - self.low
        return min(max((value - self.low) / span, 0.0), 1.0) if span > 0 else 0.5

    def ticks(self) -> tuple[float, ...]:
        """Round values along it."""
        span = self.high - self.low
        if span <= 0:
            return (self.low,)
        step = round_step(span / STEPS)
        first = ceil(self.low / step - 1e-9)
        return tuple(step * n for n in range(first, floor(self.high / step + 1e-9) + 1))


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, of the mark's number `kind`; a faint one is what others are
    compared with."""

    name: str
    points: Sequence[tuple[float, float]]
    kind: int = 0
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A point, perhaps with an interval of its height."""

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    kind: int = 0


def round_step(rough: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below it."""
    power: float = 10.0 ** floor(log10(rough))
    return next((m * power for m in (1, 2, 5) if m * power >= rough * 0.999), 10 * power)


def bars(listed: Iterable[Bar], *, most: float = 1.0, at: float | None = None) -> Html:
    """A bar each, as long as its value is of `most`; `at` is a value that a thin line marks in
    all."""
    shown = list(listed)
    return part(_DRAWN, "bars", shown, most or 1.0, at) if shown else NOTHING


def parts(listed: Sequence[Part]) -> Html:
    """One bar in parts, with their names beneath."""
    return part(_DRAWN, "parts", listed) if any(one.share > 0 for one in listed) else NOTHING


def dot_rows(
    rows: Iterable[tuple[str, Sequence[float | None]]],
    names: Sequence[str],
    *,
    told: Callable[[float], str],
) -> Html:
    """A line for each row with a mark for each of the names, on a logarithmic scale from 1."""
    kept = list(rows)
    most = max((value for _, values in kept for value in values if value), default=0.0)
    if most <= 0:
        return NOTHING
    shown = []
    for label, values in kept:
        known = [value for value in values if value is not None]
        ends = " → ".join(map(told, (known[0], known[-1]) if len(known) > 1 else known))
        places = [
            (number, log10(max(value, 1.0)) / (log10(most) or 1.0))
            for number, value in enumerate(values)
            if value is not None
        ]
        shown.append((label, places, ends))
    return part(_DRAWN, "dot_rows", shown, names)


def plane(
    x: Axis, y: Axis, about: str, *, lines: Sequence[Line] = (), points: Sequence[Point] = ()
) -> Html:
    """The drawing; `about` says in words what it shows. Nothing without lines and points. Points
    with a name are named beneath by their marks, else lines."""
    if not any(line.points for line in lines) and not points:
        return NOTHING
    return part(_DRAWN, "plane", x, y, about, lines, points)


def sets(names: Sequence[str], counts: Mapping[frozenset[int], int], about: str) -> Html:
    """The drawing of sets, each known by its place in `names`: how many things are in exactly these
    sets. Circles are of one size, whatever they hold; more sets are a bar for each combination.
    Nothing where all are empty."""
    if not any(count for members, count in counts.items() if members):
        return NOTHING
    if regions := _REGIONS.get(len(names)):
        places = {
            "centres": _CENTRES[len(names)],
            "counts": [(x, y, counts.get(members, 0)) for members, (x, y) in regions.items()],
            "letters": _LETTERS[len(names)],
        }
        return part(_DRAWN, "circles", names, places, about, counts.get(frozenset(), 0))
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], sorted(item[0])))
    return bars(
        [
            Bar(
                " + ".join(names[n] for n in sorted(members)) if members else "none",
                count,
                f"{count:,}",
                note=f"{count / total:.1%}",
            )
            for members, count in ranked[:COMBINATIONS]
            if count
        ],
        most=max(counts.values()),
    )


def figure(
    title: str,
    drawing: Html | None = None,
    *,
    about: str = "",
    head: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    wide: bool = False,
) -> Html:
    """The figure; nothing without a drawing. The first column of the table names its rows, all
    others are numbers."""
    if not drawing:
        return NOTHING
    return part(_DRAWN, "figure", title, drawing, about, head, list(rows), wide)


def stacked(*shown: Html) -> Html:
    """Figures below one another in one column; nothing without one."""
    return part(_DRAWN, "stack", shown) if any(shown) else NOTHING
