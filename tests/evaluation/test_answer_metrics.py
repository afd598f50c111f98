"""Metrics of one answer: their cases, and what may not change them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.demo.business import write_business
from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.grading import components, hardness
from sqlwright.lab.evaluation.metrics.efficiency import r_ves, ves
from sqlwright.lab.evaluation.metrics.matching import soft_f1
from sqlwright.lab.evaluation.metrics.metric import (
    METRICS,
    Judged,
    Reference,
    chosen_metrics,
    find_metric,
)
from sqlwright.lab.evaluation.metrics.tiers import Leave, alike, rounded_alike
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, ForeignKey, Schema, Table
from sqlwright.sql.features import FEATURES, features
from sqlwright.sql.reading import read_facts
from sqlwright.types import ExecutionError, ExecutionResult

CASES = Path(__file__).parents[1] / "cases" / "metrics"
TIERS = ("tier:columns", "tier:order", "tier:rounding", "tier:any")


def cases(name):
    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))


def official(name):
    lines = (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def business(tmp_path_factory):
    """The demo business, as answers are scored over it."""
    folder = tmp_path_factory.mktemp("business")
    write_business(folder / "business.sqlite")
    workspace = open_workspace(str(folder / "business.sqlite"), folder=folder / "absent")
    yield Scorer(workspace.database, workspace.schema, find_rule("bird"))
    workspace.database.close()


def named(case):
    return str(case.get("name", case.get("sql")))[:60]


def tuples(rows):
    return tuple(map(tuple, rows))


@pytest.fixture
def judge(shop_workspace: Workspace, database_files: dict[str, Path]):
    """An answer over the shop with its gold, both executed."""

    def made(sql, *golds, rule="spider", question=""):
        scorer = Scorer(shop_workspace.database, shop_workspace.schema, find_rule(rule))
        references = tuple(Reference(gold, scorer.execute(gold)) for gold in golds)
        result = ExecutionResult() if sql is None else scorer.execute(sql)
        right = result.ok and sql is not None and any(
            scorer.rule.agrees(result, one.result, one.sql) for one in references
        )  # fmt: skip
        return Judged(
            Example("1", "shop", question, golds[0], database_files["shop"], also=golds[1:]),
            sql, references[0].result, result, right, scorer.schema, scorer.rule, scorer.execute,
            references,
        )  # fmt: skip

    return made


@pytest.mark.parametrize("case", cases("tiers"), ids=named)
def test_tiers(case, judge):
    golds = (case["gold"], *case.get("also", ()))
    judged = judge(
        case["sql"], *golds, rule=case.get("rule", "spider"), question=case.get("question", "")
    )
    assert not judged.right
    found = {name for name in TIERS if find_metric(name).measure(judged) == 1.0}
    expected = {f"tier:{name}" for name in case["tiers"]}
    assert found == expected | ({"tier:any"} if expected else set())


@pytest.mark.parametrize("name", TIERS)
def test_a_right_answer_is_in_every_tier(name, judge):
    judged = judge("SELECT count(*) FROM orders", "SELECT count(id) FROM orders")
    assert judged.right
    assert find_metric(name).measure(judged) == 1.0


def test_what_a_cut_result_shows_is_in_no_tier(judge):
    judged = judge("SELECT id, name FROM customers", "SELECT name FROM customers")
    cut = replace(judged, result=replace(judged.result, truncated=True))
    assert [find_metric(name).measure(cut) for name in (*TIERS, "soft_f1")] == [0.0] * 5


@pytest.mark.parametrize("case", cases("exact_match"), ids=named)
def test_exact_match(case, judge):
    judged = judge(case["sql"], case["gold"])
    same = case["same"]
    assert find_metric("exact_match").measure(judged) == (None if same is None else float(same))


def test_one_of_several_gold_queries_is_enough(judge):
    golds = ("SELECT id FROM customers", "SELECT name FROM customers WHERE id > 0")
    judged = judge("SELECT name FROM customers WHERE id > -1", *golds)
    assert find_metric("exact_match").measure(judged) == 1.0
    assert find_metric("soft_f1").measure(judged) == 1.0


@pytest.mark.parametrize("case", cases("exact_match"), ids=named)
def test_a_query_matches_itself_and_neither_side_is_preferred(case, judge):
    if case["sql"] is None or case["same"] is None or case["sql"].startswith("this"):
        return
    match = find_metric("exact_match").measure
    assert match(judge(case["gold"], case["gold"])) == 1.0
    assert match(judge(case["gold"], case["sql"])) == float(case["same"])


def test_columns_that_a_chain_of_declared_keys_joins_are_one():
    tables = tuple(Table(name, (Column("k", "INTEGER"),)) for name in "abcd")
    declared = (ForeignKey("a", ("k",), "b", ("k",)), ForeignKey("b", ("k",), "c", ("k",)))
    inferred = ForeignKey("c", ("k",), "d", ("k",), inferred=True)
    schema = Schema("keys", tables, (*declared, inferred))
    shown = [components(f"SELECT {one}.k FROM a JOIN b JOIN c JOIN d", schema) for one in "abcd"]
    assert shown[0] == shown[1] == shown[2]
    assert shown[3] != shown[0]


@pytest.mark.parametrize("case", cases("soft_f1"), ids=named)
def test_soft_f1(case):
    assert soft_f1(tuples(case["predicted"]), tuples(case["gold"])) == pytest.approx(case["score"])


def test_soft_f1_is_that_of_the_official_script(business):
    """Queries over the demo business, with what BIRD's script gives for each pair."""
    pairs = official("soft_f1_pairs")
    found = []
    for pair in pairs:
        gold, result = business.execute(pair["gold"]), business.execute(pair["sql"])
        judged = Judged(
            Example("1", "business", "", pair["gold"], Path("business.sqlite")),
            pair["sql"], gold, result, False, business.schema, business.rule, business.execute,
            (Reference(pair["gold"], gold),),
        )  # fmt: skip
        found.append(find_metric("soft_f1").measure(judged))
    assert len(found) >= 300
    assert found == [pytest.approx(pair["score"], abs=1e-12) for pair in pairs]


