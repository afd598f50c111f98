"""Watches a training step by step: its log, its checkpoints, evaluations on the way, and an end
before its time.

The same for every trainer of the libraries: what they need of us are callbacks.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from types import FrameType
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.evaluation.files import append_row
from sqlwright.lab.finetuning.trainer.checkpoints import finish
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder

Progress = Callable[[int, int, float, float], None]
"""Called after each step: the step, the steps in all, the loss, seconds left."""
Evaluate = Callable[[], Mapping[str, Any]]
"""Measures the model as it is, and gives what is put on record."""

_LOGGED = (
    "epoch", "loss", "learning_rate", "grad_norm",
    "rewards/accuracies", "rewards/margins", "logps/chosen", "logps/rejected",
    "reward", "frac_reward_zero_std", "kl", "entropy", "right", "right_by_luck",
    "completions/mean_length", "completions/clipped_ratio",
)  # fmt: skip


@dataclass
class Watch:
    """The work after each step."""

    plan: TrainingPlan
    folder: RunFolder
    progress: Progress
    evaluate: Evaluate | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set where the training is to end with a checkpoint."""
    before: float = 0.0
    """Seconds that the run took before it was gone on with."""
    writes: bool = True
    """False for all processes but the first of several."""
    _begun: float = field(default_factory=time.monotonic)
    _saved: float = field(default_factory=time.monotonic)
    _first: int = -1

    def stepped(self, step: int, of: int) -> tuple[bool, bool]:
        """True for a checkpoint after this step, then true for an end with it."""
        stops = _any_process(self.stopping.is_set())
        every = self.plan.checkpoint_steps
        late = time.monotonic() - self._saved >= 60 * self.plan.checkpoint_minutes
        due = stops or step >= of or bool(every and step % every == 0) or _any_process(late)
        evaluates = self.plan.evaluate_steps and step % self.plan.evaluate_steps == 0
        if self.evaluate and evaluates and step < of and not stops:
            self.told({"step": step, "evaluation": self.evaluate()})
        return due, stops

    def logged(self, step: int, of: int, logs: Mapping[str, Any]) -> None:
        """Write a step's line and say how far the training is. Raises ConfigError for a loss that
        is no number."""
        if "loss" not in logs:
            return
        loss = float(logs["loss"])
        if not isfinite(loss):
            raise ConfigError(
                f"the loss of step {step} is no number any more: the training has diverged",
                hint="Use --training with a smaller learning_rate, or precision=bf16 or fp32.",
            )
        if self._first < 0:
            self._first = step - 1
        took = time.monotonic() - self._begun
        told = {name: logs[name] for name in _LOGGED if name in logs}
        self.told({"step": step, **told, "seconds": round(self.before + took, 3)})
        if self.writes:
            self.progress(step, of, loss, took / (step - self._first) * (of - step))

    def saved(self, step: int) -> None:
        """Give a checkpoint that the libraries have written its name."""
        _wait_for_all()
        if self.writes:
            finish(self.folder.checkpoints, step)
        _wait_for_all()
        self._saved = time.monotonic()

    def told(self, row: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        if self.writes:
            append_row(self.folder.log, row)


def callback(watch: Watch) -> Any:
    """The watch as a callback of the libraries' trainers."""
    from transformers import TrainerCallback

    class Watching(TrainerCallback):
        """Hands on what happens."""

        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> Any:
            due, stops = watch.stepped(state.global_step, state.max_steps)
            control.should_save = control.should_save or due
            control.should_training_stop = control.should_training_stop or stops
            return control

        def on_log(self, _args: Any, state: Any, _control: Any, **given: Any) -> None:
            watch.logged(state.global_step, state.max_steps, given["logs"])

        def on_save(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            watch.saved(state.global_step)

    return Watching()


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets; a second one ends the process as ever."""
    stopping = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    known = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _frame: FrameType | None) -> None:
        stopping.set()
        signal.signal(number, known[signal.Signals(number)])

    for number in known:
        signal.signal(number, stop)
    try:
        yield stopping
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)


def _any_process(said: bool) -> bool:
    """True if one of several processes says so: all must save and stop at the same step."""
    from torch import distributed, tensor
    from torch.cuda import is_available

    if not (distributed.is_available() and distributed.is_initialized()):
        return said
    on_gpu = is_available() and distributed.get_backend() == "nccl"
    told = tensor([float(said)], device="cuda" if on_gpu else "cpu")
    distributed.all_reduce(told, op=distributed.ReduceOp.MAX)
    return bool(told.item())


def _wait_for_all() -> None:
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()
