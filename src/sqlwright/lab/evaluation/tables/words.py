"""The words that every form of a filled table has in common."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.lab.evaluation.tables.filled import Cell, Choice, Figure, FilledRow, FilledTable
from sqlwright.lab.evaluation.tables.papers import DataSet, data_sets
from sqlwright.lab.evaluation.tables.runs import Run

DASH = "—"
"""Stands where nothing was run, or the paper gives no figure."""
COMPARABLE = (
    "The paper's figures are of its own models and data; ours compare with them only where both "
    "are the same."
)


def figure_text(figure: Figure | None, questions: int = 0) -> str:
    """A figure with its interval and number of questions."""
    if figure is None:
        return DASH
    if figure.unit == "number":
        text = f"{figure.value:,.0f}" if abs(figure.value) >= 100 else f"{figure.value:.3g}"
        if figure.low is not None and figure.high is not None:
            text += f" [{figure.low:.3g}, {figure.high:.3g}]"
    else:
        text = f"{100 * figure.value:.1f}"
        if figure.low is not None and figure.high is not None:
            text += f" [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
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
        names.append(column.name)
        if _printed(table, place):
            names.append(f"{column.name}, paper")
    return names


def body_of(table: FilledTable, row: FilledRow) -> list[str]:
    """The texts of a row under `head_of`."""
    texts = [row.label]
    for place, cell in enumerate(row.cells):
        texts.append(cell_text(cell))
        if _printed(table, place):
            texts.append(paper_text(cell.paper))
    return texts


def title_of(table: FilledTable) -> str:
    """The table's name in the paper, and its title."""
    return f"{table.table.name[0].upper()}{table.table.name[1:]}: {table.table.title}"


def beneath(table: FilledTable, choice: Choice) -> Iterator[str]:
    """Sentences about a table's figures: whose they are, and over which questions."""
    data = data_sets()[table.table.data]
    of = f" of {table.table.model}" if table.table.model else ""
    yield f"The paper's figures: {_named(data)}{of}."
    for run in table.runs:
        yield f"Ours: {run_text(run, choice)}."
    for row in table.rows:
        if row.why:
            yield f"{row.label}: not run, {row.why}."
    if table.table.note:
        yield table.table.note


def run_text(run: Run, choice: Choice) -> str:
    """A run: its folder, what ran, over what."""
    what = run.ablation or run.recipe
    model = f" with {run.model}" if run.model else ", embedded models"
    place = f"{run.folder.parent.name}/{run.folder.name}"
    told = f"{place}: {what}{model}, {run.dataset} by the rule {run.rule!r}"
    told += f", {run.questions:,} questions"
    if choice.data:
        told += ", not the paper's data set"
    stood = (run.report.get("stood_in") or {}).get("total") or 0
    return told + (f", {stood:,} of them answered by embedded models in its place" if stood else "")


def _named(data: DataSet) -> str:
    size = f" ({data.questions:,} questions)" if data.questions else ""
    return f"{data.title}{size}"


def _printed(table: FilledTable, place: int) -> bool:
    return any(row.cells[place].paper is not None for row in table.rows)
