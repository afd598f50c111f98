"""Accuracy by difficulty, database, SQL feature and tag; by other rules and metrics."""

from __future__ import annotations

from collections.abc import Mapping

from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.pages.estimates import HEAD, Estimate, estimate, estimates, mapping
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.rules.rule import RULES, find_rule
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import bars, figure, figures, stacked
from sqlwright.presentation.html.elements import NOTHING, Content, Html, foreign

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
