"""A training from its set to its adapter, whatever its objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from sqlwright.errors import Cancelled, ConfigError
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.example import read_examples
from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.evaluation import (
    FURTHER_TOKENS,
    ExecutionJudge,
    completing,
    drawn,
    measure_of,
    share_told,
)
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder, StartingAdapter, now
from sqlwright.lab.finetuning.trainer.running import checkpoints
from sqlwright.lab.finetuning.trainer.running.computing import Computing
from sqlwright.lab.finetuning.trainer.running.watching import (
    Progress,
    Watch,
    callback,
    interruptible,
)
from sqlwright.llm.vendors.weights_folder import context_tokens

Notice = Callable[[str], None]
"""Called with what a user should know of."""


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

    @property
    def aside(self) -> str:
        """The folder in which the libraries write checkpoints."""
        return str(self.folder.checkpoints / checkpoints.ASIDE)


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
