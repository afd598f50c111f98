"""The folder of a run, read for its page: settings, figures, records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import RULES

REPORT = "report.json"


@dataclass(frozen=True)
class MeasuredRun:
    """A run that was measured, perhaps not to its end."""

    folder: Path
    described: Mapping[str, Any]
    """The content of `run.json`."""
    summary: Mapping[str, Any]
    records: Sequence[Record]
    finished: bool
    name: str
    """The name under which it is told apart from others."""

    @property
    def rule(self) -> str:
        """The name of the rule that its figures go by."""
        return str(self.described["rule"])

    @property
    def title(self) -> str:
        """Its data set and recipe."""
        recipe = self.described.get("ablation") or self.described.get("recipe") or "no recipe"
        return f"{self.described.get('dataset', 'questions')}, by {recipe}"

    @property
    def progress(self) -> str:
        """The answers so far of an unfinished run, in words."""
        planned = self.described.get("questions")
        of = f" of {planned:,}" if isinstance(planned, int) else ""
        return f"{len(self.records):,}{of} questions so far"

    @cached_property
    def scored(self) -> tuple[Record, ...]:
        """The records that figures go by: those whose gold query runs."""
        return tuple(one for one in self.records if one.status != "gold")

    @cached_property
    def wrong(self) -> tuple[Record, ...]:
        """Those of wrong answers."""
        return tuple(one for one in self.scored if not one.right(self.rule))


def read_run(folder: Path) -> MeasuredRun:
    """The run in a folder. Raises DatasetError where there is none, or no answer yet."""
    path = folder / "run.json"
    described = _json(path)
    if described is None or described.get("rule") not in RULES:
        raise DatasetError(
            f"{folder} holds no run", hint="'sqlwright evaluate --out FOLDER' makes one."
        )
    found = records.read(folder)
    if not found:
        raise DatasetError(f"{folder} has no answers yet", hint="'sqlwright evaluate' adds them.")
    kept = _json(folder / REPORT) or {}
    # A report of fewer answers than there are records is made again.
    rule = str(described["rule"])
    whole = kept.get("questions") == len(found)
    summary = kept if whole else _made_again(rule, found, kept)
    ended = "ended" in described if "started" in described else bool(kept)
    return MeasuredRun(folder, described, summary, tuple(found), ended, folder.resolve().name)


def read_runs(folders: Sequence[Path]) -> list[MeasuredRun]:
    """The runs in some folders, by names that tell them apart: as much of the end of their paths as
    that takes. Raises DatasetError as `read_run` does."""
    parts = [folder.resolve().parts for folder in folders]
    longest = max(map(len, parts), default=1)
    ends = ([each[-taken:] for each in parts] for taken in range(1, longest + 1))
    distinct = len(set(parts))
    names = next((found for found in ends if len(set(found)) == distinct), parts)
    runs = map(read_run, folders)
    return [replace(run, name="/".join(end)) for run, end in zip(runs, names, strict=True)]


def _made_again(rule: str, found: Sequence[Record], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the records, with what the report knew of databases that were left out."""
    skipped = {
        str(db_id): (int(one.get("questions", 0)), str(one.get("reason", "")))
        for db_id, one in (kept.get("skipped") or {}).items()
    }
    return summarize(found, rule, skipped)


def _json(path: Path) -> dict[str, Any] | None:
    """An object in a file; None where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
