"""The beginning: the accuracy in a sentence, what to look at, and the figures that sum a run up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.boundary.text import counted, duration, money
from sqlwright.lab.evaluation.error_classes.origins import MEANINGS
from sqlwright.lab.evaluation.figures.notes import otherwise
from sqlwright.lab.evaluation.pages.estimates import (
    estimate,
    estimates,
    levels,
    mapping,
    number,
)
from sqlwright.lab.evaluation.pages.report import Opening, Section, Sentence
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.presentation.numbers import usage_words
from sqlwright.types import Usage

LEAST = 10
"""Questions that a database or level has at least to be called the weakest; chosen."""


HEADLINES = ("spider", "bird")
"""Rules that figures of others go by most; all of them are further down."""


def opening(run: MeasuredRun) -> Opening:
    """The execution accuracy with its interval in a sentence, caveats, tiles."""
    accuracy = estimate(run.summary.get("execution_accuracy"))
    headline: Sentence = "No question was scored."
    method = ""
    if accuracy is not None:
        clustered = mapping(run.summary.get("clustered"))
        low, high = number(clustered.get("low")), number(clustered.get("high"))
        over = ""
        if low is not None and high is not None:
            over = f" Drawn again by whole databases: {low:.1%} to {high:.1%}."
        headline = (
            "",
            accuracy.told,
            f" of {counted(accuracy.total or 0, 'question')} answered right: execution "
            f"accuracy between {accuracy.interval.replace(' to ', ' and ')}, as far as "
            "so many questions can tell.",
        )
        method = f"95% interval, by {find_rule(run.rule).about}.{over}"
    return Opening(headline, method, warned=list(_caveats(run)), tiles=list(_tiles(run)))


def _caveats(run: MeasuredRun) -> Iterator[str]:
    summary = run.summary
    if not run.finished:
        yield f"This run isn't finished: {run.progress}."
    if gone := int(number(summary.get("gold_does_not_run")) or 0):
        yield f"{counted(gone, 'question')} left out: the gold query doesn't run."
    for db_id, one in mapping(summary.get("skipped")).items():
        count = int(number(mapping(one).get("questions")) or 0)
        reason = str(mapping(one).get("reason", ""))
        yield f"{db_id} left out with {counted(count, 'question')}: {reason}"
    stood_in = estimate(summary.get("stood_in"))
    if stood_in is not None:
        yield (
            f"{counted(stood_in.total or 0, 'question')} answered by embedded models in the "
            f"language model's place, {stood_in.hits:,} of them right."
        )
    yield from (f"{line[0].upper()}{line[1:]}" for line in otherwise(summary))


def look_at(run: MeasuredRun) -> Section:
    """The figures that stand out, each as a sentence."""
    said = [*_losses(run.summary), *_weakest(run.summary), *_certainty(run.summary)]
    return Section("What to look at", listed=said[:6])


def _losses(summary: Mapping[str, Any]) -> Iterator[Sentence]:
    errors = mapping(summary.get("errors"))
    split = estimates(errors.get("split"))
    lost, none = split.get("not_chosen"), split.get("none_right")
    if lost is not None and none is not None and (lost.hits or none.hits):
        if (lost.hits or 0) >= (none.hits or 0):
            yield (
                f"Selection loses most: {counted(lost.hits or 0, 'question')} ({lost.told}) had "
                f"a right candidate that wasn't chosen, {none.hits:,} had none."
            )
        else:
            yield (
                f"Most is lost before selection: {counted(none.hits or 0, 'question')} "
                f"({none.told}) had no right candidate, {lost.hits:,} had one that wasn't chosen."
            )
    classes = {
        str(name): one
        for name, data in mapping(errors.get("classes")).items()
        if (one := estimate(mapping(data).get("main"))) is not None and one.hits
    }
    if classes:
        name, one = max(classes.items(), key=lambda item: item[1].hits or 0)
        meaning = MEANINGS.get(name, "")
        about = f": {one.counted} wrong answers. {meaning[:1].upper()}{meaning[1:]}."
        yield "The commonest error is ", name, about
    doubtful = split.get("gold_doubtful")
    if doubtful is not None and doubtful.hits:
        count = counted(doubtful.hits, "question")
        yield f"The gold query of {count} ({doubtful.told}) is doubtful."


def _weakest(summary: Mapping[str, Any]) -> Iterator[Sentence]:
    overall = estimate(summary.get("execution_accuracy"))
    for key, what in (("by_database", "database"), ("by_difficulty", "difficulty")):
        known = {
            name: one
            for name, one in estimates(summary.get(key)).items()
            if (one.total or 0) >= LEAST
        }
        if overall is None or len(known) < 2:
            continue
        name, one = min(known.items(), key=lambda item: item[1].value)
        if one.high is not None and one.high < overall.value:
            told = "The weakest database is " if what == "database" else "The hardest level is "
            below = f": {one.told} ({one.interval}) of {one.total:,}, below the whole."
            yield told, name, below


def _certainty(summary: Mapping[str, Any]) -> Iterator[Sentence]:
    for level, one in reversed(levels(summary.get("coverage_at")).items()):
        covered, sure = number(one.get("coverage")), number(one.get("confidence"))
        if covered and sure is not None:
            yield (
                f"Answers that are at least {sure:.0%} sure are {level:.0%} right: "
                f"{covered:.0%} of the questions."
            )
            return
    half = estimate(summary.get("most_confident_half"))
    if half is not None and summary.get("expected_calibration_error") is not None:
        yield f"The surer half of the answers is right in {half.told} ({half.interval})."


def _tiles(run: MeasuredRun) -> Iterator[tuple[str, str, str]]:
    summary = run.summary
    by_rule = mapping(summary.get("by_rule"))
    shares = {
        f"by {rule.about.partition(',')[0]}": by_rule.get(rule.name)
        for rule in map(find_rule, HEADLINES)
        if rule.name != run.rule
    }
    shares["some candidate right"] = summary.get("oracle_over_candidates")
    shares["first candidate right"] = summary.get("first_candidate")
    for name, one in estimates(shares).items():
        yield name, one.told, one.interval
    seconds = mapping(summary.get("seconds"))
    median, most = number(seconds.get("median")), number(seconds.get("p95"))
    if median is not None and most is not None:
        yield "a question takes", duration(median), f"95% within {duration(most)}"
    yield from _spent(summary)


def _spent(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    fresh = mapping(summary.get("fresh")) or summary
    mean = mapping(mapping(fresh.get("cost")).get("per_question"))
    value = number(mean.get("value"))
    used = mapping(mapping(summary.get("usage")).get("in all"))
    names = Usage.__dataclass_fields__.keys()
    words = usage_words(Usage(**{k: v for k, v in used.items() if k in names})) if used else ""
    if value is not None:
        low, high = number(mean.get("low")), number(mean.get("high"))
        note = "" if low is None or high is None else f"{money(low)} to {money(high)}"
        yield "a question costs", money(value), note or words
    elif words:
        yield "language models", counted(int(used.get("calls", 0)), "call"), words
