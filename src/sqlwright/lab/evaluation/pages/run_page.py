"""One run as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlwright
from sqlwright.boundary.text import duration, money
from sqlwright.lab.evaluation.error_classes.origins import MEANINGS
from sqlwright.lab.evaluation.pages.estimates import (
    Estimate,
    estimate,
    estimates,
    levels,
    mapping,
    number,
    number_of,
)
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, settings_lines
from sqlwright.lab.evaluation.pages.sections.accuracy import accuracy, losses
from sqlwright.lab.evaluation.pages.sections.certainty import certainty
from sqlwright.lab.evaluation.pages.sections.choosing import choosing, linking
from sqlwright.lab.evaluation.pages.sections.costs import costs
from sqlwright.lab.evaluation.pages.sections.wrong import wrong_answers
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import (
    NOTHING,
    Content,
    Html,
    element,
    foreign,
    joined,
    jump,
)
from sqlwright.presentation.html.page import page
from sqlwright.presentation.numbers import usage_words
from sqlwright.types import Usage

LEAST = 10
"""Questions that a database or level has at least to be called the weakest; chosen."""


HEADLINES = ("spider", "bird")
"""Rules that figures of others go by most; all of them are further down."""


def beginning(run: MeasuredRun) -> Html:
    """Headline, what to look at, tiles."""
    told = [blocks.paragraph(note, kind="fair") for note in _caveats(run)]
    looks = blocks.listed(_look_at(run))
    at = blocks.section("What to look at", looks) if looks.markup else NOTHING
    return joined([headline(run), *told, _tiles(run), at])


def headline(run: MeasuredRun) -> Html:
    """The execution accuracy with its interval in a sentence."""
    accuracy = estimate(run.summary.get("execution_accuracy"))
    if accuracy is None:
        return element("p", "No question was scored.", class_="headline")
    clustered = mapping(run.summary.get("clustered"))
    low, high = number(clustered.get("low")), number(clustered.get("high"))
    over = ""
    if low is not None and high is not None:
        over = f" Drawn again by whole databases: {low:.1%} to {high:.1%}."
    rule = find_rule(run.rule)
    return joined(
        [
            element(
                "p",
                element("strong", accuracy.told),
                f" of {number_of(accuracy.total or 0, 'question')} answered right: execution "
                f"accuracy between {accuracy.interval.replace(' to ', ' and ')}, as far as "
                "so many questions can tell.",
                class_="headline",
            ),
            blocks.paragraph(f"95% interval, by {rule.about}.{over}", kind="faint"),
        ]
    )


def _caveats(run: MeasuredRun) -> Iterator[Content]:
    summary = run.summary
    if not run.finished:
        yield f"This run isn't finished: {run.progress}."
    if gone := int(number(summary.get("gold_does_not_run")) or 0):
        yield f"{number_of(gone, 'question')} left out: the gold query doesn't run."
    for db_id, one in mapping(summary.get("skipped")).items():
        count = int(number(mapping(one).get("questions")) or 0)
        reason = str(mapping(one).get("reason", ""))
        yield joined(
            [foreign(db_id), f" left out with {number_of(count, 'question')}: ", foreign(reason)]
        )
    stood_in = estimate(summary.get("stood_in"))
    if stood_in is not None:
        yield (
            f"{number_of(stood_in.total or 0, 'question')} answered by embedded models in the "
            f"language model's place, {stood_in.hits:,} of them right."
        )


def _look_at(run: MeasuredRun) -> list[Content]:
    """The figures that stand out, each as a sentence."""
    said = [*_losses(run.summary), *_weakest(run.summary), *_certainty(run.summary)]
    return said[:6]


def _losses(summary: Mapping[str, Any]) -> Iterator[Content]:
    errors = mapping(summary.get("errors"))
    split = estimates(errors.get("split"))
    lost, none = split.get("not_chosen"), split.get("none_right")
    if lost is not None and none is not None and (lost.hits or none.hits):
        if (lost.hits or 0) >= (none.hits or 0):
            yield (
                f"Selection loses most: {number_of(lost.hits or 0, 'question')} ({lost.told}) had "
                f"a right candidate that wasn't chosen, {none.hits:,} had none."
            )
        else:
            yield (
                f"Most is lost before selection: {number_of(none.hits or 0, 'question')} "
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
        yield joined(
            [
                "The commonest error is ",
                element("strong", foreign(name)),
                f": {one.counted} wrong answers. {meaning[:1].upper()}{meaning[1:]}.",
            ]
        )
    doubtful = split.get("gold_doubtful")
    if doubtful is not None and doubtful.hits:
        count = number_of(doubtful.hits, "question")
        yield f"The gold query of {count} ({doubtful.told}) is doubtful."


def _weakest(summary: Mapping[str, Any]) -> Iterator[Content]:
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
            yield joined(
                [
                    told,
                    element("strong", foreign(name)),
                    f": {one.told} ({one.interval}) of {one.total:,}, below the whole.",
                ]
            )


def _certainty(summary: Mapping[str, Any]) -> Iterator[Content]:
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


def _tiles(run: MeasuredRun) -> Html:
    summary = run.summary
    shown: list[tuple[str, str, str]] = []

    def add(name: str, one: Estimate | None, note: str) -> None:
        if one is not None:
            shown.append((name, one.told, note or one.interval))

    for rule in map(find_rule, HEADLINES):
        if rule.name != run.rule:
            one = estimate(mapping(summary.get("by_rule")).get(rule.name))
            add(f"by {rule.about.partition(',')[0]}", one, "")
    add("some candidate right", estimate(summary.get("oracle_over_candidates")), "")
    add("first candidate right", estimate(summary.get("first_candidate")), "")
    seconds = mapping(summary.get("seconds"))
    median, most = number(seconds.get("median")), number(seconds.get("p95"))
    if median is not None and most is not None:
        shown.append(("a question takes", duration(median), f"95% within {duration(most)}"))
    shown += _spent(summary)
    tiles = [
        element(
            "div",
            element("span", name, class_="figure-name"),
            element("span", value, class_="figure-value"),
            element("span", note, class_="figure-note"),
            class_="tile",
        )
        for name, value, note in shown
    ]
    return element("div", *tiles, class_="tiles")


def _spent(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    mean = mapping(mapping(summary.get("cost")).get("per_question"))
    value = number(mean.get("value"))
    used = mapping(mapping(summary.get("usage")).get("in all"))
    names = Usage.__dataclass_fields__.keys()
    words = usage_words(Usage(**{k: v for k, v in used.items() if k in names})) if used else ""
    if value is not None:
        low, high = number(mean.get("low")), number(mean.get("high"))
        note = "" if low is None or high is None else f"{money(low)} to {money(high)}"
        yield "a question costs", money(value), note or words
    elif words:
        yield "language models", number_of(int(used.get("calls", 0)), "call"), words


LONG = ("recipe_content ", "packages ", "weights ")
"""Beginnings of the names of settings that are shown apart."""


def run_page(run: MeasuredRun) -> str:
    """The page as text."""
    parts = {
        "lost": ("Where questions are lost", losses(run)),
        "accuracy": ("Accuracy", accuracy(run)),
        "confidence": ("Confidence", certainty(run)),
        "candidates": ("Candidates", choosing(run)),
        "linking": ("Schema linking", linking(run)),
        "cost": ("Cost and time", costs(run)),
        "answers": ("Wrong answers", wrong_answers(run)),
        "settings": ("The run", described(run)),
    }
    shown = {place: part for place, part in parts.items() if part[1].markup}
    return page(
        run.title,
        contents((place, title) for place, (title, _) in shown.items()),
        beginning(run),
        *(element("div", body, id=place) for place, (_, body) in shown.items()),
        footer=f"sqlwright {sqlwright.__version__}",
        themes=True,
        filtering=True,
    )


def contents(parts: Iterable[tuple[str, str]]) -> Html:
    """Links to the parts of a page."""
    items = [element("li", jump(place, title)) for place, title in parts]
    return element("nav", element("ul", *items), aria_label="Contents") if items else NOTHING


def described(run: MeasuredRun) -> Html:
    """The settings of a run."""
    head = ("Setting", "Value")
    rows: list[tuple[Content, Content]] = []
    more: list[tuple[Content, Content]] = []
    for name, text in settings_lines(run.described).items():
        (more if name.startswith(LONG) else rows).append((foreign(name), foreign(text)))
    hidden = blocks.disclosure("Recipe and packages", blocks.table(head, more)) if more else ""
    return blocks.section("The run", blocks.table(head, rows), hidden)
