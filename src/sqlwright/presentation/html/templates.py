"""Templates of HTML, rendered in a sandbox with every text escaped. The doorway to jinja2 for HTML.

A string put into a template is text: what acts in it is made visible, and it comes out escaped.
Filters: `foreign` keeps somebody else's text to its own direction of writing, `line` leaves no
line ends (for attributes), `lines` keeps them in a long text, `pieces` cuts a query for its
colours, `cell` writes a stored value.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from sqlwright.boundary.text import duration, visible
from sqlwright.presentation.answer import cell_to_text, hidden_rows
from sqlwright.presentation.sql_text import Cut, in_clauses, sql_pieces

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

    from sqlwright.types import Cell

LONGEST = 2_000
"""Characters of a text that are shown where nothing else is said; chosen."""
CELL = 300
"""The same of a cell of a table; chosen."""
SQL_LIMIT = 20_000
"""Characters of a query that are shown; chosen."""
PROSE_LIMIT = 6_000
"""Characters of a text of several lines that are shown; chosen."""
PLACES = ("presentation/html/templates", "lab/templates")
"""Folders of templates within the package."""


@dataclass(frozen=True, slots=True)
class Html:
    """Finished markup. `part` makes it; a plain string is text wherever it is put."""

    markup: str

    def __html__(self) -> str:
        """Finished markup for a template, too."""
        return self.markup

    def __bool__(self) -> bool:
        """False of nothing."""
        return bool(self.markup)


NOTHING = Html("")


def render(template: str, **values: object) -> str:
    """A template with these values. Raises jinja2's UndefinedError for one that is missing."""
    return _environment().get_template(template).render(values)


def part(template: str, macro: str, *values: object) -> Html:
    """The markup that a macro of a template makes of these values."""
    module = _environment().get_template(template).module
    return Html(str(getattr(module, macro)(*values)).strip())


def foreign(text: Html | str, limit: int | None = LONGEST) -> Html:
    """Text of somebody else, kept to its own direction of writing, cut after `limit` characters;
    None cuts nothing. Markup stays as it is."""
    if isinstance(text, Html):
        return text
    return Html(f'<bdi class="foreign">{escape(visible(text, limit=limit))}</bdi>')


def highlighted(sql: str, cut: Cut) -> tuple[tuple[str, str], ...]:
    """A query with a line for each clause as pieces, each with the kind of its colour; a kind is
    empty where there is none."""
    text = in_clauses(visible(sql, limit=SQL_LIMIT, lines=True).strip(), cut)
    pieces: list[tuple[str, str]] = []
    end = 0
    for piece in sql_pieces(text, cut):
        pieces += [("", text[end : piece.start]), (piece.kind, text[piece.start : piece.end])]
        end = piece.end
    return (*pieces, ("", text[end:]))


def code(sql: str, cut: Cut) -> Html:
    """A query with a line for each clause and its words coloured, cut as its dialect does."""
    return part("parts.html", "code", highlighted(sql, cut))


def cell_kind(cell: Cell) -> str:
    """The look of a stored value: `number`, `absent` or `cell`."""
    if cell is None or isinstance(cell, bytes):
        return "absent"
    return "number" if isinstance(cell, int | float | Decimal) else "cell"


def _shown(value: object) -> object:
    return visible(value, lines=True) if type(value) is str else value


def _lines(text: str, limit: int = PROSE_LIMIT) -> str:
    return visible(text, limit=limit, lines=True)


def _cell(value: Cell, limit: int) -> str:
    return cell_to_text(value, limit=limit)


def _along(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters |= {
        "foreign": foreign,
        "line": visible,
        "pieces": highlighted,
        "lines": _lines,
        "cell": _cell,
        "cell_kind": cell_kind,
        "duration": duration,
        "along": _along,
    }
    environment.globals["hidden_rows"] = hidden_rows
    return environment


def _source(name: str) -> str | None:
    for place in PLACES:
        resource = files("sqlwright").joinpath(*place.split("/"), name)
        if resource.is_file():
            return resource.read_text(encoding="utf-8")
    return None
