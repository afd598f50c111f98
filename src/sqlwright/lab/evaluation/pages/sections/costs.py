"""Cost and time: what a question takes, by difficulty and by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from statistics import fmean
from typing import Any

from sqlwright.boundary.text import duration, money
from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.pages.estimates import mapping, number
from sqlwright.lab.evaluation.pages.report import Section
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html.charts import Axis, Bar, Point, bars, figure, plane
from sqlwright.presentation.html.templates import NOTHING, Html

LEAST = 2
"""Levels of difficulty from which on they can be set against one another."""
LEVELS_SHOWN = 6
"""Levels, or databases, that marks tell apart."""


BY_TEXT = "Of {:,.0f} cached replies nothing was kept but the text; their tokens are estimated."


@dataclass(frozen=True, slots=True)
class Price:
    """A way to say what a question takes."""

    title: str
    of: Callable[[Record], float]
    told: Callable[[float], str]


def cost_of(record: Record) -> float | None:
    """US dollars for a question with nothing in the cache; None where a call's price is unknown."""
    spent = [one.get("cost") for one in record.fresh_usage.values()]
    return None if None in spent else float(sum(one for one in spent if one is not None))


def tokens_of(record: Record) -> float:
    """Tokens of prompts and replies for a question with nothing in the cache."""
    names = ("prompt_tokens", "reply_tokens")
    return float(sum(one.get(name) or 0 for one in record.fresh_usage.values() for name in names))


def price_of(runs: Sequence[MeasuredRun]) -> Price:
    """The price that all of these runs can be compared by: dollars, else tokens, else seconds."""
    records = [record for run in runs for record in run.scored]
    costs = [cost_of(record) for record in records]
    if None not in costs and any(costs):
        return Price("US dollars a question", lambda one: cost_of(one) or 0.0, money)
    if any(map(tokens_of, records)):
        return Price("tokens a question", tokens_of, lambda value: f"{value:,.0f}")
    return Price(
        "seconds a question",
        lambda one: one.seconds + one.saved_seconds,
        lambda value: f"{value:.2g}",
    )


def priced_figure(named: Sequence[tuple[str, MeasuredRun, Sequence[Record]]], price: Price) -> Html:
    """Accuracy against price: a point for each of some groups of records."""
    about = "What questions take at the mean, and how many are right; whiskers are 95% intervals."
    points, rows = [], []
    for place, (name, run, records) in enumerate(named):
        share = Share(sum(one.right(run.rule) for one in records), len(records))
        spent = fmean(map(price.of, records)) if records else 0.0
        low, high = share.interval
        points.append(Point(name, spent, share.value, low, high, place))
        told = price.told(spent)
        rows.append((name, told, f"{share.value:.1%}", f"{low:.1%}", f"{high:.1%}"))
    if not points:
        return NOTHING
    most = max(point.x for point in points) * 1.1
    words = "; ".join(f"{p.name}: {price.told(p.x)}, {p.y:.1%}" for p in points)
    drawing = plane(
        Axis(price.title, 0.0, most or 1.0, price.told),
        Axis("answered right", *_room(points), lambda value: f"{value:.0%}"),
        words,
        points=points,
    )
    head = ("", price.title[:1].upper() + price.title[1:], "Right", "95% from", "to")
    return figure("Accuracy against cost", drawing, about=about, head=head, rows=rows)


def _room(points: Sequence[Point]) -> tuple[float, float]:
    """Ends of an axis, in whole tenths, between which all intervals lie."""
    low = min(point.y if point.low is None else point.low for point in points)
    high = max(point.y if point.high is None else point.high for point in points)
    return floor(low * 10) / 10, ceil(high * 10) / 10


def costs(run: MeasuredRun) -> Section:
    """The cost and time of a question, by difficulty and by step."""
    shown = (_by_difficulty(run), _tokens(run.summary), _times(run.summary))
    return Section("Cost and time", "cost", figures=shown)


def _by_difficulty(run: MeasuredRun) -> Html:
    price = price_of([run])
    levels = {one.difficulty for one in run.scored if one.difficulty}
    ordered = sorted(levels, key=level_place)
    named: list[tuple[str, MeasuredRun, Sequence[Record]]] = [
        (level, run, [one for one in run.scored if one.difficulty == level])
        for level in ordered[:LEVELS_SHOWN]
    ]
    if len(named) < LEAST:
        asked = dict.fromkeys(one.db_id for one in run.scored)
        named = [(db_id, run, [r for r in run.scored if r.db_id == db_id]) for db_id in asked]
    if not LEAST <= len(named) <= LEVELS_SHOWN:
        return NOTHING
    return priced_figure(named, price)


def _tokens(summary: Mapping[str, Any]) -> Html:
    sent = mapping(summary.get("usage"))
    fresh = mapping(mapping(summary.get("fresh")).get("usage")) or sent
    by_step = {str(step): mapping(used) for step, used in fresh.items() if step != "in all"}
    tokens = {
        step: (number(one.get("prompt_tokens")) or 0) + (number(one.get("reply_tokens")) or 0)
        for step, one in by_step.items()
    }
    if not any(tokens.values()):
        return NOTHING
    rows = [
        (
            step,
            f"{number(one.get('calls')) or 0:,.0f}",
            f"{number(one.get('prompt_tokens')) or 0:,.0f}",
            f"{number(one.get('reply_tokens')) or 0:,.0f}",
            money(number(one.get("cost"))),
            f"{number(one.get('cached')) or 0:,.0f}",
            f"{number(mapping(sent.get(step)).get('calls')) or 0:,.0f}",
            money(number(mapping(sent.get(step)).get("cost"))),
        )
        for step, one in by_step.items()
    ]
    ranked = sorted(by_step, key=lambda step: -tokens[step])
    return figure(
        "Tokens by step",
        bars(
            [
                Bar(
                    step,
                    tokens[step],
                    f"{tokens[step]:,.0f}",
                    note=money(number(by_step[step].get("cost"))),
                )
                for step in ranked
            ],
            most=max(tokens.values()),
        ),
        about="For all questions with nothing in the cache; to the right what was at hand, sent "
        f"and paid.{_by_text(summary)}",
        head=("Step", "Calls", "Tokens in", "out", "Cost", "Cached", "Sent", "Paid"),
        rows=rows,
    )


def _by_text(summary: Mapping[str, Any]) -> str:
    count = number(mapping(summary.get("fresh")).get("by_text")) or 0
    return f" {BY_TEXT.format(count)}" if count else ""


def _times(summary: Mapping[str, Any]) -> Html:
    by_step = {
        str(step): mapping(times)
        for step, times in mapping(summary.get("seconds_per_step")).items()
    }
    known = {
        step: (median, number(times.get("p95")) or median)
        for step, times in by_step.items()
        if (median := number(times.get("median"))) is not None
    }
    most = max((high for _, high in known.values()), default=0.0)
    if not most:
        return NOTHING
    return figure(
        "Time by step",
        bars(
            [
                Bar(
                    step,
                    median,
                    duration(median),
                    low=median,
                    high=high,
                    note=f"95% within {duration(high)}",
                )
                for step, (median, high) in known.items()
            ],
            most=most,
        ),
        about="The median of all questions, up to the time within which 95% stay.",
        head=("Step", "Median", "95% within", "Longest"),
        rows=[
            (
                step,
                duration(median),
                duration(high),
                duration(number(by_step[step].get("max")) or high),
            )
            for step, (median, high) in known.items()
        ],
    )
