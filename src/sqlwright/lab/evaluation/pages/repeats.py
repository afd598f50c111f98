"""Runs that were set alike, or differ in a seed alone: the spread between them.

One run says nothing of how much chance is in the recipe itself, which a language model's samples
bring; the interval of its accuracy is about other questions, not about another run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlwright.lab.evaluation.intervals import OverSeeds, over_seeds
from sqlwright.lab.evaluation.pages.estimates import estimate
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.pages.settings import DIARY, MACHINE, settings_lines


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
            groups.setdefault(_settings(run), []).append(run)
    return tuple(
        Repeats(tuple(group), over_seeds([_accuracy(run) for run in group]))
        for group in groups.values()
        if len(group) > 1
    )


def _settings(run: MeasuredRun) -> tuple[tuple[str, str], ...]:
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


def _accuracy(run: MeasuredRun) -> float:
    found = estimate(run.summary.get("execution_accuracy"))
    assert found is not None
    return found.value
