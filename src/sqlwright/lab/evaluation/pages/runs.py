"""The folder of a run, read for its page: settings, figures, records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import RULES

MACHINE = frozenset(
    {"jobs", "workers", "executor", "python", "machine", "system", "processors", "platform"}
)
"""Settings that change times and no answer."""
DIARY = frozenset({"started", "ended", "resumed"})
"""The times at which a run was worked on, in which any two runs differ."""
DATA = frozenset({"dataset", "files", "data", "databases", "descriptions"})
"""Settings that say which questions were asked of which data."""

_DIGEST = re.compile("[0-9a-f]{40,}")


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting in which two runs differ; empty where one has none."""

    name: str
    first: str
    second: str

    @property
    def of_machine(self) -> bool:
        """True if it changes times alone."""
        return self.name.partition(" ")[0] in MACHINE

    @property
    def of_data(self) -> bool:
        """True if it says that other data were asked."""
        return self.name.partition(" ")[0] in DATA


def settings_lines(described: Mapping[str, Any]) -> dict[str, str]:
    """Every setting by its name, what is in another after that one's name; those that aren't set
    left out."""
    return dict(_flat(described, ""))


def setting_differences(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> tuple[SettingDifference, ...]:
    """The settings in which two runs differ, those of the machine last."""
    ours, theirs = settings_lines(first), settings_lines(second)
    found = [
        SettingDifference(name, ours.get(name, ""), theirs.get(name, ""))
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name) and name not in DIARY
    ]
    return tuple(sorted(found, key=lambda one: one.of_machine))


def set_words(text: str) -> str:
    """A setting: a digest by its beginning, anything else as it is, "not set" if it is empty."""
    return (f"{text[:12]}…" if _DIGEST.fullmatch(text) else text) or "not set"


def _flat(data: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        name = f"{before} {key}".strip()
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            yield from _flat(_named(value), name)
        elif isinstance(value, list):
            if value:
                yield name, ", ".join(map(_text, value))
        elif value is not None and value != "":
            yield name, _text(value)


def _named(items: list[Any]) -> dict[str, Any]:
    """The steps of a list by their names, those that come again with a number."""
    found: dict[str, Any] = {}
    for item in items:
        pairs = item.items() if isinstance(item, Mapping) else [(_text(item), True)]
        for name, value in pairs:
            again = sum(one.partition("#")[0] == name for one in found)
            found[f"{name}#{again + 1}" if again else name] = True if value is None else value
    return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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

    def as_dict(self) -> dict[str, object]:
        """Its settings and figures as plain data."""
        return {
            "folder": str(self.folder),
            "finished": self.finished,
            "run": dict(self.described),
            "report": dict(self.summary),
        }

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
