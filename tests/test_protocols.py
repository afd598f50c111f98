"""What a run is handed to its steps with, and what it keeps for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import pytest

from sqlwright.errors import ConfigError
from sqlwright.events import Event, StepStarted, no_events
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.protocols import Context, Run, Workspace
from tests.scripted import ScriptedCritic, ScriptedEmbedder, ScriptedLinker, ScriptedParser


def test_a_run_keeps_the_sink_it_was_made_with_and_a_fork_has_its_own() -> None:
    heard: list[Event] = []
    run = Run(events=no_events, seconds=5.0, clock=lambda: 7.0)
    branch = run.fork(heard.append)
    branch.events(StepStarted("s", 0))
    assert heard == [StepStarted("s", 0)]
    assert run.events is no_events
    assert (branch.started, branch.cancelled, branch.spending) == (
        run.started,
        run.cancelled,
        run.spending,
    )
    with pytest.raises(FrozenInstanceError):
        run.events = heard.append  # type: ignore[misc]


def test_a_fork_with_time_of_its_own_begins_when_it_is_made() -> None:
    times = iter((1.0, 4.0))
    run = Run(seconds=2.0, clock=lambda: next(times))
    assert (run.started, run.fork(no_events, seconds=1.0).started) == (1.0, 4.0)


def test_branches_that_ask_at_once_share_one_making() -> None:
    run, calls = Run(), []
    together = threading.Barrier(4)
    inputs = (["a view"], ["values"])

    def make() -> object:
        calls.append(1)
        return object()

    def ask(_: int) -> object:
        together.wait()
        return run.fork(no_events).once(make, "schema", inputs)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(ask, range(4)))
    assert len(calls) == 1
    assert all(one is made[0] for one in made)


def test_inputs_are_told_apart_by_identity_and_options_by_equality() -> None:
    run = Run()
    first, equal = ["a"], ["a"]
    kept = run.once(object, "schema", (first,), ("ddl", 3))
    assert run.once(object, "schema", (first,), ("ddl", 3)) is kept
    assert run.once(object, "schema", (equal,), ("ddl", 3)) is not kept
    assert run.once(object, "schema", (first,), ("compact", 3)) is not kept
    assert run.once(object, "values", (first,), ("ddl", 3)) is not kept


def test_inputs_live_as_long_as_what_was_made_of_them() -> None:
    run = Run()
    made = [run.once(object, "schema", (["a"],)) for _ in range(100)]
    assert len(set(map(id, made))) == 100


def test_questions_share_nothing() -> None:
    view = ["a"]
    assert Run().once(object, "schema", (view,)) is not Run().once(object, "schema", (view,))


def test_what_could_not_be_made_is_tried_again() -> None:
    run, view = Run(), ["a"]
    with pytest.raises(ZeroDivisionError):
        run.once(lambda: 1 // 0, "schema", (view,))
    assert run.once(lambda: 1, "schema", (view,)) == 1
    assert run.once(lambda: 2, "schema", (view,)) == 1


MODELS = {
    "linker": ScriptedLinker(),
    "parser": ScriptedParser(),
    "critic": ScriptedCritic(),
    "embedder": ScriptedEmbedder(),
    "llm": ScriptedModel(Script([])),
}


def test_a_step_is_handed_each_model_by_its_role(shop_workspace: Workspace) -> None:
    context = Context(shop_workspace, Run(), MODELS)
    handed = (context.linker, context.parser, context.critic, context.embedder, context.llm())
    assert all(one is MODELS[role] for one, role in zip(handed, MODELS, strict=True))


@pytest.mark.parametrize(
    ("role", "lacks"),
    [("linker", "link"), ("parser", "parse"), ("critic", "assess"), ("embedder", "embed")],
)
def test_a_model_under_the_wrong_role_is_told_of(
    shop_workspace: Workspace, role: str, lacks: str
) -> None:
    context = Context(shop_workspace, Run(), {role: MODELS["llm"]})
    with pytest.raises(ConfigError, match=f"'{role}' isn't one: it has no `{lacks}`"):
        getattr(context, role)() if role == "embedder" else getattr(context, role)
