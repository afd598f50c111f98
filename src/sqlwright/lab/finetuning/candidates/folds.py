"""Databases divided into folds: what a generator is trained on, and what it writes candidates for.

A fold such as 0/2 is the first of two. The generator of a fold is trained on all other databases
and writes candidates for those of the fold. The rule is that of the embedded models' folds.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.spider import Split


def fold_of(databases: Iterable[str], fold: str) -> frozenset[str]:
    """The databases of one fold. Raises ConfigError."""
    none = frozenset[str]()
    try:
        return Split(frozenset(databases), none, none, none).fold(fold)
    except ValueError as error:
        raise ConfigError(str(error), hint="Name the fold and their number, as 0/2.") from None


def outside(databases: Iterable[str], fold: str) -> frozenset[str]:
    """The databases that the generator of a fold is trained on: those of all other folds. Raises
    ConfigError."""
    listed = frozenset(databases)
    return listed - fold_of(listed, fold)
