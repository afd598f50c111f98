"""Candidates being written, with progress, and how many there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from sqlwright import api
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.finetune.progress import Telling
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.finetuning.candidates.generators import trained_databases
from sqlwright.lab.finetuning.candidates.sampling import SamplingPlan, sample
from sqlwright.local.models import EmbeddedModels
from sqlwright.presentation.answer import to_json
from sqlwright.presentation.numbers import counted
from sqlwright.recipes.loading import load_recipe
from sqlwright.session import Session
from sqlwright.settings.values import Settings


@dataclass(frozen=True)
class Asked:
    """The questions, the generator, and where its candidates go."""

    dataset: Dataset
    data: str
    split: str | None
    settings: Settings
    out: Path
    name: str = ""
    fold: str = ""
    trained_on: tuple[Path, ...] = ()
    hinted: bool = False
    only_without_right: Path | None = None
    workers: int = 1

    def plan(self) -> SamplingPlan:
        """The plan of the sampling. Raises ConfigError and DatasetError."""
        settings = self.settings
        recipe = load_recipe(settings.recipe, overrides=settings.overrides)
        seen = [trained_databases(run) for run in self.trained_on]
        model = self.name or (settings.llm.model or "" if recipe.asks else "")
        return SamplingPlan(
            dataset=self.dataset,
            recipe=recipe,
            model=model,
            out=self.out,
            overrides=tuple(settings.overrides),
            trained_on=frozenset().union(*seen) if seen else None,
            fold=self.fold,
            hinted=self.hinted,
            only_without_right=self.only_without_right,
            source={"data": self.data, "split": self.split, "files": dict(self.dataset.files)},
            workers=self.workers,
        )


def sample_candidates(screen: Screen, asked: Asked, *, as_json: bool) -> None:
    """Write the candidates, show how many."""
    plan, models = asked.plan(), EmbeddedModels()

    def opened(example: Example) -> Session:
        settings = asked.settings
        return api.open(
            example.database,
            recipe=settings.recipe,
            overrides=settings.overrides,
            descriptions=asked.dataset.descriptions.get(example.db_id),
            limits=settings.limits,
            seconds=settings.seconds,
            home=settings.home,
            prepare=settings.prepare,
            llm=settings.llm,
            models=models,
            stand_in=False,
            record=False,
        )

    try:
        with Spinner(screen, "loading the models") as spinner:
            report = sample(plan, opened, progress=Telling(screen, spinner).questions)
    except KeyboardInterrupt:
        screen.note("interrupted; the same command goes on", style="warning")
        raise
    for line in report.unopened:
        screen.note(clean(line, 400), style="warning")
    if as_json:
        header = plan.header.model_dump(mode="json", exclude={"folded", "trained_on"})
        data = {"out": str(asked.out), **header, **asdict(report)}
        write_result(to_json(data, indent=2) + "\n")
        return
    told = f"{counted(report.candidates, 'query')} written".replace("querys", "queries")
    lines = [f"{told}; {counted(report.questions, 'question')} in {clean(str(asked.out), 400)}"]
    if report.passed_over:
        lines.append(f"{counted(report.passed_over, 'question')} passed over")
    screen.show(labelled("candidates", [Text(line) for line in lines], screen.width))
