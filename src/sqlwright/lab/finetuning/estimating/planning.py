"""Estimates of one training on several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.estimating.estimate import Estimate, EstimatePlan, estimate
from sqlwright.lab.finetuning.estimating.operations import Method, Passes
from sqlwright.lab.finetuning.estimating.shape import shape_of
from sqlwright.lab.finetuning.estimating.throughput import GPUS, find_gpu
from sqlwright.lab.finetuning.estimating.tokens import TRAIN, set_tokens
from sqlwright.lab.finetuning.trainer.presets import find_preset

COUNTS = (1, 8)
"""GPUs where no number is named."""
PRESET = "small"
"""The preset where none is named, as in training."""


def estimates(
    folder: Path,
    model: str,
    *,
    passes: Passes,
    epochs: float,
    objective: str = "sft",
    each: int = 1,
    gpu: str | None = None,
    gpus: int | None = None,
    price: float | None = None,
) -> list[Estimate]:
    """One for each kind and number of GPUs. The folder holds a set, or has it in `set`. Raises
    ConfigError and DatasetError."""
    if objective not in ("sft", "dpo"):
        raise ConfigError(
            f"the time of {objective} isn't estimated: most of it goes into the replies that the "
            "model writes on the way, whose length isn't known before",
            hint="Estimate sft for a lower bound, and try with --limit.",
        )
    kinds = [find_gpu(gpu)] if gpu else list(GPUS.values())
    shape = shape_of(model)
    inner = folder / "set"
    whole = inner if not (folder / TRAIN).is_file() and (inner / TRAIN).is_file() else folder
    local = Path(model).expanduser()
    tokens = set_tokens(whole, local if local.is_dir() else None)
    plan = EstimatePlan(
        shape,
        kinds[0],
        passes=passes,
        epochs=epochs,
        objective="dpo" if objective == "dpo" else "sft",
        each=each,
        price=price,
    )
    counts: Sequence[int] = COUNTS if gpus is None else (gpus,)
    return [
        estimate(replace(plan, gpu=kind, gpus=count), tokens) for kind in kinds for count in counts
    ]


def passes_of(
    preset: str | None, method: Method | None, rank: int | None, *, recomputed: bool
) -> tuple[Passes, float]:
    """The passes and the epochs: a preset's, with options in place of a part of it. Raises
    ConfigError."""
    settings = find_preset(preset or PRESET)
    own: Method = "lora" if settings.quantized == "none" else "qlora"
    return Passes(method or own, rank or settings.rank, recomputed), settings.epochs
