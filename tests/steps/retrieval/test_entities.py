"""Which stored values and columns the keywords stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.scripted import ScriptedEmbedder

from sqlwright.catalog.records import Catalog, ColumnProfile
from sqlwright.errors import Cancelled, ConfigError
from sqlwright.indexes.column_names import similar_columns
from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.local.models import load
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.steps.retrieval.entities import LIMIT, RetrieveEntities
from sqlwright.steps.retrieval.phrases.keyword_pieces import is_formula, looked_up
from sqlwright.steps.retrieval.phrases.years import years_in
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
    evidence: str = "",
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
    state = State(Question(text, evidence), SchemaView(SCHEMA), keywords=tuple(keywords), **known)
    return (step or RetrieveEntities())(state, Context(workspace, Run(), models))


def values(state: State) -> set[tuple[ColumnRef, str]]:
    return {(match.column, match.value) for match in state.values}


def test_exact_stored_spelling_per_column_whatever_the_case() -> None:
    found = retrieved(["FRESNO COUNTY"])
    assert (COUNTY, "Fresno County") in values(found)
    assert found.values[0].score == 1.0
    assert found.values[0].row_count == 2


ANY = [GRADE, PUPIL, CITY]


@pytest.mark.parametrize(
    ("evidence", "text", "keywords", "columns"),
    [
        ("passed: grade = 'A'", "How many passed?", ["grade = 'A'", "A"], [GRADE]),
        ("passed refers to `grade` = 'A'", "Is a pupil passed?", ["A", "passed"], [GRADE]),
        ("passed: exams.grade in ('B', 'A')", "How many passed?", ["A"], [GRADE]),
        ('the capital: Town = "A"', "Who lives there?", ["A"], [CITY]),
        ("grade = 'A' or pupil_names LIKE 'A'", "How many?", ["A"], [GRADE, PUPIL]),
        ("best: score(x) = 'A', grade = 'A'", "How many?", ["A"], ANY),  # of what, nobody says
        ("passed: grade = 'A'", "How many of city A passed?", ["A"], ANY),
        ("passed: mark is 'A'", "How many passed?", ["A"], ANY),
        ("", "How many passed with A?", ["A"], ANY),
    ],
)
def test_a_text_compared_in_the_evidence_is_looked_up_in_its_column(
    evidence: str, text: str, keywords: list[str], columns: list[ColumnRef]
) -> None:
    stored = {GRADE: ["A", "B"], PUPIL: ["A", "C"], CITY: ["A"]}
    found = retrieved(keywords, text=text, evidence=evidence, stored=stored)
    assert {column for column, value in values(found) if value == "A"} == set(columns)


def test_the_column_compared_is_found_among_many_that_hold_the_text() -> None:
    stored = {ColumnRef("many", f"c{number}"): ["A"] for number in range(30)} | {GRADE: ["A"]}
    found = retrieved(["A"], evidence="passed: grade = 'A'", stored=stored)
    assert values(found) == {(GRADE, "A")}


def test_the_paper_keeps_the_nearest_spelling_of_a_column_and_text() -> None:
    found = retrieved(["Fresno county"])
    assert (COUNTY, "Fresno County") in values(found)
    assert (COUNTY, "Fresno County Office") not in values(found)
    assert (CITY, "Fresno") in values(found)  # for the prefix "Fresno"
    stored = {CITY: ["late schooling", "late schoolhouse"]}
    alike = RetrieveEntities(least_meaning=0.7)
    found = retrieved(["late schools"], alike, stored=stored)
    assert values(found) == {(CITY, "late schoolhouse")}


def test_meaning_below_its_threshold_is_left_out() -> None:
    step = RetrieveEntities(least_meaning=1.01)
    stored = {CITY: ["late schooling"]}
    assert values(retrieved(["late schools"], step, stored=stored)) == set()
    lower = replace(step, least_meaning=0.4)
    assert values(retrieved(["late schools"], lower, stored=stored)) == {(CITY, "late schooling")}


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
    towns = [f"Town {chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(LIMIT + 5)]
    assert len(retrieved(towns, stored={CITY: towns}).values) == LIMIT


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


ORDERS = Schema(
    "x",
    (
        Table("countries", (Column("country_name", "TEXT"), Column("town", "TEXT"))),
        Table("orders", (Column("currency", "TEXT"), Column("bank", "TEXT"), Column("noted"))),
    ),
)
COUNTRY, TOWN = ColumnRef("countries", "country_name"), ColumnRef("countries", "town")
CURRENCY, BANK = ColumnRef("orders", "currency"), ColumnRef("orders", "bank")
NOTED = ColumnRef("orders", "noted")
HELD = {
    COUNTRY: ["Germany", "France", "Georgia", "Austria", "Australia"],
    TOWN: ["Hamburg", "New York", "Newark", "Homburg Park", "Ordersville", "Town"],
    CURRENCY: ["EUR", "USD", "GBP"],
    BANK: ["Deutsche Bank", "Dresdner Bank", "Nullmeier Bank"],
    NOTED: ["14.592", "2014-05-03", "592", "1.592", "Hall 592", "Null"],
}


def spotted(keywords: Sequence[str], text: str = "?", **options: Any) -> set[str]:
    """What the step finds with the embedded model."""
    index = memory_value_index(
        [ColumnValues(ref, [(value, 1) for value in values]) for ref, values in HELD.items()]
    )
    database: Any = None
    workspace = Workspace(database, ORDERS, index, None)
    state = State(Question(text), SchemaView(ORDERS), keywords=tuple(keywords))
    context = Context(workspace, Run(), {"embedder": load("embedder")})
    return {match.value for match in RetrieveEntities(**options)(state, context).values}


@pytest.mark.parametrize(
    ("keywords", "value"),
    [
        (["Germny", "France"], "Germany"),
        (["germny"], "Germany"),
        (["Hambrug"], "Hamburg"),
        (["customers in Hambrug"], "Hamburg"),
        (["New Yrok"], "New York"),
        (["Deutsche Bnk"], "Deutsche Bank"),
        (["euro"], "EUR"),
        (["'Austrlaia'"], "Australia"),
    ],
)
def test_a_misspelt_value_is_found(keywords: list[str], value: str) -> None:
    found = spotted(keywords)
    assert value in found
    assert found <= {value, "France"}


@pytest.mark.parametrize(
    ("keywords", "text", "found"),
    [
        (["592"], "Which have 592?", {"592"}),
        (["2014"], "How many in 2014?", set()),
        (["in 2014", "of 2014"], "How many in 2014? Or of 2014?", set()),
        (["2014 - noted", "2014 - bank"], "2014 - noted", set()),
        (["May 2014"], "How many in May 2014?", set()),
        (["Hall 592"], "Who was in Hall 592?", {"Hall 592"}),
        (["05-03"], "05-03?", set()),
        (["orders", "towns", "Country Name"], "How many orders do towns have?", set()),
        (["null"], "noted is null", set()),
        (["noted! = null", "is not null"], "noted! = null", set()),
        (["null"], "noted is 'null'", {"Null"}),
        (["town"], "Who lives in 'Town'?", {"Town"}),
        (["Town"], "Who lives in Town?", {"Town"}),
    ],
)
def test_no_junk(keywords: list[str], text: str, found: set[str]) -> None:
    assert spotted(keywords, text) == found


def test_the_parts_of_a_text_that_is_stored_are_not_looked_for() -> None:
    assert spotted(["Deutsche Bank"]) == {"Deutsche Bank"}
    assert "Dresdner Bank" in spotted(["Bank of Dresden"], least_meaning=0.5)


YEARS = {
    "released": ColumnProfile({"integer": 40}, 40, distinct=30, minimum=1999, maximum=2020),
    "season_year": ColumnProfile(
        {"integer": 9}, 9, distinct=2, minimum=0, maximum=2014, frequent=((2014, 7), (0, 2))
    ),
    "price": ColumnProfile({"integer": 40}, 40, distinct=30, minimum=5, maximum=9_999),
    "id": ColumnProfile({"integer": 40}, 40, distinct=40, minimum=1980, maximum=2019),
    "said": ColumnProfile({"text": 40}, 40, distinct=30, minimum="1", maximum="9"),
}
FILMS = Schema("x", (Table("films", tuple(Column(name) for name in YEARS), primary_key=("id",)),))
FILM_CATALOG = Catalog(
    FILMS, columns={ColumnRef("films", name): about for name, about in YEARS.items()}
)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Which films are of 2014?", {"released", "season_year"}),
        ("Films between 2001 and 2010?", {"released"}),
        ("Films since 1998?", set()),
        ("Which films sold 2014 copies?", {"season_year"}),
        ("Films of 2014-05-03, flat 2014/7, 12,014 and 2014.5?", set()),
    ],
)
def test_a_year_points_at_columns_of_years(text: str, columns: set[str]) -> None:
    found = years_in(Question(text), SchemaView(FILMS), FILM_CATALOG)
    assert {match.column.column for match in found} == columns
    for match in found:
        assert match.span is not None
        assert text[slice(*match.span)] == match.value
        assert match.row_count == (7 if match.column.column == "season_year" else None)
    assert years_in(Question(text), SchemaView(FILMS), None) == []


@pytest.mark.parametrize(
    ("keywords", "texts"),
    [
        (["a big city"], ["a big city", "big city", "a big", "city"]),
        (["status = 'open'"], ["status", "open"]),
        (["(K-12)"], ["K-12"]),
        (["A"], ["A"]),
        (["the", " ", ""], []),
        (["Oakland", "oakland"], ["Oakland"]),
        (["2026 - born"], ["2026", "2026 -"]),
        (["AC - DC"], ["AC - DC", "AC", "AC -", "- DC", "DC"]),
    ],
)
def test_what_is_searched_for(keywords: list[str], texts: list[str]) -> None:
    phrases = looked_up(keywords, Question("?"), frozenset({("born",)}))
    assert sorted(phrase.text for phrase in phrases) == sorted(texts)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("Discontinued = 0", True),
        ("status = 'Open'", True),
        ("UnitPrice * Quantity * (1 - Discount)", True),
        ("Unit Price * `Quantity`", True),
        ("2026 - born", True),
        ("SUM(Quantity)", True),
        ("100.0 * COUNT(CASE WHEN Discount > 0 THEN 1 END)", True),
        ("AC - DC", False),
        ("born", False),
        ("Mercury (born)", False),
        ("AC/DC", False),
        ("2026", False),
        ("2026-05-03", False),
        ("Quantity-2", False),
        ("--", False),
        ("-- born", False),
    ],
)
def test_a_formula_is_known_by_its_operators_and_what_stands_around_them(
    text: str, formula: bool
) -> None:
    names = frozenset({("born",), ("unit", "price"), ("quantity",), ("discount",)})
    assert is_formula(text, names) == formula


def test_formulas_are_not_among_what_was_looked_up() -> None:
    state = retrieved(["city = 'Oakland'", "Oaklnad", "2026 - city", "AC - DC"])
    assert state.searched == ("Oaklnad", "AC - DC")


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


@pytest.mark.parametrize(
    ("keywords", "columns"),
    [
        (["email"], ["email_address"]),
        (["emails"], ["email_address"]),
        (["countries"], ["Country"]),
        (["state"], ["state_province_county"]),
        (["all states and provinces"], ["state_province_county"]),
        (["email = 'x'"], ["email_address"]),
        (["name"], []),
        (["wage"], []),
    ],
)
def test_columns_by_a_part_of_their_name(keywords: list[str], columns: list[str]) -> None:
    names = ("email_address", "Country", "state_province_county", "firstName", "wager_id")
    view = SchemaView(Schema("x", (Table("people", tuple(map(Column, names))),)))
    found = similar_columns(keywords, view)
    assert [link.column.column for link in found] == columns


def test_of_equally_similar_columns_those_of_a_named_table_then_rare_names_come_first() -> None:
    tables = tuple(Table(name, (Column("name"), Column(f"{name}_no"))) for name in ("a1", "pets"))
    view = SchemaView(Schema("x", tables))
    named = similar_columns(["name", "pet"], view)
    assert [str(link.column) for link in named] == ["pets.name", "a1.name", "pets.pets_no"]
    rare = similar_columns(["name", "a1_no"], view)
    assert [str(link.column) for link in rare] == ["a1.a1_no", "a1.name", "pets.name"]


def test_hidden_columns_are_not_found() -> None:
    assert not similar_columns(["grade"], SchemaView(SCHEMA).narrowed([CITY]))


def test_the_step_finds_columns_too() -> None:
    assert [link.column for link in retrieved(["the grade"]).similar_columns] == [GRADE]
