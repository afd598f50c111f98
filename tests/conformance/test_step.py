"""Every registered step, whatever it does: total, pure, deterministic, true to what it declares."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.candidates import execute
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.recipes import registry
from sqlwright.schema import Schema, SchemaView
from sqlwright.types import Candidate, Question, State, UnitTest
from tests.scripted import scripted_models

FIELDS = frozenset(f.name for f in fields(State))
DATABASES = ["shop", "composite", "odd", "sparse"]


@pytest.fixture(scope="module", params=DATABASES)
def workspace(
    request: pytest.FixtureRequest,
    database_files: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("prepared") / "absent"
    opened = open_workspace(str(database_files[request.param]), folder=folder)
    yield opened
    opened.database.close()


@pytest.fixture(params=registry.STEPS)
def step(request: pytest.FixtureRequest) -> Step:
    made: Step = registry.load_step(request.param)()
    return made


def context(workspace: Workspace) -> Context:
    return Context(workspace, Run(seed=1), scripted_models("SELECT 1", "SELECT nope"))


def states(workspace: Workspace) -> dict[str, State]:
    view = SchemaView(workspace.schema)
    keywords = ("open", "in Munchen", "city = 'x'")
    asked = State(Question("How many of them are open in Munchen?"), view, keywords=keywords)
    table = workspace.schema.tables[0]
    name = table.name.replace('"', '""')
    written = (
        Candidate(f'SELECT * FROM "{name}"', "test", -0.1),
        Candidate("SELECT nope FROM nowhere", "test", -0.2),
        Candidate("not SQL at all \x00 '", "test", -0.3),
        Candidate("", "test", -0.4),
    )
    differing = (*written, Candidate("SELECT 1", "test"), Candidate("SELECT 2", "test"))
    executed = execute(differing, workspace.database, Run())
    return {
        "empty": State(Question(""), SchemaView(workspace.schema)),
        "asked": asked,
        "written": asked.evolve(candidates=written),
        "executed": asked.evolve(candidates=executed, tests=(UnitTest("It counts them."),)),
        "hostile": State(Question("\x1b[31m'; DROP TABLE x; -- \u202e" * 20), view),
    }


@pytest.mark.parametrize("kind", ["empty", "asked", "written", "executed", "hostile"])
def test_a_step_is_total_pure_deterministic_and_writes_what_it_says(
    step: Step, workspace: Workspace, kind: str
) -> None:
    state = states(workspace)[kind]
    kept = deepcopy(state)
    first = step(state, context(workspace))
    again = step(state, context(workspace))
    assert state == kept
    assert _timeless(first) == _timeless(again)
    changed = {f for f in FIELDS if getattr(first, f) != getattr(state, f)}
    assert changed <= step.writes | {"warnings"}


def test_a_step_on_a_schema_without_tables_is_total(step: Step, shop_workspace: Workspace) -> None:
    bare = replace(shop_workspace, schema=Schema("bare", ()))
    for text in ("", "How many?"):
        step(State(Question(text), SchemaView(bare.schema)), context(bare))


def test_a_step_says_what_it_needs_in_the_terms_of_the_protocol(
    step: Step, workspace: Workspace
) -> None:
    assert isinstance(step, Step)
    assert all(isinstance(role, str) for role in step.roles)
    assert step.cheaper in {"", *registry.STEPS}
    assert step.prepared <= {"values.vectors"}
    assert bool(step.language_models) is hasattr(step, "sampling")
    for state in states(workspace).values():
        calls = step.calls(state)
        assert calls is None or (calls >= 0 and step.language_models)


def test_a_step_is_a_frozen_dataclass_with_documented_options(step: Step) -> None:
    assert is_dataclass(step)
    assert step.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert step.reads <= FIELDS
    assert step.writes <= FIELDS
    assert type(step).__doc__


def _timeless(value: Any) -> Any:
    """The same without the seconds a query took."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_timeless(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: _timeless(getattr(value, f.name)) for f in fields(value) if f.name != "elapsed"
        }
    return value
