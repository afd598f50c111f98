"""Which stored values a question names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sqlwright.english.words import part_of
from sqlwright.errors import Cancelled
from sqlwright.indexes.values.index import ColumnValues, DiskValueIndex, memory_value_index
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.steps.retrieval.other_forms.within import held_within
from sqlwright.steps.retrieval.values import (
    LIMIT,
    OTHER_FORM,
    SAME,
    ValueRetrieval,
    phrases_of,
    retrieve_values,
)
from sqlwright.types import Question, State, ValueMatch
from sqlwright.types.results import WITHIN

CONTINENT = ColumnRef("continents", "Continent")
COUNTRY = ColumnRef("countries", "Name")
CITY = ColumnRef("cities", "Name")
PERSON = ColumnRef("people", "last_name")
GRADE = ColumnRef("exams", "grade")
YEAR = ColumnRef("cars", "Year")
TITLE = ColumnRef("films", "title")
KIND = ColumnRef("tickets", "kind")

STORED = {
    CONTINENT: ["asia", "europe", "america"],
    COUNTRY: ["Italy", "Canada", "Germany", "United States", "Côte d'Ivoire"],
    CITY: ["New York", "Köln", "San Jose", "Newark", "London"],
    PERSON: ["York", "O'Brien", "Smith", "Price", "James"],
    GRADE: ["A", "A+", "B", "I", "no"],
    YEAR: ["2014", "2015", "300"],
    KIND: ["child", "wife", "bus", "company", "movie"],
    TITLE: ["The Lord of the Rings", "Who", "San Jose State University", "Study Room"],
}


ZIP = ColumnRef("people", "zip_code")
STORED[ZIP] = ["2010", "8001"]


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
        ("tickets for children", ["child"]),
        ("tickets for wives", ["wife"]),
        ("tickets for buses", ["bus"]),
        ("tickets of companies", ["company"]),
        ("tickets for movies", ["movie"]),
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


OTHER_FORMS = {
    ColumnRef("stores", "state"): ["CA", "FL", "WA"],
    ColumnRef("offices", "province"): ["California", "Ontario"],
    ColumnRef("shops", "province"): ["QC"],
    ColumnRef("suppliers", "country"): ["Netherlands", "USA", "United Kingdom", "Canada"],
    ColumnRef("drivers", "nationality"): ["French", "Danish"],
    ColumnRef("circuits", "country"): ["Denmark"],
    ColumnRef("airlines", "iata"): ["CA", "FL", "NL"],
    ColumnRef("airlines", "callsign"): ["CANADIAN"],
    ColumnRef("students", "sex"): ["F", "M"],
    ColumnRef("teachers", "kind"): ["F", "M"],
    ColumnRef("exams", "grade"): ["A", "B", "F"],
    ColumnRef("courses", "dept"): ["Comp. Sci.", "Physics"],
    ColumnRef("staff", "rank"): ["AsstProf"],
    ColumnRef("flights", "origin"): ["Los Angeles"],
    ColumnRef("concerts", "month"): ["Aug", "May"],
}


@pytest.fixture(scope="module")
def coded() -> DiskValueIndex:
    return memory_value_index(
        ColumnValues(column, [(text, 1) for text in texts]) for column, texts in OTHER_FORMS.items()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("stores in Florida", {"stores.state FL"}),
        ("how many stores are in California?", {"offices.province California", "stores.state CA"}),
        (
            "offices in ON or CA",
            {"stores.state CA", "airlines.iata CA", "offices.province Ontario"},
        ),
        ("shops in Québec", {"shops.province QC"}),
        ("ships from the US", {"suppliers.country USA"}),
        ("what do they tell us?", set()),
        ("American suppliers", {"suppliers.country USA"}),
        ("list the Dutch suppliers", {"suppliers.country Netherlands"}),
        ("British ships", {"suppliers.country United Kingdom"}),
        ("the drivers from France", {"drivers.nationality French"}),
        # A column of nationalities holds the very word: the country isn't meant.
        ("Danish drivers", {"drivers.nationality Danish"}),
        # The very word is a value elsewhere, but not in a column of countries.
        ("Canadian ports", {"airlines.callsign CANADIAN", "suppliers.country Canada"}),
        ("female students", {"students.sex F", "teachers.kind F"}),
        ("boys in class", {"students.sex M", "teachers.kind M"}),
        ("courses in computer science", {"courses.dept Comp. Sci."}),
        ("the assistant professors", {"staff.rank AsstProf"}),
        ("flights from LA", {"flights.origin Los Angeles"}),
        ("concerts in August", {"concerts.month Aug"}),
        ("what may we see", {"concerts.month May"}),
        ("the china set and the polish on it", set()),
    ],
)
def test_a_value_is_found_by_another_form_of_it(
    coded: DiskValueIndex, text: str, expected: set[str]
) -> None:
    found = retrieve_values(Question(text), coded)
    assert {f"{match.column} {match.value}" for match in found} == expected
    assert all(match.span and text[slice(*match.span)] == match.phrase for match in found)


def test_another_form_scores_below_equality(coded: DiskValueIndex) -> None:
    (match,) = retrieve_values(Question("stores in Florida"), coded)
    assert match == ValueMatch("Florida", match.column, "FL", OTHER_FORM, 1, (10, 17))
    assert OTHER_FORM < SAME


def test_limits(index: DiskValueIndex) -> None:
    text = "New York, London, Newark, Köln, Smith, James, 2014, 2015"
    assert len(values(index, text)) >= 8
    towns = [f"Town {chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(LIMIT + 5)]
    held = ColumnValues(ColumnRef("t", "town"), [(town, 1) for town in towns])
    asked = Question(", ".join(map(repr, towns)))
    assert len(retrieve_values(asked, memory_value_index([held]))) == LIMIT


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
    assert after.evolve(values=(), looked_up=()) == state
    assert (step.reads, step.writes) == ({"question"}, {"values", "looked_up"})


def test_the_step_stops_when_the_run_has(index: DiskValueIndex) -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        ValueRetrieval()(State(Question("x"), SchemaView(Schema("x", ()))), context(index, run))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many people came in 2010?", []),
        ("Who came since 2010", []),
        ("Who lives at zip code 2010?", ["2010"]),
        ("Who lives in '2010'?", ["2010"]),
        ("Who lives in 8001?", ["8001"]),
        ("Cars made in 2014", ["2014"]),
    ],
)
def test_a_year_is_no_postal_code(index: DiskValueIndex, text: str, expected: list[str]) -> None:
    assert [m.value for m in retrieve_values(Question(text), index) if m.score >= 1] == expected


@pytest.mark.parametrize(
    ("phrase", "value", "part"),
    [
        ("hypertension", "Essential hypertension", "hypertension"),
        ("Fractures", "Open fracture of the wrist", "fracture"),
        ("kidney disease", "Chronic kidney disease (stage 2)", "kidney disease"),
        ("asthma", "Asthma", ""),
        ("printer", "Printer on fire", ""),
        ("hip", "he has hurt his hip in the park last week", ""),
    ],
)
def test_a_phrase_is_found_within_a_value(phrase: str, value: str, part: str) -> None:
    assert part_of(phrase, value) == part


@pytest.mark.parametrize(
    ("question", "word", "rows", "found"),
    [
        ("What is the average rate of movies in the film list?", "movies", 1, False),
        ("What does a movie in the film list cost?", "movie", 1, False),
        ("How many films have fractures?", "fractures", 12, True),
        ("Which film is called Movie?", "Movie", 1, True),
    ],
)
def test_things_that_are_asked_for_are_no_part_of_a_name(
    question: str, word: str, rows: int, found: bool
) -> None:
    schema = Schema("s", (Table("film", (Column("title", "TEXT"),)),))
    stored = {"fractures": "Open fracture"}.get(word, "Purple Movie")
    start = question.index(word)
    span = (start, start + len(word))
    match = ValueMatch(word, ColumnRef("film", "title"), stored, 0.9, rows, span)
    assert [*held_within([(word, span)], [[match]], [], question, schema)] == [
        replace(match, score=WITHIN)
    ] * found
