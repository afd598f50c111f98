"""A plan of a set: all that decides its examples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.recipes.loading import Recipe

SHARE = 0.1
"""Share of the databases that is set apart where nobody says; chosen."""


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that examples are made of, and how it was named."""

    data: str
    """`NAME:FOLDER`"""
    dataset: Dataset
    split: str | None = None


@dataclass(frozen=True)
class BuildPlan:
    """Everything that decides a set, and its folder."""

    role: str
    datasets: Sequence[Source]
    recipe: str
    out: Path
    held_out: Sequence[Dataset] = ()
    """Data sets that the trained model is to be measured on: none of their databases may be in
    it."""
    overrides: Sequence[str] = ()
    context_tokens: int = 8_192
    """Tokens that the model to be trained reads; prompts are fitted to it."""
    seed: int = 0
    share_held_out: float | None = None
    """Share of the databases set apart. None is a tenth, or none where `held_out` is given."""
    limit: int | None = None
    """Number of questions, the first of all sources together."""
    candidates: Sequence[Path] = ()
    """Files of queries that generators wrote."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the role."""
    without: Sequence[str] = ()
    """Databases that are left out."""
    prepare: bool = True
    """True reads each database as a whole first, as `prepare` does; else its values are those that
    can be read within seconds, which may differ from time to time."""
    home: Path | None = None
    """Folder under which prepared databases are kept; None is the usual one."""

    def __post_init__(self) -> None:
        for name, value, least in (("context", self.context_tokens, 1), ("limit", self.limit, 1)):
            if value is not None and value < least:
                raise ConfigError(f"{name} must be at least {least}, not {value}")
        if not 0 <= self.share < 1:
            raise ConfigError(
                f"the share held out must be from 0 to below 1, not {self.share}",
                hint="0.1 sets a tenth of the databases apart.",
            )
        for dataset in (*(source.dataset for source in self.datasets), *self.held_out):
            dataset.check_sqlite("finetuning")

    @property
    def share(self) -> float:
        """The share of the databases that is set apart."""
        if self.share_held_out is not None:
            return self.share_held_out
        return 0.0 if self.held_out else SHARE

    def told(self, recipe: Recipe) -> Mapping[str, Any]:
        """All that decides the examples, as JSON. Raises DatasetError for a file that can't be
        read."""
        return {
            "sqlwright": sqlwright.__version__,
            "role": self.role,
            "options": dict(self.options),
            "recipe": json.loads(json.dumps(recipe.source, default=str)),
            "context_tokens": self.context_tokens,
            "seed": self.seed,
            "share": self.share,
            "limit": self.limit,
            "without": sorted(self.without),
            "prepare": self.prepare,
            "sources": [_told(source.dataset) for source in self.datasets],
            "held_out": [_told(dataset) for dataset in self.held_out],
            "candidates": [_digest(path) for path in self.candidates],
        }


def plan_digest(told: Mapping[str, Any]) -> str:
    """The SHA-256 of what a plan tells."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _told(dataset: Dataset) -> Mapping[str, Any]:
    asked = hashlib.sha256()
    for one in dataset.examples:
        row = [one.id, one.db_id, one.question, one.evidence, *one.golds]
        asked.update(json.dumps(row).encode())
    return {
        "name": dataset.name,
        "rule": dataset.rule,
        "files": dict(dataset.files),
        "asked": asked.hexdigest(),
    }


def _digest(path: Path) -> str:
    """The digest of a file, or of all in a folder. Raises DatasetError."""
    if not path.is_dir():
        return file_digest(path)
    inside = sorted(one for one in path.rglob("*") if one.is_file())
    listed = [[one.relative_to(path).as_posix(), file_digest(one)] for one in inside]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()
