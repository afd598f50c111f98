from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from training.embedded.critic.train import DECIDING, OF_BEAM

import sqlwright
from sqlwright.candidates import facts_of
from sqlwright.errors import ModelUnavailable
from sqlwright.local.critic.critic import Critic, Network, Networks, lenient
from sqlwright.local.critic.families.shown_and_compared import Shapes, comparison_features
from sqlwright.local.critic.families.wording import form_features
from sqlwright.local.critic.families.zones import Zones
from sqlwright.local.critic.features import (
    Features,
    Order,
    candidate_features,
    result_features,
    tables_of,
)
from sqlwright.local.critic.measures import MEASURED, MEASURES, OF_QUERY
from sqlwright.local.critic.parts import Parts, parts_of
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.question.schema import SchemaCache
from sqlwright.local.question.support import senses, support
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, SchemaView, Table
from sqlwright.sql.reading import read_facts
from sqlwright.types import (
    Candidate,
    ExecutionError,
    ExecutionResult,
    Note,
    Question,
    State,
    TableLink,
    ValueMatch,
)
from tests.local.linker.test_linker import MUSIC

WEIGHTS = Path(sqlwright.__file__).parent / "local" / "weights"


def candidate(sql: str, *rows: tuple[object, ...], score: float = -1.0) -> Candidate:
    result = ExecutionResult(("x",), rows)  # type: ignore[arg-type]
    return Candidate(sql, "test", score=score, result=result)


def state(text: str, *values: ValueMatch) -> State:
    return State(Question(text), SchemaView(MUSIC), values=values)


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder.load(WEIGHTS)


def described(asked: State, pool: list[Candidate], static: StaticEmbedder) -> list[Features]:
    """Features with static vectors in the encoder's place."""
    arrays = SchemaCache(static, static).encode(MUSIC)
    found = support(asked.question, arrays, asked.values, static)
    names = [table.name for table in MUSIC.tables]
    zones = Zones(asked.question.text, found, arrays, asked.values, MUSIC.columns)
    alike = senses(found, arrays, MUSIC.columns, names)
    return candidate_features(asked, pool, found, alike, zones)


@pytest.fixture(scope="module")
def critic() -> Critic:
    return Critic.load(WEIGHTS)


@pytest.mark.parametrize(
    ("rows", "feature"),
    [
        ((), "no rows"),
        (((None,), (None,)), "only null"),
        (((3,),), "one cell"),
        (((0,),), "zero"),
        (((1,), (1,)), "same rows"),
    ],
)
def test_results_are_described(rows: tuple[tuple[object, ...], ...], feature: str) -> None:
    told = result_features(ExecutionResult(("x",), rows))  # type: ignore[arg-type]
    assert told[feature] == 1.0
    assert result_features(ExecutionResult(("x",), ((1,), (2,))))[feature] == 0.0


def test_an_error_and_no_run_are_told_apart() -> None:
    failed = ExecutionResult(error=ExecutionError("timeout", "too slow"))
    assert result_features(failed)["timeout"] == result_features(failed)["error"] == 1.0
    assert result_features(None)["not run"] == 1.0
    assert result_features(None)["error"] == 0.0


def parts(sql: str, schema: Schema) -> Parts:
    facts = read_facts(sql, schema)
    assert facts is not None
    return parts_of(facts)


