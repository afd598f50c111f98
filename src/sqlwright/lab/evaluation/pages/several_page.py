"""Several runs side by side as a page: accuracy, cost, and each against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlwright
from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.grading import level_place
from sqlwright.lab.evaluation.intervals import OverSeeds, over_seeds
from sqlwright.lab.evaluation.pages.differences import (
    LEVEL,
    RunDifference,
    difference,
    p_words,
    pair_data,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.estimates import HEAD, estimate, estimates, points
from sqlwright.lab.evaluation.pages.runs import DIARY, MACHINE, MeasuredRun, settings_lines, short
from sqlwright.lab.evaluation.pages.sections.costs import price_of, priced_figure
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import bars, figure, figures
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, foreign, joined
from sqlwright.presentation.html.page import page


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


MOST = 40
"""Runs on a page; chosen."""


def several_data(runs: Sequence[MeasuredRun]) -> dict[str, Any]:
    """The runs, and each against the first, as plain data."""
    found = [difference(runs[0], run) for run in runs[1:]]
    return {
        "format": "sqlwright-report-several",
        "version": 1,
        "runs": [
            {
                "folder": str(run.folder),
                "finished": run.finished,
                "run": dict(run.described),
                "report": dict(run.summary),
            }
            for run in runs
        ],
        "against_first": [
            {"folder": str(one.second.folder), "warnings": list(one.warnings)} | pair_data(one.pair)
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
    warned = dict.fromkeys(warning for one in found for warning in one.warnings)
    return page(
        f"{len(runs)} runs, {runs[0].described.get('dataset', 'questions')}",
        _headline(runs, found),
        *(blocks.paragraph(foreign(text), kind="fair") for text in warned),
        blocks.section(
            "Accuracy and cost",
            figures(_accuracy(runs), _cost(runs)),
            *(blocks.paragraph(f"{one.told}.") for one in repeats(runs)),
            _against(found),
        ),
        blocks.section("By difficulty", _by_difficulty(runs)),
        blocks.section("What was set otherwise", _settings(found)),
        footer=f"sqlwright {sqlwright.__version__}",
        themes=True,
    )


def _headline(runs: Sequence[MeasuredRun], found: Sequence[RunDifference]) -> Html:
    known = [
        (run, one)
        for run in runs
        if (one := estimate(run.summary.get("execution_accuracy"))) is not None
    ]
    if not known:
        return element("p", "No question was scored.", class_="headline")
    run, best = max(known, key=lambda item: item[1].value)
    told = element(
        "p",
        foreign(run.name),
        " has most right: ",
        element("strong", best.told),
        f" ({best.interval}).",
        class_="headline",
    )
    against = [verdict_words(one) for one in found if one.second is run]
    return joined([told, *(blocks.paragraph(f"To the first: {one}") for one in against)])


def _accuracy(runs: Sequence[MeasuredRun]) -> Html:
    found = [(run, estimate(run.summary.get("execution_accuracy"))) for run in runs]
    known = [(foreign(run.name), one) for run, one in found if one is not None]
    return figure(
        "Execution accuracy",
        bars(one.bar(name) for name, one in known),
        about="Each run by itself, with its 95% interval; their differences are below.",
        head=HEAD,
        rows=[(name, *one.row) for name, one in known],
    )


def _cost(runs: Sequence[MeasuredRun]) -> Html:
    price = price_of(runs)
    named = [(run.name, run, run.scored) for run in runs]
    about = "What questions take at the mean, and how many are right; whiskers are 95% intervals."
    return priced_figure("Accuracy against cost", named, about, price)


def _against(found: Sequence[RunDifference]) -> Html:
    """Each run against the first, question by question."""
    if not found:
        return NOTHING
    rows: list[list[Content]] = []
    for one in found:
        pair = one.pair
        low, high = pair.interval
        verdict = (
            ("worse" if one.worse else "better")
            if one.worse or one.better
            else "no more than chance"
        )
        kind = {"worse": "bad", "better": "good"}.get(verdict, "faint")
        rows.append(
            [
                foreign(one.second.name),
                points(pair.value),
                points(low),
                points(high),
                f"{pair.gained:,}",
                f"{pair.lost:,}",
                f"{pair.total:,}",
                p_words(pair.p),
                element("span", verdict, class_=kind),
            ]
        )
    head = ["Run", "Points", "95% from", "to", "Gained", "Lost", "Questions", "p", "Verdict"]
    first = found[0].first.name
    caption = joined(
        [
            "Each against ",
            foreign(first),
            ", over the questions that both have: Newcombe's interval, McNemar's exact test; below "
            f"{LEVEL} a difference is called more than chance. Of twenty comparisons one is so by "
            "chance.",
        ]
    )
    table = blocks.table(head, rows, numbers=range(1, 8))
    return blocks.section(
        "Question by question", blocks.paragraph(caption, kind="faint"), table, level=3
    )


def _by_difficulty(runs: Sequence[MeasuredRun]) -> Html:
    found = {run.name: estimates(run.summary.get("by_difficulty")) for run in runs}
    levels = sorted({level for known in found.values() for level in known}, key=level_place)
    if not levels:
        return NOTHING
    rows: list[list[Content]] = []
    for run in runs:
        cells = [found[run.name].get(level) for level in levels]
        rows.append(
            [
                foreign(run.name),
                *(
                    "" if one is None else joined([one.told, " ", _faint(one.interval)])
                    for one in cells
                ),
            ]
        )
    return blocks.table(["Run", *map(foreign, levels)], rows, numbers=range(1, len(levels) + 1))


def _faint(text: str) -> Html:
    return element("span", text, class_="faint")


def _settings(found: Sequence[RunDifference]) -> Html:
    rows: list[list[Content]] = [
        [
            foreign(one.second.name),
            foreign(setting.name),
            foreign(short(setting.first)) if setting.first else "not set",
            foreign(short(setting.second)) if setting.second else "not set",
        ]
        for one in found
        for setting in one.settings
    ]
    if not rows:
        return NOTHING
    return blocks.table(["Run", "Setting", "In the first", "Here"], rows)
