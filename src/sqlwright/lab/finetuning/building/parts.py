"""The parts of a set while it is built: one for each database, each whole or not there.

A build that was killed loses the database it was at, and the next call goes on behind it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.evaluation.files import read_object, write_json
from sqlwright.lab.finetuning.building.plan import Source
from sqlwright.lab.finetuning.example import TrainingExample, read_examples, write_examples

FOLDER = "parts"


@dataclass(frozen=True, slots=True)
class Job:
    """The questions of a source over one database."""

    number: int
    source: Source
    db_id: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Examples of a database, which are in a file beside."""

    source: str
    db_id: str
    questions: int
    skipped: Mapping[str, int]
    digest: str
    """Of the examples' file."""


@dataclass(frozen=True)
class Parts:
    """The folder of parts in that of a set."""

    folder: Path
    today: date
    """The day the build began, which prompts are told though it goes on on another."""

    @staticmethod
    def claim(out: Path, plan: str) -> Parts:
        """Begin or go on by a plan's digest. Raises DatasetError where another plan was begun."""
        folder = out / FOLDER
        begun = folder / "plan.json"
        folder.mkdir(parents=True, exist_ok=True)
        told = read_object(begun)
        if not told:
            told = {"plan": plan, "today": date.today().isoformat()}
            write_json(begun, told)
        if told.get("plan") != plan:
            raise DatasetError(
                f"{out} holds the beginning of a set of other data, recipe or options",
                hint=f"Name another folder with --out, or remove {folder} to begin anew.",
            )
        try:
            return Parts(folder, date.fromisoformat(str(told.get("today"))))
        except ValueError:
            raise DatasetError(
                f"{begun} is damaged: it tells no day", hint=f"Remove {folder} to begin anew."
            ) from None

    def find(self, job: Job) -> Part | None:
        """The part that a job has made; None where it isn't done, or its file was damaged."""
        told = read_object(self._record(job))
        try:
            part = TypeAdapter(Part).validate_python(told)
            whole = file_digest(self._file(job)) == part.digest
        except (ValidationError, DatasetError):
            return None
        return part if whole else None

    def write(
        self, job: Job, examples: Sequence[TrainingExample], skipped: Mapping[str, int]
    ) -> Part:
        """Keep what a job has made; the record comes last."""
        write_examples(self._file(job), examples)
        part = Part(
            job.source.dataset.name,
            job.db_id,
            len(job.examples),
            dict(skipped),
            file_digest(self._file(job)),
        )
        write_json(self._record(job), asdict(part))
        return part

    def examples(self, job: Job) -> Iterator[TrainingExample]:
        """The examples that a job has made, in order."""
        return read_examples(self._file(job))

    def remove(self) -> None:
        """Remove all, once the set is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, job: Job) -> Path:
        return self.folder / f"{job.number:05d}.jsonl"

    def _record(self, job: Job) -> Path:
        return self.folder / f"{job.number:05d}.json"
