"""Stored values that stand in a question, letter by letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.steps.retrieval.substrings import RetrieveSubstrings
from sqlwright.types import Question, State, ValueMatch

DISTRICT = ColumnRef("schools", "district")
COUNTY = ColumnRef("schools", "county")
NOTE = ColumnRef("schools", "note")
SCHEMA = Schema(
    "x",
    (Table("schools", tuple(Column(name, "TEXT") for name in ("district", "county", "note"))),),
)
STORED: Mapping[ColumnRef, Sequence[str]] = {
    DISTRICT: ["Fresno County Office of Education", "Oakland Unified", "Zürich"],
    COUNTY: ["Fresno", "Alameda", "2019", "Y", "CA", "no", "the"],
}


def workspace(stored: Mapping[ColumnRef, Sequence[str]] = STORED) -> Workspace:
    database: Any = None
    index = memory_value_index(
        [ColumnValues(ref, [(value, 2) for value in values]) for ref, values in stored.items()]
    )
    return Workspace(database, SCHEMA, index, None)


def retrieved(
    question: str,
    *,
    evidence: str = "",
    stored: Mapping[ColumnRef, Sequence[str]] = STORED,
    step: RetrieveSubstrings | None = None,
    **known: Any,
) -> State:
    state = State(Question(question, evidence), SchemaView(SCHEMA), **known)
    return (step or RetrieveSubstrings())(state, Context(workspace(stored), Run(), {}))


def found(state: State) -> list[tuple[ColumnRef, str]]:
    return [(match.column, match.value) for match in state.values]


def test_a_value_is_found_as_it_stands_in_the_question_the_longest_first() -> None:
    question = "Zip codes of the charter schools in fresno county office of education?"
    state = retrieved(question)
    assert found(state) == [
        (DISTRICT, "Fresno County Office of Education"),
        (COUNTY, "Fresno"),
    ]
    first = state.values[0]
    assert first.phrase == "fresno county office of education"
    assert first.span is not None
    assert question[slice(*first.span)] == first.phrase
    assert (first.score, first.row_count) == (1.0, 2)


def test_the_evidence_is_searched_and_its_values_have_no_place_in_the_question() -> None:
    state = retrieved("How many are there?", evidence="there refers to Oakland Unified")
    assert found(state) == [(DISTRICT, "Oakland Unified")]
    assert state.values[0].span is None
    question = retrieved("Those of Oakland Unified?", evidence="of means within ß").values[0]
    assert question.span == (9, 24)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Was it in 2019 or in Y?", []),  # numbers and single letters
        ("Is the ca there, and who is it?", ["CA"]),  # capitals fit as a whole alone
        ("Is the cat there?", []),
        ("There is no school, is there?", ["no"]),
        ("Now or not at all?", []),
        ("The alamedas' schools", ["Alameda"]),
        ("Those of zurich", ["Zürich"]),
        ("Those of Azürich", []),  # begins with another letter
        ("Those of Fresnoland", []),
        ("", []),
    ],
)
def test_what_counts_as_the_same(question: str, values: list[str]) -> None:
    assert [match.value for match in retrieved(question).values] == values


def test_at_most_as_many_as_the_limit_and_the_same_ones_in_any_order() -> None:
    values = ["Lamp", "Desk", "Chair", "Shelf"]
    question = "Lamp, desk, chair and shelf?"
    step = RetrieveSubstrings(limit=3)
    one = retrieved(question, stored={DISTRICT: values, COUNTY: values[::-1]}, step=step)
    other = retrieved(question, stored={COUNTY: values, DISTRICT: values[::-1]}, step=step)
    expected = [(COUNTY, "Chair"), (DISTRICT, "Chair"), (COUNTY, "Shelf")]
    assert found(one) == found(other) == expected


def test_a_column_of_too_many_values_takes_no_part() -> None:
    stored = {DISTRICT: ["Lamp", *(f"thing {n}" for n in range(20))], COUNTY: ["Desk"]}
    step = RetrieveSubstrings(most_values=20)
    assert found(retrieved("Lamp or desk?", stored=stored, step=step)) == [(COUNTY, "Desk")]
    assert found(retrieved("Lamp or desk?", stored=stored)) == [
        (COUNTY, "Desk"),
        (DISTRICT, "Lamp"),
    ]


def test_least_is_the_likeness_asked_for() -> None:
    stored = {DISTRICT: ["Oakland Unified"]}
    assert found(retrieved("Those of Oaklnd Unifed", stored=stored)) == [
        (DISTRICT, "Oakland Unified")
    ]
    strict = RetrieveSubstrings(least=1.0)
    assert found(retrieved("Those of Oaklnd Unifed", stored=stored, step=strict)) == []


def test_what_was_known_before_stays_and_comes_once() -> None:
    known = ValueMatch("x", COUNTY, "Fresno", 0.5)
    other = ValueMatch("y", NOTE, "new", 0.5)
    state = retrieved("In Fresno?", values=(known, other))
    assert state.values == (known, other)


def test_the_index_is_made_once_for_a_database_whatever_is_asked() -> None:
    step = RetrieveSubstrings()
    one, other = workspace(), workspace({COUNTY: ["Fresno", "Oslo"]})
    for opened, question, expected in [
        (one, "Alameda or Oslo?", ["Alameda"]),
        (other, "Alameda or Oslo?", ["Oslo"]),
        (one, "Fresno?", ["Fresno"]),
    ]:
        state = State(Question(question), SchemaView(SCHEMA))
        state = step(state, Context(opened, Run(), {}))
        assert [match.value for match in state.values] == expected


def test_an_index_that_cannot_list_its_values_is_refused() -> None:
    class Closed:
        def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
            return []

        def search_many(
            self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
        ) -> list[list[ValueMatch]]:
            return [[] for _ in phrases]

    database: Any = None
    bare = Workspace(database, SCHEMA, Closed(), None)
    with pytest.raises(ConfigError, match="value index"):
        RetrieveSubstrings()(State(Question("Fresno?"), SchemaView(SCHEMA)), Context(bare, Run()))
