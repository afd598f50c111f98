"""Bars with intervals, a bar in parts, and rows of dots: a line each, with its number beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log10

from sqlwright.presentation.html.charts.figure import kind_of, legend, mark
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, joined

HEIGHT = 18
"""Height of a bar's line, in pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar."""

    label: Content
    value: float
    told: Content
    """Its number in words, which stand beside it."""
    low: float | None = None
    high: float | None = None
    """The interval, if it has one."""
    note: Content = ""
    """Told in small print after the number."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar in parts."""

    label: Content
    share: float
    told: Content
    kind: int
    """The number of its mark."""


def bars(listed: Iterable[Bar], *, most: float = 1.0, at: float | None = None) -> Html:
    """A bar each, as long as its value is of `most`; `at` is a value that a thin line marks in
    all."""
    lines = [_line(bar, most or 1.0, at) for bar in listed]
    return element("ul", *lines, class_="bars") if lines else NOTHING


def parts(listed: Sequence[Part]) -> Html:
    """One bar in parts, with their names beneath."""
    shown = [part for part in listed if part.share > 0]
    if not shown:
        return NOTHING
    begin, drawn = 0.0, []
    for part in shown:
        drawn.append(
            element(
                "rect", x=_at(begin), y="0", width=_at(part.share), height="28",
                class_=f"part {kind_of(part.kind)}",
            )
        )  # fmt: skip
        begin += part.share
    bar = element("svg", *drawn, width="100%", height="28", class_="parts", aria_hidden="true")
    names = legend(
        [joined([part.label, " ", element("span", part.told, class_="told")]) for part in listed],
        [part.kind for part in listed],
    )
    return element("div", bar, names)


def dot_rows(
    rows: Iterable[tuple[Content, Sequence[float | None]]],
    names: Sequence[Content],
    *,
    told: Callable[[float], str],
) -> Html:
    """A line for each row with a mark for each of the names, on a logarithmic scale from 1."""
    kept = list(rows)
    most = max((value for _, values in kept for value in values if value), default=0.0)
    if not kept or most <= 0:
        return NOTHING

    def place(value: float) -> float:
        return log10(max(value, 1.0)) / (log10(most) or 1.0)

    lines = []
    for label, values in kept:
        known = [value for value in values if value is not None]
        marks = [
            mark(number, _at(place(value)), str(HEIGHT // 2))
            for number, value in reversed(list(enumerate(values)))
            if value is not None
        ]
        middle = str(HEIGHT // 2)
        rail = element("line", x1="0", x2="100%", y1=middle, y2=middle, class_="rail")
        drawing = _drawing(rail, *marks)
        ends = joined(map(told, (known[0], known[-1]) if len(known) > 1 else known), " → ")
        value = element("span", ends, class_="value")
        lines.append(_row(label, drawing, element("span", value, class_="told")))
    return element("div", legend(names), element("ul", *lines, class_="bars"))


def _line(bar: Bar, most: float, at: float | None) -> Html:
    middle = str(HEIGHT // 2)
    drawn = [
        element("rect", x="0", y="4", width="100%", height="10", rx="2", class_="track"),
        element("rect", x="0", y="4", width=_at(bar.value / most), height="10", rx="2",
                class_="filled"),
    ]  # fmt: skip
    if bar.low is not None and bar.high is not None:
        low, high = _at(bar.low / most), _at(bar.high / most)
        drawn.append(element("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker"))
        drawn += [
            element("line", x1=end, x2=end, y1="3", y2="15", class_="whisker")
            for end in (low, high)
        ]
    if at is not None:
        place = _at(at / most)
        drawn.append(
            element("line", x1=place, x2=place, y1="0", y2=str(HEIGHT), class_="reference")
        )
    note = element("span", bar.note, class_="note") if bar.note else NOTHING
    told = element("span", element("span", bar.told, class_="value"), note, class_="told")
    return _row(bar.label, _drawing(*drawn), told)


def _drawing(*drawn: Content) -> Html:
    return element("svg", *drawn, width="100%", height=str(HEIGHT), aria_hidden="true")


def _row(label: Content, drawing: Html, told: Html) -> Html:
    return element(
        "li",
        element("span", label, class_="label"),
        element("span", drawing, class_="drawing"),
        told,
    )


def _at(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"
