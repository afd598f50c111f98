"""Sets that overlap: two or three as circles, more as a bar for each combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.presentation.html.charts.bars import Bar, bars
from sqlwright.presentation.html.charts.figure import kind_of, legend
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, joined

CIRCLES = 3
"""Sets that can be drawn as circles with a region for each combination."""
COMBINATIONS = 20
"""Bars at most: the largest combinations; the table beneath the figure has all."""

_CENTRES = {2: ((110, 100), (190, 100)), 3: ((110, 95), (190, 95), (150, 163))}
_RADIUS = 76  # in the units of the drawing
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


def sets(names: Sequence[Content], counts: Mapping[frozenset[int], int], about: str) -> Html:
    """The drawing of sets, each known by its place in `names`: how many things are in exactly these
    sets. Circles are of one size, whatever they hold. Nothing where all are empty."""
    if not any(count for members, count in counts.items() if members):
        return NOTHING
    if len(names) in _REGIONS:
        return _circles(names, counts, about)
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], sorted(item[0])))
    return bars(
        [
            Bar(
                joined([names[n] for n in sorted(members)], " + ") if members else "none",
                count,
                f"{count:,}",
                note=f"{count / total:.1%}",
            )
            for members, count in ranked[:COMBINATIONS]
            if count
        ],
        most=max(counts.values()),
    )


def _circles(names: Sequence[Content], counts: Mapping[frozenset[int], int], about: str) -> Html:
    number = len(names)
    circles = [
        element("circle", cx=str(x), cy=str(y), r=str(_RADIUS), class_=f"set {kind_of(place)}")
        for place, (x, y) in enumerate(_CENTRES[number])
    ]
    texts = [
        element("text", f"{counts.get(members, 0):,}", x=str(x), y=str(y), text_anchor="middle")
        for members, (x, y) in _REGIONS[number].items()
    ]
    letters = [
        element("text", _LETTERS[place], x=str(x), y=str(y), text_anchor="middle", class_="letter")
        for place, (x, y) in enumerate(_LETTERS_AT[number])
    ]
    drawing = element(
        "svg", *circles, *texts, *letters, viewBox=f"20 0 260 {245 if number == CIRCLES else 190}",
        class_="venn", role="img", aria_label=about,
    )  # fmt: skip
    told = [joined([f"{_LETTERS[place]}: ", name]) for place, name in enumerate(names)]
    outside = counts.get(frozenset(), 0)
    rest = element("p", f"In none of them: {outside:,}", class_="faint") if outside else NOTHING
    return element("div", drawing, legend(told), rest, class_="venn-room")


_LETTERS = "ABC"
_LETTERS_AT = {2: ((54, 40), (246, 40)), 3: ((48, 36), (252, 36), (222, 232))}
