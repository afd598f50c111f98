"""All that a training goes by, and the settings of the papers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from annotated_types import Ge, Lt

from sqlwright.boundary.arguments import (
    Amount,
    Count,
    Natural,
    Positive,
    Predicate,
    Words,
    checked_fields,
)
from sqlwright.boundary.named import unknown
from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.trainer.pairs import MOST_PAIRS
from sqlwright.lab.finetuning.trainer.rewards import QUERY_SECONDS


@checked_fields
@dataclass(frozen=True, slots=True)
class PairOptions:
    """Of training on pairs of a right and a wrong reply (DPO)."""

    beta: Positive = 0.1  # Rafailov et al. 2023, appendix B; trl's default, too
    """By which leaving the model that training begins with counts: less lets it go further."""
    most_pairs: Count = MOST_PAIRS
    """Pairs of one example at most, drawn by the seed."""


@checked_fields
@dataclass(frozen=True, slots=True)
class RewardOptions:
    """Of training on rewards for replies that the model writes in training (GRPO)."""

    group: Annotated[int, Ge(2)] = 8  # trl's default; the paper has 64 (Shao et al. 2024)
    """Replies to each prompt, which are compared with one another. Divides the batch, which counts
    replies here."""
    temperature: Positive = 1.0  # trl's default
    """At which they are drawn. Nothing is learned of a group whose replies all earn the same."""
    kl: Amount = 0.001  # chosen: small, as in DeepSeek-R1; the paper has 0.04, trl's default is 0
    """By which leaving the model that training begins with counts."""
    max_reply_tokens: Count = 512  # trl's default
    """Tokens of a reply at most; a longer one is cut, and mostly has no query then."""
    query_seconds: Positive = QUERY_SECONDS
    """The time that a reply's query may take."""


Objective = Literal["sft", "dpo", "grpo"]
"""The right reply's tokens; pairs of a right and a wrong one; rewards for replies of its own."""
Precision = Literal["auto", "bf16", "fp16", "fp32"]
Quantized = Literal["none", "nf4"]
Device = Literal["auto", "cpu", "cuda"]

LARGEST_MICRO_BATCH = 4
"""Examples read at once where the plan doesn't say; chosen."""


def _is_share(value: float) -> bool:
    return 0 <= value < 1


Share = Annotated[float, Predicate(_is_share), Words("a number of at least 0, less than 1")]


@checked_fields
@dataclass(frozen=True, slots=True)
class Settings:
    """All that the weights that come out depend on, besides the set and the seed.

    The defaults are ours, for models of half a billion to three billion parameters."""

    rank: Count = 16
    """Of the adapter's matrices (LoRA)."""
    alpha: Count = 32
    """By which the adapter counts: `alpha / rank`."""
    dropout: Share = 0.05
    """Share of an adapter's inputs that are left out at each step."""
    target_modules: tuple[str, ...] = ("all-linear",)
    """Names of the layers that are adapted; `all-linear` is every linear one but the last."""
    epochs: Positive = 3.0
    """Times that all examples are seen; the last one may be a part."""
    batch: Count = 16
    """Examples for each step, those of all devices together."""
    learning_rate: Positive = 2e-4
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    """Of the learning rate, after the warm-up."""
    warm_up: Share = 0.03
    """Share of the steps in which the learning rate rises from 0."""
    weight_decay: Amount = 0.0
    max_grad_norm: Amount = 1.0
    """Norm to which gradients are cut; 0 cuts none."""
    max_tokens: Count = 8_192
    """Tokens of prompt and reply together. A longer example is left out, never cut."""
    quantized: Quantized = "none"
    """`nf4` keeps the base model in 4 bits (QLoRA), which takes a GPU."""

    def __post_init__(self) -> None:
        if not self.target_modules:
            raise ConfigError(
                "target_modules names no layers to adapt",
                hint="Leave it out for all linear layers, or name some: q_proj, v_proj.",
            )


