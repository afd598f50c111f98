"""The folder of a run: its record, its log, its checkpoints and the adapter that comes of it."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.evaluation.files import line_of, read_object, rows_of, write_json, write_lines
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.llm.vendors.weights_folder import ADAPTER_CONFIG, ADAPTER_WEIGHTS, state_of


@dataclass(frozen=True, slots=True)
class StartingAdapter:
    """An adapter on disk."""

    path: Path
    digest: str
    """Of its weights and its configuration."""
    base: str
    """Digest of the base model that it was trained on; empty where no run tells it."""

    @staticmethod
    def open(path: Path) -> StartingAdapter:
        """The adapter of a run's folder, or one in peft's form. Raises ConfigError and
        DatasetError."""
        record = read_object(path / "run.json")
        if record and not record.get("ended"):
            raise ConfigError(
                f"the run in {path} hasn't ended, so there is no adapter to begin with",
                hint="Run its command again, it goes on.",
            )
        folder = path / "adapter" if record else path
        missing = [
            name for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS) if not (folder / name).is_file()
        ]
        if missing:
            raise ConfigError(
                f"{path} holds no adapter to begin with: it has no {missing[0]}",
                hint="Name a run's folder, or an adapter that peft has saved.",
            )
        digests = [file_digest(folder / name) for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS)]
        return StartingAdapter(folder, "-".join(digests), _base(record))

    def check_base(self, digest: str, model: Path) -> None:
        """Raise ConfigError where the adapter belongs to another base model."""
        if self.base and self.base != digest:
            raise ConfigError(
                f"the adapter in {self.path} was trained on another base model than {model}",
                hint="Name the base model of its run, which run.json has as base_folder.",
            )


def _base(record: dict[str, object]) -> str:
    base = record.get("base")
    return str(base.get("digest", "")) if isinstance(base, dict) else ""


VERSION = 1
"""Number of the folder's format."""
PACKAGES = ("sqlwright", "torch", "transformers", "peft", "trl", "accelerate")
IDENTITY = (
    "role", "set", "base", "start", "objective", "settings", "seed", "precision", "processes",
    "micro_batch", "accumulation",
)  # fmt: skip
"""Parts of a record on which the weights depend that come out; a run is gone on with where they
are the same."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def log(self) -> Path:
        """A line of JSON for each step and each evaluation."""
        return self.path / "log.jsonl"

    @property
    def checkpoints(self) -> Path:
        """The last whole checkpoint."""
        return self.path / "checkpoints"

    @property
    def adapter(self) -> Path:
        """The adapter in peft's form, and the tokenizer; there once the training is through."""
        return self.path / "adapter"

    @property
    def card(self) -> Path:
        """The model card."""
        return self.path / "MODEL_CARD.md"

    def record(self) -> dict[str, Any]:
        """All that `run.json` says; empty before the run has begun. Raises DatasetError."""
        return read_object(self.path / "run.json")

    def write(self, record: Mapping[str, Any]) -> None:
        """Replace the record."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / "run.json", record)

    def logged(self) -> Iterator[dict[str, Any]]:
        """The lines of the log. Raises DatasetError."""
        if self.log.exists():
            for _, row in rows_of(
                self.log, what="a logged step", remedy="Train into another folder."
            ):
                yield row

    def cut_log(self, step: int) -> None:
        """Take out what was logged after a step, to be done again."""
        if self.log.exists():
            kept = [row for row in self.logged() if row["step"] <= step]
            write_lines(self.log, map(line_of, kept))


def begun(folder: RunFolder, record: dict[str, Any]) -> dict[str, Any]:
    """The record of a run that begins or goes on. Raises ConfigError for a folder that holds the
    run of another plan, set or model."""
    known = folder.record()
    if not known:
        folder.write(record)
        return record
    if known.get("version") != VERSION:
        raise ConfigError(
            f"{folder.path} holds a run of format {known.get('version')!r}; this version reads "
            f"{VERSION}",
            hint="Train into another folder.",
        )
    told = json.loads(json.dumps(record))  # as it comes back from disk: lists for tuples
    for part in IDENTITY:
        if difference := _difference(part, known.get(part), told[part]):
            raise ConfigError(
                f"{folder.path} holds another run: {difference}",
                hint="Name another folder with --out, or remove that one to train anew.",
            )
    return known


def new_record(
    plan: TrainingPlan, given: SetFolder, computing: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of a run that begins now. `computing` is where and in what precision; `known` is
    the folder's record so far, which may know the model's digest."""
    about, digest = given.about, model_digest(plan.model, known)
    start = StartingAdapter.open(plan.start) if plan.start else None
    if start is not None:
        start.check_base(digest, plan.model)
    return {
        "version": VERSION,
        "role": about.role,
        "step": about.step,
        "recipe": about.recipe,
        "overrides": list(about.overrides),
        "context_tokens": about.context_tokens,
        "set": dict(about.digests),
        "set_folder": str(given.path),
        "sources": [
            {"data": one.data, "split": one.split, "name": one.name, "files": dict(one.files)}
            for one in about.sources
        ],
        "base": {"digest": digest},
        "start": {"digest": start.digest} if start else None,
        "base_folder": str(plan.model),
        "base_state": state_of(plan.model),
        "start_folder": str(plan.start) if plan.start else None,
        **plan.told(),
        **computing,
        "versions": {name: version(name) for name in PACKAGES}
        | {"python": platform.python_version()},
        "started": now(),
        "ended": None,
    }


def model_digest(folder: Path, known: Mapping[str, Any]) -> str:
    """A digest of a model's weights, configuration and tokenizer by their content; the one that is
    known, where no file has changed since."""
    if known.get("base_folder") == str(folder) and known.get("base_state") == state_of(folder):
        return str(known["base"]["digest"])
    files = [*folder.glob("*.safetensors"), *folder.glob("*.json"), *folder.glob("*.model")]
    files += folder.glob("*.jinja")
    told = [[path.name, file_digest(path)] for path in sorted(files)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def now() -> str:
    """The time, for the record."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _difference(part: str, was: Any, told: Any) -> str:
    """The first of a part that is another, in words; empty where all is the same."""
    if was == told:
        return ""
    if isinstance(was, dict) and isinstance(told, dict) and part == "settings":
        name = next(n for n in {**told, **was} if was.get(n) != told.get(n))
        return f"{name} was {was.get(name)!r} and is {told.get(name)!r}"
    if isinstance(told, dict):
        return {
            "set": "it was trained on another set",
            "base": "the base model is another",
            "start": "it begins with another adapter",
        }[part]
    return f"{part} was {was!r} and is {told!r}"
