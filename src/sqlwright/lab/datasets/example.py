"""One question of a benchmark with its reference query. Never reaches inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlwright.boundary.text import readable
from sqlwright.errors import DatasetError
from sqlwright.types import Cell


@dataclass(frozen=True, slots=True)
class Expected:
    """A result that is right, in place of a query."""

    columns: tuple[str, ...]
    """Names of the columns; empty where only rows are given."""
    rows: tuple[tuple[Cell, ...], ...]
    ordered: bool = False
    """True if the rows are to stand in this order."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the database it is asked of, and the gold SQL."""

    id: str
    db_id: str
    question: str
    gold_sql: str
    """Empty where the question has an `expected` result alone."""
    database: Path
    evidence: str = ""
    difficulty: str = ""
    """By the data set itself; empty where it gives none."""
    also: tuple[str, ...] = ()
    """Further queries; an answer is right that agrees with any."""
    expected: Expected | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    """Further facts of the data set about the question, such as its category; strata and
    breakdowns go by them."""
    engine: str = "sqlite"
    also_expected: tuple[Expected, ...] = ()
    """Further results; an answer is right that agrees with any."""
    url: str = field(default="", repr=False)
    """The address of a database on a server, which may hold a password; `database` is its identity
    then. Never written anywhere."""

    @property
    def address(self) -> str:
        """The database as it is opened."""
        return self.url or str(self.database)

    @property
    def results(self) -> tuple[Expected, ...]:
        """Every result that is right."""
        given = () if self.expected is None else (self.expected,)
        return (*given, *self.also_expected)

    def __post_init__(self) -> None:
        # JSON can escape half a character (a lone surrogate): it can be neither asked nor written.
        for name in ("question", "gold_sql", "evidence"):
            text: str = getattr(self, name)
            object.__setattr__(self, name, readable(text))

    @property
    def golds(self) -> tuple[str, ...]:
        """Every query that is right."""
        return (self.gold_sql, *self.also) if self.gold_sql else self.also


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of examples, and the description folders of their databases."""

    name: str
    examples: tuple[Example, ...]
    rule: str = "spider"
    """Name of the rule that its figures go by, its headline."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files that questions were read from, by their paths in the folder, each with its
    SHA-256; databases with their size in front of it, large ones by a sample of their content."""
    release: str = ""
    """The date by which its folder or question file is named, such as 20240627."""
    descriptions: Mapping[str, Path] = field(default_factory=dict)
    """Folders of description files by database."""
    left_out: tuple[str, ...] = ()
    """A line for each reason why the loader left out questions that the files hold."""

    @property
    def db_ids(self) -> tuple[str, ...]:
        """The databases, in the order in which they are first asked."""
        return tuple(dict.fromkeys(example.db_id for example in self.examples))

    def check_sqlite(self, what: str) -> None:
        """Raise DatasetError for questions over other databases than SQLite files. `what` needs
        such files."""
        others = {one.db_id: one.engine for one in self.examples if one.engine != "sqlite"}
        if others:
            (first, engine), more = next(iter(others.items())), len(others) - 1
            also = f" and {more} more" if more else ""
            raise DatasetError(
                f"{what} takes SQLite files, and {first}{also} of {self.name} is none "
                f"(engine: {engine})",
                hint="Keep the questions over SQLite files in a file of their own.",
            )

    def only(self, db_ids: Iterable[str], name: str) -> Dataset:
        """The examples over some databases."""
        kept = set(db_ids)
        return replace(self, name=name, examples=tuple(e for e in self.examples if e.db_id in kept))
