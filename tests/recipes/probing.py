"""Runs a recipe over a small database and counts what its parts do.

The models are scripted: they write faulty queries first and differ afterwards, so that each part
has something to do. What embedded models do beside the recipe (`beside`) isn't counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

from benchmarks.answering import Responder

from sqlwright.candidates import history
from sqlwright.events import Event, StepEnded, StepStarted
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.messages import Capabilities, Request
from sqlwright.protocols import Assessment, Context, Run, ValueIndex, Workspace
from sqlwright.recipes.ablation_lists import Ablation
from sqlwright.recipes.loading import load_recipe
from sqlwright.recipes.registry import load_step
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.selection.second_opinion import NAME as SECOND_OPINION
from sqlwright.types import Candidate, Question, State, ValueMatch
from tests.scripted import ScriptedCritic, scripted_models

QUESTION = Question("Which members live in Munchen, and how many courses did they book?")
MISSPELT = "SELECT name FROM members WHERE city = 'Munchen'"
"""Finds nothing; the database has München."""
DIFFERENT = (
    "SELECT name FROM members WHERE country = 'Germany'",
    "SELECT city FROM members WHERE country = 'Germany'",
    "SELECT count(*) FROM bookings",
)
MENDABLE = "SELECT names FROM members"
"""Fails, and the schema says what it means."""
DESCRIBED = "the town where the member lives"
CUT = "…"
"""Ends a value that is shown in part."""


@dataclass
class Recorder:
    """Counts of what a run's parts do, by their names."""

    counts: Counter[str] = field(default_factory=Counter)
    beside: bool = False
    """True while embedded models look at what is selected."""

    def add(self, name: str, times: int = 1) -> None:
        if not self.beside:
            self.counts[name] += times

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepStarted | StepEnded) and event.step == SECOND_OPINION:
            self.beside = isinstance(event, StepStarted)
        elif isinstance(event, StepEnded):
            asks = bool(load_step(event.step)().language_models)
            self.add(event.step, 0 if asks else 1)


@dataclass
class CountedIndex:
    """A value index that counts its look-ups."""

    index: Any
    recorder: Recorder

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        self.recorder.add("look-ups of values")
        found: list[ValueMatch] = self.index.search(phrase, k, per_column=per_column)
        return found

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        self.recorder.add("look-ups of values", len(phrases))
        found: list[list[ValueMatch]] = self.index.search_many(phrases, k, per_column=per_column)
        return found

    def column_values(self, most: int | None = None) -> list[ColumnValues]:
        self.recorder.add("look-ups of values")  # of a matcher that is made of them
        found: list[ColumnValues] = self.index.column_values(most)
        return found

    def frequent(self, column: ColumnRef, most: int) -> list[tuple[str, int]]:
        self.recorder.add("look-ups of examples")
        found: list[tuple[str, int]] = self.index.frequent(column, most)
        return found

    @property
    def beside(self) -> Path | None:
        return None


@dataclass
class CountedCritic(ScriptedCritic):
    recorder: Recorder = field(default_factory=Recorder)

    def assess(self, state: State, candidates: Sequence[Candidate]) -> Assessment:
        self.recorder.add("the embedded critic")
        return super().assess(state, candidates)


def counted(one: Ablation, workspace: Workspace, *, mendable: bool = False) -> Counter[str]:
    """What the parts of an ablation do for one question, in the configuration in which it ships;
    with `mendable` every query that is written can be mended by the schema."""
    recorder = Recorder()
    index: ValueIndex = CountedIndex(workspace.values, recorder)
    says = _replies(one.recipe, mendable=mendable)
    names = {"llm", *re.findall(r"\.model=(\S+)", " ".join(one.overrides))}
    can = Capabilities(remote=False, json_schema=True, logprobs=True)
    models = {
        name: ScriptedModel(Script(otherwise=says), name=name, capabilities=can) for name in names
    }
    critic = CountedCritic(recorder=recorder)
    run = Run(events=recorder, stand_in=False)
    context = Context(
        replace(workspace, values=index),
        run,
        scripted_models(DIFFERENT[0], critic=critic, **models),
    )
    recipe = load_recipe(one.recipe, one.overrides)
    state = recipe.step(State(QUESTION, SchemaView(workspace.schema)), context)
    for name, model in models.items():
        for step, request in model.requests:
            recorder.counts.update(dict(_asked(step, request, name)))
    recorder.counts.update(dict(_left(state, workspace)))
    return recorder.counts