@pytest.mark.parametrize("case", cases("efficiency"), ids=named)
def test_efficiency(case):
    assert ves(case["gold"], case["answer"]) == pytest.approx(case["ves"])
    assert r_ves(case["gold"], case["answer"]) == pytest.approx(case["r_ves"])


def test_efficiency_is_that_of_the_official_scripts():
    """Times that were taken of queries over the demo business, with what BIRD's scripts give."""
    pairs = official("efficiency_pairs")
    assert len(pairs) >= 300
    for pair in pairs:
        assert ves(pair["gold_times"], pair["times"]) == pytest.approx(pair["ves"], rel=1e-12)
        assert r_ves(pair["gold_times"], pair["times"]) == pair["r_ves"]


@pytest.mark.parametrize(
    ("name", "turns", "score"), [("ves", 10, 2.0), ("r_ves", 100, math.sqrt(1.25))]
)
def test_answer_and_gold_run_in_turns_and_the_first_turn_counts_for_nothing(
    name, turns, score, judge
):
    gold, sql = "SELECT count(id) FROM orders", "SELECT count(*) FROM orders"
    ran = []

    def execute(query):
        ran.append(query)
        return ExecutionResult(elapsed=9.0 if len(ran) <= 2 else 0.4 if query == gold else 0.1)

    judged = replace(judge(sql, gold), execute=execute)
    assert find_metric(name).measure(judged) == pytest.approx(score)
    assert ran == [sql, gold] * (turns + 1)


def test_an_answer_that_fails_in_a_turn_has_no_efficiency(judge):
    gold, sql = "SELECT count(id) FROM orders", "SELECT count(*) FROM orders"
    ran = []

    def execute(query):
        ran.append(query)
        late = ExecutionError("timeout", "it took too long") if len(ran) == 9 else None
        return ExecutionResult(elapsed=0.1, error=late)

    assert find_metric("ves").measure(replace(judge(sql, gold), execute=execute)) == 0.0


def test_efficiency_on_a_real_database(judge):
    judged = judge("SELECT count(*) FROM orders", "SELECT count(id) FROM orders")
    assert 0.1 < find_metric("ves").measure(judged) < 10
    rewards = {math.sqrt(reward) for reward in (0.25, 0.5, 0.75, 1.0, 1.25)}
    assert find_metric("r_ves").measure(judged) in rewards


