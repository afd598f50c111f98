"""The values nearest to a question as examples of their columns, and what prompts show of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.llm.gates import a_run
from tests.scripted import ScriptedEmbedder

from sqlwright.errors import Cancelled
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.local.models import load
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Context, FloatArray, Run, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.generation.direct import DirectGeneration
from sqlwright.steps.retrieval.nearest_values import UNPREPARED, NearestValues
from sqlwright.types import Cell, Question, State

HARBOURS = [f"{side} Basin {number}" for side in ("East", "West") for number in range(30)]
NAME = ColumnRef("berths", "harbour")
LENGTH = ColumnRef("berths", "length")
NOTE = ColumnRef("berths", "note")
LONG = "a berth with a crane that lifts forty tons, and a rail beside it"
SCRIPTED = "scripted/vectors"


@dataclass
class Watched:
    """An embedder that remembers what it was given."""

    embedder: Any
    embedded: list[str] = field(default_factory=list)

    @property
    def dimension(self) -> int:
        return int(self.embedder.dimension)

    def embed(self, texts: Sequence[str]) -> FloatArray:
        self.embedded += texts
        found: FloatArray = self.embedder.embed(texts)
        return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return berths(tmp_path_factory.mktemp("berths") / "berths.sqlite", HARBOURS)


def berths(path: Path, harbours: Sequence[str]) -> Path:
    """A database with one table: two columns of texts, one of numbers."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE berths (id INTEGER PRIMARY KEY, harbour TEXT,"
                           " length REAL, note TEXT)")  # fmt: skip
        rows = [
            (number, harbour, 100 + number % 7 + 1 / 3, LONG if number % 2 else "fog")
            for number, harbour in enumerate(harbours)
        ]
        connection.executemany("INSERT INTO berths VALUES (?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO berths VALUES (?, ?, ?, ?)",
            [(len(harbours) + number, "Grain Quay", 90.0, "fog") for number in range(12)],
        )
    return path


@pytest.fixture
def workspace(path: Path, tmp_path: Path) -> Iterator[Workspace]:
    opened = open_workspace(str(path), folder=tmp_path / "absent")
    yield opened
    opened.database.close()


def found(
    workspace: Workspace,
    step: NearestValues | None = None,
    text: str = "Which berths are in the west basin 23 today?",
    evidence: str = "",
    run: Run | None = None,
    **models: Any,
) -> State:
    context = Context(workspace, run or a_run(), {"embedder": ScriptedEmbedder(), **models})
    start = State(Question(text, evidence), SchemaView(workspace.schema))
    return (step or NearestValues())(start, context)


def values(state: State) -> dict[ColumnRef, tuple[Cell, ...]]:
    return {one.column: one.values for one in state.examples}


def prompt(state: State, workspace: Workspace, **options: Any) -> str:
    script = Script(otherwise="SELECT 1")
    context = Context(workspace, a_run(), {"llm": ScriptedModel(script)})
    DirectGeneration(prompt="generation/zero_shot", **options)(state, context)
    return script.asked[0].prompt


def test_three_values_nearest_to_the_question_are_the_examples_of_a_column(
    workspace: Workspace,
) -> None:
    state = found(workspace)
    assert values(state)[NAME][0] == "West Basin 23"
    assert all(str(value).startswith("West Basin") for value in values(state)[NAME])
    assert [len(one) for one in values(state).values()] == [3, 3, 3, 2]
    shown = prompt(state, workspace)
    assert "'West Basin 23', 'West Basin" in shown
    assert "Grain Quay" not in shown  # the most frequent one, shown without this step
    assert "Grain Quay" in prompt(state.evolve(examples=()), workspace)
    assert "(like" not in shown


def test_values_are_told_apart_from_the_rest_of_a_prompt(workspace: Workspace) -> None:
    model = ScriptedModel(Script(otherwise="SELECT 1"))
    state = found(workspace, text="Which berths are long?")
    DirectGeneration(prompt="generation/short")(state, Context(workspace, a_run(), {"llm": model}))
    texts = [message.text for message in model.requests[0][1].messages]
    assert any("Basin" in str(text) for text in texts)
    for value in ("Basin", "fog", "100.333"):
        assert not any(value in str(text.without("value")) for text in texts)


