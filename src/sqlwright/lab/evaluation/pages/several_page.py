"""Several runs side by side as a page: accuracy, cost, and each against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.intervals import OverSeeds, over_seeds
from sqlwright.lab.evaluation.pages.differences import (
    LEVEL,
    RunDifference,
    difference,
    p_words,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.estimates import (
    Estimate,
    estimate,
    estimates,
    points,
    share_figure,
)
from sqlwright.lab.evaluation.pages.report import Opening, ReportTable, Section, report_page
from sqlwright.lab.evaluation.pages.runs import (
    DIARY,
    MACHINE,
    MeasuredRun,
    set_words,
    settings_lines,
)
from sqlwright.lab.evaluation.pages.sections.costs import price_of, priced_figure
from sqlwright.presentation.html.templates import Html, part

MOST = 40
"""Runs on a page; chosen."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Runs that were set alike."""

    runs: tuple[MeasuredRun, ...]
    accuracy: OverSeeds
    """Of their execution accuracies."""

    @property
    def told(self) -> str:
        """Mean, spread and interval in a sentence."""
        one = self.accuracy
        told = f"{one.runs} runs were set alike: {one.value:.1%} at the mean"
        if one.deviation is None or one.low is None or one.high is None:
            return told
        return (
            f"{told}, {100 * one.deviation:.1f} points between runs (standard deviation); the mean "
            f"of other runs over these questions lies between {max(0.0, one.low):.1%} and "
            f"{min(1.0, one.high):.1%}"
        )


def repeats(runs: Sequence[MeasuredRun]) -> tuple[Repeats, ...]:
    """The groups of two and more finished runs with the same settings, seeds and the machine
    apart."""
    groups: dict[tuple[tuple[str, str], ...], list[MeasuredRun]] = {}
    for run in runs:
        if run.finished and estimate(run.summary.get("execution_accuracy")) is not None:
            groups.setdefault(_settings_of(run), []).append(run)
    return tuple(
        Repeats(tuple(group), over_seeds([_accuracy_of(run) for run in group]))
        for group in groups.values()
        if len(group) > 1
    )


def _settings_of(run: MeasuredRun) -> tuple[tuple[str, str], ...]:
    lines = settings_lines(run.described)
    kept = (
        (name, value)
        for name, value in lines.items()
        if name.partition(" ")[0] not in DIARY | MACHINE and not _of_seed(name, value)
    )
    return tuple(sorted([*kept, ("questions", str(run.summary.get("questions")))]))


def _of_seed(name: str, value: str) -> bool:
    """True of a setting that is a seed, among overrides too."""
    return name.endswith("seed") or (name.startswith("overrides") and ".seed=" in value)


def _accuracy_of(run: MeasuredRun) -> float:
    found = estimate(run.summary.get("execution_accuracy"))
    assert found is not None
    return found.value


def several_data(runs: Sequence[MeasuredRun]) -> dict[str, Any]:
    """The runs, and each against the first, as plain data."""
    found = [difference(runs[0], run) for run in runs[1:]]
    return {
        "format": "sqlwright-report-several",
        "version": 1,
        "runs": [run.as_dict() for run in runs],
        "against_first": [
            {"folder": str(one.second.folder), "warnings": list(one.warnings), **one.pair.as_dict()}
            for one in found
        ],
        "repeats": [
            {"folders": [str(run.folder) for run in one.runs], **asdict(one.accuracy)}
            for one in repeats(runs)
        ],
    }


def several_page(runs: Sequence[MeasuredRun]) -> str:
    """The page as text. Raises DatasetError where a run has no question in common with the first,
    or there are too many runs."""
    if len(runs) > MOST:
        raise DatasetError(
            f"{len(runs)} runs are too many for a page", hint=f"Name {MOST} at most."
        )
    found = [difference(runs[0], run) for run in runs[1:]]
    title = f"{len(runs)} runs, {runs[0].described.get('dataset', 'questions')}"
    accuracy = Section(
        "Accuracy and cost",
        figures=(_accuracy(runs), _cost(runs)),
        notes=[f"{one.told}." for one in repeats(runs)],
        tables=_against(found),
    )
    levels = Section("By difficulty", tables=_by_difficulty(runs))
    settings = Section("What was set otherwise", tables=_settings(found))
    return report_page(title, _opening(runs, found), (accuracy, levels, settings))


def _opening(runs: Sequence[MeasuredRun], found: Sequence[RunDifference]) -> Opening:
    warned = list(dict.fromkeys(warning for one in found for warning in one.warnings))
    known = _accuracies(runs)
    if not known:
        return Opening("No question was scored.", warned=warned)
    name, best = max(known.items(), key=lambda item: item[1].value)
    against = [f"To the first: {verdict_words(one)}" for one in found if one.second.name == name]
    headline = (f"{name} has most right: ", best.told, f" ({best.interval}).")
    return Opening(headline, said=against, warned=warned)


def _accuracies(runs: Sequence[MeasuredRun]) -> dict[str, Estimate]:
    """Execution accuracies by run, of those that have one."""
    return estimates({run.name: run.summary.get("execution_accuracy") for run in runs})


def _accuracy(runs: Sequence[MeasuredRun]) -> Html:
    return share_figure(
        "Execution accuracy",
        _accuracies(runs),
        "Each run by itself, with its 95% interval; their differences are below.",
    )


def _cost(runs: Sequence[MeasuredRun]) -> Html:
    return priced_figure([(run.name, run, run.scored) for run in runs], price_of(runs))


def _against(found: Sequence[RunDifference]) -> list[ReportTable]:
    """Each run against the first, question by question."""
    if not found:
        return []
    head = ("Run", "Points", "95% from", "to", "Gained", "Lost", "Questions", "p", "Verdict")
    about = (
        f"Each against {found[0].first.name}, over the questions that both have: Newcombe's "
        f"interval, McNemar's exact test; below {LEVEL} a difference is called more than chance. "
        "Of twenty comparisons one is so by chance."
    )
    rows: list[Sequence[str | Html]] = [
        (
            one.second.name,
            *map(points, (one.pair.value, *one.pair.interval)),
            f"{one.pair.gained:,}",
            f"{one.pair.lost:,}",
            f"{one.pair.total:,}",
            p_words(one.pair.p),
            _verdict(one),
        )
        for one in found
    ]
    return [ReportTable(head, rows, range(1, 8), title="Question by question", about=about)]


def _verdict(one: RunDifference) -> Html:
    if one.worse:
        return part("parts.html", "worded", "bad", "worse")
    if one.better:
        return part("parts.html", "worded", "good", "better")
    return part("parts.html", "worded", "faint", "no more than chance")


def _by_difficulty(runs: Sequence[MeasuredRun]) -> list[ReportTable]:
    found = {run.name: estimates(run.summary.get("by_difficulty")) for run in runs}
    levels = sorted({level for known in found.values() for level in known}, key=level_place)

    def cell(one: Estimate | None) -> str | Html:
        if one is None:
            return ""
        return part("parts.html", "worded", "faint", one.interval, f"{one.told} ")

    rows: list[Sequence[str | Html]] = [
        [name, *(cell(known.get(level)) for level in levels)] for name, known in found.items()
    ]
    return [ReportTable(("Run", *levels), rows, range(1, len(levels) + 1))] if levels else []


def _settings(found: Sequence[RunDifference]) -> list[ReportTable]:
    rows = [
        (one.second.name, setting.name, set_words(setting.first), set_words(setting.second))
        for one in found
        for setting in one.settings
    ]
    return [ReportTable(("Run", "Setting", "In the first", "Here"), rows)] if rows else []
