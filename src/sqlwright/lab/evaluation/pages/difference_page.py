"""The differences of two runs as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlwright
from sqlwright.lab.evaluation.figures.errors import main_class
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.pages.answers import (
    gold_query,
    queries,
    query,
    reasons,
    result_of,
    tag,
    told_of,
)
from sqlwright.lab.evaluation.pages.differences import (
    KINDS,
    LEVEL,
    Change,
    RunDifference,
    p_words,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.estimates import number_of, points
from sqlwright.lab.evaluation.pages.run_page import contents
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, short
from sqlwright.lab.evaluation.pages.sections.wrong import counted
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.blocks import filters
from sqlwright.presentation.html.charts import Bar, Part, bars, figure, figures, parts
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, foreign, joined
from sqlwright.presentation.html.marked import marked
from sqlwright.presentation.html.page import page
from sqlwright.sql.pieces import cutting

CHANGES = 500
"""Changed answers on a page; chosen, as for wrong answers."""
GROUPS = 20
"""Levels or databases in a figure: those with most changes."""
PLACE = "changed-answers"


def difference_page(found: RunDifference) -> str:
    """The page as text."""
    sections = {
        "settings": ("What was set otherwise", _settings(found)),
        "counts": ("Changes", _counts(found)),
        "changes": ("Changed answers", _changes(found)),
    }
    shown = {place: part for place, part in sections.items() if part[1].markup}
    warned = [blocks.paragraph(foreign(text), kind="fair") for text in found.warnings]
    return page(
        f"{found.second.name} against {found.first.name}",
        contents((place, title) for place, (title, _) in shown.items()),
        element("p", foreign(verdict_words(found)), class_="headline"),
        blocks.paragraph(_method(found), kind="faint"),
        *warned,
        _runs(found),
        *(element("div", body, id=place) for place, (_, body) in shown.items()),
        footer=f"sqlwright {sqlwright.__version__}",
        themes=True,
        filtering=True,
    )


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
    shown = []
    rows = []
    for run, hits in (
        (found.first, pair.both + pair.lost),
        (found.second, pair.both + pair.gained),
    ):
        share = Share(hits, pair.total)
        low, high = share.interval
        told = f"{share.value:.1%}"
        note = f"{low:.1%} to {high:.1%} · {hits:,} of {pair.total:,}"
        shown.append(Bar(foreign(run.name), share.value, told, low, high, note))
        rows.append((foreign(run.name), told, f"{low:.1%}", f"{high:.1%}", f"{hits:,}"))
    head = ("Run", "Right", "95% from", "to", "Questions")
    return figures(
        figure(
            "Both runs",
            bars(shown),
            about="Each by itself. That two intervals overlap says little about their difference: "
            "both were asked the same questions.",
            head=head,
            rows=rows,
        ),
        _split(pair),
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


def _settings(found: RunDifference) -> Html:
    steps = list(_steps(found))
    rows = [
        (
            foreign(one.name),
            foreign(short(one.first)) if one.first else "not set",
            foreign(short(one.second)) if one.second else "not set",
            "times only" if one.of_machine else "",
        )
        for one in found.settings
    ]
    head = ("Setting", foreign(found.first.name), foreign(found.second.name), "Concerns")
    table = blocks.table(head, rows) if rows else blocks.paragraph("No setting differs.")
    return blocks.section("What was set otherwise", table, blocks.listed(steps))


def _steps(found: RunDifference) -> Iterator[Content]:
    """The steps that only one of both ran."""
    for run, other in ((found.first, found.second), (found.second, found.first)):
        elsewhere = _ran(other)
        only = [step for step in _ran(run) if step not in elsewhere]
        if only:
            names = joined(map(foreign, only), ", ")
            yield joined(["Only ", foreign(run.name), " ran ", names, "."])


def _ran(run: MeasuredRun) -> list[str]:
    """The steps that ran, in the order of the first time."""
    return list(dict.fromkeys(step for record in run.scored for step in record.times))


def _counts(found: RunDifference) -> Html:
    lost, gained = found.of("lost"), found.of("gained")
    shown = figures(
        _classes("What is wrong where answers were lost", lost),
        _classes("What was wrong where answers were gained", gained),
        _groups("By difficulty", found.groups["difficulty"]),
        _groups("By database", found.groups["database"]),
    )
    told = blocks.paragraph(
        f"{number_of(found.rewritten, 'question')} right both times with another query, "
        f"{number_of(len(found.of('still_wrong')), 'question')} wrong both times with another one."
    )
    return blocks.section("Changes", told, shown)


def _classes(title: str, changes: tuple[Change, ...]) -> Html:
    counts: dict[str, int] = {}
    for change in changes:
        counts[main_class(change.wrong)] = counts.get(main_class(change.wrong), 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return figure(
        title,
        bars(
            [Bar(foreign(name), count, f"{count:,}") for name, count in ranked],
            most=max(counts.values(), default=1),
        ),
        about="By the main class of error.",
        head=("Main class", "Answers"),
        rows=[(foreign(name), f"{count:,}") for name, count in ranked],
    )


def _groups(title: str, groups: Mapping[str, PairedDifference]) -> Html:
    """Questions gained and lost by group, as bars to both numbers."""
    changed = {name: pair for name, pair in groups.items() if pair.gained or pair.lost}
    if len(groups) < 2 or not changed:
        return NOTHING
    rows = []
    for name, pair in groups.items():
        low, high = pair.interval
        rows.append(
            (
                foreign(name),
                f"{pair.total:,}",
                f"{pair.gained:,}",
                f"{pair.lost:,}",
                points(pair.value),
                points(low),
                points(high),
                p_words(pair.p),
            )
        )
    most = max(pair.gained + pair.lost for pair in changed.values())
    return figure(
        title,
        bars(
            [
                Bar(
                    foreign(name),
                    pair.gained + pair.lost,
                    f"+{pair.gained} −{pair.lost}",
                    note=f"{points(pair.value)} points of {pair.total:,}",
                )
                for name, pair in list(changed.items())[:GROUPS]
            ],
            most=most,
        ),
        about="Bars are questions that changed. Of many groups some differ by chance alone.",
        head=("", "Questions", "Gained", "Lost", "Points", "95% from", "to", "p"),
        rows=rows,
    )


def _changes(found: RunDifference) -> Html:
    shown = found.changes[:CHANGES]
    if not shown:
        return NOTHING
    kinds = [(kind, f"{kind.replace('_', ' ')} ({len(found.of(kind)):,})") for kind in KINDS]
    wrong = [change.wrong for change in shown]
    rest = len(found.changes) - len(shown)
    more = f"The first {len(shown):,} are shown; --json has {rest:,} more." if rest else ""
    return blocks.section(
        f"Changed answers ({len(found.changes):,})",
        blocks.paragraph(more, kind="faint"),
        filters(
            PLACE,
            {
                "change": ("Change", kinds),
                "class": ("Main class", counted(wrong, main_class)),
                "database": ("Database", counted(wrong, lambda one: one.db_id)),
            },
        ),
        element("ol", *(_entry(change, found) for change in shown), class_="answers", id=PLACE),
    )


def _entry(change: Change, found: RunDifference) -> Html:
    before, after = change.before, change.after
    style = {"lost": "bad", "gained": "good"}.get(change.kind, "faint")
    kind = element("span", change.kind.replace("_", " "), class_=f"strong {style}")
    summary = joined([kind, " ", foreign(after.question), tag(change.reason), tag(after.db_id)])
    marked_before, marked_after = _both(before, after)
    body = element(
        "div",
        blocks.paragraph(KINDS[change.kind].capitalize(), "."),
        told_of(after),
        reasons(change.wrong),
        queries(
            [
                ("Gold", gold_query(after), result_of(change.wrong, "gold")),
                (found.first.name, marked_before, _result(before, change)),
                (found.second.name, marked_after, _result(after, change)),
            ]
        ),
    )
    return element(
        "li",
        element("details", element("summary", summary), body),
        data_change=change.kind,
        data_class=main_class(change.wrong),
        data_database=after.db_id,
    )


def _both(before: Record, after: Record) -> tuple[Html, Html]:
    if before.sql and after.sql:
        return marked(before.sql, after.sql, cutting(after.dialect))
    return query(before), query(after)


def _result(record: Record, change: Change) -> Html:
    """The rows that an answer gave. Only those of wrong ones are on record."""
    right = (change.kind, record is change.before) in {("lost", True), ("gained", False)}
    if right:
        return blocks.paragraph("right: by the rule, the same rows as gold's", kind="good")
    return result_of(record, "query")