def test_the_evidence_counts(workspace: Workspace) -> None:
    text = "Is it an east one ?"
    assert "Grain Quay" not in values(found(workspace, text=text))[NAME]
    state = found(workspace, text=text, evidence="they are those at the grain quay")
    assert values(state)[NAME][0] == "Grain Quay"


def test_only_what_is_cut_says_so(workspace: Workspace) -> None:
    state = found(workspace, NearestValues(characters=12), text="Which berth has a crane?")
    shown = prompt(state, workspace)
    assert "'a berth with'…" in shown
    assert "'fog'" in shown
    assert "'West Basin 1'" in shown or "'East Basin 1'" in shown  # twelve characters, complete
    assert f"'{LONG[:50]}'…" in prompt(found(workspace, text="Is there a crane?"), workspace)


def test_columns_of_numbers_have_frequent_values_or_some_at_random(workspace: Workspace) -> None:
    frequent = values(found(workspace))[LENGTH]
    assert frequent[0] == 90.0
    assert "90.0, 100.333" in prompt(found(workspace), workspace)
    drawn = [values(found(workspace, NearestValues(others="random"), text=text))[LENGTH]
             for text in ("What?", "Who?", "What?")]  # fmt: skip
    assert drawn[0] == drawn[2] != drawn[1]


def test_the_view_bounds_what_is_looked_into(workspace: Workspace) -> None:
    step, context = NearestValues(), Context(workspace, a_run(), {"embedder": ScriptedEmbedder()})
    state = State(Question("Which?"), SchemaView(workspace.schema).narrowed([NAME]))
    assert values(step(state, context)).keys() == {NAME}
    assert step(State(Question(" "), state.view), context).examples == ()


def test_values_that_do_not_fit_a_question_are_looked_for_by_words_and_that_is_said(
    tmp_path: Path,
) -> None:
    many = [*HARBOURS, *(f"Pier {number}" for number in range(2 * UNPREPARED))]
    path = berths(tmp_path / "many.sqlite", many)
    workspace = open_workspace(str(path), folder=tmp_path / "absent")
    embedder, step = ScriptedEmbedder(), NearestValues()
    state = found(workspace, step, embedder=embedder)
    assert values(state)[NAME][0].endswith("Basin 23")  # of 2,060 by its words
    seen = len(embedder.embedded)
    assert seen < UNPREPARED + 10
    (note,) = state.warnings
    assert "stored values" in note.text
    again = found(workspace, step, embedder=embedder)
    assert values(again) == values(state)
    assert len(embedder.embedded) == seen + 1  # the question alone
    workspace.database.close()


def test_what_is_prepared_is_not_embedded_again(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    prepare(str(path), folder=folder, vectors=True)
    model = Watched(load("embedder"))
    opened = open_workspace(str(path), folder=folder)
    some = open_workspace(str(path), folder=folder, tables=["berths"])
    text = "Which berths are at the grain quay?"
    for workspace in (opened, some):
        model.embedded.clear()
        state = found(workspace, NearestValues(), text, embedder=model)
        assert values(state)[NAME][0] == "Grain Quay"
        assert not {"Grain Quay", *HARBOURS} & set(model.embedded)
        assert state.warnings == ()
        workspace.database.close()


def test_a_cancelled_question_ends(workspace: Workspace) -> None:
    run = a_run()

    class Cancels(ScriptedEmbedder):
        def embed(self, texts: Sequence[str]) -> FloatArray:
            run.cancelled.set()
            return super().embed(texts)

    with pytest.raises(Cancelled):
        found(workspace, run=run, embedder=Cancels())


@pytest.mark.parametrize("option", ["per_column", "characters", "most_values"])
def test_an_option_out_of_range_is_refused(option: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} must be at least 1, not 0"):
        NearestValues(**{option: 0})
