"""The papers' tables with the figures of runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlwright.lab.evaluation.tables.papers import (
    Column,
    DataSet,
    Paper,
    Row,
    Table,
    Unit,
    data_sets,
)
from sqlwright.lab.evaluation.tables.runs import Found, Run, resolved
from sqlwright.recipes.ablation_lists import find_ablation


@dataclass(frozen=True)
class Wanted:
    """A run that a cell needs."""

    name: str
    """An ablation or a recipe."""
    set: tuple[str, ...]
    data: str
    metric: str = ""

    def fits(self, run: Run, data: str) -> bool:
        """True of a run of the same steps over the same data, with the metric; `data` is the name
        of a run's data set that is taken for every one of the paper's, if not empty."""
        if not self._over(run, data) or (self.metric and not self._measured(run)):
            return False
        one = find_ablation(self.name)
        step = resolved(one.recipe, (*one.overrides, *self.set))
        return step is not None and run.step == step

    def _measured(self, run: Run) -> bool:
        return self.metric in (run.report.get("measures") or {})

    def _over(self, run: Run, data: str) -> bool:
        if data:
            return run.dataset == data
        return over(data_sets()[self.data], run)


@dataclass(frozen=True)
class Figure:
    """A number, with its interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    total: int | None = None
    unit: Unit = "percent"


@dataclass(frozen=True)
class Cell:
    """Our figure, the paper's, and where ours comes from, or would."""

    figure: Figure | None = None
    paper: float | None = None
    run: Run | None = None
    wanted: Wanted | None = None
    """None where no run can show it."""


@dataclass(frozen=True)
class FilledRow:
    """A row's cells by the table's columns."""

    label: str
    cells: tuple[Cell, ...]
    why: str = ""


@dataclass(frozen=True)
class FilledTable:
    """A table with its cells."""

    table: Table
    rows: tuple[FilledRow, ...]

    @property
    def cells(self) -> list[Cell]:
        return [cell for row in self.rows for cell in row.cells]

    @property
    def runs(self) -> list[Run]:
        """The runs whose figures it shows, each once."""
        by_folder = {cell.run.folder: cell.run for cell in self.cells if cell.run and cell.figure}
        return list(by_folder.values())

    @property
    def missing(self) -> list[Wanted]:
        """The runs that aren't there, each once."""
        return list(dict.fromkeys(c.wanted for c in self.cells if c.wanted and c.run is None))


@dataclass(frozen=True)
class Choice:
    """The runs that count, of all that were found."""

    model: str = ""
    data: str = ""
    """The data set that stands in for those of the papers."""


@dataclass(frozen=True)
class FilledPaper:
    """A paper's tables with figures, and what is to be known of the runs."""

    paper: Paper
    choice: Choice
    tables: tuple[FilledTable, ...]
    notes: tuple[str, ...]


def fill(paper: Paper, found: Found, choice: Choice | None = None) -> FilledPaper:
    """The paper's tables. Of several runs that fit a cell the one with most questions counts, of
    those the newest."""
    choice = choice or Choice()
    runs = [run for run in found.runs if not choice.model or run.model in {choice.model, ""}]
    runs.sort(key=lambda run: (-run.questions, -run.ended, str(run.folder)))
    tables = tuple(_Filling(table, runs, choice.data).table_filled() for table in paper.tables)
    return FilledPaper(paper, choice, tables, tuple(_notes(tables, runs, found, choice)))


def over(data: DataSet, run: Run) -> bool:
    """True of a run over that data set, as far as its name tells."""
    named = bool(data.names) and re.fullmatch(data.names, run.dataset, re.IGNORECASE) is not None
    return named and run.rule == data.rule


@dataclass(frozen=True)
class _Filling:
    table: Table
    runs: Sequence[Run]
    data: str

    def table_filled(self) -> FilledTable:
        return FilledTable(self.table, tuple(self._row(row) for row in self._rows()))

    def _rows(self) -> Iterable[Row]:
        if not self.table.each:
            return self.table.rows
        keys = self._keys()
        return [Row(key, key=key) for key in keys] or [Row("each")]

    def _keys(self) -> list[str]:
        run = self._run(Wanted(self.table.run, (), self.table.data))
        place = None if run is None else found_at(run.figures, self.table.each)
        return list(place) if isinstance(place, Mapping) else []

    def _row(self, row: Row) -> FilledRow:
        papers = (*row.paper, *[None] * len(self.table.columns))
        pairs = zip(self.table.columns, papers, strict=False)
        cells = tuple(replace(self._cell(row, column), paper=paper) for column, paper in pairs)
        return FilledRow(row.label, cells, row.why)

    def _cell(self, row: Row, column: Column) -> Cell:
        wanted = self._wanted(row, column)
        if wanted is None:
            return Cell()
        run = self._run(wanted)
        if run is None:
            return Cell(wanted=wanted)
        at = (row.at or column.at).replace("*", row.key)
        return Cell(figure_at(run, at, column), run=run, wanted=wanted)

    def _wanted(self, row: Row, column: Column) -> Wanted | None:
        name = row.run or column.run or self.table.run
        data = column.data or row.data or self.table.data
        if row.why or not name or not column.at or not data_sets()[data].options:
            return None
        changes = column.set if column.own else (*column.set, *row.set)
        return Wanted(name, changes, data, column.metric)

    def _run(self, wanted: Wanted) -> Run | None:
        return next((run for run in self.runs if wanted.fits(run, self.data)), None)


def figure_at(run: Run, at: str, column: Column) -> Figure | None:
    """The figure at a place of a run's report, or at the first of several."""
    places = (found_at(run.figures, place.strip()) for place in at.split("|"))
    found = next((place for place in places if place is not None), None)
    figure = _figure(found, column.unit)
    if figure is None or not column.per_question:
        return figure
    return replace(figure, value=figure.value / run.questions) if run.questions else None


def found_at(report: Mapping[str, Any], place: str) -> Any:
    """The value at `key/key/key`; None where there is none."""
    here: Any = report
    for key in place.split("/"):
        here = here.get(key) if isinstance(here, Mapping) else None
    return here


def _figure(found: Any, unit: Unit) -> Figure | None:
    if isinstance(found, int | float) and not isinstance(found, bool):
        return Figure(found, unit=unit)
    if not isinstance(found, Mapping) or found.get("value") is None or found.get("total") == 0:
        return None
    low, high, total = (found.get(name) for name in ("low", "high", "total"))
    return Figure(float(found["value"]), low, high, total, unit)


def _notes(
    tables: Iterable[FilledTable], runs: Sequence[Run], found: Found, choice: Choice
) -> Iterator[str]:
    shown = [run for table in tables for run in table.runs]
    models = sorted({run.model for run in shown if run.model})
    if len(models) > 1 and not choice.model:
        yield f"figures are of several models ({', '.join(models)}): --model names one"
    if not choice.data:
        elsewhere = Counter(
            run.dataset for run in runs if not any(over(one, run) for one in data_sets().values())
        )
        if elsewhere:
            told = ", ".join(f"{name} ({count})" for name, count in sorted(elsewhere.items()))
            yield (
                f"runs over other data sets than the papers' are left out: {told}; "
                "--dataset NAME takes those over one"
            )
    yield from found.left_out
