"""Estimates of one training on several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlwright.errors import ConfigError
from sqlwright.finetuning.estimating.estimate import Estimate, EstimatePlan, estimate
from sqlwright.finetuning.estimating.operations import Method, Passes
from sqlwright.finetuning.estimating.shape import shape_of
from sqlwright.finetuning.estimating.throughput import GPUS, find_gpu
from sqlwright.finetuning.estimating.tokens import TRAIN, set_tokens

COUNTS = (1, 8)
"""GPUs where no number is named."""
DEFAULT = Passes("qlora", 32)
"""Neither a preset nor a method is named."""
EPOCHS = 2.0
"""Of the same."""


def estimates(
    folder: Path,
    model: str,
    *,
    passes: Passes = DEFAULT,
    epochs: float = EPOCHS,
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


def passes_of(method: Method | None, rank: int | None, *, recomputed: bool) -> Passes:
    """What is trained, where options name a part of it."""
    return Passes(method or DEFAULT.method, rank or DEFAULT.rank, recomputed)
