"""Checks before anything is built: package, model, room on the disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.lab.finetuning.building.plan import BuildPlan
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan

BYTES = 4
"""Of a token of text at most, about."""
STATES = 12
"""Bytes of each trained parameter in a checkpoint: itself and the optimizer's two moments."""
CHECKPOINTS = 3
"""Checkpoints on disk at once at most, with the one that is written."""
SPARE = 200_000_000
"""Bytes for logs and temporary files."""


def set_bytes(plan: BuildPlan) -> int:
    """Bytes of a set at most: each prompt as long as the model reads, parts kept until the end."""
    questions = sum(len(source.dataset.examples) for source in plan.datasets)
    asked = min(questions, plan.limit or questions)
    return 2 * asked * plan.context_tokens * BYTES + SPARE


def run_bytes(plan: TrainingPlan) -> int:
    """Bytes of a run at most; without what a model's configuration doesn't tell."""
    return _adapter(plan.model, plan.settings.rank) * STATES * CHECKPOINTS + SPARE


def _adapter(model: Path, rank: int) -> int:
    """Parameters of an adapter beside each matrix of a decoder, without the narrowing of keys and
    values; 0 of a kind of model that has other names for its sizes."""
    try:
        told = json.loads((model / "config.json").read_text("utf-8"))
        config = told.get("text_config", told)
        layers, hidden = int(config["num_hidden_layers"]), int(config["hidden_size"])
        return rank * layers * (11 * hidden + 3 * int(config["intermediate_size"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0


def check_room(out: Path, wanted: int) -> None:
    """Raise WorkspaceError where the disk has less room."""
    place = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < wanted:
        raise WorkspaceError(
            f"{place} has {free / 1e9:.1f} GB free, and up to {wanted / 1e9:.1f} GB are needed",
            hint="Name a folder on another disk with --out, or take fewer questions with --limit.",
        )


def check_training(plan: TrainingPlan) -> None:
    """Raise ConfigError where training can't begin: the extra or the model is missing."""
    from sqlwright.lab.finetuning.trainer.loading import check_packages
    from sqlwright.llm.vendors.weights_folder import check_weights

    check_packages()
    check_weights(plan.model, "the model to be trained")
