"""Ask every question of a data set and keep the scored answers in a folder that can be resumed."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright import api
from sqlwright.datasets.example import Dataset, Example
from sqlwright.errors import DatasetError
from sqlwright.evaluation import records
from sqlwright.evaluation.records import Record
from sqlwright.evaluation.report import summarize
from sqlwright.evaluation.scoring import Scorer
from sqlwright.llm.options import LlmOptions
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import ModelsByRole

Progress = Callable[[int, int, Record | None], None]


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Settings of a run: everything that makes two runs comparable, or not."""

    recipe: str = "local"
    overrides: Sequence[str] = ()
    allow_code: bool = False
    limit: int | None = None
    models: ModelsByRole | None = None
    """Stand-ins for the embedded models."""
    llm: LlmOptions = field(default_factory=LlmOptions)
    """The language model, and the budget of a question."""
    stand_in: bool = True
    """False where a question fails that the language model wrote no query for, instead of being
    answered by embedded models."""
    home: Path | None = None
    """The folder for replies, if not the usual one."""


def evaluate(
    dataset: Dataset,
    settings: EvaluationSettings,
    folder: Path,
    *,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Ask, score, record; return the summary, which is also written to `report.json`.

    Questions that the folder already holds are not asked again; a folder made with other settings
    is refused. Raises DatasetError, and whatever UserError opening a database raises.
    """
    examples = list(dataset.examples[: settings.limit])
    if not examples:
        raise DatasetError(f"{dataset.name} has no questions")
    _claim(folder, dataset, settings)
    done = {record.id: record for record in records.read(folder)}
    tell = progress or _silent
    tell(len(done), len(examples), None)
    waiting = [example for example in examples if example.id not in done]
    for record in _answer(waiting, settings):
        records.append(folder, record)
        done[record.id] = record
        tell(len(done), len(examples), record)
    summary = summarize([done[example.id] for example in examples])
    _write(folder / "report.json", summary)
    return summary


def _silent(done: int, total: int, record: Record | None) -> None:
    del done, total, record


def _answer(examples: Sequence[Example], settings: EvaluationSettings) -> Iterator[Record]:
    by_database = sorted(examples, key=lambda e: e.db_id)
    # The embedded models are the same for every database: they are loaded once.
    models = EmbeddedModels() if settings.models is None else settings.models
    for _, group in groupby(by_database, key=lambda e: e.database):
        listed = list(group)
        with api.open(
            str(listed[0].database),
            recipe=settings.recipe,
            overrides=settings.overrides,
            allow_code=settings.allow_code,
            models=models,
            llm=settings.llm,
            stand_in=settings.stand_in,
            home=settings.home,
            prepare=False,  # what is measured doesn't depend on what was measured before
            record=False,
        ) as session:
            session.warm()
            scorer = Scorer(session.workspace.database, session.workspace.schema)
            for example in listed:
                started = time.perf_counter()
                answer, state = session.run(example.question, evidence=example.evidence)
                yield scorer.score(example, answer, state, time.perf_counter() - started)


def _claim(folder: Path, dataset: Dataset, settings: EvaluationSettings) -> None:
    """Describe the run in `run.json`, or check that what is there describes the same one."""
    described = {
        "format": 1,
        "dataset": dataset.name,
        "recipe": settings.recipe,
        "overrides": list(settings.overrides),
        "version": sqlwright.__version__,
        **_language_model(settings),
    }
    path = folder / "run.json"
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        differing = [key for key, value in described.items() if found.get(key) != value]
        if differing:
            raise DatasetError(
                f"{folder} holds a run with another {' and '.join(differing)}",
                hint="Name another folder with --out.",
            )
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{folder} can't be made: {error.strerror}") from None
    _write(path, described | {"python": platform.python_version(), "machine": platform.machine()})


def _language_model(settings: EvaluationSettings) -> dict[str, Any]:
    """Settings of a language model that make two runs comparable or not; nothing without one."""
    options = settings.llm
    if not options.model and options.replay is None:
        return {}
    replay = None if options.replay is None else Path(options.replay).name
    return {
        "model": options.model,
        "budget": str(options.budget),
        "privacy": options.privacy,
        "replay": replay,
        "stand_in": settings.stand_in,
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(path)
