"""Ask every question of a data set and keep the scored answers in a folder that can be resumed."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.datasets.example import Dataset
from sqlwright.errors import DatasetError
from sqlwright.evaluation import records
from sqlwright.evaluation.asking import Asker, in_order
from sqlwright.evaluation.error_classes.labels import read_labels
from sqlwright.evaluation.figures.summary import summarize
from sqlwright.evaluation.records import Record
from sqlwright.evaluation.rules.registry import RULES
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.protocols import ModelsByRole

REPLYING = ("reasoning", "reasoning_tokens", "verbosity", "reply_tokens", "context_tokens")
"""Settings of a model that decide what it replies, besides its name."""

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
    """The folder for replies and for what is prepared, if not the usual one."""
    prepare: bool = False
    """True if each database is prepared before it is asked; else each is taken as it is, and of one
    that nobody prepared is known what can be read in seconds, which differs with the machine."""
    jobs: int = 1
    """Questions side by side. Answers don't depend on it; times do."""
    metrics: Sequence[str] = ()
    """Metrics to take besides the usual ones."""
    ablation: str = ""
    """The name under which recipe and overrides are known, for `run.json`."""


def evaluate(
    dataset: Dataset,
    settings: EvaluationSettings,
    folder: Path,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Ask, score, record; return the summary, which is also written to `report.json`.

    Questions that the folder already holds are not asked again; a folder made with other settings
    is refused. Records are on disk as soon as a question has ended, and in the order of the
    questions by databases at the end. A database that can't be opened is left out, which `notice`
    is told in one line and the summary says. Raises DatasetError, DatabaseUnavailable if no
    database can be opened, and whatever other UserError opening and asking raise.
    """
    examples = list(dataset.examples[: settings.limit])
    if not examples:
        raise DatasetError(f"{dataset.name} has no questions")
    if settings.jobs < 1:
        raise DatasetError(f"jobs must be at least 1, not {settings.jobs}")
    _claim(folder, dataset, settings)
    found = records.read(folder)
    done = {record.id: record for record in found}
    tell = progress or _silent
    tell(len(done), len(examples), None)

    def keep(record: Record) -> None:
        records.append(folder, record)
        found.append(record)
        done[record.id] = record
        tell(len(done), len(examples), record)

    asker = Asker(settings, dataset.rule, notice or _unsaid)
    asker.ask([example for example in examples if example.id not in done], keep)
    if not done and asker.skipped:
        raise asker.skipped[-1].error
    ordered = [done[example.id] for example in in_order(examples) if example.id in done]
    if ordered != found:
        records.rewrite(folder, ordered)
    summary = summarize(
        [done[example.id] for example in examples if example.id in done],
        dataset.rule,
        {skipped.db_id: (skipped.questions, str(skipped.error)) for skipped in asker.skipped},
        read_labels(folder),
    )
    write_json(folder / "report.json", summary)
    return summary


def _unsaid(line: str) -> None:
    del line


def _silent(done: int, total: int, record: Record | None) -> None:
    del done, total, record


def _claim(folder: Path, dataset: Dataset, settings: EvaluationSettings) -> None:
    """Describe the run in `run.json`, or check that what is there describes the same one."""
    described = {
        "format": 3,
        "dataset": dataset.name,
        "rule": dataset.rule,
        "recipe": settings.recipe,
        "overrides": list(settings.overrides),
        "prepare": settings.prepare,
        "metrics": sorted(settings.metrics),
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
    besides = {
        "ablation": settings.ablation,
        "jobs": settings.jobs,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    write_json(path, described | {name: value for name, value in besides.items() if value})


def run_rule(folder: Path) -> str:
    """The rule by which the run in a folder was scored. Raises DatasetError where there is none."""
    path = folder / "run.json"
    try:
        rule = json.loads(path.read_text(encoding="utf-8")).get("rule")
    except (OSError, ValueError, AttributeError):
        rule = None
    if rule not in RULES:
        raise DatasetError(
            f"{folder} holds no run", hint="'sqlwright evaluate --out FOLDER' makes one."
        )
    return str(rule)


def _language_model(settings: EvaluationSettings) -> dict[str, Any]:
    """Settings of a language model that make two runs comparable or not; nothing without one."""
    options = settings.llm
    if not options.model and options.replay is None:
        return {}
    replay = None if options.replay is None else Path(options.replay).name
    return {
        "model": options.model,
        "models": {name: _replying(entry) for name, entry in options.models.items()} or None,
        **dict.fromkeys(REPLYING),
        **_replying(options),
        "budget": str(options.budget),
        "privacy": options.privacy,
        "replay": replay,
        "stand_in": settings.stand_in,
    }


def _replying(options: LlmOptions | ModelOptions) -> dict[str, Any]:
    """The settings of a model that decide what it replies, as far as they are set."""
    told = {name: getattr(options, name, None) for name in ("model", *REPLYING)}
    return {name: value for name, value in told.items() if value is not None}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file that is whole or isn't there."""
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(path)
