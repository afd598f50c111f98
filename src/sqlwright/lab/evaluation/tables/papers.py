"""The papers' tables as they are described: rows, columns, and which run shows a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, with_config

from sqlwright.boundary.named import unknown
from sqlwright.boundary.yaml_text import read_yaml

FOLDER = "lab/evaluation/tables/described"
PAPERS = ("chess", "chase", "mag", "msc")
"""Each has a file; `shared.yaml` has the data sets, and columns that several tables have."""

Unit = Literal["percent", "number"]
_STRICT = ConfigDict(extra="forbid")


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the papers, and the rule that its figures go by."""

    title: str
    rule: str
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
    at: str = "execution_accuracy"
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
    """A table of a paper, or a figure as a table. Its name is the paper's, such as `table 4`."""

    name: str
    title: str
    columns: tuple[Column, ...]
    data: str
    model: str
    """The paper's own model."""
    rows: tuple[Row, ...] = ()
    run: str = ""
    each: str = ""
    """A place in the report of `run`: each key found there is a row, instead of `rows`."""
    note: str = ""


@with_config(_STRICT)
@dataclass(frozen=True, slots=True)
class Paper:
    """The tables of a paper; `left_out` says which of its tables and rows aren't here, and why."""

    title: str
    source: str
    tables: tuple[Table, ...]
    left_out: tuple[str, ...] = ()


def find_paper(name: str) -> Paper:
    """The tables of the paper of that name. Raises ConfigError, which says what there is."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    content = _content(name)
    usual = {"data": content.pop("data"), "model": content.pop("model")}
    shared = {key: {"name": key, **one} for key, one in _content("shared")["columns"].items()}
    for table in content["tables"]:
        columns = [shared[one] if isinstance(one, str) else one for one in table["columns"]]
        table.update({**usual, **table, "columns": columns})
    return TypeAdapter(Paper).validate_python(content)


@cache
def data_sets() -> Mapping[str, DataSet]:
    """The data sets by the names that the tables use."""
    return TypeAdapter(dict[str, DataSet]).validate_python(_content("shared")["data"])


def _content(name: str) -> dict[str, Any]:
    text = files("sqlwright").joinpath(f"{FOLDER}/{name}.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Any]).validate_python(read_yaml(text, name))
