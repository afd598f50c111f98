"""Which stored values a question names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sqlwright.errors import Cancelled
from sqlwright.indexes.values import ColumnValues, DiskValueIndex, memory_value_index
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval, phrases_of, retrieve_values
from sqlwright.types import Question, State

CONTINENT = ColumnRef("continents", "Continent")
COUNTRY = ColumnRef("countries", "Name")
CITY = ColumnRef("cities", "Name")
PERSON = ColumnRef("people", "last_name")
GRADE = ColumnRef("exams", "grade")
YEAR = ColumnRef("cars", "Year")
TITLE = ColumnRef("films", "title")

STORED = {
    CONTINENT: ["asia", "europe", "america"],
    COUNTRY: ["Italy", "Canada", "Germany", "United States", "Côte d'Ivoire"],
    CITY: ["New York", "Köln", "San Jose", "Newark", "London"],
    PERSON: ["York", "O'Brien", "Smith", "Price", "James"],
    GRADE: ["A", "A+", "B", "I", "no"],
    YEAR: ["2014", "2015", "300"],
    TITLE: ["The Lord of the Rings", "Who", "San Jose State University", "Study Room"],
}


@pytest.fixture(scope="module")
def index() -> DiskValueIndex:
    return memory_value_index(
        [ColumnValues(column, [(text, 1) for text in texts]) for column, texts in STORED.items()]
    )


def values(index: DiskValueIndex, text: str) -> list[str]:
    return [match.value for match in retrieve_values(Question(text), index)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many people live in New York?", ["New York"]),
        ("How many people live in new york?", ["New York"]),
        ("Which people live in Koln?", ["Köln"]),
        ("List the Asian countries.", ["asia"]),
        ("Which European cars are fast?", ["europe"]),
        ("Show all Italian restaurants", ["Italy"]),
        ("Find O'Brien's address", ["O'Brien"]),
        ("What is Smith's phone number?", ["Smith"]),
        ("cars built in 2014", ["2014"]),
        ("cars built in 2016", []),
        ("Who directed The Lord of the Rings?", ["The Lord of the Rings"]),
        ("Dorms that have study rooms", ["Study Room"]),
        ("students of San Jose State", ["San Jose", "San Jose State University"]),
        ("How many exams have grade A?", ["A"]),
        ("a list of all exams", []),
        ("How can I find an exam?", []),
        ("exams with grade 'b'", ["B"]),
        ("exams with grade A+", ["A+"]),
        ("what are the names of films?", []),
        ("films called 'Who'", ["Who"]),
        ("cities in Cote d'Ivoire", ["Côte d'Ivoire"]),
        ("cities in the United State", ["United States"]),
        ("", []),
        ("?", []),
        ("the of and", []),
    ],
)
def test_finds_what_is_named_and_nothing_else(
    index: DiskValueIndex, text: str, expected: Sequence[str]
) -> None:
    assert values(index, text) == list(expected)


def test_a_match_names_its_phrase_and_place(index: DiskValueIndex) -> None:
    text = "Is Köln larger than 'new york'?"
    matches = retrieve_values(Question(text), index)
    assert {(m.value, m.phrase, m.span) for m in matches} == {
        ("Köln", "Köln", (3, 7)),
        ("New York", "new york", (21, 29)),
    }
    assert all(text[slice(*m.span)] == m.phrase for m in matches if m.span)
    assert all(m.score == 1.0 and m.row_count == 1 for m in matches)


def test_a_look_alike_scores_below_equality(index: DiskValueIndex) -> None:
    (match,) = retrieve_values(Question("Asian countries"), index)
    assert 0 < match.score < 1


def test_a_longer_equal_phrase_beats_a_shorter_one(index: DiskValueIndex) -> None:
    assert values(index, "flights to New York") == ["New York"]
    assert values(index, "flights to new york") == ["New York"]


def test_a_name_stays_beside_the_same_name_with_an_everyday_word() -> None:
    county = ColumnValues(ColumnRef("wine", "county"), [("Sonoma", 2)])
    area = ColumnValues(ColumnRef("area", "title"), [("Sonoma County", 1), ("Sonoma", 1)])
    found = retrieve_values(Question("wines of Sonoma county"), memory_value_index([county, area]))
    assert [(m.value, m.column) for m in found] == [
        ("Sonoma County", area.column),
        ("Sonoma", county.column),
    ]


def test_limits(index: DiskValueIndex) -> None:
    text = "New York, London, Newark, Köln, Smith, James, 2014, 2015"
    assert len(retrieve_values(Question(text), index, limit=3)) == 3
    assert len(values(index, text)) >= 8


def test_quoted_text_is_one_phrase() -> None:
    phrases = {phrase.text: phrase.quoted for phrase in phrases_of("films like 'the of'")}
    assert phrases["the of"]
    double = {
        phrase.text for phrase in phrases_of('called "Who\'s Next?" or “Who”') if phrase.quoted
    }
    assert double == {"Who's Next?", "Who"}


def test_an_apostrophe_opens_no_quotation() -> None:
    assert not any(phrase.quoted for phrase in phrases_of("Bob's and Ann's dogs don't bark"))


def test_long_questions_stay_bounded() -> None:
    assert len(phrases_of("word " * 2000)) <= 12_000


def context(index: DiskValueIndex, run: Run) -> Context:
    return Context(
        Workspace(database=None, schema=Schema("x", ()), values=index, catalog=None), run
    )  # type: ignore[arg-type]


def test_the_step_fills_values_and_nothing_else(index: DiskValueIndex) -> None:
    state = State(Question("cities in Italy"), SchemaView(Schema("x", ())))
    step = ValueRetrieval()
    after = step(state, context(index, Run()))
    assert [m.value for m in after.values] == ["Italy"]
    assert after.evolve(values=()) == state
    assert (step.reads, step.writes) == ({"question"}, {"values"})


def test_the_step_stops_when_the_run_has(index: DiskValueIndex) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        ValueRetrieval()(State(Question("x"), SchemaView(Schema("x", ()))), context(index, run))
