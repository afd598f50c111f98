"""The papers' tables as they are described: rows, columns, and which run shows a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, with_config

from sqlwright.boundary.named import unknown
from sqlwright.boundary.yaml_text import read_yaml

FOLDER = "lab/evaluation/tables/described"
PAPERS: Mapping[str, str] = {
    "chess": "chess.yaml",
    "chase": "chase.yaml",
    "mag": "mag.yaml",
    "msc": "msc.yaml",
}
DATA = "data.yaml"
"""The data sets that the papers' figures are over."""

Unit = Literal["percent", "number"]
_STRICT = ConfigDict(extra="forbid")


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the papers."""

    title: str
    rule: str
    """The rule that its figures go by."""
    names: str = ""
    """A regular expression: names under which a run of it is known."""
    questions: int = 0
    """Its size; 0 where it isn't told."""
    options: str = ""
    """Of the command that measures on it; empty where nobody outside can."""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class Column:
    """A figure of each row. `at` names its place in a report, steps of the way with a slash between
    them, `*` for the row's key; of several with ` | ` between them the first that is there
    counts."""

    name: str
    at: str
    unit: Unit = "percent"
    run: str = ""
    """The ablation or recipe; empty is the row's."""
    data: str = ""
    """A name among the data sets; empty is the row's."""
    set: tuple[str, ...] = ()
    """Overrides besides those of `run`."""
    own: bool = False
    """True where the row's overrides don't go with it."""
    per_question: bool = False
    """True where the report has the sum over all questions."""
    metric: str = ""
    """The metric that it needs, where that is taken only when it is asked for."""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class Row:
    """A row; what it leaves empty the column or the table says."""

    label: str
    run: str = ""
    data: str = ""
    set: tuple[str, ...] = ()
    key: str = ""
    """It takes the place of `*` in the place of a figure."""
    at: str = ""
    """The place of its figures, where the row and not the column says it."""
    why: str = ""
    """The reason where nothing here can fill it."""
    paper: tuple[float | None, ...] = ()
    """The paper's figures by column, as it prints them."""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper, or a figure as a table."""

    name: str
    """As the paper calls it, such as `table 4`."""
    title: str
    data: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    model: str = ""
    """The paper's own model."""
    run: str = ""
    each: str = ""
    """A place in the report of `run`: each key found there is a row, instead of `rows`."""
    note: str = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class Paper:
    """The tables of a paper."""

    title: str
    source: str
    tables: tuple[Table, ...]
    left_out: tuple[str, ...] = field(default=())
    """The paper's tables and rows that aren't here, and why."""


def find_paper(name: str) -> Paper:
    """The tables of the paper of that name. Raises ConfigError, which says what there is."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    return TypeAdapter(Paper).validate_python(_content(PAPERS[name]))


@cache
def data_sets() -> Mapping[str, DataSet]:
    """The data sets by the names that the tables use."""
    return TypeAdapter(dict[str, DataSet]).validate_python(_content(DATA))


def _content(name: str) -> object:
    text = files("sqlwright").joinpath(f"{FOLDER}/{name}").read_text(encoding="utf-8")
    content: object = read_yaml(text, name)
    return content
