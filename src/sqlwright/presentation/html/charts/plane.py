"""Lines and points over two axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from sqlwright.presentation.html.charts.figure import kind_of, legend, mark
from sqlwright.presentation.html.elements import NOTHING, Html, element

STEPS = 4
"""Parts into which ticks cut an axis, about."""


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


def plane(
    x: Axis,
    y: Axis,
    about: str,
    *,
    lines: Sequence[Line] = (),
    points: Sequence[Point] = (),
) -> Html:
    """The drawing; `about` says in words what it shows. Nothing without lines and points. Points
    with a name are named beneath by their marks, else lines."""
    if not any(line.points for line in lines) and not points:
        return NOTHING
    drawn = [*_grid(x, y), *(_line(x, y, one) for one in lines if one.points)]
    for point in points:
        drawn += _point(x, y, point)
    drawing = element(
        "svg", *drawn, width="100%", height="240", class_="plane", role="img", aria_label=about
    )
    named = [one.name for one in points if one.name]
    named = named or [one.name for one in lines if one.name and not one.faint]
    return element(
        "div",
        element("p", y.title, class_="axis"),
        element("div", drawing, class_="plane-room"),
        element("p", x.title, class_="axis axis-x"),
        legend(named),
    )


def _grid(x: Axis, y: Axis) -> list[Html]:
    drawn = []
    for value in y.ticks():
        at = _percent(1 - y.place(value))
        drawn.append(element("line", x1="0", x2="100%", y1=at, y2=at, class_="grid"))
        drawn.append(
            element("text", y.told(value), x="0", y=at, dx="-8", dy="4", text_anchor="end")
        )
    for value in x.ticks():
        place = x.place(value)
        drawn.append(
            element(
                "text", x.told(value), x=_percent(place), y="100%", dy="18", text_anchor="middle"
            )
        )
    drawn.append(element("line", x1="0", x2="100%", y1="100%", y2="100%", class_="base"))
    return drawn


def _line(x: Axis, y: Axis, line: Line) -> Html:
    path = " ".join(
        f"{1000 * x.place(one):.1f},{1000 * (1 - y.place(other)):.1f}" for one, other in line.points
    )
    kind = "faint-line" if line.faint else f"line {kind_of(line.kind)}"
    drawn = element("polyline", points=path, vector_effect="non-scaling-stroke", class_=kind)
    return element(
        "svg", drawn, x="0", y="0", width="100%", height="100%", viewBox="0 0 1000 1000",
        preserveAspectRatio="none", class_="stretched",
    )  # fmt: skip


def _point(x: Axis, y: Axis, point: Point) -> list[Html]:
    across, up = _percent(x.place(point.x)), _percent(1 - y.place(point.y))
    drawn = []
    if point.low is not None and point.high is not None:
        low, high = _percent(1 - y.place(point.low)), _percent(1 - y.place(point.high))
        drawn.append(element("line", x1=across, x2=across, y1=low, y2=high, class_="whisker"))
    return [*drawn, mark(point.kind, across, up)]


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