@checked_fields
@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """One training of one role."""

    set_folder: Path
    """Folder with train.jsonl, held_out.jsonl and set.json."""
    model: Path
    """Folder of the base model, in the form that `transformers` saves."""
    out: Path
    """The run's folder; one that was begun by the same plan is gone on with."""
    objective: Objective = "sft"
    start: Path | None = None
    """A run's folder, or an adapter in peft's form, that training begins with; None begins with a
    new adapter."""
    pairs: PairOptions = field(default_factory=PairOptions)
    """Of the objective dpo."""
    rewards: RewardOptions = field(default_factory=RewardOptions)
    """Of the objective grpo."""
    preset: str = "small"
    """Name of the preset that the settings began with, for the record."""
    settings: Settings = field(default_factory=Settings)
    seed: Annotated[int, Ge(0), Lt(2**32)] = 0
    """Of the adapter's first weights, the order of the examples and dropout."""
    micro_batch: Natural = 0
    """Examples that a device reads at once; 0 is the largest divisor of its share of a batch up to
    4."""
    precision: Precision = "auto"
    """`auto` is bf16 on a GPU that has it, else fp32."""
    gradient_checkpointing: bool | None = None
    """True reckons activations anew instead of keeping them: less memory, a fifth slower. None does
    so on a GPU."""
    checkpoint_minutes: Positive = 15.0
    """Minutes between two checkpoints at most."""
    checkpoint_steps: Natural = 0
    """Steps between two checkpoints at most; 0 goes by minutes alone."""
    evaluate_steps: Natural = 0
    """Steps between two evaluations on held-out questions; 0 evaluates at the end alone."""
    evaluate_questions: Natural = 100
    """Held-out examples that are evaluated on, drawn by the seed; 0 evaluates on none."""
    device: Device = "auto"
    """`auto` is a GPU where there is one."""

    def micro_batches(self, processes: int = 1) -> tuple[int, int]:
        """Examples that a device reads at once, and how often before each step. Raises ConfigError
        for a batch that can't be shared out so."""
        share, rest = divmod(self.settings.batch, processes)
        if rest or not share:
            raise ConfigError(
                f"a batch of {self.settings.batch} can't be shared out to {processes} devices",
                hint=f"Give --training batch=N a multiple of {processes}.",
            )
        if not self.micro_batch:
            micro = max(n for n in range(1, LARGEST_MICRO_BATCH + 1) if share % n == 0)
            return micro, share // micro
        if share % self.micro_batch:
            raise ConfigError(
                f"a batch of {share} for each device is no multiple of the {self.micro_batch} that "
                "it reads at once",
                hint=f"Give --training micro_batch=N a divisor of {share}.",
            )
        return self.micro_batch, share // self.micro_batch

    def told(self) -> Mapping[str, Any]:
        """Objective, preset and settings as plain data, for the record."""
        settings = asdict(self.settings)
        settings["target_modules"] = list(self.settings.target_modules)
        if self.objective == "dpo":
            settings |= asdict(self.pairs)
        if self.objective == "grpo":
            settings |= asdict(self.rewards)
        return {
            "objective": self.objective,
            "preset": self.preset,
            "settings": settings,
            "seed": self.seed,
        }


PRESETS: Mapping[str, Settings] = MappingProxyType(
    {
        "small": Settings(),  # ours, for models of 0.5 to 3 billion parameters
        "dpo": Settings(
            rank=16,  # the alignment handbook's recipe of DPO with QLoRA
            alpha=16,  # there
            dropout=0.0,  # trl's trainer for it trains without
            epochs=1.0,  # the handbook
            batch=32,  # ours
            learning_rate=5e-6,  # the handbook
            schedule="cosine",  # the handbook
            warm_up=0.1,  # the handbook
        ),
        "grpo": Settings(
            dropout=0.0,  # ours: replies are drawn by the very model that is trained
            epochs=1.0,  # ours
            batch=64,  # ours: 8 replies to each of 8 prompts
            learning_rate=1e-5,  # ours: ten times that of the paper, which trains all weights
            schedule="constant",  # ours
            warm_up=0.0,  # ours
            max_grad_norm=0.2,  # ours
        ),
        "chess": Settings(
            rank=128,  # CHESS, appendix B.2
            alpha=256,  # there
            dropout=0.05,  # ours: the paper gives none
            epochs=2.0,  # CHESS, appendix B.2
            batch=32,  # there
            learning_rate=1e-4,  # there
            schedule="cosine",  # there
            warm_up=0.03,  # ours: the paper gives none
            max_grad_norm=1.0,  # ours: the paper gives none
            max_tokens=8_192,  # ours: the paper gives none
            quantized="nf4",  # CHESS, appendix B.2: 4-bit quantization of the base model
        ),
        "msc": Settings(
            rank=32,  # MSc-SQL, implementation details
            alpha=128,  # there
            dropout=0.05,  # there
            batch=12,  # MSc-SQL, implementation details: the effective batch
            epochs=2.0,  # the paper gives none; as its code's configuration `ampere`
            learning_rate=5e-5,  # the same
            schedule="cosine",  # the same
            warm_up=0.03,  # as its code
            max_grad_norm=0.3,  # as its code
            max_tokens=8_192,  # as its code, which gives Mistral 12,000
            quantized="nf4",  # MSc-SQL, implementation details: QLoRA
        ),
        "msc-code-simple": Settings(
            rank=32,  # its code's configuration `simple`
            alpha=128,  # `simple`
            dropout=0.05,  # its code
            batch=6,  # `simple`
            epochs=3.0,  # `simple`
            learning_rate=2e-4,  # `simple`
            schedule="constant",  # `simple`
            warm_up=0.0,  # a constant schedule of the code's trainer knows none
            max_grad_norm=0.3,  # its code
            max_tokens=8_192,  # its code, which gives Mistral 12,000
            quantized="nf4",  # its code
        ),
        "msc-code-ampere": Settings(
            rank=64,  # its code's configuration `ampere`
            alpha=128,  # `ampere`
            dropout=0.05,  # its code
            batch=12,  # `ampere`
            epochs=2.0,  # `ampere`
            learning_rate=5e-5,  # `ampere`
            schedule="cosine",  # `ampere`
            warm_up=0.03,  # its code
            max_grad_norm=0.3,  # its code
            max_tokens=8_192,  # its code, which gives Mistral 12,000
            quantized="nf4",  # its code
        ),
        "chase-selector": Settings(
            rank=16,  # CHASE-SQL, appendix on the models: LoRA of rank 16
            epochs=10.0,  # there
            alpha=32,  # ours: the paper, which trains by a vendor's service, gives no more
            dropout=0.05,  # ours
            batch=32,  # ours
            learning_rate=1e-4,  # ours
            schedule="cosine",  # ours
            warm_up=0.03,  # ours
            max_grad_norm=1.0,  # ours
            max_tokens=8_192,  # ours
            quantized="none",  # ours
        ),
    }
)


def find_preset(name: str) -> Settings:
    """The settings of that name. Raises ConfigError."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]
