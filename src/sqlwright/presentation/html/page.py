"""A whole page: one file that needs nothing else and no network.

A page may have a choice of its colours, which needs no script, and one script of ours, which
filters a list; without it, everything is there all the same.
"""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from sqlwright.presentation.html.templates import Html, render

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Forbids a browser to load or run anything, whatever came into the page."""
GENERATOR = "sqlwright"
"""The name that a page gives of the program that wrote it."""
THEMES = {"auto": "as the system", "light": "light", "dark": "dark"}
"""The choices of colours."""


def page_of(
    template: str, title: str, *, themes: bool = False, filtering: bool = False, **values: object
) -> str:
    """The page as text, by a template that extends `page.html`. `title` is somebody else's. With
    `themes` its colours can be chosen; with `filtering` its lists can be filtered."""
    return render(
        template,
        title=title,
        policy=_policy(filtering),
        generator=GENERATOR,
        style=Html(_kept("page.css")),
        themes=THEMES if themes else {},
        script=Html(_kept("filter.js")) if filtering else "",
        **values,
    )


def is_page(path: Path) -> bool:
    """True if the file is a page that was made here, so that a new one may take its place."""
    mark = f'<meta name="generator" content="{GENERATOR}">'
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return mark in file.read(2_000)
    except OSError:
        return False


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


def _policy(filtering: bool) -> str:
    """The policy, with room for our own script, known by its hash."""
    if not filtering:
        return POLICY
    digest = hashlib.sha256(_kept("filter.js").encode("utf-8")).digest()
    return f"{POLICY}; script-src 'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _kept(name: str) -> str:
    place = files("sqlwright").joinpath(f"presentation/html/{name}")
    return place.read_text(encoding="utf-8")
