"""Defog's sql-eval and sets like it: a CSV with question, query, db_name, query_category and
instructions.

A question may have several accepted queries, divided by `;`. Braces around selected columns mean
that any of them is enough: `{id, name}` stands for `id`, `name` and `id, name`. Empty braces, as in
`GROUP BY {}`, stand for the columns that were taken from the braces before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any, NamedTuple

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    first_present,
    question_rows,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection

FILES = ("questions_gen_sqlite.csv", "data/questions_gen_sqlite.csv", "questions.csv")
FOLDERS = ("databases", "database", "sqlite_dbs", "data/sqlite_dbs", ".")
MOST = 64
"""Queries that one with braces is written out to at most: of six columns all alternatives. Of more,
those with the most columns are left out, but for all of them."""

_MARKS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^]]*\]|--[^\n]*|/\*.*?\*/|[{},();]""", re.DOTALL
)
"""Quoted texts, comments, and the marks outside of them."""
_ALIAS = re.compile(r"\s+AS\s+\S+\s*$", re.IGNORECASE)


def load_defog(folder: Path, selection: Selection) -> Dataset:
    """Read the folder; the selection's `split` picks the CSV of that name. Raises DatasetError."""
    files = FILES if selection.split is None else (f"{selection.split}.csv",)
    path = selection.questions or first_present(folder, files)
    places = [folder / name for name in FOLDERS]
    examples = []
    for number, (where, row) in enumerate(question_rows(path)):
        db_id = database_name(row, ["db_name"], where)
        queries = accepted_queries(text_field(row, ["query"], where))
        if not queries:
            raise DatasetError(f"{where} has an empty query")
        category = str(row.get("query_category") or "")
        examples.append(
            Example(
                id=f"{path.stem}-{number:05d}",
                db_id=db_id,
                question=text_field(row, ["question"], where).strip(),
                gold_sql=queries[0],
                database=find_database(places, db_id),
                evidence=_evidence(row),
                also=tuple(queries[1:]),
                tags={"category": category} if category else {},
            )
        )
    return Dataset(path.stem, tuple(examples), rule="defog", files=digests(folder, [path]))


def _evidence(row: Mapping[str, Any]) -> str:
    told = (str(row.get(name) or "").strip() for name in ("instructions", "glossary"))
    return "\n".join(text for text in told if text)


def accepted_queries(text: str) -> list[str]:
    """Every query that a cell accepts, each written out; of one with braces the one that shows
    most comes first."""
    found = [query for written in _divided(text) for query in _written_out(written)]
    return list(dict.fromkeys(found))


class _Braces(NamedTuple):
    """Alternatives in a query and where they stand, braces included."""

    start: int
    end: int
    columns: tuple[str, ...]
    """Empty of braces that repeat the ones before."""


def _divided(text: str) -> Iterator[str]:
    """The queries between semicolons, quoted ones aside."""
    at = 0
    ends = [mark.start() for mark in _MARKS.finditer(text) if mark[0] == ";"]
    for end in (*ends, len(text)):
        if query := text[at:end].strip():
            yield query
        at = end + 1


def _written_out(query: str) -> Iterator[str]:
    """The query with each alternative of its braces in their place."""
    braces = list(_braces(query))
    choices = [list(islice(_choices(one.columns), MOST)) for one in braces if one.columns]
    for taken in islice(product(*choices), MOST):
        left, parts, at = iter(taken), [], 0
        columns: tuple[str, ...] = ()
        for one in braces:
            if one.columns:
                columns = next(left)
                shown = ", ".join(columns)
            else:
                shown = ", ".join(_ALIAS.sub("", column) for column in columns)
            parts += [query[at : one.start], shown]
            at = one.end
        yield "".join([*parts, query[at:]])


def _choices(columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All columns, then the alternatives from the shortest on."""
    yield tuple(columns)
    for count in range(1, len(columns)):
        yield from combinations(columns, count)


def _braces(query: str) -> Iterator[_Braces]:
    """The braces of a query, quoted ones aside, their columns divided by commas outside of
    parentheses."""
    start, at, depth = -1, 0, 0
    columns: list[str] = []
    for mark in _MARKS.finditer(query):
        if mark[0] == "{" and start < 0:
            start, at, depth, columns = mark.start(), mark.end(), 0, []
        elif start < 0:
            continue
        elif mark[0] in {",", "}"} and depth == 0:
            if column := query[at : mark.start()].strip():
                columns.append(column)
            at = mark.end()
            if mark[0] == "}":
                yield _Braces(start, at, tuple(columns))
                start = -1
        else:
            depth += (mark[0] == "(") - (mark[0] == ")")
