"""Accuracy by group, rule and metric; confidence, and what answering less would win."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.pages.estimates import (
    Estimate,
    estimate,
    estimates,
    levels,
    listed,
    mapping,
    number,
    share_figure,
)
from sqlwright.lab.evaluation.pages.report import ReportTable, Section
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.rules.rule import RULES, find_rule
from sqlwright.presentation.html.charts import Axis, Line, Point, figure, plane, stacked
from sqlwright.presentation.html.templates import NOTHING, Html

SHOWN = 30
"""Bars of a figure at most; the table beneath has all."""
LEAST = 2
"""Entries from which on a breakdown says something."""
TIER = "tier:"
"""The beginning of the names of metrics that are tiers."""
WHISKERS = "Bars are shares answered right, whiskers 95% intervals"


def accuracy(run: MeasuredRun) -> Section:
    """Accuracy by difficulty, database, SQL feature and tag; by other rules and metrics."""
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
    return Section(
        "Accuracy",
        "accuracy",
        figures=(
            _breakdown("By difficulty", ordered, at, least=1),
            _breakdown("By database", databases, at),
            _breakdown("By what the gold query has", features, at, least=1),
            *tags,
            stacked(_rules(summary), _tiers(summary)),
        ),
        tables=_measures(summary),
    )


def _worst_first(found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return dict(sorted(found.items(), key=lambda item: (item[1].value, item[0])))


def _breakdown(
    title: str, found: Mapping[str, Estimate], at: float | None, *, least: int = LEAST
) -> Html:
    if len(found) < least:
        return NOTHING
    cut = f"; the {SHOWN} lowest of {len(found):,}" if len(found) > SHOWN else ""
    mean = "" if at is None else ", the dashed line is the whole"
    shown = dict(list(found.items())[:SHOWN])
    return share_figure(title, found, f"{WHISKERS}{mean}{cut}.", shown=shown, at=at)


def _rules(summary: Mapping[str, Any]) -> Html:
    """The same answers by every rule, and the candidates by the data set's."""
    found: dict[str, Estimate] = {}
    for name, one in estimates(summary.get("by_rule")).items():
        found[f"{name}: {find_rule(name).about}" if name in RULES else name] = one
    for key, title in (
        ("execution_accuracy_gold_not_empty", "where the gold query has rows"),
        ("first_candidate", "the first candidate"),
        ("oracle_over_candidates", "some candidate"),
    ):
        if (candidates := estimate(summary.get(key))) is not None:
            found[title] = candidates
    return share_figure(
        "By rule, and what selection had to choose from",
        found,
        "Rules judge the answers; candidates are judged by the data set's own.",
    )


def _tiers(summary: Mapping[str, Any]) -> Html:
    found = estimates(summary.get("tiers"))
    return share_figure(
        "Tiers of agreement",
        found,
        "Answers that agree with gold at least so far.",
        shown={name.removeprefix(TIER): one for name, one in found.items()},
    )


def _measures(summary: Mapping[str, Any]) -> list[ReportTable]:
    """The means of metrics as a table: their units differ. Tiers have a figure of their own."""
    rows = [
        (
            name,
            f"{one.value:.3f}",
            "" if one.low is None else f"{one.low:.3f}",
            "" if one.high is None else f"{one.high:.3f}",
            one.counted,
        )
        for name, one in estimates(summary.get("measures")).items()
        if not name.startswith(TIER)
    ]
    head = ("Metric", "Mean", "95% from", "to", "Questions")
    numbers = range(1, 5)
    return [ReportTable(head, rows, numbers, "Means of metrics", title="Metrics")] if rows else []


def confidence(run: MeasuredRun) -> Section:
    """The gain of answering less, and how far confidences are probabilities."""
    return Section(
        "Confidence",
        "confidence",
        listed=list(_sentences(run.summary)),
        figures=(_risk_coverage(run.summary), _reliability(run.summary)),
    )


def _percents(value: float) -> str:
    return f"{value:.0%}"


