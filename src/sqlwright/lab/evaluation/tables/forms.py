"""Filled tables as texts, as Markdown and as plain data, with the commands for what is missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlwright.boundary.text import visible
from sqlwright.lab.evaluation.figures.notes import otherwise
from sqlwright.lab.evaluation.tables.filled import (
    NAMED,
    Cell,
    Choice,
    Figure,
    FilledPaper,
    FilledRow,
    FilledTable,
    Run,
    Wanted,
)
from sqlwright.lab.evaluation.tables.papers import data_sets
from sqlwright.recipes.ablation_lists import ablations

DASH = "—"
"""Stands where nothing was run, or the paper gives no figure."""
COMPARABLE = (
    "The paper's figures are of its own models and data; ours compare with them only where both "
    "are the same."
)
EMBEDDED = frozenset({"msc-local"})
"""Recipes of the tables that ask no language model."""


def figure_text(figure: Figure | None, questions: int = 0) -> str:
    """A figure with its interval and number of questions."""
    if figure is None:
        return DASH
    scale, shape = (100, ".1f") if figure.unit == "percent" else (1, ".3g")
    large = figure.unit == "number" and abs(figure.value) >= 100
    text = f"{figure.value:,.0f}" if large else f"{scale * figure.value:{shape}}"
    if figure.low is not None and figure.high is not None:
        text += f" [{scale * figure.low:{shape}}, {scale * figure.high:{shape}}]"
    total = figure.total if figure.total is not None else questions
    return f"{text} (n {total:,})" if total else text


def cell_text(cell: Cell) -> str:
    """Our figure in a cell."""
    return figure_text(cell.figure, cell.run.questions if cell.run else 0)


def paper_text(figure: float | None) -> str:
    """The paper's figure as it prints it."""
    return DASH if figure is None else f"{figure:,.2f}".rstrip("0").rstrip(".")


def head_of(table: FilledTable) -> list[str]:
    """Names of the columns: each of ours, and beside it the paper's where it gives one."""
    names = [table.table.title]
    for place, column in enumerate(table.table.columns):
        names += [column.name, f"{column.name}, paper"][: 1 + _printed(table, place)]
    return names


def body_of(table: FilledTable, row: FilledRow) -> list[str]:
    """The texts of a row under `head_of`."""
    texts = [row.label]
    for place, cell in enumerate(row.cells):
        texts += [cell_text(cell), paper_text(cell.paper)][: 1 + _printed(table, place)]
    return texts


def _printed(table: FilledTable, place: int) -> bool:
    return any(row.cells[place].paper is not None for row in table.rows)


def title_of(table: FilledTable) -> str:
    """The table's name in the paper, and its title."""
    return f"{table.table.name[0].upper()}{table.table.name[1:]}: {table.table.title}"


def beneath(table: FilledTable, choice: Choice) -> Iterator[str]:
    """Sentences about a table's figures: whose they are, and over which questions."""
    data = data_sets()[table.table.data]
    size = f" ({data.questions:,} questions)" if data.questions else ""
    yield f"The paper's figures: {data.title}{size} of {table.table.model}."
    yield from (f"Ours: {_run_text(run, choice)}." for run in table.runs)
    yield from (f"{row.label}: not run, {row.why}." for row in table.rows if row.why)
    if table.table.note:
        yield table.table.note


def _run_text(run: Run, choice: Choice) -> str:
    """A run: its folder, what ran, over what."""
    model = f" with {run.model}" if run.model else ", embedded models"
    told = f"{run.folder.parent.name}/{run.folder.name}: {run.ablation or run.recipe}{model}, "
    revision = f" ({run.revision})" if run.revision else ""
    told += f"{run.dataset}{revision} by the rule {run.rule!r}, {run.questions:,} questions"
    if choice.data:
        told += ", not the paper's data set"
    return "; ".join([told, *otherwise(run.report)])


