"""Figures of a report with their intervals, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.presentation.html.charts import Bar, bars, figure
from sqlwright.presentation.html.templates import Html

HEAD = ("", "Share", "95% from", "to", "Hits", "Of")
"""The columns of a table of shares."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, with what is known of its interval and of the questions it is over."""

    value: float
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    total: int | None = None

    @property
    def told(self) -> str:
        """The figure as a share."""
        return f"{self.value:.1%}"

    @property
    def interval(self) -> str:
        """The interval, empty where it isn't known."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:.1%} to {self.high:.1%}"

    @property
    def counted(self) -> str:
        """Hits and total, as far as known."""
        if self.total is None:
            return ""
        return f"{self.total:,}" if self.hits is None else f"{self.hits:,} of {self.total:,}"

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """The cells of a table after the name."""
        return (
            self.told,
            "" if self.low is None else f"{self.low:.1%}",
            "" if self.high is None else f"{self.high:.1%}",
            "" if self.hits is None else f"{self.hits:,}",
            "" if self.total is None else f"{self.total:,}",
        )

    def bar(self, label: str) -> Bar:
        """The figure as a bar."""
        note = " · ".join(filter(None, (self.interval, self.counted)))
        return Bar(label, self.value, self.told, self.low, self.high, note)


def share_figure(
    title: str,
    found: Mapping[str, Estimate],
    about: str,
    *,
    first: str = "",
    shown: Mapping[str, Estimate] | None = None,
    at: float | None = None,
    more: Mapping[str, Mapping[str, str]] | None = None,
) -> Html:
    """Shares by name as bars (those of `shown`, if not all), and as a table that may have `more`
    columns, each with its cells by name; its `first` column has the names. `at` is a share that a
    line marks in all."""
    added = more or {}
    drawn = found if shown is None else shown
    return figure(
        title,
        bars((one.bar(name) for name, one in drawn.items()), at=at),
        about=about,
        head=(first, *HEAD[1:], *added),
        rows=[
            (name, *one.row, *(cells[name] for cells in added.values()))
            for name, one in found.items()
        ],
    )


def estimate(data: object) -> Estimate | None:
    """A share or mean as a report has it; None for anything else, or where it is over nothing."""
    if not isinstance(data, Mapping):
        return None
    value, total = number(data.get("value")), number(data.get("total"))
    if value is None or total == 0:
        return None
    hits = number(data.get("hits"))
    return Estimate(
        value,
        number(data.get("low")),
        number(data.get("high")),
        None if hits is None else int(hits),
        None if total is None else int(total),
    )


def estimates(data: object) -> dict[str, Estimate]:
    """Several by name, those alone that are there."""
    found = {name: estimate(one) for name, one in mapping(data).items()}
    return {str(name): one for name, one in found.items() if one is not None}


def number(data: object) -> float | None:
    """A number, None for anything else."""
    return float(data) if isinstance(data, int | float) and not isinstance(data, bool) else None


def levels(data: object) -> dict[float, Mapping[str, Any]]:
    """Objects whose names are shares, such as "0.95", by these, the lowest first."""
    found = {}
    for name, one in mapping(data).items():
        try:
            found[float(name)] = mapping(one)
        except ValueError:
            continue
    return dict(sorted(found.items()))


def mapping(data: object) -> Mapping[str, Any]:
    """An object, an empty one for anything else."""
    return data if isinstance(data, Mapping) else {}


def listed(data: object) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in data if isinstance(one, Mapping)] if isinstance(data, list) else []


def points(difference: float) -> str:
    """A difference of shares in points, with its sign."""
    told = f"{100 * difference:+.1f}".replace("-", "−")
    return told if told[1:] != "0.0" else "0.0"
