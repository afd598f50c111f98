"""Confidence: what answering less would win, and how far confidences are probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.lab.evaluation.pages.estimates import levels, listed, mapping, number
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import Axis, Line, Point, figure, figures, plane
from sqlwright.presentation.html.elements import NOTHING, Content, Html


def certainty(run: MeasuredRun) -> Html:
    """The section; nothing without confidences."""
    summary = run.summary
    sentences = list(_sentences(summary))
    return blocks.section(
        "Confidence",
        blocks.listed(sentences),
        figures(_risk_coverage(summary), _reliability(summary)),
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


def _sentences(summary: Mapping[str, Any]) -> Iterator[Content]:
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
