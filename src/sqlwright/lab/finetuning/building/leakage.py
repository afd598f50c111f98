"""Leakage: databases and questions that a model is both trained on and measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.finetuning.building.fingerprints import Fingerprint, fingerprints
from sqlwright.presentation.numbers import counted

Way = Literal["id", "file", "schema", "question"]

WAYS: Mapping[Way, str] = {
    "id": "has the same name",
    "file": "is the same file",
    "schema": "has the same tables and columns",
    "question": "is asked the same questions over the same tables",
}
"""Ways in which a database that leaks is recognised, in words."""
MENTIONED = 8
"""Databases that a message names."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A database that would be trained on, and the one of an evaluation set that it is."""

    trained: str
    evaluated: str
    way: Way
    """The first way, of those in `WAYS`, in which it was recognised."""
    questions: int = 0
    """Questions that are asked of both in the same words."""


def find_leakage(
    train: Dataset,
    evaluation: Dataset,
    known: Mapping[str, Fingerprint] | None = None,
    *,
    seen: Callable[[str], None] = lambda _db_id: None,
) -> list[Leak]:
    """The databases of `train` that an evaluation set uses, each once.

    A database is known by its id, whatever its case, by its file's content, by the names of its
    tables and columns, and by a question in the same words where the names of all tables agree:
    then columns were added or renamed. `known` are the marks of the first set, if they were taken.
    """
    ours = fingerprints(train, seen=seen) if known is None else known
    theirs = fingerprints(evaluation, seen=seen)
    asked, measured = _questions(train), _questions(evaluation)
    found = []
    for one in ours.values():
        leaks = [
            Leak(one.db_id, other.db_id, way, shared)
            for other in theirs.values()
            for shared in [len(asked[one.db_id] & measured[other.db_id])]
            for way in _ways(one, other, shared)
        ]
        found += sorted(leaks, key=lambda leak: list(WAYS).index(leak.way))[:1]
    return found


def refuse_leakage(
    train: Dataset, evaluation: Dataset, known: Mapping[str, Fingerprint] | None = None
) -> None:
    """Raise DatasetError, which names them, for databases that an evaluation set uses."""
    found = find_leakage(train, evaluation, known)
    if not found:
        return
    named = "; ".join(_told(leak) for leak in found[:MENTIONED])
    more = f" and {len(found) - MENTIONED} more" if len(found) > MENTIONED else ""
    listed = ",".join(leak.trained for leak in found)
    raise DatasetError(
        f"{counted(len(found), 'database')} of {train.name} would be trained on, which "
        f"{evaluation.name} measures: {named}{more}",
        hint=f"Leave out what is measured with --without {listed}, or measure on another set.",
    )


def _ways(one: Fingerprint, other: Fingerprint, shared: int) -> Iterator[Way]:
    if one.folded == other.folded:
        yield "id"
    if one.content and one.content == other.content:
        yield "file"
    if one.signature and one.signature == other.signature:
        yield "schema"
    if shared and one.tables and one.tables == other.tables:
        yield "question"


def _told(leak: Leak) -> str:
    told = f"{leak.trained} {WAYS[leak.way]}"
    if leak.trained != leak.evaluated or leak.way != "id":
        told += f" as {leak.evaluated}"
    return told + (f" ({counted(leak.questions, 'question')} alike)" if leak.questions else "")


def _questions(dataset: Dataset) -> dict[str, set[str]]:
    """The questions of each database, case and blanks aside."""
    found: dict[str, set[str]] = {}
    for one in dataset.examples:
        found.setdefault(one.db_id, set()).add(" ".join(one.question.split()).casefold())
    return found
