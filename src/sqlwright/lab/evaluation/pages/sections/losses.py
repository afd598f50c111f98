"""The loss of questions: the split of all answers, origins and classes of the wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlwright.lab.evaluation.error_classes.classes import MEANINGS
from sqlwright.lab.evaluation.error_classes.origins import ORIGINS
from sqlwright.lab.evaluation.pages.estimates import (
    HEAD,
    Estimate,
    estimate,
    estimates,
    listed,
    mapping,
)
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import Part, bars, figure, figures, parts
from sqlwright.presentation.html.elements import NOTHING, Content, Html, foreign, joined

SPLIT = {
    "right": "right",
    "not_chosen": "a right candidate was not chosen",
    "none_right": "no candidate right",
    "gold_doubtful": "gold doubtful",
}
"""The parts of the split, in words."""
MARKS = {"right": 0, "not_chosen": 1, "none_right": 4, "gold_doubtful": 5}
"""Their marks, by number."""


def losses(run: MeasuredRun) -> Html:
    """The section; nothing where no answer is wrong."""
    errors = mapping(run.summary.get("errors"))
    if not errors.get("wrong"):
        return NOTHING
    return blocks.section(
        "Where questions are lost",
        figures(_split(errors), _origins(errors), _classes(errors)),
        _cross(errors),
    )


def _split(errors: Mapping[str, Any]) -> Html:
    found = {k: one for k, one in estimates(errors.get("split")).items() if k in SPLIT}
    return figure(
        "All answers",
        parts(
            [
                Part(SPLIT[name], one.value, f"{one.told} ({one.hits or 0:,})", MARKS[name])
                for name, one in found.items()
            ]
        ),
        head=HEAD,
        rows=[(SPLIT[name], *one.row) for name, one in found.items()],
        wide=True,
    )


def _origins(errors: Mapping[str, Any]) -> Html:
    meanings: Mapping[str, str] = {str(kind): told for kind, told in ORIGINS.items()}
    found: list[tuple[Content, str, Estimate]] = []
    for data in listed(errors.get("origins")):
        kind, step, one = str(data.get("kind", "")), str(data.get("step", "")), estimate(data)
        if one is None or kind not in meanings:
            continue
        at: list[Content] = [" at ", foreign(step)] if step else []
        found.append((joined([kind.replace("_", " "), *at]), meanings[kind], one))
    return figure(
        "The first thing lost",
        bars(one.bar(label) for label, _, one in found),
        about="Of the wrong answers: the step that lost the first thing that was needed.",
        head=("Origin", *HEAD[1:], "Meaning"),
        rows=[(label, *one.row, meaning) for label, meaning, one in found],
    )


def _classes(errors: Mapping[str, Any]) -> Html:
    main: dict[str, Estimate] = {}
    beside: dict[str, Estimate] = {}
    for name, data in mapping(errors.get("classes")).items():
        one, some = estimate(mapping(data).get("main")), estimate(mapping(data).get("any"))
        if one is not None and some is not None:
            main[str(name)], beside[str(name)] = one, some
    ordered = sorted(main, key=lambda name: -main[name].value)
    return figure(
        "What is wrong",
        bars(main[name].bar(foreign(name)) for name in ordered if main[name].hits),
        about="The main class of each wrong answer; several may hold.",
        head=(*HEAD, "Beside others", "Meaning"),
        rows=[
            (
                foreign(name),
                *main[name].row,
                f"{(beside[name].hits or 0) - (main[name].hits or 0):,}",
                MEANINGS.get(name, ""),
            )
            for name in ordered
        ],
    )


def _cross(errors: Mapping[str, Any]) -> Html:
    by_class = {
        str(name): mapping(one) for name, one in mapping(errors.get("origins_by_class")).items()
    }
    kinds = [kind for kind in ORIGINS if any(kind in found for found in by_class.values())]
    if not kinds:
        return NOTHING
    rows: list[list[Content]] = [
        [foreign(name), *(f"{found[kind]:,}" if kind in found else "" for kind in kinds)]
        for name, found in by_class.items()
    ]
    head = ["Main class", *(kind.replace("_", " ") for kind in kinds)]
    table = blocks.table(head, rows, numbers=range(1, len(head)))
    return blocks.disclosure("Classes by origin", table)
