"""The parts of a report as data, and the page that `report.html` makes of them.

Texts may be somebody else's: the template escapes them and keeps them to their own direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlwright
from sqlwright.presentation.html.page import page_of
from sqlwright.presentation.html.templates import Html

Sentence = str | tuple[str, str, str]
"""A text, or what comes before, in and after its strong words."""
Choices = Mapping[str, tuple[str, Sequence[tuple[str, str]]]]
"""Filters of a list: for each mark of its entries a title and values, each with what is shown."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table whose rows begin with a heading of their own; `numbers` are the columns, from 0, that
    are set to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Html]]
    numbers: Iterable[int] = ()
    caption: str = ""
    title: str = ""
    """Its own heading, if it has one."""
    folded: str = ""
    """The words that open it on a click, if it isn't seen at once."""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the rows on record: "right" or "error" with a text, or "columns" and "rows"."""

    title: str
    query: Html
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer that opens on a click."""

    question: str
    tags: Sequence[str]
    marks: Mapping[str, str]
    """Its values for the filters, by name."""
    origin: Sequence[str]
    evidence: str
    reasons: Sequence[Sentence]
    queries: Sequence[Query]
    kind: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under its heading, in the order in which it is shown."""

    title: str
    place: str = ""
    """Its id; those with one are in the page's contents."""
    link: str = ""
    """Its name in the contents, if that isn't the title."""
    said: Sequence[str] = ()
    listed: Sequence[Sentence] = ()
    figures: Sequence[Html] = ()
    notes: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    beneath: Sequence[str] = ()
    rest: str = ""
    choices: Choices = field(default_factory=dict)
    entries: Sequence[Entry] = ()
    list_place: str = ""

    def __bool__(self) -> bool:
        """False without content."""
        parts = (self.said, self.listed, self.notes, self.tables, self.beneath, self.entries)
        return any(parts) or any(self.figures)


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a page."""

    headline: Sentence
    method: str = ""
    said: Sequence[str] = ()
    warned: Sequence[str] = ()
    tiles: Sequence[tuple[str, str, str]] = ()
    """Figures that sum it up: name, value, note."""
    figures: Sequence[Html] = ()


def report_page(title: str, opening: Opening, sections: Iterable[Section]) -> str:
    """The page as text; sections without content are left out."""
    shown = [one for one in sections if one]
    return page_of(
        "report.html",
        title,
        themes=True,
        filtering=any(one.entries for one in shown),
        footer=f"sqlwright {sqlwright.__version__}",
        opening=opening,
        sections=shown,
    )