FORMS = Schema(
    "forms",
    (
        Table("singer", (Column("id"), Column("name"), Column("age"), Column("country"))),
        Table("t", tuple(map(Column, ("a", "b", "m", "n", "y", "age", "name", "city")))),
    ),
)


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("How many singers?", "SELECT COUNT(*) FROM singer", "count kept"),
        ("How many singers?", "SELECT name FROM singer", "count lost"),
        ("Name the singers", "SELECT COUNT(*) FROM singer", "count made up"),
        ("The oldest singer", "SELECT name FROM singer ORDER BY age DESC LIMIT 1", "most kept"),
        ("The youngest singer", "SELECT name FROM singer ORDER BY age LIMIT 1", "least kept"),
        ("Singers at least 30 years old", "SELECT 1 FROM singer WHERE age >= 30", "greater kept"),
        (
            "Singers who never sang",
            "SELECT a FROM t WHERE b NOT IN (SELECT 1)",
            "not kept",
        ),
        ("Singers per country", "SELECT country FROM singer GROUP BY country", "each kept"),
        ("Top 3 singers", "SELECT name FROM singer ORDER BY age DESC LIMIT 5", "limit unasked"),
    ],
)
def test_forms_of_question_and_query_are_compared(asked: str, sql: str, feature: str) -> None:
    assert form_features(asked, parts(sql, FORMS))[feature] == 1.0


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("Phones with memory above 64", "SELECT a FROM t WHERE m < 64", "compared wrongly"),
        ("Singers aged 30 or more", "SELECT a FROM t WHERE age < 30", "compared wrongly"),
        ("At least 3 songs", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 3", "bound in doubt"),
        ("More than 3 songs", "SELECT a FROM t GROUP BY a HAVING COUNT(*) >= 3", "bound in doubt"),
        ("Launched in 2002", "SELECT a FROM t WHERE y > 2002", "compared unasked"),
        ("Fewer than 5 shows", "SELECT a FROM t WHERE n = 5", "comparison lost"),
        ("At least two songs", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 2", "bound in doubt"),
        ("Visited at most once", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1",
         "compared wrongly"),
    ],
)  # fmt: skip
def test_comparisons_are_held_against_the_question(asked: str, sql: str, feature: str) -> None:
    assert comparison_features(asked, parts(sql, FORMS))[feature] == 1.0


@pytest.mark.parametrize(
    ("asked", "sql"),
    [
        ("Phones with memory above 64", "SELECT a FROM t WHERE m > 64"),
        ("Singers aged 30 or more", "SELECT a FROM t WHERE age >= '30'"),
        ("No more than 5 shows", "SELECT a FROM t WHERE n <= 5"),
        ("Years between 1990 and 1999", "SELECT a FROM t WHERE y >= 1990 AND y < 2000"),
        ("Launched in 2002", "SELECT a FROM t WHERE y = 2002"),
        ("The top 3", "SELECT a FROM t ORDER BY b DESC LIMIT 3"),
    ],
)
def test_a_comparison_that_fits_counts_nothing(asked: str, sql: str) -> None:
    assert not any(comparison_features(asked, parts(sql, FORMS)).values())


SHOP = Schema(
    "shop",
    (
        Table("maker", (Column("code", "INT"), Column("name", "TEXT")), ("code",)),
        Table(
            "goods", (Column("id", "INT"), Column("maker", "INT"), Column("parts", "INT")), ("id",)
        ),
    ),
    (ForeignKey("goods", ("maker",), "maker", ("code",)),),
)


