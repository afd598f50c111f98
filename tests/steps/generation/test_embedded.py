"""Generation by the embedded parser: what it is given, and what becomes of its replies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from sqlwright.local.steps.generation import EmbeddedGeneration
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, Detail, SchemaView
from sqlwright.types import Candidate, Question, State, ValueMatch
from tests.scripted import ScriptedParser


def start(workspace: Workspace, text: str = "How many?") -> State:
    return State(Question(text), SchemaView(workspace.schema))


def test_replies_become_candidates_in_their_order(shop_workspace: Workspace) -> None:
    match = ValueMatch("open", ColumnRef("orders", "status"), "open", 1.0)
    parser = ScriptedParser(["SELECT id FROM orders WHERE status = 'open'", "SELECT 2"])
    context = Context(shop_workspace, Run(), {"parser": parser})
    state = EmbeddedGeneration()(start(shop_workspace).evolve(values=(match,)), context)
    first, second = state.candidates
    assert (first.source, first.score, second.score) == ("generation.embedded", 0.0, -0.5)
    assert first.values == (match,)
    assert ColumnRef("orders", "status") in first.columns
    assert first.result is None


def test_what_was_written_before_stays_in_front(shop_workspace: Workspace) -> None:
    parser = ScriptedParser(["SELECT 1", "SELECT 2"])
    context = Context(shop_workspace, Run(), {"parser": parser})
    state = start(shop_workspace).evolve(candidates=(Candidate("SELECT 1", "other"),))
    written = EmbeddedGeneration()(state, context).candidates
    assert [(c.sql, c.source) for c in written] == [
        ("SELECT 1", "other"),
        ("SELECT 2", "generation.embedded"),
    ]


@pytest.mark.parametrize(
    ("text", "sql", "notes"),
    [
        ("How many last month?", "SELECT '2024-04'",
         ("“last month” was read as 2024-04-01 to 2024-04-30",)),
        ("How many in the last 7 days?", "SELECT '2024-05-09'",
         ("“in the last 7 days” was read as 2024-05-09 to 2024-05-15",)),
        ("How many since yesterday?", "SELECT '2024-05-14'",
         ("“since yesterday” was read as since 2024-05-14",)),
        ("How many from 2024-05-03?", "SELECT '2024-05-03'",
         ("“from 2024-05-03” was read as since 2024-05-03",)),
        ("How many last week?", "SELECT '2024-05-06', '2024-05-12'",
         ("“last week” was read as 2024-05-06 to 2024-05-12",)),
        ("How many in May 2024?", "SELECT '2024-05'", ()),
        ("How many in May 2024?", "SELECT 2024", ("no query goes by “May 2024”",)),
        ("How many?", "SELECT 1", ()),
    ],
)  # fmt: skip
def test_how_a_moment_was_read_is_told(
    shop_workspace: Workspace, text: str, sql: str, notes: tuple[str, ...]
) -> None:
    run = Run(today=date(2024, 5, 15))
    context = Context(shop_workspace, run, {"parser": ScriptedParser([sql])})
    assert [
        str(note) for note in EmbeddedGeneration()(start(shop_workspace, text), context).warnings
    ] == list(notes)


def test_the_parser_gets_small_enumerations_and_the_beam(shop_workspace: Workspace) -> None:
    given: dict[str, Any] = {}

    class Remembers(ScriptedParser):
        def parse(self, *arguments: Any, **options: Any) -> list[Any]:
            given.update(options)
            return []

    context = Context(shop_workspace, Run(), {"parser": Remembers()})
    EmbeddedGeneration(beam=3)(start(shop_workspace), context)
    assert given["beam"] == 3
    assert given["run"] is context.run
    listed: Sequence[str] = given["enumerations"][ColumnRef("orders", "status")]
    assert set(listed) == {"open", "shipped", "cancelled"}


def test_nothing_is_asked_without_a_question_or_a_column(shop_workspace: Workspace) -> None:
    parser = ScriptedParser(["SELECT 1"])
    context = Context(shop_workspace, Run(), {"parser": parser})
    blank = start(shop_workspace, "  ")
    assert EmbeddedGeneration()(blank, context) == blank
    hidden = SchemaView(
        shop_workspace.schema, dict.fromkeys(shop_workspace.schema.columns, Detail.HIDDEN)
    )
    nothing = State(Question("How many?"), hidden)
    assert EmbeddedGeneration()(nothing, context) == nothing
    assert parser.asked == []


@pytest.mark.parametrize("beam", [0, -1, 65])
def test_a_beam_out_of_range_is_refused(beam: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 64"):
        EmbeddedGeneration(beam=beam)
