"""The papers' tables with the figures of runs that folders hold."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sqlwright.boundary.text import counted, readable
from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.files import read_object
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.tables.papers import Column, Paper, Row, Table, Unit, data_sets
from sqlwright.protocols import Step
from sqlwright.recipes import registry
from sqlwright.recipes.ablation_lists import find_ablation
from sqlwright.recipes.loading import load_recipe


@dataclass(frozen=True)
class Run:
    """A finished run, as its `run.json` describes it."""

    folder: Path
    recipe: str
    overrides: tuple[str, ...]
    dataset: str
    rule: str
    model: str
    """The language model; empty without one."""
    ablation: str
    revision: str
    """The release of the data set, where its files say one, and its question files with the
    beginning of their digests."""
    ended: float
    """When its report was written."""
    report: Mapping[str, Any] = field(repr=False)

    @property
    def questions(self) -> int:
        return int(self.report.get("questions") or 0)

    @property
    def step(self) -> Step | None:
        """All its steps with their options; None where no recipe of ours gives them."""
        return resolved(self.recipe, self.overrides)

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        """The report and, under `counted`, shares that the single answers tell: questions with a
        right candidate by difficulty and by database; and the number of questions by the exact set
        of those who wrote a right one, their names joined by "+"."""
        oracle: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for one in records.stream(self.folder):
            if one.status != "gold":
                oracle["oracle_by_difficulty"][one.difficulty].append(one.oracle)
                oracle["oracle_by_database"][one.db_id].append(one.oracle)
        counted: dict[str, Any] = {
            name: {key: Share(sum(held), len(held)).as_dict() for key, held in shares.items()}
            for name, shares in oracle.items()
        }
        counted["generators"] = {
            " + ".join(map(str, one.get("sources") or ["none"])): int(one.get("questions") or 0)
            for one in self.report.get("generators") or ()
        }
        return {**self.report, "counted": counted}


@dataclass(frozen=True)
class Found:
    """Runs, and what was left out, each in a line."""

    runs: tuple[Run, ...] = ()
    left_out: tuple[str, ...] = ()


def find_runs(folders: Iterable[Path]) -> Found:
    """The finished runs in these folders and in folders of theirs, each once. Raises DatasetError
    for a folder that isn't there."""
    found: dict[Path, Run | str] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DatasetError(
                f"there is no folder {readable(str(folder))}",
                hint="Name the folders of runs, or one that holds them.",
            )
        for place in sorted(path.parent.resolve() for path in folder.rglob("run.json")):
            found[place] = _read(place)
    return Found(
        tuple(run for run in found.values() if isinstance(run, Run)),
        tuple(line for line in found.values() if isinstance(line, str)),
    )


@cache
def resolved(recipe: str, overrides: tuple[str, ...]) -> Step | None:
    """The steps of a shipped recipe with these overrides; None for a recipe of somebody's own,
    which is never loaded for a table, and for overrides that don't fit."""
    if recipe not in registry.RECIPES:
        return None
    try:
        return load_recipe(recipe, overrides).step
    except ConfigError:
        return None


def _read(folder: Path) -> Run | str:
    """The run, or why it is left out."""
    name = readable(str(folder))
    if not (folder / "report.json").exists():
        return f"{name} isn't finished"
    try:
        told, report = read_object(folder / "run.json"), read_object(folder / "report.json")
    except DatasetError:
        return f"{name} can't be read"
    if (report.get("run_budget") or {}).get("not_asked"):
        return f"{name} isn't finished"
    if told.get("shard"):
        return f"{name} is a part of a run"
    if stood := (report.get("stood_in") or {}).get("total"):
        answers = counted(int(stood), "answer")
        return f"{name} fills nothing: {answers} by embedded models (--no-stand-in forbids them)"
    texts = {key: str(told.get(key) or "") for key in NAMED}
    overrides = tuple(map(str, told.get("overrides") or ()))
    ended = (folder / "report.json").stat().st_mtime
    revision = ", ".join(_revision(told))
    return Run(
        folder=folder, overrides=overrides, revision=revision, ended=ended, report=report, **texts
    )


def _revision(told: Mapping[str, Any]) -> Iterator[str]:
    if told.get("release"):
        yield f"release {told['release']}"
    for name, digest in (told.get("files") or {}).items():
        if ":" not in str(digest):  # databases have their size in front of it
            yield f"{name} {str(digest)[:8]}"


NAMED = ("recipe", "dataset", "rule", "model", "ablation")


