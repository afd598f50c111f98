"""The two rules, branch by branch, and their agreement with the official scripts' verdicts."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from sqlwright.evaluation.intervals import Share
from sqlwright.evaluation.rules.bird import bird_match
from sqlwright.evaluation.rules.spider import orders, spider_match

CASES = [
    # title, predicted, gold, ordered, spider, bird
    ("same rows", [(1, "a")], [(1, "a")], False, True, True),
    ("rows in another order", [(2,), (1,)], [(1,), (2,)], False, True, True),
    ("rows in another order where gold orders", [(2,), (1,)], [(1,), (2,)], True, False, True),
    ("columns in another order", [("a", 1), ("b", 2)], [(1, "a"), (2, "b")], False, True, False),
    ("columns in another order, ordered", [("a", 1)], [(1, "a")], True, True, False),
    ("duplicates count for Spider only", [(1,), (1,)], [(1,)], False, False, True),
    ("an extra column", [(1, 2)], [(1,)], False, False, False),
    ("a missing row", [(1,)], [(1,), (2,)], False, False, False),
    ("both empty", [], [], False, True, True),
    ("one empty", [], [(1,)], False, False, False),
    ("integer and float", [(1.0,)], [(1,)], False, True, True),
    ("text is not a number", [("1",)], [(1,)], False, False, False),
    ("no tolerance", [(0.30000000000000004,)], [(0.3,)], False, False, False),
    ("NULL equals NULL", [(None, 1)], [(None, 1)], False, True, True),
    ("cells swapped in one row only", [(1, 2), (2, 1)], [(1, 2), (1, 2)], False, False, False),
    ("equal columns can't be used twice", [(1, 1, 2)], [(1, 2, 2)], False, False, False),
    ("twin columns", [(1, 1, 2), (3, 3, 4)], [(1, 2, 1), (3, 4, 3)], False, True, False),
    ("bytes", [(b"x",)], [(b"x",)], False, True, True),
]


@pytest.mark.parametrize(("title", "predicted", "gold", "ordered", "spider", "bird"), CASES)
def test_rules(title, predicted, gold, ordered, spider, bird):
    assert spider_match(predicted, gold, ordered=ordered) is spider, title
    assert bird_match(predicted, gold) is bird, title


def test_wide_results_of_equal_columns_are_decided_quickly():
    row = tuple([1] * 12)
    assert spider_match([row, row], [row, row], ordered=False)
    assert not spider_match([(*row, 2)], [(*row, 3)], ordered=False)


def test_order_is_read_from_the_gold_query():
    assert orders("SELECT a FROM t ORDER  BY a")
    assert not orders("SELECT a FROM t")


def test_wilson_interval_of_known_counts():
    low, high = Share(50, 100).interval
    assert (round(low, 3), round(high, 3)) == (0.404, 0.596)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(10, 10).interval[1] == pytest.approx(1.0)


def rows(connection, sql):
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error:
        return None


@pytest.mark.data
@pytest.mark.skipif("SQLWRIGHT_DATA" not in os.environ, reason="SQLWRIGHT_DATA is not set")
def test_every_official_verdict_is_reproduced():
    data = Path(os.environ["SQLWRIGHT_DATA"])
    wrong = []
    for line in (data / "verdicts" / "pairs.jsonl").read_text().splitlines():
        pair = json.loads(line)
        file = data / "spider" / "database" / pair["db_id"] / f"{pair['db_id']}.sqlite"
        connection = sqlite3.connect(f"file:{file}?immutable=1", uri=True)
        connection.text_factory = lambda raw: raw.decode(errors="ignore")
        gold, predicted = rows(connection, pair["gold"]), rows(connection, pair["pred"])
        connection.close()
        spider = bird = False
        if gold is not None and predicted is not None:
            spider = spider_match(predicted, gold, ordered=orders(pair["gold"]))
            bird = bird_match(predicted, gold)
        if (spider, bird) != (pair["spider_exec"], pair["bird_set"]):
            wrong.append((spider, bird, pair))
    assert not wrong
