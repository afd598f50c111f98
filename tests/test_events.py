"""Events as values: each kind has a name of its own, and a trace keeps it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from sqlwright import events
from sqlwright.events import Event
from sqlwright.running.trace import TraceWriter
from sqlwright.schema import Schema, SchemaView
from sqlwright.types import Answer, ExecutionResult, Question, State

STATE = State(Question("q"), SchemaView(Schema("s", ())))
KINDS: list[type[Event]] = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
]
VALUES: dict[Any, Any] = {
    str: "text", int: 1, float: 0.5, bool: True, Path: Path("kept"), State: STATE,
    Answer: Answer("answered", "q", "SELECT 1", "sqlite"), ExecutionResult: ExecutionResult(),
}  # fmt: skip


def example(kind: type[Event]) -> Event:
    """One of a kind, with some value in each field."""
    hints = get_type_hints(kind)
    given = {each.name: VALUES.get(hints[each.name]) for each in fields(kind)}
    for name, value in given.items():
        if value is None and "tuple" in str(hints[name]):
            given[name] = ()
        elif value is None and "Mapping" in str(hints[name]):
            given[name] = {"key": 1}
    return kind(**given)


def test_each_kind_has_a_name_of_its_own() -> None:
    assert len({kind.kind for kind in KINDS}) == len(KINDS) > 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_trace_keeps_what_is_recorded_by_its_name(kind: type[Event], tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, "x")
    writer(example(kind))
    writer.close()
    assert writer.problem == ""
    assert writer.path.exists() is kind.recorded
    if kind.recorded:
        line = json.loads(writer.path.read_text("utf-8"))
        assert line["kind"] == kind.kind
        wanted = {each.name for each in fields(kind)} - {"before", "after", "state", "answer"}
        assert wanted <= set(line)
