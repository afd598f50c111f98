"""Each role's whole way with a tiny model: a set is built, learnt by heart, saved and served as
weights; then the recipe's step asks that model and gets the questions right."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import pytest

from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.building.build import BuildPlan, Source, build
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.candidates.reading import CandidateSets, read_candidates
from sqlwright.lab.finetuning.example import TrainingExample, Turn
from sqlwright.lab.finetuning.lesson import Lesson, Says, Taught
from sqlwright.lab.finetuning.roles.registry import find_role, with_options
from sqlwright.lab.finetuning.roles.role import Asked
from sqlwright.lab.finetuning.trainer.merging import merge
from sqlwright.lab.finetuning.trainer.plan import Settings, TrainingPlan
from sqlwright.lab.finetuning.trainer.train import train
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions
from sqlwright.local.models import EmbeddedModels
from sqlwright.messages import Capabilities, Reply, Request, Sample
from sqlwright.prepare import open_workspace, prepared_folder
from sqlwright.protocols import Context, LanguageModel, Model, Run, Step
from sqlwright.recipes.loading import load_recipe
from sqlwright.types import State
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SPREAD
from tests.llm.tiny_weights import save_tiny

pytestmark = NEEDS
SCRIPT = """
CREATE TABLE shop (id INTEGER PRIMARY KEY, town TEXT);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, shop_id INTEGER REFERENCES shop (id));
INSERT INTO shop VALUES (1, 'Bern'), (2, 'Lyon'), (3, 'Turin');
INSERT INTO staff VALUES (1, 'Ada', 1), (2, 'Bo', 1), (3, 'Cy', 3), (4, 'Di', 2);
"""
QUESTIONS = (
    ("How many shops are there?", "SELECT COUNT(*) FROM shop", "SELECT id FROM shop"),
    ("Who works here?", "SELECT name FROM staff", "SELECT COUNT(*) FROM staff"),
)
"""Each with its gold query and a wrong one."""
RECIPES = {
    "linker": ("msc-tuned", "schema_linking.select_tables.sampling.temperature=0"),
    "generator": ("msc-tuned",),
    "critic": ("msc-tuned",),
    "selector": ("chase-tuned",),
}
SETTINGS = Settings(
    rank=16, alpha=64, dropout=0.0, epochs=80.0, batch=2, learning_rate=5e-3, warm_up=0.1
)
EPOCHS = {"linker": 80.0, "generator": 80.0, "critic": 20.0, "selector": 20.0}
"""A letter or number is learnt sooner than a query, and prompts of choices are longer."""
OPTIONS = {"selector": {"orders": "both"}}
CONTEXT = 8_192
"""Tokens that prompts may have: they are letters for this model."""


@dataclass
class Listening:
    """A model that is asked for real, with all it was asked and replied."""

    model: LanguageModel
    heard: list[Taught] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.model.capabilities, context_tokens=CONTEXT)

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        samples = self.model.complete(requests, run, step=step)
        for request, (first, *_) in zip(requests, samples, strict=True):
            assert isinstance(first, Reply), first
            turns = tuple(Turn(each.role, str(each.text)) for each in request.messages)
            self.heard.append(Taught(step, len(self.heard), turns, first.text))
        return samples


@dataclass(frozen=True)
class Examination(Lesson):
    """A lesson in which the step that a model was trained for asks that model, and the teacher has
    the others."""

    asks: str = ""
    model: Listening | None = None

    def taught(self, step: Step, state: State, says: Says) -> tuple[State, list[Taught]]:
        if getattr(step, "name", "") != self.asks or self.model is None:
            return super().taught(step, state, says)
        before = len(self.model.heard)
        models: dict[str, Model] = dict.fromkeys(NAMES, self.model)
        models |= {name: self.embedded[name] for name in self.embedded}
        after = step(state, Context(self.workspace, self.run, models))
        heard = self.model.heard[before:]
        return after, [replace(one, place=place) for place, one in enumerate(heard)]


NAMES = (
    "llm", "tuned-linker", "tuned-generator", "tuned-generator-2", "tuned-generator-3",
    "tuned-critic", "tuned-selector",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions over a small database."""
    folder = tmp_path_factory.mktemp("data")
    connection = sqlite3.connect(folder / "shops.sqlite")
    connection.executescript(SCRIPT)
    connection.close()
    rows = [
        {"id": f"q{number}", "question": question, "sql": gold, "database": "shops.sqlite"}
        for number, (question, gold, _) in enumerate(QUESTIONS)
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder / "mine.jsonl"


def candidates(data: Path, source: str, db_id: str) -> Path:
    path = data.with_name("candidates.jsonl")
    header = {"header": 1, "recipe": "msc", "model": "hand", "trained_on": []}
    lines = [
        {
            "question_id": f"q{number}", "db_id": db_id, "source": source,
            "candidates": [{"sql": gold, "model": "hand"}, {"sql": wrong, "model": "hand"}],
        }
        for number, (_, gold, wrong) in enumerate(QUESTIONS)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in (header, *lines)), "utf-8")
    return path


