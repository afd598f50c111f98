"""Worked examples for prompts, over five small databases of our own.

Each file `NAME.toml` holds the demonstrations of one kind of prompt; `databases/NAME.sql` are the
databases they are about, whose CREATE TABLE statements stand in the prompt as they stand in the
file. The tests run every query on its database and compare the rows with those the file states,
so a demonstration can't teach a mistake. Other dialects than SQLite get them respelled
(`respelling.toml`). Nothing here comes from a benchmark.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from sqlwright.messages import Text
from sqlwright.prompts.demonstrations.respelling import WRITTEN, respelled
from sqlwright.types import Demonstration

COLUMNS = "filter_column"
REVISIONS = "revise"
NESTED = "refine_nested"
NEXT = "sub_sql_next"
SHORT = {"query_plan_short": ("query_plan", "outline")}
"""Kinds that show another field of a file's examples as the reasoning: the file, and the field."""

SPELLED = ("sql", "faulty", "outcome", "earlier_sql", "reasoning")
"""Fields that are written in a dialect."""
_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n.*?^\);$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ColumnDemonstration:
    """An example of a column that matters to a question or doesn't, and why."""

    database: str
    table: str
    column: str
    type: str
    question: str
    relevant: bool
    reason: str
    """One line."""
    evidence: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()
    """Stored values, as text."""


@dataclass(frozen=True, slots=True)
class WorkedDemonstration(Demonstration):
    """A worked example, and what it is for."""

    fits: tuple[str, ...] = ()
    """Features of the questions and faults it is for; `steps/demonstrating.py` has them."""


@dataclass(frozen=True, slots=True)
class RevisionDemonstration(WorkedDemonstration):
    """A worked example that begins with a query that went wrong; `sql` is the one that is right."""

    faulty: str = ""
    outcome: str = ""
    """The result of running it, in the words of the prompt."""


@dataclass(frozen=True, slots=True)
class NextDemonstration(WorkedDemonstration):
    """A worked example that goes on from the query for a part of its question."""

    earlier: str = ""
    """That part, as a question."""
    earlier_sql: str = ""


@cache
def load_demonstrations(name: str, dialect: str = WRITTEN) -> tuple[WorkedDemonstration, ...]:
    """The worked examples of a prompt, such as `divide_and_conquer` or `query_plan`.

    Raises FileNotFoundError for a name that isn't there.
    """
    entries = read_demonstrations(name, dialect)
    return tuple(WorkedDemonstration(**_worked(entry)) for entry in entries)


@cache
def load_revisions(
    name: str = REVISIONS, dialect: str = WRITTEN
) -> tuple[RevisionDemonstration, ...]:
    """The worked examples of `repair.revise`, or of another prompt that mends queries."""
    return tuple(
        RevisionDemonstration(
            **_worked(entry), faulty=entry["faulty"].strip(), outcome=entry["outcome"].strip()
        )
        for entry in read_demonstrations(name, dialect)
    )


@cache
def load_next_demonstrations(dialect: str = WRITTEN) -> tuple[NextDemonstration, ...]:
    """The worked examples of `generation.sub_sql` for all sub-questions but the first."""
    return tuple(
        NextDemonstration(
            **_worked(entry), earlier=entry["earlier"], earlier_sql=entry["earlier_sql"].strip()
        )
        for entry in read_demonstrations(NEXT, dialect)
    )


@cache
def load_column_demonstrations() -> tuple[ColumnDemonstration, ...]:
    """The judgements for `schema_linking.filter_columns`, half of them yes."""
    judged = []
    for entry in read_demonstrations(COLUMNS):
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()
        }
        judged.append(ColumnDemonstration(**values))
    return tuple(judged)


@cache
def demonstration_names() -> frozenset[str]:
    """The kinds of worked examples there are, which `load_demonstrations` takes."""
    names = {PurePath(file.name).stem for file in files(__name__).iterdir() if ".toml" in file.name}
    return frozenset(names - {COLUMNS, REVISIONS, NESTED, NEXT} | SHORT.keys())


def read_demonstrations(name: str, dialect: str = WRITTEN) -> list[dict[str, Any]]:
    """The entries of a kind in a dialect, with what only the tests look at: the rows."""
    file, reasoning = SHORT.get(name, (name, "reasoning"))
    text = files(__name__).joinpath(f"{file}.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["demonstration"]
    for entry in entries:
        if name in SHORT:
            entry["reasoning"] = entry[reasoning]
        if "tables" in entry:
            entry["schema"] = _schema(entry, dialect)
        spelled = (field for field in SPELLED if field in entry)
        entry |= {field: respelled(entry[field], dialect) for field in spelled}
    return entries


def database_script(name: str, dialect: str = WRITTEN) -> str:
    """The SQL that makes one of the databases."""
    text = files(__name__).joinpath("databases", f"{name}.sql").read_text(encoding="utf-8")
    return respelled(text, dialect)


@cache
def texts(
    demonstration: Demonstration | ColumnDemonstration,
) -> Mapping[str, Any]:
    """The demonstration for a template: text of our own by field; lists of texts; numbers as are.

    A yes or no becomes "yes" or "no". Each prompt shows the same ones, so they are kept.
    """
    texts = {f.name: _text(getattr(demonstration, f.name)) for f in fields(demonstration)}
    return MappingProxyType(texts)


def _text(value: str | bool | int | tuple[str, ...]) -> Text | int | list[Text]:
    if isinstance(value, tuple):
        return [Text.of(item, "template") for item in value]
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int):
        return value
    return Text.of(value, "template")


def _worked(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "fits": tuple(entry.get("fits", ())),
        "question": entry["question"],
        "evidence": entry.get("evidence", ""),
        "schema": entry["schema"],
        "reasoning": entry["reasoning"].strip(),
        "sql": entry["sql"].strip(),
    }


def _schema(entry: Mapping[str, Any], dialect: str) -> str:
    """The CREATE TABLE statements of the entry's tables, in the order of the database."""
    wanted = set(entry["tables"])
    script = database_script(entry["database"], dialect)
    found = {m[1]: m[0] for m in _TABLE.finditer(script)}
    return "\n".join(text for table, text in found.items() if table in wanted)