@pytest.mark.parametrize("name", ["ves", "r_ves"])
def test_efficiency_of_a_wrong_answer_is_nothing_and_isnt_timed(name, judge):
    judged = judge("SELECT 1", "SELECT 2")
    assert find_metric(name).measure(replace(judged, execute=pytest.fail)) == 0.0
    assert find_metric(name).measure(replace(judged, sql=None, execute=pytest.fail)) == 0.0


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_where_only_a_result_is_given(name, judge):
    judged = judge("SELECT count(*) FROM orders", "SELECT 4")
    given_result = replace(judged, references=(Reference("", judged.gold, written=False),))
    needs_query = name in {"exact_match", "ves", "r_ves", "test_suite"}
    assert find_metric(name).measure(given_result) == (None if needs_query else 1.0)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_its_name_and_stays_within_its_bounds(name, judge):
    metric = find_metric(name)
    assert metric.name == name
    for sql in ("SELECT name FROM customers", "SELECT 1", "nonsense", None):
        found = metric.measure(judge(sql, "SELECT name FROM customers"))
        assert found is not None
        assert found >= 0.0
        assert found <= metric.top or name == "ves"


def test_what_was_not_checked_against_the_official_script_says_so():
    told = {name: "not checked" in find_metric(name).about for name in METRICS}
    assert [name for name, unchecked in told.items() if unchecked] == ["exact_match"]


@pytest.mark.parametrize("case", cases("hardness"), ids=named)
def test_hardness(case, shop_workspace):
    assert hardness(read_facts(case["sql"], shop_workspace.schema)) == case["level"]


@pytest.mark.parametrize("case", cases("features"), ids=named)
def test_features(case):
    assert list(features(case["sql"])) == case["features"]


def test_every_feature_has_a_case():
    assert {name for case in cases("features") for name in case["features"]} == set(FEATURES)


# ---- what may not change a verdict or figure


CELLS = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from([0.5, 2.25, 1 / 3]), st.sampled_from("aäß東 ")
)
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)
RANDOMS = st.randoms(use_true_random=False)


@given(TABLES, RANDOMS)
def test_shuffled_rows_are_the_same_where_order_counts_for_nothing(rows, random):
    moved = random.sample(rows, len(rows))
    for name in ("spider", "bird", "multiset", "defog", "spider2"):
        assert find_rule(name).agrees(answer(moved), answer(rows), "SELECT a FROM t")
    assert alike(moved, rows, Leave())


@given(TABLES)
def test_new_names_of_columns_change_nothing(rows):
    ours = ExecutionResult(("x", "y", "z"), tuple(rows))
    theirs = ExecutionResult(("c", "b", "a"), tuple(rows))
    for name in ("spider", "bird", "multiset", "defog", "spider2"):
        assert find_rule(name).agrees(ours, theirs, "SELECT a FROM t")


@given(TABLES)
def test_a_repeated_row_counts_for_rules_of_multisets_alone(rows):
    repeated = [*rows, rows[0]]
    right = {
        name
        for name in ("spider", "bird", "multiset", "defog", "spider2")
        if find_rule(name).agrees(answer(repeated), answer(rows), "SELECT a FROM t")
    }
    assert right == {"bird", "defog"}
    assert not alike(repeated, rows, Leave())
    assert alike(repeated, rows, Leave(repeats_count=False))


@given(TABLES)
def test_noise_of_floats_counts_for_exact_rules_alone(rows):
    noisy = [tuple(c * (1 + 4e-16) if isinstance(c, float) else c for c in row) for row in rows]
    has_noise = noisy != rows
    for name in ("spider", "bird", "multiset"):
        same = find_rule(name).agrees(answer(noisy), answer(rows), "SELECT a FROM t")
        assert same is not has_noise
    for name in ("defog", "spider2"):
        assert find_rule(name).agrees(answer(noisy), answer(rows), "SELECT a FROM t")
    assert alike(noisy, rows, Leave(rounding=True))


@given(TABLES, RANDOMS)
def test_columns_too_many_may_be_dropped_where_they_are_labels(rows, random):
    wide = [(*row, "label") for row in rows]
    assert alike(wide, rows, Leave(columns_in_order=True, extra=frozenset({3})))
    assert not alike(wide, rows, Leave(columns_in_order=True, extra=frozenset({0, 9})))
    order = random.sample(range(4), 4)
    moved = [tuple(row[at] for at in order) for row in wide]
    assert alike(moved, rows, Leave(extra=frozenset({order.index(3)})))


@given(TABLES, TABLES, st.booleans(), st.booleans(), st.booleans())
def test_more_leave_never_makes_a_right_answer_wrong(rows, others, ordered, in_order, repeats):
    for predicted in (rows, others, rows[::-1], [row[::-1] for row in rows]):
        strict = Leave(ordered, in_order, repeats)
        if alike(predicted, others, strict):
            for more in ({"ordered": False}, {"columns_in_order": False}, {"rounding": True},
                         {"extra": frozenset({0, 1})}):  # fmt: skip
                assert alike(predicted, others, replace(strict, **more))