def examined(
    given: SetFolder, plan: BuildPlan, model: LanguageModel
) -> tuple[list[TrainingExample], list[Taught]]:
    """The examples that the role makes of the step's work with the trained model, and what that
    said: none where the step didn't do right."""
    recipe = load_recipe(plan.recipe, plan.overrides)
    role = with_options(find_role(plan.role), plan.options)
    (source,) = plan.datasets
    first = source.dataset.examples[0]
    assert plan.home is not None
    kept = plan.home / "databases" / prepared_folder(str(first.database)).name
    workspace = open_workspace(str(first.database), folder=kept)
    embedded = EmbeddedModels()
    listening = Listening(model)
    known = read_candidates(plan.candidates) if plan.candidates else CandidateSets()
    found: list[TrainingExample] = []
    for one in source.dataset.examples:
        run = Run(seed=plan.seed, today=date.fromisoformat(given.about.today))
        lesson = Examination(
            recipe, workspace, embedded, CONTEXT, run, asks=role.step, model=listening
        )
        scorer = Scorer(workspace.database, workspace.schema, find_rule(source.dataset.rule), ())
        name = source.dataset.name
        sampled = known.of(name, one.id, one.db_id)
        draw = random.Random(f"{plan.seed}/{role.name}/{name}/{one.db_id}/{one.id}")
        found += role.examples(Asked(one, name, lesson, scorer, sampled, draw))
    workspace.database.close()
    return found, listening.heard


@pytest.mark.slow
@pytest.mark.parametrize("role", RECIPES)
def test_a_role_from_its_data_to_the_step_that_asks_it(
    role: str, data: Path, tmp_path: Path
) -> None:
    dataset = load_dataset("golden", data)
    files = [candidates(data, dataset.name, dataset.db_ids[0])]
    recipe, *overrides = RECIPES[role]
    plan = BuildPlan(
        role, [Source(f"golden:{data}", dataset)], recipe, tmp_path / "set",
        overrides=overrides, context_tokens=CONTEXT, share_held_out=0.0,
        candidates=files if find_role(role).chooses else [], home=tmp_path / "home",
        options=OPTIONS.get(role, {}),
    )  # fmt: skip
    given = build(plan)
    examples = list(given.examples())
    assert {one.question_id for one in examples} == {"q0", "q1"}

    base = save_tiny(tmp_path / "tiny", spread=SPREAD)
    settings = replace(SETTINGS, epochs=EPOCHS[role])
    folder = train(
        TrainingPlan(given.path, base, tmp_path / "run", settings=settings, device="cpu")
    )
    losses = [row["loss"] for row in folder.logged() if "loss" in row]
    assert losses[-1] < 0.05

    served = Models({}, LlmOptions(f"weights/{merge(folder.adapter, base, tmp_path / 'whole')}"))
    model = served["llm"]
    assert isinstance(model, LanguageModel)
    again, heard = examined(given, plan, model)
    served.close()
    assert [one.id for one in again] == [one.id for one in examples]
    right = {one.messages: one.completion for one in examples}
    assert {one.messages: one.completion for one in heard} == right
