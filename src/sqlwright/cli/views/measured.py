"""Figures of measured runs for reading: shares, differences, what steps did; several runs, and an
estimate of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from sqlwright.boundary.text import counted, money
from sqlwright.cli.terminal.text import clean
from sqlwright.lab.evaluation.pages.differences import p_words
from sqlwright.lab.evaluation.pages.estimates import points
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


def share_line(lead: str, share: Mapping[str, Any]) -> Text:
    """A share with its interval and counts, behind its name, which fills a column."""
    line = Text(lead)
    line.append(f"{share['value']:6.1%}", style="strong")
    line.append(f"  {share['low']:6.1%} to {share['high']:6.1%}")
    line.append(f"  {share['hits']:,} of {share['total']:,}", style="quiet")
    return line


def difference_line(pair: Mapping[str, Any], against: str, indent: int) -> Text:
    """A run's difference to another, question by question."""
    line = Text(" " * indent)
    line.append(f"{points(pair['value']):>6} points", style="strong")
    line.append(f"  {points(pair['low'])} to {points(pair['high'])}")
    split = f"{pair['gained']:,} gained, {pair['lost']:,} lost, p {p_words(pair['p'])}"
    line.append(f"  against {clean(against, 60)}: {split}", style="quiet")
    return line


def view_entries(summary: Mapping[str, Any]) -> list[Text]:
    """A line for each step that narrows the schema, over the questions for which it ran."""
    return [
        Text(
            f"{clean(step, 60)}: {view['columns']:.1f} columns, "
            f"recall {view['column_recall']:.1%}, precision {view['column_precision']:.1%}; "
            f"tables: recall {view['table_recall']:.1%}, precision {view['table_precision']:.1%}; "
            f"all that is needed left in {view['all_columns_shown']['hits']:,} "
            f"of {view['questions']:,}"
        )
        for step, view in summary["views"].items()
    ]


def part_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """A line for each figure of a part that had something to do."""
    for name, share in summary["parts"].items():
        yield Text(f"{clean(name, 60)}: {in_brackets(share)}")
    if depth := summary["sub_questions"]:
        yield Text(f"{depth['value']:.1f} sub-questions a question")


def selection_entries(summary: Mapping[str, Any]) -> Iterator[Text]:
    """The right choices where there was a choice, and the worst choices there could be."""
    questions, gap = summary["selection"]["questions"], summary["gap_share"]
    if questions["total"]:
        closed = "" if gap is None else f"; {gap:.1%} of the way from first candidate to oracle"
        yield Text(f"right in {in_brackets(questions)} with right and wrong candidates{closed}")
        adversary = summary["bounds"]["adversary"]
        yield Text(f"every candidate right in {in_brackets(adversary)}", style="quiet")