def commands_for(
    tables: Sequence[FilledTable], choice: Choice, name: str, *, out: str = "runs"
) -> tuple[str, ...]:
    """The commands that would run what is missing; runs that share data set and changes in one.
    `name` is the paper's, `out` the folder for all its runs, so that a run that tables share has
    the same folder."""
    metrics: dict[Wanted, tuple[str, ...]] = {}
    for one in dict.fromkeys(one for table in tables for one in table.missing):
        key = replace(one, metric="")
        metrics[key] = (*metrics.get(key, ()), *([one.metric] if one.metric else []))
    grouped: dict[tuple[Wanted, tuple[str, ...]], list[str]] = {}
    for one, taken in metrics.items():
        grouped.setdefault((replace(one, name=""), taken), []).append(one.name)
    return tuple(
        command
        for (wanted, taken), names in grouped.items()
        for command in _commands(wanted, taken, names, choice, f"{out}/{name}")
    )


def _commands(
    wanted: Wanted, metrics: Sequence[str], names: Sequence[str], choice: Choice, folder: str
) -> Iterator[str]:
    """One for all of them or, where a metric is to be taken, one for each: `ablate` takes the usual
    ones, and a folder holds runs with one choice of metrics."""
    place = f"{folder}/{'-'.join([wanted.data, *map(_slug, wanted.set), *metrics])}"
    model = f"-m {shlex.quote(choice.model) if choice.model else 'MODEL'} --no-stand-in"
    changes = [f"--set {shlex.quote(change)}" for change in wanted.set]
    changes += [f"--metric {name}" for name in metrics]
    for asked in [[name] for name in names] if metrics else [names]:
        kind = "--ablation" if asked[0] in ablations() else "--recipe"
        yield " ".join(
            [
                f"sqlwright evaluate {kind}" if metrics else "sqlwright lab ablate",
                *asked,
                data_sets()[wanted.data].options,
                *([model] if set(asked) - EMBEDDED else []),
                "--prepare",
                *changes,
                f"--out {shlex.quote(f'{place}/{asked[0]}' if metrics else place)} --resume",
            ]
        )


def _slug(change: str) -> str:
    key, _, value = change.partition("=")
    return re.sub(r"[^a-z0-9.]+", "-", f"{'.'.join(key.split('.')[-2:])}-{value}".lower())


def to_markdown(filled: FilledPaper, name: str, *, out: str = "runs") -> str:
    """The tables of a paper, each with what is beneath it and the commands for what is missing."""
    lines = [f"# {filled.paper.title} ({filled.paper.source})", "", COMPARABLE]
    for table in filled.tables:
        head = head_of(table)
        lines += ["", f"## {title_of(table)}", "", _row(map(_text, head))]
        lines += [_row(["---", *["---:"] * (len(head) - 1)])]
        lines += [_row(map(_text, body_of(table, row))) for row in table.rows]
        lines += ["", *(f"- {_text(one)}" for one in beneath(table, filled.choice))]
        if commands := commands_for([table], filled.choice, name, out=out):
            lines += ["", "What is missing:", "", "```sh", *commands, "```"]
    lines += ["", *(f"- Not here: {one}." for one in filled.paper.left_out)]
    return "\n".join([*lines, *(f"- {_text(note)}." for note in filled.notes)]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    shown = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("|", "\\|").replace("*", "\\*")


def to_dict(filled: FilledPaper, name: str, *, out: str = "runs") -> dict[str, Any]:
    """The tables of a paper; shares in [0, 1], the paper's figures as it prints them, null where
    there is none."""
    return {
        "paper": name,
        "title": filled.paper.title,
        "source": filled.paper.source,
        "comparable": COMPARABLE,
        "tables": [
            {
                "name": one.table.name,
                "title": title_of(one),
                "data": one.table.data,
                "paper_model": one.table.model,
                "columns": [column.name for column in one.table.columns],
                "rows": [
                    {"label": row.label, "why": row.why, "cells": list(map(_cell, row.cells))}
                    for row in one.rows
                ],
                "note": one.table.note,
                "runs": list(map(_run, one.runs)),
                "missing": list(commands_for([one], filled.choice, name, out=out)),
            }
            for one in filled.tables
        ],
        "left_out": list(filled.paper.left_out),
        "notes": list(filled.notes),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "ours": None if cell.figure is None else asdict(cell.figure),
        "paper": cell.paper,
        "run": None if cell.run is None or cell.figure is None else str(cell.run.folder),
    }


def _run(run: Run) -> dict[str, Any]:
    named = (*NAMED, "questions", "revision")
    return {"folder": str(run.folder), "overrides": list(run.overrides)} | {
        name: getattr(run, name) for name in named
    }