@pytest.mark.parametrize(
    ("asked", "sql", "told"),
    [
        (
            "How many goods are there for each maker?",
            "SELECT COUNT(*), maker FROM goods GROUP BY maker",
            {"foreign keys shown": 1.0, "named tables left": 1.0, "grouped by foreign key": 1.0},
        ),
        (
            "How many goods are there for each maker?",
            "SELECT COUNT(*), maker.name FROM goods JOIN maker ON goods.maker = maker.code "
            "GROUP BY maker.name",
            {"foreign keys shown": 0.0, "named tables used": 2.0, "named tables left": 0.0},
        ),
        (
            "Which goods sell most?",
            "SELECT id FROM goods GROUP BY id ORDER BY COUNT(*) DESC LIMIT 1",
            {"grouped by lone key": 1.0, "groups counted": 1.0, "keys shown unasked": 1.0},
        ),
        (
            "Names of makers by their goods",
            "SELECT maker.name FROM maker JOIN goods ON 1 GROUP BY goods.id",
            {"grouped elsewhere": 1.0},
        ),
        (
            "How many parts does it have?",
            "SELECT COUNT(*) FROM goods",
            {"named number left": 1.0, "named number used": 0.0},
        ),
        (
            "How many parts does it have?",
            "SELECT SUM(parts) FROM goods",
            {"named number left": 0.0, "named number used": 1.0},
        ),
    ],
)
def test_what_is_shown_and_grouped_is_held_against_the_schema(
    asked: str, sql: str, told: dict[str, float]
) -> None:
    used = [
        ColumnRef(table.name, column.name)
        for table in SHOP.tables
        if f" {table.name} " in f"{sql} "
        for column in table.columns
        if re.search(rf"\b{column.name}\b", sql)
    ]
    one = replace(candidate(sql), columns=tuple(used))
    tables = tables_of(one, read_facts(sql, SHOP))
    found = Shapes(asked, SHOP).features(parts(sql, SHOP), used, tables)
    assert {name: found[name] for name in told} == told


@pytest.mark.parametrize("sql", ["", "nonsense (((", "DELETE FROM t", "VALUES (1)"])
def test_a_query_that_cannot_be_read_counts_as_nothing(sql: str, static: StaticEmbedder) -> None:
    (one,) = described(state("How many singers are there?"), [candidate(sql)], static)
    assert not any(one[name] for name in OF_QUERY)


def test_numbers_and_asked_items_are_counted() -> None:
    described = form_features(
        "Show the name and age of three singers", parts("SELECT name FROM t", FORMS)
    )
    assert described["numbers lost"] == 1.0
    assert described["items too few"] == 1.0
    top = form_features("Top three", parts("SELECT 1 FROM t LIMIT 3", FORMS))
    assert top["numbers lost"] == 0.0


def test_tables_are_found_in_the_query_and_its_columns() -> None:
    used = replace(
        candidate('SELECT 1 FROM "singer" JOIN concert ON 1'),
        columns=(ColumnRef("stadium", "capacity"),),
    )
    assert tables_of(used, facts_of(used, MUSIC)) == {"singer", "concert", "stadium"}


def test_candidates_with_the_same_result_share_their_mass(static: StaticEmbedder) -> None:
    asked = state("How many singers are there?")
    pool = [candidate("a", (1,)), candidate("b", (2,)), candidate("c", (1,))]
    first, second, third = described(asked, pool, static)
    assert first["agreement"] == pytest.approx(third["agreement"])
    assert first["agreement"] == pytest.approx(2 / 3)
    assert second["agreement"] == pytest.approx(1 / 3)
    assert first.keys() == second.keys() == third.keys()
    assert all(np.isfinite(value) for value in first.values())


@pytest.mark.parametrize("score", [float("-inf"), float("nan"), 1e9, -1e9])
def test_any_score_of_an_author_gives_finite_features(static: StaticEmbedder, score: float) -> None:
    asked = state("How many singers are there?")
    (one,) = described(asked, [candidate("a", (1,), score=score)], static)
    assert all(np.isfinite(value) for value in one.values())


def test_a_common_word_that_some_value_holds_is_explained_by_chance_only(
    static: StaticEmbedder,
) -> None:
    arrays = SchemaCache(static, static).encode(MUSIC)
    hit = ValueMatch("blood", ColumnRef("concert", "title"), "Blood", 1.0, 1, (9, 14))
    found = support(Question("Show the blood of each singer"), arrays, (hit,), static)
    assert found.by_value.max() == 1.0
    assert found.missing() == ("blood",)


def test_words_nothing_explains_are_named(static: StaticEmbedder) -> None:
    arrays = SchemaCache(static, static).encode(MUSIC)
    text = "What is the horsepower of each singer in Wembley?"
    hit = ValueMatch("Wembley", ColumnRef("stadium", "location"), "Wembley", 1.0, 1, (41, 48))
    assert text[41:48] == "Wembley"
    assert support(Question(text), arrays, (hit,), static).missing() == ("horsepower",)
    assert "wembley" in support(Question(text), arrays, (), static).missing()