def _replies(recipe: str, *, mendable: bool) -> Callable[[Asked], Any]:
    """Replies of models that err first, and differ. A recipe without repair gets no errors."""
    responder, numbers = Responder(faulty=0.0), iter(range(10_000))
    errors = (f"SELECT wrong{number} FROM members" for number in numbers)
    repaired = not recipe.startswith(("msc", "baseline"))
    written = cycle([None, MISSPELT, *DIFFERENT] if repaired else DIFFERENT)
    if recipe == "chess-ir-cg-ut":  # more results than ten tests can tell apart
        written = (f"SELECT seats + {number} FROM grounds" for number in numbers)
    if mendable:
        written = repeat(MENDABLE)
    mended = cycle([None, MISSPELT] if recipe != "mag" else [None, *DIFFERENT])

    def says(asked: Asked) -> Any:
        if asked.step in {"generation.direct", "generation.sub_sql"}:
            return next(written) or next(errors)
        if asked.step in {"repair.revise", "repair.refine"}:
            return next(mended) or next(errors)
        return _OTHERWISE.get(asked.step, responder.scripted)(asked)

    return says


def _judged(asked: Asked) -> str:
    """Every test leaves the same doubt: the first two queries pass it."""
    number = int(re.findall(r"each of the (\d+) (?:quer|test)", asked.prompt)[-1])
    verdicts = [
        {"number": n, "verdict": "passed" if n < 3 else "failed"} for n in range(1, number + 1)
    ]
    return json.dumps({"reasoning": "", "verdicts": verdicts})


def _named(*tables: str) -> str:
    return json.dumps({"reasoning": "", "tables": tables})


def _columns(**tables: str) -> str:
    listed = [{"table": table, "columns": names.split()} for table, names in tables.items()]
    return json.dumps({"reasoning": "", "tables": listed})


_OTHERWISE: dict[str, Callable[[Asked], Any]] = {
    "retrieval.extract_keywords": lambda asked: '["Munchen", "members", "courses"]',
    "schema_linking.select_tables": lambda asked: _named("members", "courses", "bookings"),
    "schema_linking.select_columns": lambda asked: _columns(
        members="id name city country", courses="id title", bookings="member_id course_id"
    ),
    "generation.decompose": lambda asked: json.dumps(
        {
            "targets": "members",
            "conditions": ["live in Munchen", "booked"],
            "sub_questions": ["Which members live in Munchen?", QUESTION.text],
        }
    ),
    "selection.evaluate_tests": _judged,
}


def _asked(step: str, request: Request, model: str) -> Iterator[tuple[str, int]]:
    """What a request asks for."""
    text = "\n\n".join(str(message.text) for message in request.messages)
    yield step, request.n
    if model != "llm":
        yield f"{step} by {model}", request.n
    if request.reply_schema is not None:
        yield f"{step} as JSON", request.n
    if request.logprobs:
        yield f"{step} with log probabilities", request.n
    if step in {"generation.direct", "schema_linking.select_tables"}:
        yield f"{step} at {request.temperature:g}", request.n
    if step == "selection.multi_sample":
        yield f"{step} of {max(map(int, re.findall(r'queries 1 to ([0-9]+)', text)))}", 1
    if step == "generation.make_examples":
        yield f"{step} {'over columns' if 'like those above' in text else 'by feature'}", 1
    if DESCRIBED in text:
        yield f"descriptions for {step}", 1
    values = [s.text for m in request.messages for s in m.text.spans if s.origin == "value"]
    yield f"cut values for {step}", sum(CUT in value for value in values)
    yield f"quoted values for {step}", sum(value.startswith("'") for value in values)


def _left(state: State, workspace: Workspace) -> Iterator[tuple[str, int]]:
    """What a run leaves in its state."""
    for name in ("values", "descriptions", "summaries", "entities", "examples", "columns"):
        yield f"found {name}", len(getattr(state, name))
    yield "candidates", len(state.candidates)
    yield "tests", len(state.tests)
    yield "checked examples", sum(one.checked for one in state.demonstrations)
    yield "unchecked examples", sum(not one.checked for one in state.demonstrations)
    versions = {one.id: one for last in state.candidates for one in history(last)}
    for kind, number in Counter(one.prompt or one.source for one in versions.values()).items():
        yield f"queries by {kind}", number
    profiles = workspace.catalog.columns if workspace.catalog is not None else {}
    yield (
        "frequent numbers as examples",
        sum(
            one.values
            == tuple(cell for cell, _ in profiles[one.column].frequent[: len(one.values)])
            for one in state.examples
            if profiles[one.column].main_storage in {"integer", "real"}
        ),
    )
