"""Which stored values and columns the keywords stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.scripted import ScriptedEmbedder

from sqlwright.errors import Cancelled, ConfigError
from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.steps.retrieval.column_names import similar_columns
from sqlwright.steps.retrieval.entities import RetrieveEntities, search_texts
from sqlwright.types import Question, State, ValueMatch

COUNTY = ColumnRef("schools", "County Name")
CITY = ColumnRef("schools", "city")
GRADE = ColumnRef("exams", "grade")
PUPIL = ColumnRef("exams", "pupil_names")
STORED = {
    COUNTY: ["Fresno County", "Fresno County Office", "Alameda County"],
    CITY: ["Fresno", "Oakland", "Los Angeles"],
    GRADE: ["A", "A+", "B"],
    PUPIL: ["Fresnel", "Ada Oakes", "O'Brien"],
}
SCHEMA = Schema(
    "x",
    (
        Table("schools", (Column("County Name", "TEXT"), Column("city", "TEXT", label="Town"))),
        Table("exams", (Column("grade", "TEXT"), Column("pupil_names", "TEXT"))),
    ),
)


def retrieved(
    keywords: Sequence[str],
    step: RetrieveEntities | None = None,
    *,
    text: str = "?",
    stored: Mapping[ColumnRef, Sequence[str]] = STORED,
    embedder: ScriptedEmbedder | None = None,
    **known: Any,
) -> State:
    database: Any = None
    index = memory_value_index(
        [ColumnValues(ref, [(value, 2) for value in values]) for ref, values in stored.items()]
    )
    workspace = Workspace(database, SCHEMA, index, None)
    models = {"embedder": embedder or ScriptedEmbedder()}
    state = State(Question(text), SchemaView(SCHEMA), keywords=tuple(keywords), **known)
    return (step or RetrieveEntities())(state, Context(workspace, Run(), models))


def values(state: State) -> set[tuple[ColumnRef, str]]:
    return {(match.column, match.value) for match in state.values}


@pytest.mark.parametrize("form", ["paper", "code", "v1"])
def test_exact_stored_spelling_per_column_whatever_the_case(form: Any) -> None:
    found = retrieved(["FRESNO COUNTY"], RetrieveEntities(form=form))
    assert (COUNTY, "Fresno County") in values(found)
    assert found.values[0].score == 1.0
    assert found.values[0].row_count == 2


def test_the_paper_keeps_the_nearest_spelling_of_a_column_and_text() -> None:
    found = retrieved(["Fresno County"])
    assert (COUNTY, "Fresno County") in values(found)
    assert (COUNTY, "Fresno County Office") not in values(found)
    assert (CITY, "Fresno") in values(found)  # for the prefix "Fresno"


def test_the_code_keeps_several_near_ones_of_a_column() -> None:
    stored = {CITY: ["FresnoNorth", "FresnoNordh", "Fresnel"]}
    step = RetrieveEntities(form="code", least_meaning=0.3, within=0.8)
    both = {(CITY, "FresnoNorth"), (CITY, "FresnoNordh")}
    assert values(retrieved(["FresnoNord"], step, stored=stored)) == both
    strict = replace(step, within=1.0)
    assert values(retrieved(["FresnoNord"], strict, stored=stored)) == {(CITY, "FresnoNordh")}


def test_the_earlier_program_keeps_what_ties_a_columns_best() -> None:
    stored = {CITY: ["Fresno", "Fresnos"]}
    found = retrieved(["Fresno"], RetrieveEntities(form="v1"), stored=stored)
    assert values(found) == {(CITY, "Fresno")}


def test_meaning_below_its_threshold_is_left_out() -> None:
    step = RetrieveEntities(least_meaning=1.01)
    assert values(retrieved(["fresnoo"], step)) == set()
    assert values(retrieved(["fresno"], step)) == set()  # equality counts as 1, not more
    assert (CITY, "Fresno") in values(retrieved(["fresno"], replace(step, least_meaning=1.0)))


def test_letters_below_their_threshold_are_left_out() -> None:
    step = RetrieveEntities(form="code", least_meaning=-1.0)
    assert (CITY, "Fresno") in values(retrieved(["fresnoo"], step))
    assert not retrieved(["fresnoo"], replace(step, least_edit=0.99)).values


def test_what_is_equal_is_never_embedded() -> None:
    embedder = ScriptedEmbedder()
    found = retrieved(["oakland"], stored={CITY: ["Oakland"]}, embedder=embedder)
    assert values(found) == {(CITY, "Oakland")}
    assert embedder.embedded == []


def test_short_codes_are_found_by_themselves_only() -> None:
    assert (GRADE, "A+") in values(retrieved(["A+"]))
    assert not {ref for ref, _ in values(retrieved(["is a good"]))} & {GRADE}


def test_values_found_before_stay_and_come_once() -> None:
    before = ValueMatch("fresno", CITY, "Fresno", 0.97)
    found = retrieved(["fresno"], values=(before,))
    assert found.values[0] is before
    assert [m.value for m in found.values if m.column == CITY].count("Fresno") == 1


def test_a_match_knows_where_the_question_has_it() -> None:
    text = "Schools in FRESNO county?"
    found = retrieved(["Fresno county"], text=text)
    spans = {match.value: match.span for match in found.values}
    assert spans["Fresno County"] == (11, 24)
    assert spans["Fresno"] == (11, 17)


def test_no_more_than_the_limit() -> None:
    assert len(retrieved(["fresno county"], RetrieveEntities(limit=1)).values) == 1


def test_without_keywords_nothing_happens() -> None:
    state = retrieved([])
    assert state.values == ()
    assert state.similar_columns == ()


def test_a_cancelled_run_stops() -> None:
    run = Run()
    run.cancelled.set()
    workspace: Any = None
    with pytest.raises(Cancelled):
        RetrieveEntities()(State(Question("?"), SchemaView(SCHEMA)), Context(workspace, run))


def test_the_published_index_gives_the_same_exact_values() -> None:
    pytest.importorskip("rensa")
    step = RetrieveEntities(values="minhash", library="rensa")
    found = retrieved(["Fresno County"], step)
    assert (COUNTY, "Fresno County") in values(found)


def test_an_index_that_cannot_list_its_values_has_no_published_form() -> None:
    class Bare:
        def search_many(self, phrases: Any, k: int = 10, *, per_column: int = 3) -> Any: ...

    database: Any = None
    index: Any = Bare()
    context = Context(Workspace(database, SCHEMA, index, None), Run(), {})
    state = State(Question("?"), SchemaView(SCHEMA), keywords=("x",))
    with pytest.raises(ConfigError, match="MinHash"):
        RetrieveEntities(values="minhash")(state, context)


@pytest.mark.parametrize(
    ("keywords", "texts"),
    [
        (["a big city"], ["a big city", "big city", "a big", "city"]),
        (["status = 'open'"], ["status = 'open'", "status", "status =", "open"]),
        (["(K-12)"], ["K-12"]),
        (["A"], ["A"]),
        (["the", " ", ""], []),
        (["Oakland", "oakland"], ["Oakland"]),
    ],
)
def test_what_is_searched_for(keywords: list[str], texts: list[str]) -> None:
    assert sorted(search_texts(keywords)) == sorted(texts)


@pytest.mark.parametrize(
    ("keyword", "columns"),
    [
        ("county name", [COUNTY]),
        ("CountyNames", [COUNTY]),
        ("pupil name", [PUPIL]),
        ("town = 'x'", [CITY]),
        ("grade = 'A'", [GRADE]),
        ("share (grade) of it", [GRADE]),
        ("best grade", [GRADE]),
        ("gradation", []),
        ("", []),
    ],
)
def test_columns_by_name(keyword: str, columns: list[ColumnRef]) -> None:
    found = similar_columns([keyword], SchemaView(SCHEMA))
    assert [link.column for link in found] == columns
    assert all(0.9 <= link.score <= 1 for link in found)


def test_of_equally_similar_columns_those_of_a_named_table_then_rare_names_come_first() -> None:
    tables = tuple(Table(name, (Column("name"), Column(f"{name}_no"))) for name in ("a1", "pets"))
    view = SchemaView(Schema("x", tables))
    named = similar_columns(["name", "pet"], view)
    assert [str(link.column) for link in named] == ["pets.name", "a1.name"]
    rare = similar_columns(["name", "a1_no"], view)
    assert [str(link.column) for link in rare] == ["a1.a1_no", "a1.name", "pets.name"]


def test_hidden_columns_are_not_found() -> None:
    assert not similar_columns(["grade"], SchemaView(SCHEMA).narrowed([CITY]))
    assert similar_columns(["grades"], SchemaView(SCHEMA), most=0) == ()


def test_the_step_finds_columns_too() -> None:
    assert [link.column for link in retrieved(["the grade"]).similar_columns] == [GRADE]
