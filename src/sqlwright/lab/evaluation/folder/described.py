"""`run.json`: what a run is, so that it can be gone on with, compared and merged, and what it ran
on."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.boundary.secrets import mask
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation.files import line_of, read_object, rows_of, write_json, write_lines
from sqlwright.lab.evaluation.rules.rule import RULES
from sqlwright.lab.evaluation.settings import EvaluationSettings
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.local.models import FILES, weights_digest
from sqlwright.presentation.answer import plain
from sqlwright.recipes.loading import load_recipe

RUN = "run.json"
QUESTIONS = "questions.jsonl"
FORMAT = 3
"""Number of the folder's format."""

REPLYING = ("reasoning", "reasoning_tokens", "verbosity", "reply_tokens", "context_tokens")
"""Settings of a model that decide what it replies, besides its name."""
PACKAGES = ("apsw", "numpy", "onnxruntime", "rapidfuzz", "sqlglot", "tokenizers", "ray", "fsspec")
"""Packages whose versions can make a difference."""


def claim(
    folder: Path, dataset: Dataset, settings: EvaluationSettings, examples: Sequence[Example]
) -> None:
    """Describe the run in `run.json` and list its questions, or check that what is there describes
    the same run. Raises DatasetError where it doesn't, ConfigError for a recipe that doesn't
    load."""
    told, found = described(dataset, settings), read_object(folder / RUN)
    if not found:
        found = told | _circumstances(dataset, settings) | {"started": now()}
    else:
        if other := differing(told, found):
            raise DatasetError(
                f"{folder} holds a run with another {' and '.join(other)}",
                hint="Name another folder with --out.",
            )
        found = {**told, **found, "resumed": [*found.get("resumed", ()), now()]}
        found.pop("ended", None)
    write_json(folder / RUN, found | {"questions": len(examples)})
    write_questions(folder, dataset, examples)


def finish(folder: Path) -> None:
    """Say in `run.json` that the run has ended."""
    write_json(folder / RUN, read_object(folder / RUN) | {"ended": now()})


def now() -> str:
    """This moment in UTC, as ISO 8601 has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def described(dataset: Dataset, settings: EvaluationSettings) -> dict[str, Any]:
    """All that makes two runs comparable, or not."""
    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=settings.allow_code)
    content = plain(recipe.source)
    told = {
        "format": FORMAT,
        "dataset": dataset.name,
        "files": dict(dataset.files),
        "rule": dataset.rule,
        "recipe": settings.recipe,
        "overrides": list(settings.overrides),
        "recipe_digest": _digest(content),
        "weights": {role: weights_digest(role) for role in sorted(FILES)},
        "prepare": settings.prepare,
        "seed": settings.seed or None,
        "metrics": sorted(settings.metrics),
        "shard": None if settings.shard is None else str(settings.shard),
        "max_scan": None if settings.scan is None else asdict(settings.scan),
        "tables": sorted(settings.allowed.tables or ()),
        "functions": sorted(settings.allowed.functions),
        "version": sqlwright.__version__,
        **_language_model(settings),
    }
    return told | ({"databases": mask(settings.databases)} if settings.databases else {})


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The settings in which two descriptions differ, by the keys of the first."""
    return [key for key, value in one.items() if other.get(key) != value]


def run_rule(folder: Path) -> str:
    """The rule by which the run in a folder was scored. Raises DatasetError where there is none."""
    try:
        rule = read_object(folder / RUN).get("rule")
    except DatasetError:
        rule = None
    if rule not in RULES:
        raise DatasetError(
            f"{folder} holds no run", hint="'sqlwright evaluate --out FOLDER' makes one."
        )
    return str(rule)


def write_questions(folder: Path, dataset: Dataset, examples: Sequence[Example]) -> None:
    """List the run's questions in the data set's order, each with its place in it."""
    wanted = {example.id for example in examples}
    rows = (
        {"number": number, "id": example.id, "db_id": example.db_id}
        for number, example in enumerate(dataset.examples)
        if example.id in wanted
    )
    write_lines(folder / QUESTIONS, (line_of(row) for row in rows))


def read_questions(folder: Path) -> list[tuple[int, str, str]]:
    """Number, id and database of each of a run's questions. Raises DatasetError."""
    path = folder / QUESTIONS
    if not path.exists():
        raise DatasetError(f"{folder} doesn't list its questions", hint="Go on with --resume.")
    listed = rows_of(path, what="a question", remedy="Go on with --resume.")
    return [(row["number"], row["id"], row["db_id"]) for _, row in listed]


def _circumstances(dataset: Dataset, settings: EvaluationSettings) -> dict[str, Any]:
    """The means by which a run is carried out; nothing that its records depend on."""
    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=settings.allow_code)
    told = {
        "release": dataset.release,
        "ablation": settings.ablation,
        "jobs": settings.jobs,
        "workers": settings.workers,
        "executor": settings.executor,
        "limit": settings.limit,
        "recipe_content": plain(recipe.source),
        "packages": _versions(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
    }
    return {name: value for name, value in told.items() if value}


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


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
