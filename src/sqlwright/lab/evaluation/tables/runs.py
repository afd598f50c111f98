"""Runs that folders hold: what was measured, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.tables.counted import counted_figures
from sqlwright.presentation.answer import readable
from sqlwright.protocols import Step
from sqlwright.recipes import registry
from sqlwright.recipes.loading import load_recipe


@dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: Path
    recipe: str
    overrides: tuple[str, ...]
    dataset: str
    rule: str
    model: str
    """The language model; empty without one."""
    ablation: str
    ended: float
    """When its report was written."""
    report: Mapping[str, Any] = field(repr=False)

    @property
    def questions(self) -> int:
        return int(self.report.get("questions") or 0)

    @property
    def step(self) -> Step | None:
        """All its steps with their options; None where no recipe of ours gives them."""
        return resolved(self.recipe, self.overrides)

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        """The report and, under `counted`, what only the single answers tell."""
        return {**self.report, "counted": counted_figures(records.read(self.folder), self.report)}


@dataclass(frozen=True)
class Found:
    """Runs, and what was left out, each in a line."""

    runs: tuple[Run, ...] = ()
    left_out: tuple[str, ...] = ()


def find_runs(folders: Iterable[Path]) -> Found:
    """The finished runs in these folders and in folders of theirs, each once. Raises DatasetError
    for a folder that isn't there."""
    runs: dict[Path, Run] = {}
    left_out: dict[str, None] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DatasetError(
                f"there is no folder {readable(str(folder))}",
                hint="Name the folders of runs, or one that holds them.",
            )
        for described in sorted(folder.rglob("run.json")):
            place = described.parent.resolve()
            if place in runs:
                continue
            run = _read(place)
            if isinstance(run, Run):
                runs[place] = run
            else:
                left_out[run] = None
    return Found(tuple(runs.values()), tuple(left_out))


@cache
def resolved(recipe: str, overrides: tuple[str, ...]) -> Step | None:
    """The steps of a shipped recipe with these overrides; None for a recipe of somebody's own,
    which is never loaded for a table, and for overrides that don't fit."""
    if recipe not in registry.RECIPES:
        return None
    try:
        return load_recipe(recipe, overrides).step
    except ConfigError:
        return None


def _read(folder: Path) -> Run | str:
    """The run, or why it is left out."""
    name = readable(str(folder))
    if not (folder / "report.json").exists():
        return f"{name} isn't finished"
    described, report = _object(folder / "run.json"), _object(folder / "report.json")
    if described is None or report is None:
        return f"{name} can't be read"
    if described.get("shard"):
        return f"{name} is a part of a run"
    overrides = described.get("overrides")
    return Run(
        folder,
        str(described.get("recipe") or ""),
        tuple(map(str, overrides)) if isinstance(overrides, list) else (),
        str(described.get("dataset") or ""),
        str(described.get("rule") or ""),
        str(described.get("model") or ""),
        str(described.get("ablation") or ""),
        (folder / "report.json").stat().st_mtime,
        report,
    )


def _object(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
