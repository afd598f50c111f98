"""Objects that a table names by import path, `package.module:object`, loaded when asked for.

Installed packages add to a table through an entry point group.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from typing import Any

from sqlwright.errors import ConfigError


def loaded(name: str, path: str) -> Any:
    """The object at a path. Raises ConfigError, which tells the name."""
    module, _, attribute = path.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{name} can't be loaded from {path}: {error}") from error


def installed(group: str) -> dict[str, str]:
    """The import paths that installed packages give under an entry point group, by name."""
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=group)}


def unknown(what: str, name: str, known: Iterable[str]) -> ConfigError:
    """The error for a name that isn't there, with the nearest one and those that are."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return ConfigError(f"unknown {what} {name!r}{guess}", hint=f"Known: {', '.join(names)}.")
