"""The parts of a run put together, as if it had been made at once."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.files import (
    line_of,
    locked,
    read_object,
    whole_file,
    write_json,
    write_lines,
)
from sqlwright.lab.evaluation.folder.described import QUESTIONS, RUN, differing, now, read_questions
from sqlwright.lab.evaluation.folder.submission import write_submission
from sqlwright.lab.evaluation.records import PREDICTIONS, TRACES, KeptRecords, stream

OWN = frozenset({
    "shard", "questions", "started", "ended", "resumed", "jobs", "workers", "executor",
    "packages", "python", "machine", "system", "processors", "merged", "databases",
    "recipe_content",
})  # fmt: skip
"""Keys in which parts of the same run may differ."""
NAMED = 5
"""Missing questions that a message names."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a run."""

    folder: Path
    run: Mapping[str, Any]
    questions: Sequence[tuple[int, str, str]]
    skipped: Mapping[str, tuple[int, str]]


def merge_runs(parts: Sequence[Path], folder: Path) -> dict[str, Any]:
    """Write the run that the parts are, and return its summary.

    Raises DatasetError for parts of different runs, for a question that two of them have, and for
    questions that none of them has, whether a part is missing or hasn't ended.
    """
    found = [_read(part) for part in parts]
    if not found:
        raise DatasetError("no parts of a run are named")
    _check_same(found)
    _check_whole(found)
    with locked(folder):
        if (folder / RUN).exists():
            raise DatasetError(f"{folder} holds a run already", hint="Name another folder.")
        return _written(found, folder)


def _read(folder: Path) -> _Part:
    run = read_object(folder / RUN)
    if not run:
        raise DatasetError(f"{folder} holds no run", hint="Name folders of runs.")
    report = read_object(folder / "report.json")
    skipped = {
        db_id: (left_out["questions"], left_out["reason"])
        for db_id, left_out in report.get("skipped", {}).items()
    }
    return _Part(folder, run, read_questions(folder), skipped)


def _check_same(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for part in parts[1:]:
        keys = first.run.keys() | part.run.keys()
        told = {key: first.run.get(key) for key in sorted(keys) if key not in OWN}
        if other := differing(told, part.run):
            raise DatasetError(
                f"{part.folder} is no part of the same run as {first.folder}: "
                f"it has another {' and '.join(other)}"
            )
    numbers = Counter(number for part in parts for number, _, _ in part.questions)
    if twice := [number for number, count in numbers.items() if count > 1]:
        both = [part for part in parts if any(one[0] == twice[0] for one in part.questions)]
        raise DatasetError(
            f"{both[0].folder} and {both[1].folder} have {len(twice):,} questions in common",
            hint="Name each part once.",
        )


def _check_whole(parts: Sequence[_Part]) -> None:
    shards = [str(part.run.get("shard") or "1/1") for part in parts]
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1:
        raise DatasetError(f"the parts are of different divisions: {', '.join(shards)}")
    count = counts.pop()
    wanted = [f"{number}/{count}" for number in range(1, int(count) + 1)]
    if missing := [shard for shard in wanted if shard not in shards]:
        raise DatasetError(f"the part {', '.join(missing)} is missing", hint="Name all folders.")
    for part in parts:
        kept = KeptRecords(part.folder)
        lacking = [
            question
            for _, question, db_id in part.questions
            if question not in kept and db_id not in part.skipped
        ]
        if lacking:
            more = f" and {len(lacking) - NAMED:,} more" if len(lacking) > NAMED else ""
            raise DatasetError(
                f"{part.folder} hasn't asked {', '.join(lacking[:NAMED])}{more}",
                hint="Go on with it with --resume first.",
            )


def _written(parts: Sequence[_Part], folder: Path) -> dict[str, Any]:
    questions = sorted(one for part in parts for one in part.questions)
    rows = ({"number": n, "id": question, "db_id": db_id} for n, question, db_id in questions)
    write_lines(folder / QUESTIONS, (line_of(row) for row in rows))
    _copy_records(parts, folder)
    by_database = sorted(questions, key=lambda one: one[2])
    KeptRecords(folder).arrange(question for _, question, _ in by_database)
    for part in parts:
        kept = part.folder / TRACES
        if kept.is_dir():
            shutil.copytree(kept, folder / TRACES, dirs_exist_ok=True)
    rule = str(parts[0].run.get("rule", ""))
    summary = summarize(stream(folder), rule, _skipped(parts))
    write_json(folder / "report.json", summary)
    write_submission(folder, rule)
    write_json(folder / RUN, _merged(parts, len(questions)))
    return summary


def _copy_records(parts: Sequence[_Part], folder: Path) -> None:
    with whole_file(folder / PREDICTIONS) as target:
        for part in parts:
            target.writelines(_whole_lines(part.folder / PREDICTIONS))


def _whole_lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


def _skipped(parts: Sequence[_Part]) -> dict[str, tuple[int, str]]:
    """Databases left out, with all their questions: two parts may share one."""
    found: dict[str, tuple[int, str]] = {}
    for part in parts:
        for db_id, (count, reason) in part.skipped.items():
            found[db_id] = (found.get(db_id, (0, ""))[0] + count, reason)
    return found


def _merged(parts: Sequence[_Part], questions: int) -> dict[str, Any]:
    """The description: that of the parts, what they differ in beside their places."""
    first = parts[0].run
    times = [str(part.run.get(key, "")) for part in parts for key in ("started", "ended")]
    known = sorted(time for time in times if time)
    ran = [
        {key: part.run[key] for key in sorted(OWN & part.run.keys() - {"recipe_content"})}
        for part in parts
    ]
    kept = {key: value for key, value in first.items() if key not in OWN - {"recipe_content"}}
    spans = {"started": known[0], "ended": known[-1]} if known else {}
    told = {**kept, "shard": None, "questions": questions, **spans}
    return {**told, "merged": ran, "written": now()}
