"""The wrong answers of a run by their classes, and what people said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.lab.evaluation.error_classes.classes import MEANINGS
from sqlwright.lab.evaluation.error_classes.origins import ORIGINS

SPLIT = {
    "right": "right",
    "not_chosen": "wrong, another candidate right",
    "none_right": "wrong, no candidate right",
    "gold_doubtful": "gold doubtful",
}
MOST_ENTRIES = 8
"""Classes of errors, and origins, that the summary of a run shows; a screen has no more room."""


def error_lines(
    errors: Mapping[str, Any], display: DisplayOptions, *, most: int | None = None
) -> Iterator[Text]:
    """The wrong answers by class and by where they came from, the `most` frequent of each; nothing
    where none is wrong."""
    if not errors["wrong"]:
        return
    split = [Text(f"{SPLIT[name]} {in_brackets(share)}") for name, share in errors["split"].items()]
    yield from labelled("answers", split, display.width)
    if errors["classed"] < errors["wrong"]:
        told = f"{errors['wrong'] - errors['classed']:,} of them by an earlier version, not classed"
        yield from labelled("wrong", [Text(told, style="warning")], display.width)
    ordered = sorted(errors["classes"].items(), key=lambda item: -item[1]["main"]["hits"])
    classes = [
        Text.assemble(
            f"{name} {in_brackets(shares['main'])}",
            (f"{_beside(shares)}: {MEANINGS[name]}", "quiet"),
        )
        for name, shares in ordered[:most]
    ]
    classes += _more(len(ordered), most)
    yield from labelled("errors", classes, display.width)
    known = [one for one in errors["origins"] if one["kind"] in ORIGINS]
    frequent = sorted(one["hits"] for one in known)[-most:] if most else []
    kept = [one for one in known if one["hits"] >= min(frequent, default=0)][:most]
    origins = [
        Text.assemble(
            f"{one['kind'].replace('_', ' ')}",
            f" at {clean(one['step'], 60)}" if one["step"] else "",
            f" {in_brackets(one)}",
            (f": {ORIGINS[one['kind']]}", "quiet"),
        )
        for one in kept
    ]
    origins += _more(len(known), most)
    yield from labelled("first lost", origins, display.width)


def _more(count: int, most: int | None) -> list[Text]:
    """A line that says how many aren't shown, if any."""
    if most is None or count <= most:
        return []
    return [Text(f"{count - most:,} more in the report", style="quiet")]


def _beside(shares: Mapping[str, Any]) -> str:
    """The number of answers in which a class holds beside the main one."""
    more = shares["any"]["hits"] - shares["main"]["hits"]
    return f", beside others in {more:,} more" if more else ""


def in_brackets(share: Mapping[str, Any]) -> str:
    """A share with its counts and interval."""
    interval = f"{share['low']:.1%} to {share['high']:.1%}"
    return f"{share['hits']:,} of {share['total']:,}, {share['value']:.1%} ({interval})"