@pytest.mark.parametrize(
    "text", ["Which stadiums opened in 2010?", "How many concerts correspond to each singer?"]
)
def test_a_turn_that_any_question_may_hold_is_not_missing(
    static: StaticEmbedder, text: str
) -> None:
    arrays = SchemaCache(static, static).encode(MUSIC)
    assert support(Question(text), arrays, (), static).missing() == ()


def test_such_a_turn_still_counts_where_a_name_explains_it(static: StaticEmbedder) -> None:
    schema = Schema("towns", (Table("town", (Column("name"), Column("opened"))),))
    arrays = SchemaCache(static, static).encode(schema)
    found = support(Question("Which town opened first?"), arrays, (), static)
    assert "opened" in [token.text for token in found.tokens]


def test_a_network_follows_its_weights_and_calibration() -> None:
    layers = ((np.array([[1.0], [-2.0]], np.float32), np.array([0.5], np.float32)),)
    network = Network(
        Order(("a", "b")), np.zeros(2, np.float32), np.ones(2, np.float32), (layers,), 2.0, -1.0
    )
    described = [{"a": 1.0, "b": 0.25}, {"a": 0.0, "b": 3.0}]
    assert network.logits(described) == pytest.approx([1.0, -5.0 + 0.0 - 0.5])
    assert network.probabilities(described)[0] == pytest.approx(1 / (1 + np.exp(-1.0)))
    assert len(network.probabilities([])) == 0
    with pytest.raises(KeyError):
        network.logits([{"b": 3.0}])


def test_the_weights_expect_the_features_of_the_table(static: StaticEmbedder) -> None:
    data = json.loads((WEIGHTS / "critic.json").read_text(encoding="utf-8"))
    expected = {
        name for kind in ("ranking", "right", "answerable") for name in data[kind]["features"]
    }
    assert expected == set(MEASURES)
    assert set(DECIDING) | OF_BEAM <= set(MEASURES)
    pool = [candidate("SELECT COUNT(*) FROM singer", (5,)), candidate("VALUES (1)", (1,))]
    for one in described(state("How many singers are there?"), pool, static):
        assert set(one) == set(MEASURED)


def test_errors_agree_with_nothing_and_columns_may_stand_in_any_order(
    static: StaticEmbedder,
) -> None:
    failed = ExecutionResult(error=ExecutionError("sql", "no such table"))
    pool = [replace(candidate(sql), result=failed) for sql in "ab"]
    swapped = [ExecutionResult(("x", "y"), rows) for rows in (((1, "a"),), (("a", 1),))]
    pool += [replace(candidate(sql), result=one) for sql, one in zip("cd", swapped, strict=True)]
    told = described(state("How many singers are there?"), pool, static)
    assert [one["agreeing"] for one in told] == [0.25, 0.25, 0.5, 0.5]


def weighing(**weights: float) -> Network:
    """One linear layer over features by name, `_` standing for a blank."""
    names = tuple(name.replace("_", " ") for name in weights)
    layer = (np.array([[w] for w in weights.values()], np.float32), np.zeros(1, np.float32))
    count = len(names)
    return Network(
        Order(names), np.zeros(count, np.float32), np.ones(count, np.float32), ((layer,),)
    )


@pytest.mark.parametrize(("fits", "best"), [(3.0, 1), (0.0, 0)])
def test_the_ranking_decides_and_no_other_is_held_as_probable(
    static: StaticEmbedder, fits: float, best: int
) -> None:
    networks = Networks(
        ranking=weighing(score=1.0, count_kept=fits),
        right=weighing(no_rows=1.0),
        answerable=weighing(right=1.0),
    )
    critic = Critic(static, static, networks, refuse_below=0.5)
    listed = candidate("SELECT name FROM singer", ("Ann",), score=-1.0)
    counted = candidate("SELECT COUNT(*) FROM singer", (5,), score=-2.0)
    judged = critic.assess(state("How many singers are there?"), [listed, counted]).probabilities
    assert judged.index(max(judged)) == best
    assert judged[best] == pytest.approx(0.5)
    assert judged[1 - best] < judged[best]


