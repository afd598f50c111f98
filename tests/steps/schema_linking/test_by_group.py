"""A wide schema is gone through group by group; what is answered in one doesn't see the others."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sqlwright.errors import Cancelled, ConfigError, MalformedReply
from sqlwright.events import BranchesMerged
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.running.combinators import named
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.schema_linking.by_group import ByGroup
from sqlwright.types import Candidate, Question, Refusal, State, ValueMatch
from tests.running.test_combinators import Events
from tests.steps.schema_linking.test_embedded import Likes, shops


@dataclass(frozen=True)
class Answers(Step):
    """A step that answers from the only group in view, as sure as it was told."""

    sure: dict[str, float] = field(default_factory=dict)
    answerable: dict[str, float] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    fails: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset({"question", "view"})
    writes: frozenset[str] = frozenset({"candidates", "selected", "confidence", "refusal"})

    def __call__(self, state: State, context: Context) -> State:
        names = [table.name for table in state.view.schema.tables]
        table = names[0]
        if table in self.fails:
            raise MalformedReply("it makes no sense")
        values = ", ".join(match.value for match in state.values)
        sql = f"SELECT '{values}' FROM {' JOIN '.join(names)}"
        chosen = Candidate(sql, "test", confidence=self.sure.get(table, 0.5))
        refused = Refusal("unanswerable", "It isn't here.") if table in self.refuses else None
        return state.evolve(
            candidates=(chosen,),
            selected=chosen,
            confidence=chosen.confidence,
            answerable=self.answerable.get(table, 0.5),
            refusal=refused,
        )


def context(schema: Schema, linker: Any) -> Context:
    nothing: Any = None
    return Context(Workspace(nothing, schema, nothing, nothing), Run(), {"linker": linker})


def answered(
    step: Answers, *linked: ColumnRef, schema: Schema | None = None, most: int = 3, workers: int = 1
) -> State:
    schema = schema or shops(9)
    values = tuple(
        ValueMatch("here", ColumnRef(f"customers{n}", "c1"), f"value {n}", 1.0) for n in (2, 4)
    )
    state = State(Question("which?"), SchemaView(schema), values=values)
    grouped = ByGroup((named(step),), most=most, workers=workers)
    return grouped(state, context(schema, Likes([], linked)))


TWO = (ColumnRef("customers4", "c1"), ColumnRef("lines4", "c2"), ColumnRef("lines2", "c2"))
"""Two columns of the fourth shop score high, one of the second."""


def test_each_group_is_answered_alone_with_its_own_values() -> None:
    state = answered(Answers(), *TWO, most=2)
    assert [candidate.sql for candidate in state.candidates] == [
        "SELECT 'value 4' FROM customers4 JOIN orders4 JOIN lines4",
        "SELECT 'value 2' FROM customers2 JOIN orders2 JOIN lines2",
    ]
    assert state.selected is not None
    assert state.selected.sql == state.candidates[0].sql


def test_the_state_is_of_the_whole_schema_again() -> None:
    schema = shops(9)
    state = answered(Answers(), *TWO, schema=schema, most=2)
    assert state.view.schema is schema
    shown = {table.name for table in state.view.visible_schema().tables}
    assert shown == {f"{name}{n}" for n in (2, 4) for name in ("customers", "orders", "lines")}
    assert len(state.values) == 2
    assert len(state.columns) == schema.column_count


def test_how_sure_it_is_takes_in_how_probable_the_group_is() -> None:
    step = Answers(sure={"customers4": 0.8, "customers2": 0.8})
    alone, beside = answered(step, *TWO, most=1), answered(step, *TWO, most=2)
    assert alone.confidence == pytest.approx(0.8)
    assert beside.confidence is not None
    assert 0.4 < beside.confidence < 0.8
    shares = [candidate.confidence or 0.0 for candidate in beside.candidates]
    assert sum(shares) == pytest.approx(0.8)
    assert beside.selected is not None
    assert beside.selected.confidence == beside.confidence == shares[0]


def test_a_group_that_holds_what_is_asked_goes_before_one_that_is_named() -> None:
    unlike = Answers(answerable={"customers4": 0.001, "customers2": 0.99})
    state = answered(unlike, *TWO, most=2)
    assert state.selected is not None
    assert "customers2" in state.selected.sql
    assert state.answerable == 0.99


def test_a_refusal_counts_only_where_no_group_answers() -> None:
    state = answered(Answers(refuses=frozenset({"customers4"})), *TWO, most=2)
    assert state.refusal is None
    assert state.selected is not None
    assert "customers2" in state.selected.sql
    everywhere = Answers(refuses=frozenset({"customers4", "customers2"}))
    assert answered(everywhere, *TWO, most=2).refusal is not None


def test_a_group_that_fails_costs_nothing_but_itself() -> None:
    state = answered(Answers(fails=frozenset({"customers2"})), *TWO, most=2)
    (candidate,) = state.candidates
    assert "customers4" in candidate.sql
    assert any("it makes no sense" in warning.text for warning in state.warnings)
    with pytest.raises(MalformedReply):
        answered(Answers(fails=frozenset({"customers4", "customers2"})), *TWO, most=2)


def test_cancelled_between_groups_it_hands_over_the_answer_at_hand() -> None:
    events, cancelled = Events(), threading.Event()

    @dataclass(frozen=True)
    class CancelsFirst(Answers):
        def __call__(self, state: State, context: Context) -> State:
            cancelled.set()
            return super().__call__(state, context)

    schema = shops(9)
    run = Run(events=events, cancelled=cancelled)
    grouped = ByGroup((named(CancelsFirst()),), most=2)
    with pytest.raises(Cancelled):
        grouped(
            State(Question("which?"), SchemaView(schema)),
            replace(context(schema, Likes([], TWO)), run=run),
        )
    (merged,) = [each.state for each in events.of(BranchesMerged)]
    assert merged.selected is not None
    assert "customers4" in merged.selected.sql
    assert merged.view.schema is schema


def test_side_by_side_it_comes_to_the_same() -> None:
    step = Answers(sure={"customers4": 0.3, "customers2": 0.9})
    assert answered(step, *TWO, workers=3) == answered(step, *TWO)


def test_a_schema_that_is_no_crowd_is_left_as_it_is() -> None:
    state = answered(Answers(), *TWO, schema=shops(5))
    assert len(state.candidates) == 1
    assert "customers0" in state.candidates[0].sql
    assert "customers4" in state.candidates[0].sql


def test_a_recipe_says_how_many_groups() -> None:
    text = """
name: grouped
steps:
  - by_group:
      most: {most}
      steps: [retrieval.values, generation.embedded, selection.first_valid]
"""
    step = parse_recipe(text.replace("{most}", "5"), ["by_group.share=0.5"]).step
    (grouped,) = step.steps  # type: ignore[attr-defined]
    assert (grouped.most, grouped.share) == (5, 0.5)
    assert replace(grouped, most=3).steps == grouped.steps
    with pytest.raises(ConfigError, match="most"):
        parse_recipe(text.replace("{most}", "many"))
    with pytest.raises(ConfigError, match="greater than or equal to 1"):
        parse_recipe(text.replace("{most}", "0"))
