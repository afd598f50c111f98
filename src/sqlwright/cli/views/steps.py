"""The lines of a run's report about steps: schema linking, other parts, selection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.several import in_brackets


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
