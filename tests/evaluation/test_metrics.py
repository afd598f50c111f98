"""The rules, branch by branch, and their agreement with the official scripts' verdicts."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
import yaml

from sqlwright.errors import ConfigError
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.lab.evaluation.rules.rule import all_rules, find_rule
from sqlwright.types import ExecutionResult

CASES = Path(__file__).parents[1] / "cases" / "metrics"
RULES = yaml.safe_load((CASES / "rules.yaml").read_text("utf-8"))
OFFICIAL = {
    "spider": "spider_exec",
    "spider-nodistinct": "spider_exec_ignoring_distinct",
    "bird": "bird_set",
}


def result(rows, names=()):
    return ExecutionResult(tuple(names), tuple(map(tuple, rows)))


@pytest.mark.parametrize("case", RULES, ids=lambda case: case["name"])
def test_rules(case):
    predicted_names, gold_names = case.get("named", ((), ()))
    predicted = result(case["predicted"], predicted_names)
    gold = result(case["right_result"], gold_names)
    sql = case.get("gold", "SELECT a FROM t")
    right = [rule.name for rule in all_rules() if rule.agrees(predicted, gold, sql)]
    # Dropping DISTINCT changes what is run, not how results are compared.
    assert ("spider-nodistinct" in right) == ("spider" in right)
    assert set(right) - {"spider-nodistinct"} == set(case["right"])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_bytes_equal_themselves_alone(rule):
    whole, other, text = result([[b"x", None]]), result([[b"y", None]]), result([["x", None]])
    assert rule.agrees(whole, whole, "")
    assert not rule.agrees(other, whole, "")
    assert not rule.agrees(text, whole, "")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_wide_results_of_equal_columns_are_decided_quickly(rule):
    row = tuple([1] * 12)
    assert rule.agrees(result([row, row]), result([row, row]), "")
    assert not rule.agrees(result([(*row, 2)]), result([(*row, 3)]), "")


def test_order_is_read_from_the_gold_query():
    assert orders("SELECT a FROM t ORDER  BY a")
    assert not orders("SELECT a FROM t")
    assert spider_match([(1,)], [(1,)], ordered=True)


@pytest.mark.parametrize(
    ("rule", "gold", "counts"),
    [
        ("spider", "SELECT a FROM t WHERE b = 'order by'", True),
        ("multiset", "SELECT a FROM t WHERE b = 'order by'", False),
        ("multiset", "SELECT a FROM t ORDER BY 1", True),
        ("multiset", "SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("multiset", "SELECT a FROM t UNION SELECT b FROM t ORDER BY 1", True),
        ("bird", "SELECT a FROM t ORDER BY 1", False),
    ],
)
def test_where_order_counts(rule, gold, counts):
    assert find_rule(rule).counts_order(gold) is counts


@pytest.mark.parametrize(
    ("written", "run"),
    [
        ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
        ("SELECT count(distinct a) FROM t", "SELECT count( a) FROM t"),
        ("SELECT a FROM t WHERE b = 'distinct'", "SELECT a FROM t WHERE b = 'distinct'"),
        ('SELECT "distinct" FROM t -- distinct', 'SELECT "distinct" FROM t -- distinct'),
        ("SELECT a IS DISTINCT FROM b FROM t", "SELECT a IS DISTINCT FROM b FROM t"),
        ("SELECT a IS NOT /**/ DISTINCT FROM 1", "SELECT a IS NOT /**/ DISTINCT FROM 1"),
        ("SELECT NOT DISTINCT", "SELECT NOT "),
        ("SELECT 'never closed DISTINCT", "SELECT 'never closed "),
    ],
)
def test_distinct_is_dropped_before_a_query_runs(written, run):
    assert find_rule("spider-nodistinct").rewrite(written) == run
    assert find_rule("spider").rewrite(written) == written


def test_an_unknown_rule_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'spider'"):
        find_rule("spidre")


def test_wilson_interval_of_known_counts():
    low, high = Share(50, 100).interval
    assert (round(low, 3), round(high, 3)) == (0.404, 0.596)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(10, 10).interval[1] == pytest.approx(1.0)


def rows(connection, sql):
    try:
        return result(connection.execute(sql).fetchall())
    except sqlite3.Error:
        return None


@pytest.mark.data
@pytest.mark.skipif("SQLWRIGHT_DATA" not in os.environ, reason="SQLWRIGHT_DATA is not set")
@pytest.mark.parametrize("name", OFFICIAL)
def test_every_official_verdict_is_reproduced(name):
    data, rule = Path(os.environ["SQLWRIGHT_DATA"]), find_rule(name)
    lines = (data / "verdicts" / "pairs.jsonl").read_text().splitlines()
    wrong = []
    for pair in map(json.loads, lines):
        file = data / "spider" / "database" / pair["db_id"] / f"{pair['db_id']}.sqlite"
        connection = sqlite3.connect(f"file:{file}?immutable=1", uri=True)
        connection.text_factory = lambda raw: raw.decode(errors="ignore")
        gold, predicted = (rows(connection, rule.rewrite(pair[key])) for key in ("gold", "pred"))
        connection.close()
        both = gold is not None and predicted is not None
        if (both and rule.agrees(predicted, gold, pair["gold"])) != pair[OFFICIAL[name]]:
            wrong.append(pair)
    assert not wrong
    assert len(lines) == 741
