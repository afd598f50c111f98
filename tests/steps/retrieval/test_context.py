"""Which descriptions are close to a question, with and without what was prepared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scripted import ScriptedEmbedder

from sqlwright.indexes.descriptions import (
    DescriptionIndex,
    StoredVectors,
    documents_digest,
    documents_of,
    embedded,
    stored_content,
)
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.steps.retrieval.context import UNPREPARED, RetrieveContext, searches
from sqlwright.steps.retrieval.shortlist import Shortlist
from sqlwright.types import DescriptionMatch, Question, State

ENROLMENT = ColumnRef("schools", "enr")
SCHEMA = Schema(
    "x",
    (
        Table(
            "schools",
            (
                Column("id", "INTEGER"),
                Column(
                    "enr",
                    "INTEGER",
                    label="enrolment",
                    description="number of pupils enrolled",
                    value_description="0 when closed",
                ),
                Column("chr", "INTEGER", description="whether it is a charter school"),
            ),
        ),
        Table("exams", (Column("grd", "TEXT", description="the mark a pupil was given"),)),
    ),
)


def found(
    text: str = "How many pupils are enrolled?",
    step: RetrieveContext | None = None,
    *,
    schema: Schema = SCHEMA,
    evidence: str = "",
    keywords: tuple[str, ...] = ("pupils enrolled",),
    stored: StoredVectors | None = None,
    embedder: ScriptedEmbedder | None = None,
    view: SchemaView | None = None,
) -> State:
    nothing: Any = None
    workspace = Workspace(nothing, schema, nothing, nothing, descriptions=stored)
    state = State(Question(text, evidence), view or SchemaView(schema), keywords=keywords)
    context = Context(workspace, Run(), {"embedder": embedder or ScriptedEmbedder()})
    return (step or RetrieveContext())(state, context)


def test_a_document_for_every_description_there_is() -> None:
    parts = [(d.column.column, d.part) for d in documents_of(SCHEMA)]
    assert parts == [
        ("enr", "label"),
        ("enr", "description"),
        ("enr", "value_description"),
        ("chr", "description"),
        ("grd", "description"),
    ]


def test_the_nearest_descriptions_the_nearest_first() -> None:
    match = found(step=RetrieveContext(top_k=1)).descriptions[0]
    assert (match.column, match.part) == (ENROLMENT, "description")
    assert 0 < match.score <= 1


def test_a_column_that_is_found_brings_all_that_describes_it() -> None:
    state = found(step=RetrieveContext(top_k=1))
    assert {match.part for match in state.descriptions} == {
        "label",
        "description",
        "value_description",
    }
    assert {match.column for match in state.descriptions} == {ENROLMENT}


def test_question_and_evidence_are_searched_for_with_every_keyword() -> None:
    asked = Question("Q?", "E")
    assert searches(asked, ["a", "b"]) == ["Q? a", "E a", "Q? b", "E b"]
    assert searches(Question("Q?"), ["a"]) == ["Q? a"]
    assert searches(asked, []) == ["Q? ", "E "]
    assert searches(Question(" "), []) == []


def test_evidence_finds_what_the_question_does_not() -> None:
    step = RetrieveContext(top_k=1)
    state = found("xyz", step, evidence="whether it is a charter", keywords=("w",))
    assert ColumnRef("schools", "chr") in {match.column for match in state.descriptions}


def test_a_database_without_descriptions_is_left_alone() -> None:
    bare = Schema("x", (Table("t", (Column("a"),)),))
    embedder = ScriptedEmbedder()
    assert found(schema=bare, embedder=embedder).descriptions == ()
    assert embedder.embedded == []


def test_hidden_columns_are_left_out() -> None:
    view = SchemaView(SCHEMA).narrowed([ColumnRef("exams", "grd")])
    assert {m.column.table for m in found(view=view).descriptions} == {"exams"}


def test_descriptions_are_embedded_once_for_a_schema() -> None:
    step, embedder = RetrieveContext(), ScriptedEmbedder()
    first = found(step=step, embedder=embedder)
    seen = len(embedder.embedded)
    assert found(step=step, embedder=embedder) == first
    assert len(embedder.embedded) == seen + 1  # the query alone
    changed = replace(SCHEMA, name="y")
    found(step=step, embedder=embedder, schema=changed)
    assert len(embedder.embedded) > seen + 2


def test_of_many_only_those_that_share_words_are_embedded_at_once() -> None:
    columns = tuple(Column(f"c{n}", description=f"thing number {n}") for n in range(UNPREPARED))
    wide = Schema("x", (Table("t", columns), *SCHEMA.tables))
    embedder = ScriptedEmbedder()
    state = found(step=RetrieveContext(top_k=1), schema=wide, embedder=embedder)
    assert {match.column for match in state.descriptions} == {ENROLMENT}
    assert len(embedder.embedded) <= UNPREPARED + 1


@pytest.fixture
def stored(tmp_path: Path) -> StoredVectors:
    embedder = ScriptedEmbedder()
    documents = documents_of(SCHEMA)
    content = stored_content(documents, embedded(documents, embedder), embedder)
    path = tmp_path / "descriptions"
    path.write_bytes(content)
    return StoredVectors(path, documents_digest(documents))


def test_prepared_vectors_give_the_same(stored: StoredVectors) -> None:
    embedder = ScriptedEmbedder()
    prepared = found(stored=stored, embedder=embedder)
    lazy = found()
    assert [m[:3] for m in rows(prepared)] == [m[:3] for m in rows(lazy)]
    assert not {document.text for document in documents_of(SCHEMA)} & set(embedder.embedded)


def rows(state: State) -> list[tuple[ColumnRef, str, str, float]]:
    return [(m.column, m.part, m.text, m.score) for m in state.descriptions]


@pytest.mark.parametrize("harm", ["cut", "flipped", "gone", "other documents", "other embedder"])
def test_prepared_vectors_that_do_not_fit_are_not_used(stored: StoredVectors, harm: str) -> None:
    embedder = ScriptedEmbedder()
    content = stored.path.read_bytes()
    if harm == "cut":
        stored.path.write_bytes(content[:-7])
    elif harm == "flipped":
        stored.path.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    elif harm == "gone":
        stored.path.unlink()
    elif harm == "other documents":
        stored = replace(stored, digest="0" * 64)
    else:
        embedder = ScriptedEmbedder(same={"embedder": "zebra", "vector": "lion", "index": "bear"})
    assert stored.load(embedder) is None
    assert found(stored=stored, embedder=embedder).descriptions


def test_exact_search_gives_the_first_of_equals() -> None:
    documents = [replace_text(d, "same text") for d in documents_of(SCHEMA)]
    embedder = ScriptedEmbedder()
    index = DescriptionIndex(documents, embedded(documents, embedder))
    ((first, second),) = index.search(embedder.embed(["same text"]), 2)
    assert [first, second] == [
        DescriptionMatch(*documents[0], 1.0),
        DescriptionMatch(*documents[1], 1.0),
    ]
    assert index.search(embedder.embed(["x"]), 0) == [[]]
    assert len(index.search(embedder.embed(["x"]), 99)[0]) == len(documents)


def replace_text(document: Any, text: str) -> Any:
    return document._replace(text=text)


def test_more_documents_than_are_searched_exactly() -> None:
    embedder = ScriptedEmbedder()
    documents = documents_of(SCHEMA)
    vectors = embedded(documents, embedder)
    exact = DescriptionIndex(documents, vectors)
    large = DescriptionIndex(documents, vectors, exact=1)
    query = embedder.embed(["pupils enrolled"])
    assert large.search(query, 1)[0][0].column == exact.search(query, 1)[0][0].column
    try:
        import usearch  # noqa: F401
    except ImportError:
        assert "sqlwright[ann]" in large.note
    else:
        assert large.note == ""


def test_a_shortlist_goes_by_rare_words() -> None:
    texts = ["the order of a customer", "orders by customers", "customers", "weather"]
    assert Shortlist(texts).nearest("Which ordering was it?", 2) == [0, 1]
    assert Shortlist([]).nearest("x", 3) == []
