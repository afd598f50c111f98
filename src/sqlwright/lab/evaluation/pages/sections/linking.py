"""Schema linking: columns left after each step that narrows, and the needed ones among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlwright.lab.evaluation.pages.estimates import estimate, mapping, number
from sqlwright.lab.evaluation.pages.runs import MeasuredRun
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.charts import Bar, bars, dot_rows, figure, figures
from sqlwright.presentation.html.elements import NOTHING, Html, foreign

DATABASES = 25
"""Databases shown, the widest schemas; the table beneath has all."""


def linking(run: MeasuredRun) -> Html:
    """The section; nothing of a recipe that neither narrows nor links."""
    views = {
        str(name): view for name, one in mapping(run.summary.get("views")).items()
        if (view := mapping(one))
    }  # fmt: skip
    return blocks.section(
        "Schema linking", _linker(run.summary), figures(_columns(views), _by_database(views))
    )


def _linker(summary: Mapping[str, Any]) -> Html:
    linker = mapping(summary.get("linker"))
    found = estimate(linker.get("all_columns_found"))
    recall, precision = number(linker.get("column_recall")), number(linker.get("column_precision"))
    if found is None or recall is None or precision is None:
        return NOTHING
    return blocks.paragraph(
        f"The linker's twelve best columns hold {recall:.1%} of the needed ones, and all that a "
        f"question needs in {found.told} of the questions ({found.interval}); "
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
                foreign(name),
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
                    foreign(name),
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
                (foreign(db_id), [number(counts[name].get(db_id)) for name in steps])
                for db_id in ordered[:DATABASES]
            ],
            [foreign(name) for name in steps],
            told=lambda value: f"{value:,.0f}",
        ),
        about=f"From the whole schema to what the last step leaves, on a logarithmic scale.{cut}",
        head=("Database", *map(foreign, steps)),
        rows=[
            (
                foreign(db_id),
                *(_count(counts[name].get(db_id)) for name in steps),
            )
            for db_id in ordered
        ],
    )


def _count(data: object) -> str:
    value = number(data)
    return "" if value is None else f"{value:,.1f}"