@given(TABLES, TABLES, RANDOMS)
def test_soft_f1_goes_by_no_order_of_columns(rows, others, random):
    order = random.sample(range(3), 3)
    moved = [tuple(row[at] for at in order) for row in rows]
    score = soft_f1(rows, others)
    assert 0.0 <= score <= 1.0
    assert score == pytest.approx(soft_f1(moved, others))
    assert soft_f1(moved, rows) == 1.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (12.35, 12.3456, True),
        (12.34, 12.3456, False),
        (12.0, 12.3456, True),
        (12, 12.3456, False),
        (3, 3.0, True),
        (0.0, 0.004, False),
        (0.0, 0.0, True),
        (-2.5, -2.46, True),
        (2.5, -2.5, False),
        (1e-07, 1.2e-07, True),
        (1e-07, 1.6e-07, False),
        (float("inf"), 1.5, False),
        (float("inf"), float("inf"), True),
        ("1.5", 1.5, False),
        (None, 0.5, False),
        (100.0, 99.6, True),
        (100.0, 99.4, False),
    ],
)
def test_one_number_is_the_other_rounded(one, other, same):
    assert rounded_alike(one, other) is rounded_alike(other, one) is same


def test_rows_are_paired_whichever_number_is_rounded():
    # By value alone the first rows would be paired: 0.33 and 0.3333 are one number rounded.
    ours = [(0.33, 5.1), (0.3333, 4.2)]
    theirs = [(0.33, 4.2), (0.33, 5.1)]
    assert alike(ours, theirs, Leave(rounding=True))
    assert not alike([*ours, (0.1, 1.0)], [*theirs, (0.1, 1.6)], Leave(rounding=True))
    apart = [(1.5, "a"), (2.5, "b"), (3.5, "b")]
    together = [(1.5, "a"), (2.5, "a"), (3.5, "b")]
    assert not alike(apart, together, Leave(columns_in_order=True, rounding=True))
    many = [(i / 7, float(i % 2)) for i in range(60)]
    rounded = [(round(one, 3), other) for one, other in many]
    assert alike(rounded[::-1], many, Leave(rounding=True))
    assert not alike([*rounded[1:], (7.77, 0.0)], many, Leave(rounding=True))
    few_of = Leave(rounding=True, repeats_count=False)
    assert alike([*rounded, (0.1, 1.0)], [*many, (0.14, 1.0), (0.1, 1.0)], few_of) is False


# ---- the table of metrics


def test_usual_metrics_are_taken_and_others_when_they_are_named():
    usual = [one.name for one in chosen_metrics()]
    assert usual == ["exact_match", "soft_f1", *TIERS]
    assert [one.name for one in chosen_metrics(["r_ves"])] == [*usual, "r_ves"]
    assert [one.name for one in chosen_metrics(["soft_f1", "soft_f1"])] == usual


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(ConfigError, match="unknown metric 'r_vse'; did you mean 'r_ves'"):
        chosen_metrics(["r_vse"])


def test_installed_packages_add_metrics(tmp_path: Path) -> None:
    """A real distribution on the path, found through its entry points."""
    (tmp_path / "mine.py").write_text(
        "from sqlwright.lab.evaluation.metrics.metric import Metric\n"
        "METRIC = Metric('mine', 'one of ours', lambda judged: 1.0)\n"
    )
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    lines = "[sqlwright.metrics]\nmine = mine:METRIC\nbroken = mine:Metric\n"
    (info / "entry_points.txt").write_text(lines)
    code = (
        "from sqlwright.errors import ConfigError\n"
        "from sqlwright.lab.evaluation.metrics.metric import chosen_metrics, metric_names\n"
        "assert 'mine' not in [one.name for one in chosen_metrics()]\n"
        "assert chosen_metrics(['mine'])[-1].about == 'one of ours'\n"
        "assert metric_names()[-2:] == ('broken', 'mine')\n"
        "try:\n"
        "    chosen_metrics(['broken'])\n"
        "except ConfigError as error:\n"
        "    assert 'broken is not a Metric' in str(error)\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    path = {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2] / 'src'}"}
    subprocess.run([sys.executable, "-c", code], check=True, env=path)


def answer(rows):
    return ExecutionResult((), tuple(rows))
