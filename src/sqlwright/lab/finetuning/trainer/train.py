"""Trains an adapter on a set by an objective.

A run that was killed goes on from its last whole checkpoint to the same losses: the checkpoint has
the optimizer, the schedule and the state of every random number, and the order of the examples is
drawn by the seed and the epoch. Ctrl-C ends it with a checkpoint.

Several GPUs each take a share of every batch (DDP). A launcher starts one process for each, such as
`torchrun --nproc-per-node 4 "$(command -v sqlwright)" finetune ...`, or `accelerate launch`; the
first one writes, and all share the evaluation. A model has to fit each
GPU, with `quantized=nf4` in a quarter of the memory. Checkpoints belong to a number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.card import write_card
from sqlwright.lab.finetuning.trainer.objectives import Preference, Rewarded, Supervised
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder, begun, new_record
from sqlwright.lab.finetuning.trainer.running.computing import computing_of
from sqlwright.lab.finetuning.trainer.running.training import Notice, Way, Work, carry_out
from sqlwright.lab.finetuning.trainer.running.watching import Progress
from sqlwright.llm.vendors.weights_folder import check_weights

WAYS: Mapping[str, Callable[[], Way]] = {
    "sft": Supervised,
    "dpo": Preference,
    "grpo": Rewarded,
}
"""The objectives that there are."""


def train(
    plan: TrainingPlan,
    *,
    progress: Progress = lambda _step, _of, _loss, _left: None,
    notice: Notice = lambda _line: None,
) -> RunFolder:
    """Train by a plan, or go on with what it has begun; the run's folder with the adapter.

    Raises ConfigError for what doesn't fit, DatasetError for a set that isn't whole, and Cancelled
    once a checkpoint is saved after Ctrl-C.
    """
    loading.check_packages()
    check_weights(plan.model, "the model to be trained")
    if plan.objective not in WAYS:
        raise ConfigError(
            f"there is no training by {plan.objective}", hint=f"Use one of {', '.join(WAYS)}."
        )
    given = SetFolder.open(plan.set_folder)
    loading.quiet()
    from accelerate import PartialState

    computing = computing_of(plan)
    folder = RunFolder(plan.out)
    if computing.first:
        begun(folder, new_record(plan, given, computing.told(), folder.record()))
    PartialState().wait_for_everyone()
    record = folder.record()
    if record["ended"]:
        notice(f"{folder.path} is trained already")
        return folder
    work = Work(plan, given, folder, computing)
    carry_out(work, WAYS[plan.objective](), record, progress=progress, notice=notice)
    if computing.first:
        write_card(folder)
    return folder