@dataclass(frozen=True)
class Wanted:
    """A run that a cell needs: an ablation or a recipe, with overrides, over a data set."""

    name: str
    set: tuple[str, ...]
    data: str
    metric: str = ""

    def fits(self, run: Run, data: str) -> bool:
        """True of a run of the same steps over the same data, with the metric; `data` is the name
        of a run's data set that is taken for every one of the paper's, if not empty."""
        over = run.dataset == data if data else is_over(self.data, run)
        if not over or (self.metric and self.metric not in (run.report.get("measures") or {})):
            return False
        one = find_ablation(self.name)
        step = resolved(one.recipe, (*one.overrides, *self.set))
        return step is not None and run.step == step


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
    tables = tuple(_filled(table, runs, choice.data) for table in paper.tables)
    return FilledPaper(paper, choice, tables, tuple(_notes(tables, runs, found, choice)))


def is_over(data: str, run: Run) -> bool:
    """True of a run over a data set of the papers, as far as its name tells."""
    one = data_sets()[data]
    named = bool(one.names) and re.fullmatch(one.names, run.dataset, re.IGNORECASE) is not None
    return named and run.rule == one.rule


def _filled(table: Table, runs: Sequence[Run], data: str) -> FilledTable:
    def run_of(wanted: Wanted) -> Run | None:
        return next((run for run in runs if wanted.fits(run, data)), None)

    def cell(row: Row, column: Column, paper: float | None) -> Cell:
        wanted = _wanted(table, row, column)
        run = None if wanted is None else run_of(wanted)
        figure = None if run is None else _figure_at(run, row.at or column.at, column, row.key)
        return Cell(figure, paper, run, wanted)

    rows = table.rows
    if table.each:
        run = run_of(Wanted(table.run, (), table.data))
        keys = None if run is None else _found_at(run.figures, table.each)
        named = list(keys) if isinstance(keys, Mapping) else []
        rows = tuple(Row(key, key=key) for key in named) or (Row("each"),)
    filled = []
    for row in rows:
        papers = (*row.paper, *[None] * len(table.columns))
        cells = (cell(row, one, paper) for one, paper in zip(table.columns, papers, strict=False))
        filled.append(FilledRow(row.label, tuple(cells), row.why))
    return FilledTable(table, tuple(filled))


def _wanted(table: Table, row: Row, column: Column) -> Wanted | None:
    name = row.run or column.run or table.run
    data = column.data or row.data or table.data
    if row.why or not name or not column.at or not data_sets()[data].options:
        return None
    return Wanted(name, column.set if column.own else (*column.set, *row.set), data, column.metric)


def _figure_at(run: Run, at: str, column: Column, key: str) -> Figure | None:
    """The figure at a place of a run's report, or at the first of several."""
    places = (_found_at(run.figures, place.strip(), key) for place in at.split("|"))
    found = next((place for place in places if place is not None), None)
    if isinstance(found, Mapping) and found.get("value") is not None and found.get("total") != 0:
        figure = Figure(
            float(found["value"]), found.get("low"), found.get("high"), found.get("total")
        )
    elif isinstance(found, int | float) and not isinstance(found, bool):
        figure = Figure(found)
    else:
        return None
    if column.per_question and not run.questions:
        return None
    value = figure.value / run.questions if column.per_question else figure.value
    return replace(figure, value=value, unit=column.unit)


def _found_at(report: Mapping[str, Any], place: str, row_key: str = "") -> Any:
    """The value at `key/key/key`, of which `*` is the row's, slashes and all; None where there is
    none."""
    here: Any = report
    for key in place.split("/"):
        here = here.get(key.replace("*", row_key)) if isinstance(here, Mapping) else None
    return here


def _notes(
    tables: Iterable[FilledTable], runs: Sequence[Run], found: Found, choice: Choice
) -> Iterator[str]:
    models = sorted({run.model for table in tables for run in table.runs if run.model})
    if len(models) > 1 and not choice.model:
        yield f"figures are of several models ({', '.join(models)}): --model names one"
    elsewhere = Counter(
        run.dataset
        for run in runs
        if not choice.data and not any(is_over(data, run) for data in data_sets())
    )
    if elsewhere:
        told = ", ".join(f"{name} ({count})" for name, count in sorted(elsewhere.items()))
        yield (
            f"runs over other data sets than the papers' are left out: {told}; "
            "--dataset NAME takes those over one"
        )
    yield from found.left_out