def _risk_coverage(summary: Mapping[str, Any]) -> Html:
    points = sorted(_pairs(listed(summary.get("risk_coverage")), "coverage", "risk"))
    if len(points) < 2:
        return NOTHING
    whole = points[-1][1]
    most = max(0.05, *(risk for _, risk in points))
    about = (
        f"Giving every answer, {whole:.1%} are wrong; giving the surest half, "
        f"{_at(points, 0.5):.1%}."
    )
    drawing = plane(
        Axis("share of the questions that are answered, the surest first", 0.0, 1.0, _percents),
        Axis("wrong among those answered", 0.0, most, _percents),
        about,
        lines=[
            Line("", [(0.0, whole), (1.0, whole)], faint=True),
            Line("", points),
        ],
    )
    every = max(1, len(points) // 20)
    told = [*points[::every], points[-1]] if len(points) > 20 else points
    return figure(
        "Risk against coverage",
        drawing,
        about=f"{about} The dashed line is what confidences that say nothing would give.",
        head=("Coverage", "Risk"),
        rows=[(f"{coverage:.1%}", f"{risk:.1%}") for coverage, risk in told],
    )


def _at(points: list[tuple[float, float]], coverage: float) -> float:
    """The risk at the point nearest to a coverage."""
    return min(points, key=lambda one: abs(one[0] - coverage))[1]


def _reliability(summary: Mapping[str, Any]) -> Html:
    calibration = mapping(summary.get("calibration"))
    bins = [one for one in listed(calibration.get("bins")) if number(one.get("count"))]
    points = [
        (confidence, right)
        for one in bins
        if (confidence := number(one.get("confidence"))) is not None
        and (right := number(one.get("right"))) is not None
    ]
    if not points:
        return NOTHING
    about = "Answers by how sure they are, and how many of them are right."
    drawing = plane(
        Axis("confidence", 0.0, 1.0, _percents),
        Axis("right", 0.0, 1.0, _percents),
        about,
        lines=[
            Line("", [(0.0, 0.0), (1.0, 1.0)], faint=True),
            Line("", sorted(points)),
        ],
        points=[Point("", x, y) for x, y in points],
    )
    rows = [
        (
            f"{number(one.get('low')) or 0:.0%} to {number(one.get('high')) or 0:.0%}",
            f"{number(one.get('count')) or 0:,.0f}",
            f"{number(one.get('confidence')) or 0:.1%}",
            f"{number(one.get('right')) or 0:.1%}",
        )
        for one in bins
    ]
    return figure(
        "Calibration",
        drawing,
        about=f"{about} On the dashed line they are as sure as right; below it, too sure.",
        head=("Confidence", "Answers", "Mean confidence", "Right"),
        rows=rows,
    )


def _sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    for level, one in levels(summary.get("coverage_at")).items():
        covered, sure = number(one.get("coverage")), number(one.get("confidence"))
        if covered is None or sure is None:
            yield f"No threshold of confidence gives answers that are {level:.0%} right."
        else:
            yield (
                f"{level:.0%} right from a confidence of {sure:.0%} on, "
                f"which {covered:.1%} of the questions reach."
            )
    calibration = mapping(summary.get("calibration"))
    gap = number(calibration.get("ece"))
    gap = number(summary.get("expected_calibration_error")) if gap is None else gap
    if gap is not None:
        yield (
            f"Confidence is off by {100 * gap:.1f} points at the mean (expected calibration error)."
        )
    area = number(calibration.get("auroc"))
    if area is not None:
        yield (
            f"A right answer is surer than a wrong one in {area:.1%} of pairs "
            "(area under the ROC curve)."
        )
    for penalty, data in mapping(summary.get("reliability")).items():
        one = mapping(data)
        value, low, high = (number(one.get(key)) for key in ("value", "low", "high"))
        if value is not None:
            between = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
            yield f"Reliability score with a penalty of {penalty}: {value:.2f}{between}.".replace(
                "-", "−"
            )


def _pairs(data: list[Mapping[str, Any]], x: str, y: str) -> list[tuple[float, float]]:
    found = ((number(one.get(x)), number(one.get(y))) for one in data)
    return [(one, other) for one, other in found if one is not None and other is not None]
