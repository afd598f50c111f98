"""The commands that would run what is missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlwright.lab.evaluation.tables.filled import Choice, FilledPaper, FilledTable, Wanted
from sqlwright.lab.evaluation.tables.papers import data_sets
from sqlwright.recipes.ablation_lists import ablations

EMBEDDED = frozenset({"msc-local"})
"""Recipes of the tables that ask no language model."""


def missing_commands(filled: FilledPaper, name: str, *, out: str = "runs") -> tuple[str, ...]:
    """The commands for all that is missing in a paper's tables; runs that share data set and
    changes in one. `name` is the paper's, `out` the folder for all its runs."""
    return _commands(filled.tables, filled.choice, f"{out}/{name}")


def table_commands(
    table: FilledTable, choice: Choice, name: str, *, out: str = "runs"
) -> tuple[str, ...]:
    """Those for one table. A run that another table shares is done once: its folder is the same."""
    return _commands([table], choice, f"{out}/{name}")


def _commands(tables: Iterable[FilledTable], choice: Choice, folder: str) -> tuple[str, ...]:
    metrics: dict[Wanted, list[str]] = {}
    for wanted in dict.fromkeys(one for table in tables for one in table.missing):
        found = metrics.setdefault(replace(wanted, metric=""), [])
        found += [wanted.metric] if wanted.metric else []
    grouped: dict[_Group, list[str]] = {}
    for wanted, named in metrics.items():
        grouped.setdefault(_Group(wanted.data, wanted.set, tuple(named)), []).append(wanted.name)
    return tuple(
        command
        for group, names in grouped.items()
        for command in group.commands(names, choice, folder)
    )


@dataclass(frozen=True)
class _Group:
    """Runs over one data set with the same changes and metrics."""

    data: str
    set: tuple[str, ...]
    metrics: tuple[str, ...]

    def commands(self, names: Sequence[str], choice: Choice, folder: str) -> Iterator[str]:
        """One for all of them or, where a metric is to be taken, one for each: `ablate` takes the
        usual ones. A folder holds runs with one choice of metrics, so these have their own."""
        place = f"{folder}/{'-'.join([self.data, *map(_slug, self.set), *self.metrics])}"
        if not self.metrics:
            yield " ".join(["sqlwright lab ablate", *names, *self._options(names, choice, place)])
            return
        for name in names:
            kind = "--ablation" if name in ablations() else "--recipe"
            options = self._options([name], choice, f"{place}/{name}")
            yield " ".join(["sqlwright evaluate", kind, name, *options])

    def _options(self, names: Sequence[str], choice: Choice, place: str) -> Iterator[str]:
        yield data_sets()[self.data].options
        if set(names) - EMBEDDED:
            yield f"-m {shlex.quote(choice.model) if choice.model else 'MODEL'} --no-stand-in"
        yield "--prepare"
        yield from (f"--set {shlex.quote(change)}" for change in self.set)
        yield from (f"--metric {name}" for name in self.metrics)
        yield f"--out {shlex.quote(place)} --resume"


def _slug(change: str) -> str:
    key, _, value = change.partition("=")
    return re.sub(r"[^a-z0-9.]+", "-", f"{'.'.join(key.split('.')[-2:])}-{value}".lower())
