"""Several runs, and an estimate of one, for reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.boundary.text import counted, money
from sqlwright.cli.terminal.console import Screen
from sqlwright.presentation.numbers import usage_words
from sqlwright.types import Usage


def estimate_lines(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The estimate for all questions, and the cost of the sample."""
    yield Text(f"{counted(summary['questions'], 'question')}, estimated from {summary['asked']:,}")
    shown = {"calls": "{:,.0f}".format, "tokens": "{:,.0f}".format, "cost": money}
    for name, told in {**shown, "hours": "{:,.2g}".format}.items():
        found = summary[name]
        if found is not None:
            interval = f"{told(found['low'])} to {told(found['high'])}"
            yield Text(f"{name:<8}{told(found['value']):>14}  {interval}")
        elif name == "cost" and summary["calls"] is not None:
            yield Text("cost    unknown: the price of a model isn't known", style="warning")
    spent = usage_words(Usage(**summary["spent"])) or "no language model was asked"
    yield Text(f"the sample took {spent}", style="quiet")


def seed_lines(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The share of right questions by each seed, and over all of them."""
    for one in summary["runs"]:
        share = in_brackets(one["execution_accuracy"])
        left = f"; {left_unasked(one):,} not asked" if left_unasked(one) else ""
        yield Text(f"seed {one['seed']}  {share}{left}")
    mean = summary["execution_accuracy"]
    if mean is not None and mean["low"] is not None:
        low, high = max(0.0, mean["low"]), min(1.0, mean["high"])
        told = f"{mean['value']:.1%} at the mean of {mean['runs']} seeds ({low:.1%} to {high:.1%})"
        yield Text(told, style="strong")


def left_unasked(summary: Mapping[str, Any]) -> int:
    """Questions that the budget of the run left no room for."""
    return len(summary.get("run_budget", {}).get("not_asked", ()))


def in_brackets(share: Mapping[str, Any]) -> str:
    """A share with its counts and interval."""
    interval = f"{share['low']:.1%} to {share['high']:.1%}"
    return f"{share['hits']:,} of {share['total']:,}, {share['value']:.1%} ({interval})"


@contextmanager
def noted_interrupt(screen: Screen, folder: Path | str | None) -> Iterator[None]:
    """Say how an interrupted run that is kept goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is not None:
            screen.note("interrupted; the same command with --resume goes on", style="warning")
        raise
