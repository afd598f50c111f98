"""A training at work: its plan, its folder, the machine and the precision, and the libraries' words
for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.trainer import checkpoints, loading
from sqlwright.lab.finetuning.trainer.plan import Precision, TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder
from sqlwright.llm.vendors.weights_folder import context_tokens


@dataclass(frozen=True)
class Computing:
    """The devices of a training, and this process's part."""

    device: str
    precision: Precision
    processes: int
    first: bool
    """True for the process that writes."""
    place: int
    """Number of this process, from 0."""
    micro_batch: int
    accumulation: int

    def told(self) -> dict[str, Any]:
        """For the record."""
        import torch

        name = torch.cuda.get_device_name() if self.device == "cuda" else self.device
        return {
            "device": name,
            "precision": self.precision,
            "processes": self.processes,
            "micro_batch": self.micro_batch,
            "accumulation": self.accumulation,
        }


def computing_of(plan: TrainingPlan) -> Computing:
    """The devices for a plan. Raises ConfigError for what isn't there."""
    import torch
    from accelerate import PartialState

    device = loading.chosen_device(plan.device)
    loading.check_quantized(plan.settings.quantized, device)
    state = PartialState(cpu=device == "cpu")
    if device == "cuda" and state.num_processes == 1 and torch.cuda.device_count() > 1:
        raise ConfigError(
            f"this process sees {torch.cuda.device_count()} GPUs, and one process trains on one",
            hint="Set CUDA_VISIBLE_DEVICES=0, or start one process for each with "
            "`accelerate launch --num_processes N -m sqlwright lab finetune ...`.",
        )
    micro, accumulation = plan.micro_batches(state.num_processes)
    return Computing(
        device,
        loading.chosen_precision(plan.precision, device),
        state.num_processes,
        state.is_main_process,
        state.process_index,
        micro,
        accumulation,
    )


@dataclass(frozen=True)
class Work:
    """A plan with what it is about."""

    plan: TrainingPlan
    given: SetFolder
    folder: RunFolder
    computing: Computing

    @property
    def most_tokens(self) -> int:
        """Tokens of the longest example that is trained on."""
        wanted = self.plan.settings.max_tokens
        return min(wanted, context_tokens(self.plan.model) or wanted)

    def arguments(self) -> dict[str, Any]:
        """Arguments of every trainer of trl, which writes checkpoints aside."""
        plan, computing = self.plan, self.computing
        settings, on_gpu = plan.settings, computing.device == "cuda"
        constant = "constant_with_warmup" if settings.warm_up else "constant"
        checkpointing = plan.gradient_checkpointing
        return {
            "output_dir": str(self.folder.checkpoints / checkpoints.ASIDE),
            "per_device_train_batch_size": computing.micro_batch,
            "gradient_accumulation_steps": computing.accumulation,
            "num_train_epochs": settings.epochs,
            "learning_rate": settings.learning_rate,
            "lr_scheduler_type": constant if settings.schedule == "constant" else settings.schedule,
            "warmup_steps": settings.warm_up,  # less than 1: a share
            "weight_decay": settings.weight_decay,
            "max_grad_norm": settings.max_grad_norm,
            "seed": plan.seed,
            "bf16": computing.precision == "bf16",
            "fp16": computing.precision == "fp16",
            "use_cpu": not on_gpu,
            "dataloader_pin_memory": on_gpu,
            "gradient_checkpointing": on_gpu if checkpointing is None else checkpointing,
            "logging_steps": 1,
            "logging_nan_inf_filter": False,
            "save_strategy": "no",  # checkpoints are due by the watch
            "report_to": [],
            "disable_tqdm": True,
            "log_level": "error",
            "log_level_replica": "error",
            "ddp_find_unused_parameters": False,  # an adapter uses all of its weights
        }


@dataclass(frozen=True)
class Prepared:
    """Examples of an objective, ready for its trainer."""

    rows: Any
    """In the objective's own form."""
    kept: int
    too_long: int
    """Examples left out because they have more tokens than the model is to read."""
    longest: int
    """Tokens of the longest example, those left out included."""
    longest_reply: int
    """Tokens of the longest right reply."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Further facts for the record."""


class Way(Protocol):
    """An objective. Implementations: the modules that `train` names."""

    def prepared(self, work: Work, loaded: loading.Loaded) -> Prepared:
        """The examples of the set. Raises ConfigError."""
        ...

    def trainer(self, work: Work, loaded: loading.Loaded, prepared: Prepared) -> Any:
        """A trainer of trl for the model with its adapter."""
        ...
