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
from functools import partial
from typing import Any

from sqlwright.errors import Cancelled, ConfigError
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.example import read_examples
from sqlwright.lab.finetuning.trainer import checkpoints, loading
from sqlwright.lab.finetuning.trainer.card import write_card
from sqlwright.lab.finetuning.trainer.evaluation import (
    FURTHER_TOKENS,
    ExecutionJudge,
    completing,
    drawn,
    measure_of,
    share_told,
)
from sqlwright.lab.finetuning.trainer.objectives import Preference, Rewarded, Supervised
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import (
    RunFolder,
    StartingAdapter,
    begun,
    new_record,
    now,
)
from sqlwright.lab.finetuning.trainer.watching import (
    Progress,
    Watch,
    callback,
    interruptible,
)
from sqlwright.lab.finetuning.trainer.work import Prepared, Way, Work, computing_of
from sqlwright.llm.vendors.weights_folder import check_weights, context_tokens

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


Notice = Callable[[str], None]
"""Called with what a user should know of."""


def carry_out(
    work: Work, way: Way, record: Mapping[str, Any], *, progress: Progress, notice: Notice
) -> None:
    """Train to the end, and evaluate. Raises ConfigError and Cancelled."""
    folder, first = work.folder, work.computing.first
    loaded = _loaded(work)
    prepared = way.prepared(work, loaded)
    _check(work, prepared, notice)
    checkpoint = checkpoints.newest(folder.checkpoints)
    if first:
        folder.cut_log(checkpoint.step if checkpoint else 0)
        checkpoints.clear_aside(folder.checkpoints)
    judge = ExecutionJudge(work.given.about.sources)
    evaluate = _evaluation(work, loaded, prepared, judge)
    if checkpoint is None or checkpoint.step < checkpoint.steps:
        with interruptible() as stopping:
            watch = Watch(
                work.plan, folder, progress, evaluate, stopping,
                before=_seconds(folder), writes=first,
            )  # fmt: skip
            _train(way.trainer(work, loaded, prepared), watch, checkpoint)
        checkpoint = checkpoints.newest(folder.checkpoints)
        if checkpoint is None or checkpoint.step < checkpoint.steps:
            raise Cancelled(
                f"interrupted; {folder.checkpoints} has what was done so far",
                hint="Run the same command to go on.",
            )
    else:
        loaded.model.load_adapter(str(checkpoint.path), "default", is_trainable=False)
    evaluation = evaluate() if evaluate else {}
    judge.close()
    if first:
        checkpoints.take_adapter(checkpoint, folder.adapter)
        ended = _ended(work, loaded, prepared)
        folder.write({**record, **ended, "evaluation": dict(evaluation)})


def _loaded(work: Work) -> loading.Loaded:
    """The base model with a new adapter, or with the one that training begins with."""
    plan = work.plan
    loaded = loading.load(
        plan.model,
        quantized=plan.settings.quantized,
        adapter=StartingAdapter.open(plan.start).path if plan.start else None,
        trainable=True,
        precision=work.computing.precision,
        device=plan.device,
    )
    return loaded if plan.start else loading.with_lora(loaded, plan.settings, seed=plan.seed)


def _check(work: Work, prepared: Prepared, notice: Notice) -> None:
    """Tell of examples that are left out. Raises ConfigError where none is left."""
    total, most = prepared.kept + prepared.too_long, work.most_tokens
    if not total:
        raise ConfigError(
            f"{work.given.train} has no examples to train on", hint="Build the set of more data."
        )
    if not prepared.kept:
        raise ConfigError(
            f"all {total:,} examples have more than {most:,} tokens",
            hint=f"Give --max-tokens {prepared.longest} where the model reads as many, or build "
            "the set with a smaller --context.",
        )
    if prepared.too_long and work.computing.first:
        notice(
            f"{prepared.too_long:,} of {total:,} examples are left out: they have more than "
            f"{most:,} tokens, up to {prepared.longest:,} (--max-tokens)"
        )


def _evaluation(
    work: Work, loaded: loading.Loaded, prepared: Prepared, judge: ExecutionJudge
) -> Callable[[], Mapping[str, Any]] | None:
    """The evaluation on held-out examples, of which each process takes a share; None where there
    are none."""
    held_out = list(read_examples(work.given.held_out))
    asked = drawn(held_out, work.plan.evaluate_questions, work.plan.seed)
    if not asked:
        return None
    measure = measure_of(work.given.about.role, judge)
    limit = 2 * prepared.longest_reply + FURTHER_TOKENS
    context = context_tokens(work.plan.model) or work.most_tokens + limit
    complete = completing(loaded, context=context, limit=limit)
    mine = asked[work.computing.place :: work.computing.processes]
    return partial(_evaluated, lambda: measure(mine, complete))


def _evaluated(measure: Callable[[], Mapping[str, Share]]) -> dict[str, Any]:
    """The shares that all processes have measured, together."""
    from accelerate.utils import gather_object

    total: dict[str, Share] = {}
    for part in gather_object([dict(measure())]):
        for name, share in part.items():
            known = total.get(name, Share(0, 0))
            total[name] = Share(known.hits + share.hits, known.total + share.total)
    return share_told(total)


def _train(trainer: Any, watch: Watch, checkpoint: checkpoints.Checkpoint | None) -> None:
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(callback(watch))
    with loading.explained("the training failed"):
        trainer.train(resume_from_checkpoint=str(checkpoint.path) if checkpoint else None)


def _ended(work: Work, loaded: loading.Loaded, prepared: Prepared) -> dict[str, Any]:
    """The part of the record that is known at the end."""
    losses = [row["loss"] for row in work.folder.logged() if "loss" in row]
    last = losses[-max(1, len(losses) // 10) :]
    named = list(loaded.model.named_parameters())
    return {
        "ended": now(),
        "seconds": _seconds(work.folder),
        "steps": len(losses),
        "examples": {
            "trained": prepared.kept,
            "too_long": prepared.too_long,
            "longest": prepared.longest,
            **prepared.about,
        },
        "parameters": {
            "adapter": sum(
                one.numel() for name, one in named if "lora_" in name and ".ref." not in name
            ),
            "all": sum(one.numel() for _, one in named),
        },
        "losses": {"first": losses[0], "last": losses[-1], "last_tenth": sum(last) / len(last)},
    }


def _seconds(folder: RunFolder) -> float:
    """Seconds that all steps took so far."""
    return max((float(row.get("seconds", 0.0)) for row in folder.logged()), default=0.0)
