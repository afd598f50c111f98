"""An estimate of a training put together: operations, hours, memory, price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sqlwright.lab.finetuning.estimating.memory import Memory, training_memory
from sqlwright.lab.finetuning.estimating.operations import (
    Passes,
    preference_operations,
    training_operations,
)
from sqlwright.lab.finetuning.estimating.shape import ModelShape
from sqlwright.lab.finetuning.estimating.throughput import SCALING, Gpu, Range, utilisation
from sqlwright.lab.finetuning.estimating.tokens import SetTokens

Objective = Literal["sft", "dpo"]
"""The objectives that are estimated; training by rewards writes replies, whose time isn't known
before."""
OVERCOUNTED = 1.6
"""Times the number of tokens that an estimate of them comes to at most (`llm/metering.py`)."""
MEMORIES = (24, 48, 80)
"""Gigabytes of usual GPUs."""


@dataclass(frozen=True, slots=True)
class EstimatePlan:
    """A training, and the GPUs for it."""

    shape: ModelShape
    gpu: Gpu
    gpus: int = 1
    passes: Passes = field(default_factory=Passes)
    epochs: float = 2.0
    objective: Objective = "sft"
    each: int = 1
    """Texts on a GPU at once."""
    price: float | None = None
    """US dollars for a GPU and hour."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Time, memory and price of a training, as ranges. Nothing of it is measured."""

    plan: EstimatePlan
    examples: int
    tokens: int
    """Read in one epoch."""
    counted: bool
    longest: int
    operations: float
    """Of all epochs."""
    hours: Range
    """By the clock, reading the set in and evaluation not counted."""
    utilisation: Range
    source: str
    """Of the utilization; empty where it is chosen."""
    memory: Memory
    """On each GPU."""

    @property
    def gpu_hours(self) -> Range:
        """Hours of all GPUs together."""
        return Range(self.hours.low * self.plan.gpus, self.hours.high * self.plan.gpus)

    @property
    def cost(self) -> Range | None:
        """US dollars; None without a price."""
        if self.plan.price is None:
            return None
        hours = self.gpu_hours
        return Range(hours.low * self.plan.price, hours.high * self.plan.price)

    @property
    def fits(self) -> Mapping[int, bool]:
        """True by gigabytes of a GPU that holds it."""
        return {size: self.memory.fits(size) for size in MEMORIES}

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        plan = self.plan
        return {
            "estimate": True,
            "model": plan.shape.name,
            "parameters": plan.shape.parameters,
            "method": plan.passes.method,
            "rank": None if plan.passes.method == "full" else plan.passes.rank,
            "recomputed": plan.passes.recomputed,
            "objective": plan.objective,
            "epochs": plan.epochs,
            "gpu": plan.gpu.name,
            "gpus": plan.gpus,
            "examples": self.examples,
            "tokens": self.tokens,
            "tokens_counted": self.counted,
            "longest_tokens": self.longest,
            "operations": self.operations,
            "utilisation": {**asdict(self.utilisation), "source": self.source or "chosen"},
            "hours": asdict(self.hours),
            "gpu_hours": asdict(self.gpu_hours),
            "cost": None if self.cost is None else asdict(self.cost),
            "memory_gb": {**asdict(self.memory), "total": self.memory.total},
            "fits_gb": {str(size): fits for size, fits in self.fits.items()},
        }


def estimate(plan: EstimatePlan, tokens: SetTokens) -> Estimate:
    """The estimate of a training on a set."""
    if plan.objective == "dpo":
        lengths = [
            prompt + reply
            for prompt, right, wrong in zip(
                tokens.prompts, tokens.completions, tokens.rejected, strict=True
            )
            if wrong
            for reply in (right, wrong)
        ]
        once = preference_operations(plan.shape, plan.passes, lengths)
    else:
        lengths = list(tokens.lengths)
        once = training_operations(plan.shape, plan.passes, lengths)
    operations = once * plan.epochs
    share, source = utilisation(plan.gpu, plan.passes.method)
    kept = Range(1.0, 1.0) if plan.gpus == 1 else SCALING
    fast = plan.gpu.peak * plan.gpus * share.high * kept.high
    slow = plan.gpu.peak * plan.gpus * share.low * kept.low
    if not tokens.counted:
        fast *= OVERCOUNTED
    longest = max(lengths, default=0)
    pair = 2 if plan.objective == "dpo" else 1
    memory = training_memory(
        plan.shape,
        plan.passes,
        tokens=longest,
        each=plan.each * pair,
        copies=plan.gpus if plan.passes.method == "full" else 1,
    )
    return Estimate(
        plan,
        tokens.examples,
        sum(lengths),
        tokens.counted,
        longest,
        operations,
        Range(operations / fast / 3600, operations / slow / 3600),
        share,
        source,
        memory,
    )
