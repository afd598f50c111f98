"""The differences of two runs as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.lab.evaluation.figures.errors import main_class
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.pages.differences import (
    KINDS,
    LEVEL,
    Change,
    RunDifference,
    p_words,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.estimates import Estimate, mapping, points
from sqlwright.lab.evaluation.pages.report import (
    Entry,
    Opening,
    Query,
    ReportTable,
    Section,
    report_page,
)
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, set_words
from sqlwright.lab.evaluation.pages.sections.wrong import (
    choices_of,
    gold_query,
    origin_of,
    query,
    reasons,
)
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html.charts import Bar, Part, bars, figure, parts
from sqlwright.presentation.html.marked import marked
from sqlwright.presentation.html.templates import NOTHING, Html
from sqlwright.sql.pieces import cutting

CHANGES = 500
"""Changed answers on a page; chosen, as for wrong answers."""
GROUPS = 20
"""Levels or databases in a figure: those with most changes."""


def difference_page(found: RunDifference) -> str:
    """The page as text."""
    title = f"{found.second.name} against {found.first.name}"
    figures = (_runs(found), _split(found.pair))
    opening = Opening(verdict_words(found), _method(found), (), found.warnings, figures=figures)
    return report_page(title, opening, (_settings(found), _counts(found), _changes(found)))


def _method(found: RunDifference) -> str:
    return (
        f"Over the {found.pair.total:,} questions that both have scored, by the rule "
        f"{found.first.rule}. McNemar's exact test, two-sided, asks how often chance alone would "
        f"split the changed ones so unevenly; below {LEVEL} that is called more than chance. The "
        "interval is Newcombe's for paired shares."
    )


def _runs(found: RunDifference) -> Html:
    """Both accuracies over the common questions."""
    pair = found.pair
    known = []
    for run, hits in (
        (found.first, pair.both + pair.lost),
        (found.second, pair.both + pair.gained),
    ):
        share = Share(hits, pair.total)
        known.append((run.name, Estimate(share.value, *share.interval, hits, pair.total)))
    return figure(
        "Both runs",
        bars(one.bar(name) for name, one in known),
        about="Each by itself. That two intervals overlap says little about their difference: "
        "both were asked the same questions.",
        head=("Run", "Right", "95% from", "to", "Questions"),
        rows=[(name, *one.row[:4]) for name, one in known],
    )


def _split(pair: PairedDifference) -> Html:
    named = (
        ("right both times", pair.both, 0),
        ("gained", pair.gained, 2),
        ("lost", pair.lost, 1),
        ("wrong both times", pair.neither, 5),
    )
    return figure(
        "Question by question",
        parts([Part(name, count / pair.total, f"{count:,}", mark) for name, count, mark in named]),
        head=("", "Questions", "Share"),
        rows=[(name, f"{count:,}", f"{count / pair.total:.1%}") for name, count, _ in named],
    )


def _settings(found: RunDifference) -> Section:
    rows = [
        (
            one.name,
            set_words(one.first),
            set_words(one.second),
            "times only" if one.of_machine else "",
        )
        for one in found.settings
    ]
    head = ("Setting", found.first.name, found.second.name, "Concerns")
    return Section(
        "What was set otherwise",
        "settings",
        said=() if rows else ("No setting differs.",),
        tables=[ReportTable(head, rows)] if rows else (),
        beneath=list(_steps(found)),
    )


def _steps(found: RunDifference) -> Iterator[str]:
    """The steps that only one of both ran."""
    for run, other in ((found.first, found.second), (found.second, found.first)):
        elsewhere = _ran(other)
        only = [step for step in _ran(run) if step not in elsewhere]
        if only:
            yield f"Only {run.name} ran {', '.join(only)}."


def _ran(run: MeasuredRun) -> list[str]:
    """The steps that ran, in the order of the first time."""
    return list(dict.fromkeys(step for record in run.scored for step in record.times))


def _counts(found: RunDifference) -> Section:
    return Section(
        "Changes",
        "counts",
        said=[
            f"{counted(found.rewritten, 'question')} right both times with another query, "
            f"{counted(len(found.of('still_wrong')), 'question')} wrong both times with another "
            "one."
        ],
        figures=(
            _classes("What is wrong where answers were lost", found.of("lost")),
            _classes("What was wrong where answers were gained", found.of("gained")),
            _groups("By difficulty", found.groups["difficulty"]),
            _groups("By database", found.groups["database"]),
        ),
    )


def _classes(title: str, changes: tuple[Change, ...]) -> Html:
    counts: dict[str, int] = {}
    for change in changes:
        counts[main_class(change.wrong)] = counts.get(main_class(change.wrong), 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return figure(
        title,
        bars(
            [Bar(name, count, f"{count:,}") for name, count in ranked],
            most=max(counts.values(), default=1),
        ),
        about="By the main class of error.",
        head=("Main class", "Answers"),
        rows=[(name, f"{count:,}") for name, count in ranked],
    )


def _groups(title: str, groups: Mapping[str, PairedDifference]) -> Html:
    """Questions gained and lost by group, as bars to both numbers."""
    changed = {name: pair for name, pair in groups.items() if pair.gained or pair.lost}
    if len(groups) < 2 or not changed:
        return NOTHING
    shown = [
        Bar(
            name,
            pair.gained + pair.lost,
            f"+{pair.gained} −{pair.lost}",
            note=f"{points(pair.value)} points of {pair.total:,}",
        )
        for name, pair in changed.items()
    ]
    rows = [
        (
            name,
            *(f"{count:,}" for count in (pair.total, pair.gained, pair.lost)),
            *map(points, (pair.value, *pair.interval)),
            p_words(pair.p),
        )
        for name, pair in groups.items()
    ]
    return figure(
        title,
        bars(shown[:GROUPS], most=max(bar.value for bar in shown)),
        about="Bars are questions that changed. Of many groups some differ by chance alone.",
        head=("", "Questions", "Gained", "Lost", "Points", "95% from", "to", "p"),
        rows=rows,
    )


def _changes(found: RunDifference) -> Section:
    shown = found.changes[:CHANGES]
    wrong = [change.wrong for change in shown]
    more = len(found.changes) - len(shown)
    kinds = [(kind, f"{kind.replace('_', ' ')} ({len(found.of(kind)):,})") for kind in KINDS]
    return Section(
        f"Changed answers ({len(found.changes):,})",
        "changes",
        "Changed answers",
        rest=f"The first {len(shown):,} are shown; --json has {more:,} more." if more else "",
        choices={
            "change": ("Change", kinds),
            "class": ("Main class", choices_of(map(main_class, wrong))),
            "database": ("Database", choices_of(one.db_id for one in wrong)),
        },
        entries=[_entry(change, found) for change in shown],
        list_place="changed-answers",
    )


def _entry(change: Change, found: RunDifference) -> Entry:
    before, after = change.before, change.after
    marks = {"change": change.kind, "class": main_class(change.wrong), "database": after.db_id}
    old, new = query(before), query(after)
    if before.sql and after.sql:
        old, new = marked(before.sql, after.sql, cutting(after.dialect))
    return Entry(
        after.question,
        (change.reason, after.db_id),
        marks,
        origin_of(after),
        after.evidence,
        list(reasons(change.wrong)),
        (
            Query("Gold", gold_query(after), mapping(change.wrong.results.get("gold"))),
            Query(found.first.name, old, _result(before, change)),
            Query(found.second.name, new, _result(after, change)),
        ),
        change.kind,
        f"{KINDS[change.kind].capitalize()}.",
    )


def _result(record: Record, change: Change) -> Mapping[str, Any]:
    """The rows that an answer gave. Only those of wrong ones are on record."""
    if (change.kind, record is change.before) in {("lost", True), ("gained", False)}:
        return {"right": "right: by the rule, the same rows as gold's"}
    return mapping(record.results.get("query"))
