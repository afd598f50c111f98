"""The folder of a set: examples, and the record of where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.evaluation.files import read_object, write_json
from sqlwright.lab.finetuning.example import TrainingExample, read_examples

VERSION = 1
"""Number of the folder's format."""
RECORD = "set.json"
TRAIN = "train.jsonl"
HELD_OUT = "held_out.jsonl"


@dataclass(frozen=True)
class SourceRecord:
    """A data set that examples were made of."""

    data: str
    split: str | None
    name: str
    rule: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class SetRecord:
    """All that `set.json` says."""

    version: int
    role: str
    step: str
    recipe: str
    overrides: tuple[str, ...]
    context_tokens: int
    seed: int
    sqlwright: str
    """The version that built it."""
    sources: tuple[SourceRecord, ...]
    databases: Mapping[str, tuple[str, ...]]
    """Those of `train` and those `held_out`."""
    held_out_questions: tuple[str, ...]
    """Ids of the questions over databases held out."""
    generators: tuple[Mapping[str, Any], ...]
    """The models that wrote candidates, each with how many were kept and dropped."""
    skipped: Mapping[str, int]
    """Number of questions, or duplicates of examples, left out, by reason."""
    statistics: Mapping[str, Any]
    digests: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the role."""
    evaluations: tuple[str, ...] = ()
    """Names of the data sets whose databases it was checked to lack."""
    today: str = ""
    """The day that prompts were told."""
    plan: str = ""
    """Digest of the plan that it was built by."""


@dataclass(frozen=True)
class SetFolder:
    """A set on disk that is as it was built."""

    path: Path
    about: SetRecord

    @property
    def train(self) -> Path:
        """The examples to train on."""
        return self.path / TRAIN

    @property
    def held_out(self) -> Path:
        """The examples over databases set apart; none may have been."""
        return self.path / HELD_OUT

    def examples(self) -> Iterator[TrainingExample]:
        """The examples to train on, in order."""
        return read_examples(self.train)

    @staticmethod
    def open(path: Path) -> SetFolder:
        """The set in a folder, its files checked. Raises DatasetError."""
        about = read_record(path)
        for name, digest in about.digests.items():
            if file_digest(path / name) != digest:
                raise DatasetError(
                    f"{path / name} isn't as it was built: {RECORD} tells another digest",
                    hint="Build the set anew in another folder, or restore the file.",
                )
        return SetFolder(path, about)


def read_record(path: Path) -> SetRecord:
    """The record of the set in a folder. Raises DatasetError where there is none."""
    told = read_object(path / RECORD)
    if not told:
        raise DatasetError(
            f"{path} holds no training set: it has no {RECORD}",
            hint="`sqlwright lab finetune ROLE --build-only` builds one; run again, it goes on.",
        )
    if told.get("version") != VERSION:
        raise DatasetError(
            f"{path / RECORD} is of format {told.get('version')!r}; this version reads {VERSION}",
            hint="Build the set anew in another folder.",
        )
    try:
        record = TypeAdapter(SetRecord).validate_python(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise DatasetError(f"{path / RECORD} is damaged: {place}: {first['msg']}") from None
    if missing := {TRAIN, HELD_OUT} - set(record.digests):
        raise DatasetError(f"{path / RECORD} is damaged: it has no digest of {min(missing)}")
    return record


def write_record(path: Path, record: SetRecord) -> None:
    """Write the record, the last file of a set."""
    write_json(path / RECORD, asdict(record))
