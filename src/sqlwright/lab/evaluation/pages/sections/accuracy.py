"""Accuracy by difficulty, database, SQL feature and tag, by other rules and metrics; the loss of
questions: the split of all answers, origins and classes of the wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlwright.lab.evaluation.error_classes.origins import MEANINGS, ORIGINS
from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.pages.estimates import (
    HEAD,
    Estimate,
    estimate,
    estimates,
    listed,
    mapping,
)
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.rules.rule import RULES, find_rule
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import Part, bars, figure, figures, parts, stacked
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


SHOWN = 30
"""Bars of a figure at most; the table beneath has all."""
LEAST = 2
"""Entries from which on a breakdown says something."""
TIER = "tier:"
"""The beginning of the names of metrics that are tiers."""
WHISKERS = "Bars are shares answered right, whiskers 95% intervals"


def accuracy(run: MeasuredRun) -> Html:
    """The section."""
    summary = run.summary
    overall = estimate(summary.get("execution_accuracy"))
    at = overall.value if overall is not None else None
    difficulty = estimates(summary.get("by_difficulty"))
    ordered = {name: difficulty[name] for name in sorted(difficulty, key=level_place)}
    databases = _worst_first(estimates(summary.get("by_database")))
    features = _worst_first(estimates(summary.get("by_feature")))
    tags = [
        _breakdown(f"By {name}", _worst_first(estimates(values)), at)
        for name, values in mapping(summary.get("by_tag")).items()
    ]
    return blocks.section(
        "Accuracy",
        figures(
            _breakdown("By difficulty", ordered, at, least=1),
            _breakdown("By database", databases, at),
            _breakdown("By what the gold query has", features, at, least=1),
            *tags,
            stacked(_rules(run), _tiers(run)),
        ),
        _measures(run),
    )


def _worst_first(found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return dict(sorted(found.items(), key=lambda item: (item[1].value, item[0])))


def _breakdown(
    title: str, found: Mapping[str, Estimate], at: float | None, *, least: int = LEAST
) -> Html:
    if len(found) < least:
        return NOTHING
    shown = list(found.items())[:SHOWN]
    cut = f"; the {SHOWN} lowest of {len(found):,}" if len(found) > SHOWN else ""
    mean = "" if at is None else ", the dashed line is the whole"
    return figure(
        title,
        bars((one.bar(foreign(name)) for name, one in shown), at=at),
        about=f"{WHISKERS}{mean}{cut}.",
        head=HEAD,
        rows=[(foreign(name), *one.row) for name, one in found.items()],
    )


def _rules(run: MeasuredRun) -> Html:
    """The same answers by every rule, and the candidates by the data set's."""
    found: dict[Content, Estimate] = {}
    for name, one in estimates(run.summary.get("by_rule")).items():
        about = find_rule(name).about if name in RULES else ""
        found[f"{name}: {about}" if about else foreign(name)] = one
    for key, title in (
        ("execution_accuracy_gold_not_empty", "where the gold query has rows"),
        ("first_candidate", "the first candidate"),
        ("oracle_over_candidates", "some candidate"),
    ):
        candidates = estimate(run.summary.get(key))
        if candidates is not None:
            found[title] = candidates
    return figure(
        "By rule, and what selection had to choose from",
        bars(one.bar(label) for label, one in found.items()),
        about="Rules judge the answers; candidates are judged by the data set's own.",
        head=HEAD,
        rows=[(label, *one.row) for label, one in found.items()],
    )


def _tiers(run: MeasuredRun) -> Html:
    found = estimates(run.summary.get("tiers"))
    return figure(
        "Tiers of agreement",
        bars(one.bar(foreign(name.removeprefix(TIER))) for name, one in found.items()),
        about="Answers that agree with gold at least so far.",
        head=HEAD,
        rows=[(foreign(name), *one.row) for name, one in found.items()],
    )


def _measures(run: MeasuredRun) -> Html:
    """The means of metrics as a table: their units differ."""
    told = estimates(run.summary.get("measures"))
    # Shares of tiers have a figure of their own.
    found = {name: one for name, one in told.items() if not name.startswith(TIER)}
    if not found:
        return NOTHING
    rows = [
        (
            foreign(name),
            f"{one.value:.3f}",
            "" if one.low is None else f"{one.low:.3f}",
            "" if one.high is None else f"{one.high:.3f}",
            one.counted,
        )
        for name, one in found.items()
    ]
    head = ["Metric", "Mean", "95% from", "to", "Questions"]
    table = blocks.table(head, rows, numbers=range(1, 5), caption="Means of metrics")
    return blocks.section("Metrics", table, level=3)
