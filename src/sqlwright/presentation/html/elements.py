"""Elements of HTML. A string is text and comes out escaped; only an `Html` is markup.

No element or attribute that could load, run or send anything can be made; `jump` alone makes links,
and they lead to a place of the same page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from sqlwright.boundary.text import visible

ELEMENTS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer"}
    | {"h1", "h2", "h3", "h4", "p", "div", "span", "pre", "code", "bdi", "strong", "mark"}
    | {"ul", "ol", "li", "dl", "dt", "dd", "details", "summary", "figure", "figcaption", "nav"}
    | {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    | {"fieldset", "legend", "label", "input", "select", "option", "button", "output"}
    | {"svg", "g", "rect", "circle", "line", "polyline", "path", "text"}
)
"""The elements there are; no script, link, image, frame or form among them."""
ATTRIBUTES = frozenset(
    {"lang", "class", "style", "scope", "tabindex", "role", "aria-label", "aria-hidden", "open"}
    | {"charset", "name", "content", "http-equiv", "id", "hidden", "aria-labelledby"}
    | {"for", "type", "value", "checked"}
    | {"data-filters", "data-field", "data-class", "data-database", "data-change"}
    | {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "d", "points", "width", "height"}
    | {"viewBox", "preserveAspectRatio", "vector-effect", "text-anchor", "dx", "dy", "transform"}
)
"""The attributes there are; none of them holds an address or a script."""
VOID = frozenset({"meta", "input"})
"""Elements that have no content and no end."""
LONGEST = 2_000
"""Characters of a text that are shown where nothing else is said; chosen."""
CELL = 300
"""The same of a cell of a table; chosen."""

_PLACE = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Html:
    """Finished markup. `element` and `joined` make it; nobody else has a reason to."""

    markup: str

    def __str__(self) -> str:
        return self.markup

    def __html__(self) -> str:
        """Finished markup for a template, too."""
        return self.markup


Content = Html | str
"""Content of an element: markup, or text that will be escaped."""

NOTHING = Html("")


def element(tag: str, *content: Content, **attributes: str) -> Html:
    """`<tag attributes>content</tag>`. In names of attributes `_` stands for `-`, and one at the
    end is dropped (`class_`). Raises ValueError for elements and attributes that aren't listed."""
    if tag not in ELEMENTS:
        raise ValueError(f"no element {tag!r}")
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    if unknown := named.keys() - ATTRIBUTES:
        raise ValueError(f"no attribute {min(unknown)!r}")
    written = "".join(f' {name}="{escape(visible(value))}"' for name, value in named.items())
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(content)}</{tag}>")


def joined(content: Iterable[Content], between: Content = "") -> Html:
    """Several pieces as one."""
    return Html(_markup(between).join(map(_markup, content)))


def foreign(text: str, *, limit: int | None = LONGEST) -> Html:
    """Text of somebody else, kept to its own direction of writing, cut after `limit` characters;
    None cuts nothing."""
    return element("bdi", visible(text, limit=limit), class_="foreign")


def jump(place: str, *content: Content) -> Html:
    """A link to the element of the same page whose id is `place`. Raises ValueError for what can't
    be an id of ours."""
    if not _PLACE.fullmatch(place):
        raise ValueError(f"no place {place!r}")
    return Html(f'<a href="#{place}">{joined(content)}</a>')


def _markup(content: Content) -> str:
    if isinstance(content, Html):
        return content.markup
    return escape(visible(content, lines=True))
