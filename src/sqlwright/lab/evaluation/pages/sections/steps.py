"""Steps: which generators had a right candidate, how well they were chosen, how often retrieval,
repairs and unit tests did their part, and what linking left of the schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.lab.evaluation.pages.estimates import (
    HEAD,
    estimate,
    estimates,
    listed,
    mapping,
    number,
    share_figure,
)
from sqlwright.lab.evaluation.pages.report import Section
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.presentation.html.charts import (
    CIRCLES,
    Bar,
    bars,
    dot_rows,
    figure,
    sets,
    stacked,
)
from sqlwright.presentation.html.templates import NOTHING, Html

_JUDGES = {
    "pairs": "Shown a right and a wrong candidate, the judge chooses the right one",
    "orders_agree": "Shown two candidates in both orders, it chooses the same one",
    "first_shown": "Of these it chooses the one that is shown first",
}
"""Figures of `judging`, in words."""
MOST_NAMES = 12
"""Generators that are told apart."""
DATABASES = 25
"""Databases shown, the widest schemas; the table beneath has all."""


def candidates(run: MeasuredRun) -> Section:
    """The candidates of generators and the selection among them."""
    summary = run.summary
    return Section(
        "Candidates and selection",
        "candidates",
        "Candidates",
        listed=[*_gap(summary), *_depth(summary)],
        figures=(
            _generators(summary),
            _alone(summary),
            stacked(_bounds(summary), _pass_at(summary)),
            _parts(summary),
        ),
    )


def linking(run: MeasuredRun) -> Section:
    """Columns left after each step that narrows, and the needed ones among them."""
    named = {str(name): mapping(one) for name, one in mapping(run.summary.get("views")).items()}
    views = {name: view for name, view in named.items() if view}
    return Section(
        "Schema linking",
        "linking",
        said=list(_linker(run.summary)),
        figures=(_columns(views), _by_database(views)),
    )


def _generators(summary: Mapping[str, Any]) -> Html:
    counted: Counter[frozenset[str]] = Counter()
    for one in listed(summary.get("generators")):
        named = one.get("sources")
        if isinstance(named, list):
            counted[frozenset(map(str, named))] += int(number(one.get("questions")) or 0)
    names = sorted({name for members in counted for name in members})
    if not names or len(names) > MOST_NAMES:
        return NOTHING
    places = {name: place for place, name in enumerate(names)}
    counts = {frozenset(places[name] for name in members): n for members, n in counted.items()}
    total = sum(counted.values())
    some = total - counted[frozenset()]
    scored = estimate(summary.get("execution_accuracy"))
    asked = max(total, (scored.total or 0) if scored is not None else 0)
    alone = {name: counted[frozenset({name})] for name in names}
    best = max(names, key=lambda name: alone[name])
    about = f"Of {asked:,} questions, {some:,} have a right candidate of some generator"
    if len(names) > 1:
        about += f"; {alone[best]:,} of {best} alone"
    circles = " Circles are of one size." if 1 < len(names) <= CIRCLES else ""
    ranked = sorted(counted.items(), key=lambda item: -item[1])
    return figure(
        "Generators with a right candidate",
        sets(names, counts, about),
        about=f"Of {asked:,} questions, {some:,} have a right candidate.{circles}",
        head=("Exactly these", "Questions", "Share"),
        rows=[
            (
                " + ".join(sorted(members)) if members else "none",
                f"{count:,}",
                f"{count / asked:.1%}" if asked else "",
            )
            for members, count in ranked
        ],
    )


def _alone(summary: Mapping[str, Any]) -> Html:
    told = {str(k): mapping(one) for k, one in mapping(summary.get("by_generator")).items()}
    drawn = {name: estimates(one.get("pass_at")).get("1") for name, one in told.items()}
    return share_figure(
        "A right candidate of each generator alone",
        estimates({name: one.get("oracle") for name, one in told.items()}),
        "Over all questions, those for which it wrote nothing included.",
        first="Generator",
        more={"One drawn (pass@1)": {k: one.told if one else "" for k, one in drawn.items()}},
    )


def _bounds(summary: Mapping[str, Any]) -> Html:
    bounds = mapping(summary.get("bounds"))
    named = {
        "every candidate right": bounds.get("adversary"),
        "first candidate right": summary.get("first_candidate"),
        "the answer right": summary.get("execution_accuracy"),
        "some candidate right": bounds.get("oracle") or summary.get("oracle_over_candidates"),
    }
    return share_figure(
        "What selection could make of the candidates",
        estimates(named) if bounds else {},
        "From the worst choice to the best one.",
    )


def _pass_at(summary: Mapping[str, Any]) -> Html:
    found = estimates(mapping(summary.get("bounds")).get("pass_at"))
    return figure(
        "One of so many candidates right",
        bars(one.bar(f"of {k}") for k, one in found.items()),
        about="pass@k: k candidates drawn by chance, at least one of them right.",
        head=("k", *HEAD[1:]),
        rows=[(k, *one.row) for k, one in found.items()],
    )


def _gap(summary: Mapping[str, Any]) -> Iterator[str]:
    judging = mapping(summary.get("judging"))
    for name, said in _JUDGES.items():
        found = estimate(judging.get(name))
        if found is not None and found.total:
            yield f"{said} in {found.told} ({found.interval}, {found.counted})."
    closed = number(summary.get("gap_share"))
    if closed is not None and closed < 0:
        yield "Selection does worse than taking the first candidate."
    elif closed is not None:
        yield (
            f"Selection closes {closed:.1%} of the gap between the first candidate and the best."
        )


def _depth(summary: Mapping[str, Any]) -> Iterator[str]:
    depth = number(mapping(summary.get("sub_questions")).get("value"))
    if depth is not None:
        yield f"A question is taken into {depth:.1f} sub-questions at the mean, itself included."


def _parts(summary: Mapping[str, Any]) -> Html:
    return share_figure(
        "Work of the parts",
        estimates(mapping(summary.get("parts"))),
        "Texts that the gold query compares with and retrieval found; made examples that can be "
        "used; of the queries that a repair came to, those right in place of a wrong one and wrong "
        "in place of a right one; unit tests that some queries pass and others don't, and of these "
        "those that more of the right ones pass.",
    )


def _linker(summary: Mapping[str, Any]) -> Iterator[str]:
    linker = mapping(summary.get("linker"))
    found = estimate(linker.get("all_columns_found"))
    recall, precision = number(linker.get("column_recall")), number(linker.get("column_precision"))
    if found is not None and recall is not None and precision is not None:
        yield (
            f"The linker's twelve best columns hold {recall:.1%} of the needed ones, and all that "
            f"a question needs in {found.told} of the questions ({found.interval}); "
            f"{precision:.1%} of them are needed."
        )


def _columns(views: Mapping[str, Mapping[str, Any]]) -> Html:
    known = {name: n for name, view in views.items() if (n := number(view.get("columns")))}
    if not known:
        return NOTHING
    rows = []
    for name, view in views.items():
        needed = estimate(view.get("all_columns_shown"))
        rows.append(
            (
                name,
                f"{number(view.get('columns')) or 0:,.1f}",
                f"{number(view.get('tables')) or 0:,.1f}",
                f"{number(view.get('column_recall')) or 0:.1%}",
                f"{number(view.get('column_precision')) or 0:.1%}",
                needed.counted if needed is not None else "",
            )
        )
    return figure(
        "Columns kept by each step",
        bars(
            [
                Bar(
                    name,
                    columns,
                    f"{columns:,.1f}",
                    note=f"{number(views[name].get('column_recall')) or 0:.1%} of the needed",
                )
                for name, columns in known.items()
            ],
            most=max(known.values()),
        ),
        about="Columns still shown, at the mean of the questions for which a step ran, and how "
        "many of those that the gold query reads are among them.",
        head=("After", "Columns", "Tables", "Recall", "Precision", "All needed kept"),
        rows=rows,
    )


def _by_database(views: Mapping[str, Mapping[str, Any]]) -> Html:
    counts = {name: mapping(view.get("columns_by_database")) for name, view in views.items()}
    steps = [name for name, known in counts.items() if known]
    databases = {db_id for name in steps for db_id in counts[name]}
    if not steps or len(databases) < 2 or len(steps) < 2:
        return NOTHING

    def widest(db_id: str) -> float:
        return max(number(counts[name].get(db_id)) or 0.0 for name in steps)

    ordered = sorted(databases, key=lambda db_id: (-widest(db_id), db_id))
    cut = f" The {DATABASES} widest of {len(ordered):,}." if len(ordered) > DATABASES else ""
    return figure(
        "Columns kept, by database",
        dot_rows(
            [
                (db_id, [number(counts[name].get(db_id)) for name in steps])
                for db_id in ordered[:DATABASES]
            ],
            steps,
            told=lambda value: f"{value:,.0f}",
        ),
        about=f"From the whole schema to what the last step leaves, on a logarithmic scale.{cut}",
        head=("Database", *steps),
        rows=[
            (
                db_id,
                *(_count(counts[name].get(db_id)) for name in steps),
            )
            for db_id in ordered
        ],
    )


def _count(data: object) -> str:
    value = number(data)
    return "" if value is None else f"{value:,.1f}"
