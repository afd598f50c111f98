"""Building a set and training on it, with progress; what came of it, as lines or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.finetune.checks import check_room, check_training, run_bytes, set_bytes
from sqlwright.cli.views.finetune.lines import run_lines, serving_lines, set_data, set_lines
from sqlwright.cli.views.finetune.progress import Telling
from sqlwright.lab.finetuning.building.build import build
from sqlwright.lab.finetuning.building.plan import BuildPlan
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.roles.registry import find_role
from sqlwright.lab.finetuning.trainer.plan import TrainingPlan
from sqlwright.lab.finetuning.trainer.presets import find_preset
from sqlwright.presentation.answer import to_json

PRESETS: Mapping[str, str] = {"dpo": "dpo", "grpo": "grpo"}
"""The preset of an objective where none is named; `small` of others."""


@dataclass(frozen=True)
class Wanted:
    """A set, and a training on it."""

    plan: BuildPlan
    out: Path
    model: Path | None
    """None where the set alone is built."""
    preset: str | None
    settings: Mapping[str, Any]
    """Settings in place of the preset's."""
    training: Mapping[str, Any]
    """Further fields of the training's plan."""

    def training_plan(self) -> TrainingPlan | None:
        """The plan of the training; None where the set alone is built. Raises ConfigError."""
        preset = self.preset or PRESETS.get(self.training["objective"], "small")
        settings = replace(find_preset(preset), **self.settings)
        if self.model is None:
            return None
        return TrainingPlan(
            set_folder=self.plan.out,
            model=self.model.expanduser().resolve(),
            out=self.out / "run",
            preset=preset,
            settings=settings,
            **self.training,
        )


def run(screen: Screen, wanted: Wanted, *, as_json: bool) -> int:
    """Check, build, train; give the exit code."""
    find_role(wanted.plan.role)
    training = wanted.training_plan()
    if training is not None:
        check_training(training)
    check_room(wanted.out, set_bytes(wanted.plan) + (run_bytes(training) if training else 0))
    try:
        with Spinner(screen, "building the set") as spinner:
            made = build(wanted.plan, progress=Telling(screen, spinner).questions)
    except KeyboardInterrupt:
        screen.note("interrupted; the same command goes on", style="warning")
        raise
    if not as_json:
        screen.show(set_lines(made, screen.width))
    record = None if training is None else _trained(screen, training)
    if as_json:
        write_result(to_json({"set": set_data(made), "run": record}, indent=2) + "\n")
    elif training is None or record is None:
        _advise(screen, made)
    else:
        screen.show(run_lines(record, training.out, screen.width))
        screen.show(serving_lines(wanted.plan, training.out, screen.width))
    return 0


def _trained(screen: Screen, plan: TrainingPlan) -> Mapping[str, Any]:
    """The record of a training that ended. Raises Cancelled where it was broken off."""
    from sqlwright.lab.finetuning.trainer.train import train

    with Spinner(screen, "loading the model") as spinner:
        telling = Telling(screen, spinner)
        folder = train(
            plan,
            progress=telling.step,
            notice=lambda line: screen.note(clean(line, 400)),
        )
    return folder.record()


def _advise(screen: Screen, made: SetFolder) -> None:
    """Say what comes next where a set alone was built."""
    screen.note(f"the set is in {clean(str(made.path), 400)}")
    screen.note("to train: the same command with --model FOLDER in place of --build-only")
