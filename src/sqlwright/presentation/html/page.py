"""A whole page: one file that needs nothing else, no network and no script."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from sqlwright.presentation.html.elements import Content, element, foreign, style_sheet

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Forbids a browser to load or run anything, whatever came into the page."""


def page(title: str, *body: Content, footer: Content = "") -> str:
    """The page as text. `title` is somebody else's, as everything that isn't `Html`."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        style_sheet(_style()),
    )
    foot = [element("footer", footer)] if footer else []
    whole = element(
        "body", element("header", element("h1", foreign(title))), element("main", *body), *foot
    )
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"


def write_page(path: Path, text: str) -> None:
    """Write a page beside its place and rename it, so that nobody meets half of one. Raises
    OSError, leaving nothing behind."""
    beside = path.with_name(f".{path.name[:80]}-{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@cache
def _style() -> str:
    place = files("sqlwright").joinpath("presentation/html/page.css")
    return place.read_text(encoding="utf-8")
