"""The file of candidates: a line that tells of the generator, then a line for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.files import append_row, rows_of

T = TypeVar("T", bound=BaseModel)

VERSION = 1
"""Version of the form; grows when a reader has to tell old files from new ones."""
REMEDY = "`sqlwright lab finetune candidates` writes such files."


class Header(BaseModel):
    """A generator, and the questions it was given."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    header: int = VERSION
    """Version of the form."""
    recipe: str
    overrides: tuple[str, ...] = ()
    model: str
    """Name of the generator."""
    hinted: bool = False
    """True if it was shown the gold queries."""
    fold: str = ""
    """The fold of the data set's databases that it was given, such as 0/2; empty for all."""
    folded: tuple[str, ...] = ()
    """The databases that were divided into folds; it was trained on those of the others."""
    trained_on: tuple[str, ...] | None = None
    """The databases that it was trained on; None where that isn't known."""
    sources: tuple[Mapping[str, Any], ...] = ()
    """The data sets of the questions."""


class CandidateLine(BaseModel):
    """A query, and the name of the model that wrote it."""

    model_config = ConfigDict(frozen=True)
    sql: str
    model: str = ""


class QuestionLine(BaseModel):
    """The candidates of a question."""

    model_config = ConfigDict(frozen=True)
    question_id: str
    db_id: str
    source: str
    candidates: tuple[CandidateLine, ...] = ()


@dataclass(frozen=True)
class CandidateFile:
    """A file of candidates."""

    path: Path
    header: Header = field(repr=False)

    @classmethod
    def open(cls, path: Path) -> CandidateFile:
        """The file that is there. Raises DatasetError."""
        try:
            _, row = next(iter(_rows(path)))
        except StopIteration:
            raise DatasetError(f"{path} is empty", hint=REMEDY) from None
        return cls(path, _checked(Header, row, f"{path}, line 1"))

    @classmethod
    def begin(cls, path: Path, header: Header) -> CandidateFile:
        """The file, begun with this header if it isn't there. Raises DatasetError where it is the
        file of something else."""
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            append_row(path, header.model_dump(mode="json"))
            return cls(path, header)
        if not any(True for _ in _rows(path)):  # a kill cut the first line short
            append_row(path, header.model_dump(mode="json"))
        found = cls.open(path)
        if found.header != header:
            raise DatasetError(
                f"{path} was sampled otherwise: {_difference(found.header, header)}",
                hint="Name another file, or remove this one.",
            )
        return found

    def questions(self) -> Iterator[QuestionLine]:
        """The lines of the questions; one that a kill cut short is left out. Raises
        DatasetError."""
        for number, row in _rows(self.path):
            if number > 1:
                yield _checked(QuestionLine, row, f"{self.path}, line {number}")

    def append(self, line: QuestionLine) -> None:
        """Add a question, on disk before this returns."""
        append_row(self.path, line.model_dump(mode="json"))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        yield from rows_of(path, what="a line of candidates", remedy=REMEDY)
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror}") from None


def _checked(form: type[T], row: Mapping[str, Any], where: str) -> T:
    try:
        return form.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DatasetError(f"{where}: {place}: {first['msg']}", hint=REMEDY) from None


def _difference(there: Header, now: Header) -> str:
    old, new = there.model_dump(), now.model_dump()
    names: Sequence[str] = [name for name, value in new.items() if old[name] != value]
    return ", ".join(f"{name} was {old[name]!r}" for name in names)
