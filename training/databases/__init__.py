"""Databases of our own, as code with a seed: each module here is one, made by its `build`."""

from __future__ import annotations

import pkgutil
import random
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """The names of all databases, in order of the alphabet."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def story(name: str) -> str:
    """The docstring of a database: whose data it is, what is messy, what codes mean."""
    return import_module(f"{__name__}.{name}").__doc__ or ""


def script(name: str) -> str:
    """The SQL that makes a database: the same text at every call."""
    made: str = import_module(f"{__name__}.{name}").build(random.Random(name))
    return made


def build(name: str, folder: Path) -> Path:
    """A database as the SQLite file NAME.sqlite in a folder, in place of one of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"BEGIN;\n{script(name)}\nCOMMIT;")
    return path