def test_judgements_are_probabilities_in_the_order_given(critic: Critic) -> None:
    asked = state("How many singers are there?")
    good = candidate("SELECT COUNT(*) FROM singer", (5,), score=-0.1)
    poor = candidate("SELECT name FROM stadium", (None,), score=-6.0)
    judged = critic.assess(asked, [poor, good]).probabilities
    assert len(judged) == 2
    assert all(0.0 <= p <= 1.0 for p in judged)
    assert judged[1] > judged[0]
    assert critic.assess(asked, []).probabilities == ()


def test_an_unanswerable_question_is_less_answerable_and_its_words_are_missing(
    critic: Critic,
) -> None:
    pool = [candidate("SELECT COUNT(*) FROM singer", (5,), score=-0.1)]
    good = critic.assess(state("How many singers are there?"), pool)
    odd = state("What is the horsepower of my dishwasher?").evolve(
        tables=(TableLink("singer", 0.1), TableLink("stadium", 0.05))
    )
    bad = critic.assess(odd, [replace(pool[0], score=-4.0)])
    assert bad.answerable < good.answerable
    assert {"horsepower", "dishwasher"} <= set(bad.missing)


@pytest.mark.parametrize("content", ["", "{}", '{"right": 1}', "not json"])
def test_damaged_weights_say_so(content: str, tmp_path: Path) -> None:
    (tmp_path / "critic.json").write_text(content)
    with pytest.raises(ModelUnavailable, match="critic"):
        Critic.load(tmp_path)


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("After 2015", "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 2015", "year as count"),
        ("Average price", "SELECT AVG(a) FROM t ORDER BY a LIMIT 1", "aggregate ordered"),
        ("Per city", "SELECT t.city, COUNT(*) FROM t GROUP BY t.city", "group shown"),
        ("Per city", "SELECT COUNT(*) FROM t GROUP BY t.city", "group hidden"),
        ("Sorted by name", "SELECT a FROM t", "ordered in words"),
    ],
)
def test_odd_shapes_are_noticed(asked: str, sql: str, feature: str) -> None:
    assert form_features(asked, parts(sql, FORMS))[feature] == 1.0
    assert form_features("Name them", parts("SELECT name FROM t", FORMS))[feature] == 0.0


def test_a_joined_table_that_gives_nothing_is_idle(static: StaticEmbedder) -> None:
    asked = state("Where are the stadiums?")
    plain = replace(
        candidate("SELECT location FROM stadium"), columns=(ColumnRef("stadium", "location"),)
    )
    joined = replace(plain, sql="SELECT location FROM stadium JOIN concert ON 1")
    without, idle = described(asked, [plain, joined], static)
    assert (without["idle tables"], idle["idle tables"]) == (0.0, 1.0)


def test_where_every_word_is_explained_nothing_is_refused() -> None:
    assert lenient(0.1, missing=True) == 0.1
    assert lenient(0.1, missing=False) == 1.0


def test_the_critic_counts_what_machine_checks_found_and_no_other_note(
    static: StaticEmbedder,
) -> None:
    plain = candidate("SELECT COUNT(*) FROM singer", (5,))
    found = replace(plain, warnings=(Note("fan_out", "twice"), Note("replaced", "Ann for Anne")))
    told = replace(plain, warnings=(Note("date", "read as 2026"), Note("model", "left out")))
    counts = [
        one["warned"] for one in described(state("How many singers?"), [plain, found, told], static)
    ]
    assert counts == [0.0, 2.0, 0.0]
