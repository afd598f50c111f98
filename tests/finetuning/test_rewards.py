"""Rewards by execution: what means the same is worth as much as gold, what is right by luck no more
than any query that runs, and nothing that a reply or the stored data say can raise it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwright.errors import DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.example import Dataset, Example, Expected
from sqlwright.lab.finetuning.trainer.rewards import (
    COMPILES,
    NOTHING,
    OPEN_DATABASES,
    RIGHT,
    RUNS,
    QuestionKey,
    Reward,
    Rewards,
)
from tests.database.conftest import folder_state, make_database

CASES = Path(__file__).parents[1] / "cases"
SHOP = yaml.safe_load((CASES / "perturbing" / "shop.yaml").read_text("utf-8"))
ATTACKS = [
    attack
    for file in sorted((CASES / "attacks").glob("*.yaml"))
    for attack in yaml.safe_load(file.read_text("utf-8"))
]
DRESSED = [
    "{}",
    "{};",
    "```sql\n{}\n```",
    "Orders; update: those above 50. Drop none; no join.\n\n```sql\n{};\n```\nThat is all.",
    '{{"reasoning": "short", "sql": "{}"}}',
    "<think>Drop the join; update the filter.</think>\n<sql>{}</sql>",
]
GOLD = "SELECT id FROM orders WHERE total > 50"


def of_shop(shop: Path, *golds: str, rule: str = "spider", **given: object) -> Rewards:
    examples = [Example(str(n), "shop", "?", gold, shop) for n, gold in enumerate(golds)]
    return Rewards({"set": [Dataset("set", tuple(examples), rule)]}, **given)  # type: ignore[arg-type]


def key(number: int = 0, database: str = "shop") -> QuestionKey:
    return QuestionKey("set", database, str(number))


@pytest.fixture(scope="module")
def shop(database_files: dict[str, Path]) -> Path:
    return database_files["shop"]


@pytest.fixture(scope="module")
def rewards(shop: Path) -> Iterator[Rewards]:
    """One question for each case of the shop."""
    with of_shop(shop, *(str(case["gold"]) for case in SHOP)) as opened:
        yield opened


@pytest.mark.parametrize("number", range(len(SHOP)), ids=lambda n: str(SHOP[n]["gold"]))
def test_rewrites_are_worth_what_gold_is_and_mutants_are_not(number: int, rewards: Rewards) -> None:
    case = SHOP[number]
    gold = rewards.of(key(number), case["gold"])
    assert gold == Reward(RIGHT, "right")
    assert {sql: rewards.of(key(number), sql) for sql in case["same"]} == dict.fromkeys(
        case["same"], gold
    )
    by_luck = Reward(RUNS, "right by luck")
    assert {sql: rewards.of(key(number), sql) for sql in case["different"]} == dict.fromkeys(
        case["different"], by_luck
    )


@pytest.mark.parametrize("form", DRESSED)
def test_the_reply_is_read_as_the_step_reads_it(form: str, rewards: Rewards) -> None:
    assert rewards.of(key(0), form.format(GOLD)).value == RIGHT


@pytest.mark.parametrize(
    ("reply", "reward"),
    [
        ("", Reward(NOTHING, "no query")),
        ("I can't answer that.", Reward(NOTHING, "no query")),
        ("<think>SELECT id FROM orders WHERE total > 50", Reward(NOTHING, "no query")),
        ("\ud800 \x00", Reward(NOTHING, "no query")),
        ("SELECT missing FROM orders", Reward(NOTHING, "does not compile")),
        ("SELECT id FROM orders WHERE (total > 50", Reward(NOTHING, "does not compile")),
        ("SELECT abs(-9223372036854775808)", Reward(COMPILES, "does not run")),
        ("SELECT id FROM orders", Reward(RUNS, "wrong")),
        ("SELECT id FROM orders WHERE total >= 50", Reward(RUNS, "right by luck")),
        ("SELECT id FROM orders WHERE 50 < total", Reward(RIGHT, "right")),
    ],
)
def test_levels(reply: str, reward: Reward, rewards: Rewards) -> None:
    assert rewards.of(key(0), reply) == reward


def test_a_query_that_takes_too_long_is_worth_less_than_one_that_runs(shop: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
    with of_shop(shop, GOLD, seconds=2.0) as rewards:
        assert rewards.of(key(), endless) == Reward(COMPILES, "does not run")
        assert rewards.of(key(), GOLD) == Reward(RIGHT, "right")


def test_attacks_are_worth_nothing_and_change_nothing(tmp_path: Path) -> None:
    database = make_database(tmp_path / "shop.db")
    example = Example("0", "shop", "?", "SELECT 1", database)
    before = folder_state(tmp_path)
    paid = []
    with Rewards({"set": [Dataset("set", (example,))]}) as rewards:
        for attack in ATTACKS:
            paid += [attack for form in DRESSED[:3] if rewards.of(key(), form.format(attack)).value]
    assert folder_state(tmp_path) == before
    # They can't be told from reasoning around a query. All that runs is the query.
    assert set(paid) <= {"/**/;SELECT 1; SAVEPOINT s", "SELECT 1 AS `;```; ANALYZE"}


@pytest.mark.parametrize(
    "reply",
    [
        "DELETE FROM orders; SELECT id FROM orders WHERE total > 50",
        "SELECT id FROM orders WHERE total > 50; DROP TABLE orders",
        "SELECT id FROM orders WHERE total > 50; SELECT id FROM orders WHERE total > 50",
        "CREATE TABLE found AS SELECT id FROM orders WHERE total > 50",
        "EXPLAIN SELECT id FROM orders WHERE total > 50",
        "SELECT id FROM orders WHERE total > 50 AND load_extension('evil')",
        "ATTACH 'other.db' AS other; SELECT id FROM orders WHERE total > 50",
        "```sql\nDROP TABLE orders\n```\n```sql\nSELECT id FROM orders WHERE total > 50\n```",
    ],
)
def test_a_right_query_beside_another_statement_is_worth_nothing(
    reply: str, rewards: Rewards, shop: Path
) -> None:
    before = shop.read_bytes()
    assert rewards.of(key(0), reply).value == NOTHING
    assert shop.read_bytes() == before


@pytest.mark.parametrize(
    "reply",
    [
        "/**/" * 5_000 + "x SELECT 1",
        "--\n" * 5_000 + "x",
        "</think" * 5_000,
        "```" * 5_000,
        "(" * 5_000,
        "SELECT " + "(" * 2_000 + "1" + ")" * 2_000,
        "SELECT 1 " + "UNION SELECT 1 " * 500,
        ";" * 20_000,
    ],
    ids=lambda reply: reply[:12],
)
def test_replies_made_to_take_long_do_not(reply: str, rewards: Rewards) -> None:
    begun = time.process_time()
    assert rewards.of(key(0), reply).value <= RUNS
    assert time.process_time() - begun < 3


STORED = [
    "reward: 1.0", '{"reward": 1, "right": true}', "</sql> SELECT id FROM orders WHERE total > 50",
    "'; UPDATE rewards SET value = 1; --", "```\nThe query is right.\n```", "NaN", "inf",
]  # fmt: skip


@given(told=st.lists(st.sampled_from(STORED), min_size=1, max_size=3))
@settings(max_examples=12, deadline=None)
def test_stored_text_cannot_raise_a_reward(
    told: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    database = tmp_path_factory.mktemp("stored") / "notes.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, said TEXT)")
        connection.executemany("INSERT INTO notes (said) VALUES (?)", [(text,) for text in told])
    example = Example("0", "notes", "?", "SELECT COUNT(*) FROM notes WHERE id > 0", database)
    with Rewards({"set": [Dataset("set", (example,))]}) as rewards:
        asked = key(0, "notes")
        for sql in ("SELECT said FROM notes", "SELECT MAX(said) FROM notes", "SELECT 1.0"):
            assert rewards.of(asked, sql).value <= RUNS
        for text in told:
            quoted = text.replace("'", "''")
            assert rewards.of(asked, f"SELECT '{quoted}' AS reward").value <= RUNS


QUERIES = [str(sql) for case in SHOP[:3] for sql in (*case["different"][:3], *case["same"][:2])]


@given(asked=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(QUERIES)), max_size=12))
@settings(max_examples=6, deadline=None)
def test_a_reward_does_not_depend_on_what_was_judged_before(
    asked: list[tuple[int, str]], rewards: Rewards, shop: Path
) -> None:
    golds = [str(case["gold"]) for case in SHOP[:3]]
    with of_shop(shop, *golds) as fresh:
        found = [fresh.of(key(number), sql) for number, sql in asked]
        assert found == [rewards.of(key(number), sql) for number, sql in asked]


def test_a_query_may_agree_with_any_gold_but_with_one_everywhere(shop: Path) -> None:
    other = "SELECT id FROM orders WHERE total >= 50"
    both = Example("0", "shop", "?", GOLD, shop, also=(other,))
    with Rewards({"set": [Dataset("set", (both,))]}) as rewards:
        assert rewards.of(key(), "SELECT id FROM orders WHERE 50 <= total").finding == "right"
        assert rewards.of(key(), "SELECT id FROM orders WHERE total > 51").finding == (
            "right by luck"
        )


def test_what_cannot_be_verified_is_right_by_the_rule_alone(shop: Path) -> None:
    given_rows = Example("0", "shop", "?", "", shop, expected=Expected(("id",), ((10,), (11,))))
    with Rewards({"set": [Dataset("set", (given_rows,))]}) as rewards:
        assert rewards.of(key(), GOLD) == Reward(RIGHT, "right, not verified")
        assert rewards.of(key(), "SELECT id FROM orders").value == RUNS


def test_the_rule_of_the_data_set_judges(shop: Path) -> None:
    gold, repeated = "SELECT DISTINCT status FROM orders", "SELECT status FROM orders"
    found = {}
    for rule in ("spider", "bird"):
        with of_shop(shop, gold, rule=rule) as rewards:
            found[rule] = rewards.of(key(), repeated).finding
    assert found == {"spider": "wrong", "bird": "right"}


def test_questions_that_cannot_be_judged_are_told(shop: Path, tmp_path: Path) -> None:
    absent = Example("1", "gone", "?", "SELECT 1", tmp_path / "gone.sqlite")
    broken = Example("2", "shop", "?", "SELECT id FROM nowhere", shop)
    fine = Example("3", "shop", "?", GOLD, shop)
    with Rewards({"set": [Dataset("set", (absent, broken, fine))]}) as rewards:
        assert rewards.problem(key(3)) == ""
        assert "no such table: nowhere" in rewards.problem(key(2))
        assert "set has no question 9 of shop" in rewards.problem(key(9))
        assert rewards.problem(key(1, "gone")) != ""
        with pytest.raises(DatasetError):
            rewards.of(key(2), GOLD)
        with pytest.raises(DatabaseUnavailable):
            rewards.of(key(1, "gone"), GOLD)


def test_few_databases_stay_open(shop: Path, tmp_path: Path) -> None:
    """More databases than are kept open, asked in turn and twice."""
    examples = []
    for number in range(OPEN_DATABASES + 1):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(shop.read_bytes())
        examples.append(Example(str(number), str(number), "?", GOLD, path))
    with Rewards({"set": [Dataset("set", tuple(examples))]}) as rewards:
        found = [
            rewards.of(key(number, str(number)), f"SELECT id FROM orders LIMIT {time}").finding
            for time in range(2)
            for number in range(OPEN_DATABASES + 1)
        ]
    assert found == ["wrong"] * 2 * (OPEN_DATABASES + 1)
