"""What a run keeps for its steps."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sqlwright.protocols import Run, no_events


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
