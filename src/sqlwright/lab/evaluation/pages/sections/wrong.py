"""Wrong answers: what loses them, and each with what shows that it is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlwright.boundary.text import counted, percent
from sqlwright.lab.evaluation.error_classes.origins import MEANINGS, ORIGINS
from sqlwright.lab.evaluation.figures.errors import main_class
from sqlwright.lab.evaluation.pages.estimates import (
    HEAD,
    Estimate,
    estimate,
    estimates,
    listed,
    mapping,
    share_figure,
)
from sqlwright.lab.evaluation.pages.report import Entry, Query, ReportTable, Section, Sentence
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html.charts import Part, figure, parts
from sqlwright.presentation.html.templates import Html, code, part
from sqlwright.sql.pieces import cutting

ANSWERS = 500
"""Wrong answers on a page; chosen so that a browser opens it at once."""
ORIGIN_MEANINGS: Mapping[str, str] = {str(kind): told for kind, told in ORIGINS.items()}
SPLIT = {
    "right": "right",
    "not_chosen": "a right candidate was not chosen",
    "none_right": "no candidate right",
    "gold_doubtful": "gold doubtful",
}
"""The parts of the split, in words."""
MARKS = {"right": 0, "not_chosen": 1, "none_right": 4, "gold_doubtful": 5}
"""Their marks, by number."""


def losses(run: MeasuredRun) -> Section:
    """The split of all answers, origins and classes of the wrong ones."""
    errors = mapping(run.summary.get("errors"))
    if not errors.get("wrong"):
        return Section("Where questions are lost")
    return Section(
        "Where questions are lost",
        "lost",
        figures=(_split(errors), _origins(errors), _classes(errors)),
        tables=_cross(errors),
    )


def _split(errors: Mapping[str, Any]) -> Html:
    found = {k: one for k, one in estimates(errors.get("split")).items() if k in SPLIT}
    return figure(
        "All answers",
        parts(
            [
                Part(SPLIT[name], one.value, f"{one.told} ({one.hits or 0:,})", MARKS[name])
                for name, one in found.items()
            ]
        ),
        head=HEAD,
        rows=[(SPLIT[name], *one.row) for name, one in found.items()],
        wide=True,
    )


def _origins(errors: Mapping[str, Any]) -> Html:
    found: dict[str, Estimate] = {}
    meanings: dict[str, str] = {}
    for data in listed(errors.get("origins")):
        kind, one = str(data.get("kind", "")), estimate(data)
        if one is not None and kind in ORIGIN_MEANINGS:
            label = origin_words(data)
            found[label], meanings[label] = one, ORIGIN_MEANINGS[kind]
    return share_figure(
        "The first thing lost",
        found,
        "Of the wrong answers: the step that lost the first thing that was needed.",
        first="Origin",
        more={"Meaning": meanings},
    )


def _classes(errors: Mapping[str, Any]) -> Html:
    classes = mapping(errors.get("classes"))
    main = estimates({name: mapping(data).get("main") for name, data in classes.items()})
    some = estimates({name: mapping(data).get("any") for name, data in classes.items()})
    both = [name for name in main if name in some]
    found = {name: main[name] for name in sorted(both, key=lambda name: -main[name].value)}
    return share_figure(
        "What is wrong",
        found,
        "The main class of each wrong answer; several may hold.",
        shown={name: one for name, one in found.items() if one.hits},
        more={
            "Beside others": {
                name: f"{(some[name].hits or 0) - (one.hits or 0):,}" for name, one in found.items()
            },
            "Meaning": {name: MEANINGS.get(name, "") for name in found},
        },
    )


def _cross(errors: Mapping[str, Any]) -> list[ReportTable]:
    by_class = {
        str(name): mapping(one) for name, one in mapping(errors.get("origins_by_class")).items()
    }
    kinds = [kind for kind in ORIGINS if any(kind in found for found in by_class.values())]
    rows = [
        [name, *(f"{found[kind]:,}" if kind in found else "" for kind in kinds)]
        for name, found in by_class.items()
    ]
    head = ["Main class", *(kind.replace("_", " ") for kind in kinds)]
    numbers = range(1, len(head))
    return [ReportTable(head, rows, numbers, folded="Classes by origin")] if kinds else []


def wrong_answers(run: MeasuredRun) -> Section:
    """The wrong answers."""
    shown = run.wrong[:ANSWERS]
    more = counted(len(run.wrong) - len(shown), "more wrong answer")
    rest = f"The first {len(shown):,} are shown; {more} are in predictions.jsonl."
    return Section(
        f"Wrong answers ({len(run.wrong):,})",
        "answers",
        "Wrong answers",
        rest=rest if len(run.wrong) > len(shown) else "",
        choices={
            "class": ("Main class", choices_of(map(main_class, shown), list(MEANINGS))),
            "database": ("Database", choices_of(one.db_id for one in shown)),
        },
        entries=[_entry(one) for one in shown],
        list_place="wrong-answers",
    )


def choices_of(values: Iterable[str], order: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The values of a choice, each with how often it is there; by their order, or by name."""
    counts = Counter(values)
    places = {name: place for place, name in enumerate(order)}
    ordered = sorted(counts, key=lambda one: (places.get(one, len(places)), one))
    return [(name, f"{name} ({counts[name]:,})") for name in ordered]


def _entry(record: Record) -> Entry:
    return Entry(
        record.question,
        (main_class(record), origin_words(record.origin), record.db_id),
        {"class": main_class(record), "database": record.db_id},
        origin_of(record),
        record.evidence,
        list(reasons(record)),
        (
            Query("Gold", gold_query(record), mapping(record.results.get("gold"))),
            Query("Answer", query(record), mapping(record.results.get("query"))),
        ),
    )


def origin_words(origin: Mapping[str, Any]) -> str:
    """The origin of a wrong answer: "not chosen at selection"."""
    kind, step = str(origin.get("kind", "")), origin.get("step", "")
    at = f" at {step}" if step else ""
    return f"{kind.replace('_', ' ')}{at}" if kind else ""


def origin_of(record: Record) -> list[str]:
    """The origin of a question, its features and tags, and the confidence of its answer."""
    told = [record.id, record.db_id, record.difficulty, *record.features]
    told += [f"{name}: {value}" for name, value in record.tags.items()]
    if record.confidence is not None and record.status == "answered":
        told.append(f"{percent(record.confidence)} sure")
    return [one for one in told if one]


def reasons(record: Record) -> Iterator[Sentence]:
    """The classes of errors of a wrong answer, and the step that lost it."""
    for one in record.errors or ():
        name = one.get("class", "")
        yield "", name, f": {one.get('shown_by', '') or MEANINGS.get(name, '')}"
    if words := origin_words(record.origin):
        meaning = ORIGIN_MEANINGS.get(record.origin.get("kind", ""), "")
        yield "lost: ", words, f": {record.origin.get('shown_by', '') or meaning}"
    if record.message:
        yield f"{record.status}: {record.message}"


def query(record: Record) -> Html:
    """The query that was answered with, or that there is none."""
    if record.sql:
        return code(record.sql, cutting(record.dialect))
    return part("parts.html", "said", f"no query ({record.status})", "absent")


def gold_query(record: Record) -> Html:
    """The gold query, or that only its result was given."""
    if record.gold_sql:
        return code(record.gold_sql, cutting(record.dialect))
    return part("parts.html", "said", "a result is given")
