"""The unit tester: tests that tell clusters apart, verdicts, and who is selected by them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from sqlwright.candidates import execute
from sqlwright.errors import BudgetSpent, Cancelled
from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Parsed, Run, Workspace
from sqlwright.recipes.loading import parse_recipe
from sqlwright.schema import SchemaView
from sqlwright.spending import Budget, Spending
from sqlwright.steps.selection.evaluate_tests import EvaluateTests
from sqlwright.steps.selection.generate_tests import GENERAL, GenerateTests
from sqlwright.steps.selection.unjudged import LargestCluster
from sqlwright.types import Basis, Candidate, Question, State, UnitTest

COUNT = "SELECT count(*) FROM customers"
COUNT_ID = "SELECT count(id) FROM customers"
CITIES = "SELECT count(city) FROM customers"
ORDERS = "SELECT count(*) FROM orders WHERE status = 'open'"
BROKEN = "SELECT count(*) FROM clients"


def state_of(workspace: Workspace, *queries: str, tests: Sequence[str] = ()) -> State:
    """Executed candidates, in this order."""
    written = [Candidate(sql, "test", sample=n) for n, sql in enumerate(queries, start=1)]
    return State(
        Question("How many customers are there?", "customers without a city count too"),
        SchemaView(workspace.schema),
        candidates=execute(written, workspace.database, Run()),
        tests=tuple(map(UnitTest, tests)),
    )


def context_of(workspace: Workspace, script: Script, run: Run | None = None) -> Context:
    return Context(workspace, run or Run(seed=7), {"llm": ScriptedModel(script)})


def chosen(state: State) -> str:
    assert state.selected is not None
    return state.selected.sql


def verdicts(said: Mapping[int, bool]) -> str:
    """A judge's reply."""
    listed = [{"number": n, "verdict": "passed" if ok else "failed"} for n, ok in said.items()]
    return json.dumps({"reasoning": "because", "verdicts": listed})


def judge(right: Callable[[str], bool]) -> Callable[[Asked], str]:
    """A judge that passes the queries for which `right`, whatever the test."""

    def says(asked: Asked) -> str:
        shown = re.findall(r"Query (\d+):\n(.+)", asked.prompt)
        return verdicts({int(number): right(sql) for number, sql in shown})

    return says


# Writing tests


def written(workspace: Workspace, says: Any, *queries: str, **options: Any) -> tuple[State, Script]:
    script = Script([When("selection.generate_tests", says)])
    state = GenerateTests(**options)(state_of(workspace, *queries), context_of(workspace, script))
    return state, script


def test_clusters_are_shown_with_queries_and_results(shop_workspace: Workspace) -> None:
    says = json.dumps({"reasoning": "x", "tests": ["It counts rows.", "It counts customers."]})
    state, script = written(shop_workspace, says, COUNT, CITIES, COUNT_ID, COUNT, BROKEN, tests=5)
    assert [test.text for test in state.tests] == [
        "It counts rows.",
        "It counts customers.",
    ]
    (asked,) = script.asked
    assert asked.temperature == 0.8
    first, second = asked.prompt.split("Group 2\n")
    assert first.count(COUNT) == 1  # the same text twice is shown once
    assert COUNT_ID in first
    assert CITIES in second
    assert BROKEN not in asked.prompt
    assert "Write 5 tests" in asked.prompt
    assert "product" not in asked.prompt  # no query uses that table


def test_a_table_that_is_only_counted_is_shown(shop_workspace: Workspace) -> None:
    lines = "SELECT count(*) FROM lines"
    _, script = written(shop_workspace, '["It counts orders."]', ORDERS, lines)
    assert "CREATE TABLE lines (" in script.asked[0].prompt
    assert "CREATE TABLE customers (" not in script.asked[0].prompt


@pytest.mark.parametrize("queries", [(), (BROKEN,), (COUNT,), (COUNT, COUNT_ID, BROKEN)])
def test_no_tests_where_nothing_is_to_be_told_apart(
    queries: tuple[str, ...], shop_workspace: Workspace
) -> None:
    state, script = written(shop_workspace, "{}", *queries)
    assert state.tests == ()
    assert script.asked == []


def test_no_more_tests_than_asked_for_and_each_once(shop_workspace: Workspace) -> None:
    says = json.dumps({"tests": ["It is one.", "It is one.", "It is two.", "It is three."]})
    state, _ = written(shop_workspace, says, COUNT, CITIES, tests=2, general=False)
    assert [test.text for test in state.tests] == ["It is one.", "It is two."]


@pytest.mark.parametrize(
    "says",
    [
        '["It counts rows.", "It joins nothing."]',
        "['It counts rows.', 'It joins nothing.']",
        "Thinking.\n\n- It counts rows.\n- It joins nothing.",
        "1. It counts rows.\n2. It joins nothing.",
        '{"tests": [{"test": "It counts rows."}, {"test": "It joins nothing."}]}',
    ],
)
def test_tests_are_read_in_every_form(says: str, shop_workspace: Workspace) -> None:
    state, _ = written(shop_workspace, says, COUNT, CITIES, general=False)
    assert [test.text for test in state.tests] == ["It counts rows.", "It joins nothing."]


@pytest.mark.parametrize("says", ["", "No idea.", '{"tests": []}', Missing("unavailable", "down")])
def test_without_a_usable_reply_the_general_test_is_left(
    says: Any, shop_workspace: Workspace
) -> None:
    state, _ = written(shop_workspace, says, COUNT, CITIES)
    assert [test.text for test in state.tests] == [GENERAL]
    assert "wrote no tests" in state.warnings[0].text


@pytest.mark.parametrize(
    ("queries", "tests", "general", "expected"),
    [
        # Two clusters are told apart by one test; three need two.
        ((COUNT, CITIES), ["It counts rows."], "auto", False),
        ((COUNT, CITIES, ORDERS), ["It counts rows."], "auto", True),
        ((COUNT, CITIES, ORDERS), ["It counts rows.", "It counts customers."], "auto", False),
        ((COUNT, CITIES), ["It counts rows."], True, True),
        ((COUNT, CITIES, ORDERS), ["It counts rows."], False, False),
    ],
)
def test_the_general_test_is_added_where_the_others_do_not_tell_all_apart(
    queries: tuple[str, ...],
    tests: list[str],
    general: Any,
    expected: bool,
    shop_workspace: Workspace,
) -> None:
    says = json.dumps({"reasoning": "x", "tests": tests})
    state, _ = written(shop_workspace, says, *queries, general=general)
    assert [test.text for test in state.tests] == tests + [GENERAL] * expected


@pytest.mark.parametrize("arrangement", ["write", "per_test", "per_candidate"])
def test_of_long_results_only_the_rows_that_differ_are_shown(
    arrangement: str, shop_workspace: Workspace
) -> None:
    numbers = (
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {end}) "
        "SELECT 1000 + i FROM n{end_of}"
    )
    queries = [numbers.format(end=30, end_of=""), numbers.format(end=30, end_of=" WHERE i <> 27")]
    if arrangement == "write":
        _, script = written(shop_workspace, '["It counts rows."]', *queries)
    else:
        says = judge(lambda sql: True)
        _, script = evaluated(
            shop_workspace, says, *queries, tests=["one"], arrangement=arrangement
        )
    shown = "".join(asked.prompt for asked in script.asked)
    assert "30 rows, 1 column; the 1 row that not every group has, the rarest first:" in shown
    assert "29 rows, 1 column; every group has them all" in shown
    assert set(re.findall(r"^10\d\d$", shown, re.MULTILINE)) == {"1027"}


def test_rows_that_fewest_results_have_come_first(shop_workspace: Workspace) -> None:
    numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
    queries = [
        f"{numbers} SELECT 1000 + i FROM n",
        f"{numbers} SELECT 1000 + i FROM n WHERE i <> 27",
        "SELECT 'another thing'",
    ]
    _, script = written(shop_workspace, '["It counts."]', *queries)
    shown = script.asked[0].prompt
    assert "20 of the 30 rows that not every group has, the rarest first:" in shown
    first = shown.split("the rarest first:\n")[1].split("\n")
    assert first[1:4] == ["1027", "1001", "1002"]


def test_results_are_shown_within_a_bound(shop_workspace: Workspace) -> None:
    wide = "'" + "x" * 200 + "' || i"
    numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT "
    queries = [f"{numbers}{', '.join([wide] * 30)}, {n} FROM n" for n in range(4)]
    says = '["It counts rows."]'
    _, script = written(shop_workspace, says, *queries)
    (asked,) = script.asked
    results = re.findall(r"Result of each query of the group:\n(.*?)\n\n", asked.prompt, re.DOTALL)
    assert len(results) == 4
    assert sum(map(len, results)) < 12_000 + 4 * 900  # names of columns and sizes on top


def test_where_only_the_order_differs_the_first_rows_are_shown(shop_workspace: Workspace) -> None:
    numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) SELECT i FROM n"
    queries = [f"{numbers} ORDER BY i", f"{numbers} ORDER BY i DESC"]
    _, script = written(shop_workspace, '["It orders rows."]', *queries)
    assert "the first 20 rows:\ni\n1\n2\n3\n" in script.asked[0].prompt
    assert "the first 20 rows:\ni\n30\n29\n28\n" in script.asked[0].prompt


LITERAL = "taken over to the letter"
SENSE = "can't mean what it says"


@pytest.mark.parametrize(("reading", "said"), [("letter", LITERAL), ("sense", SENSE)])
def test_writer_and_judges_read_evidence_alike(
    reading: str, said: str, shop_workspace: Workspace
) -> None:
    says = judge(lambda sql: True)
    for arrangement in ("per_test", "per_candidate"):
        _, script = evaluated(
            shop_workspace, says, COUNT, CITIES, tests=["x"], arrangement=arrangement,
            evidence=reading,
        )  # fmt: skip
        assert said in script.asked[0].prompt
        assert (LITERAL in script.asked[0].prompt) is (reading == "letter")
    _, script = written(shop_workspace, '["It counts."]', COUNT, CITIES, evidence=reading)
    assert said in script.asked[0].prompt
    assert (LITERAL in script.asked[0].prompt) is (reading == "letter")


# Judging


def evaluated(
    workspace: Workspace, says: Any, *queries: str, tests: Sequence[str], **options: Any
) -> tuple[State, Script]:
    script = Script([When("selection.evaluate_tests", says)])
    state = state_of(workspace, *queries, tests=tests)
    return EvaluateTests(**options)(state, context_of(workspace, script)), script


def test_the_candidate_that_passes_most_tests_wins_over_a_majority(
    shop_workspace: Workspace,
) -> None:
    right = judge(lambda sql: "city" not in sql)
    state, script = evaluated(
        shop_workspace, right, CITIES, CITIES + " -- again", COUNT, tests=["one", "two"]
    )
    assert chosen(state) == COUNT
    assert len(script.asked) == 2
    assert [test.passed for test in state.tests] == [(2,), (2,)]
    assert state.confidence is None
    assert state.basis is not None
    assert state.basis.kind == "agreement"
    assert state.selected is not None
    assert state.selected.share == state.candidates[2].share == pytest.approx(0.75 / 2.25)


@pytest.mark.parametrize("passed", [True, False])
def test_ties_go_to_the_larger_cluster_then_to_the_author(
    passed: bool, shop_workspace: Workspace
) -> None:
    says = judge(lambda sql: passed)
    state, _ = evaluated(shop_workspace, says, CITIES, COUNT, COUNT_ID, tests=["one"])
    assert chosen(state) == COUNT
    state, _ = evaluated(shop_workspace, says, CITIES, COUNT, tests=["one"])
    assert chosen(state) == CITIES


@pytest.mark.parametrize(
    "bad", ["", "They all look fine.", '{"verdicts": [', "[]", Missing("unavailable", "down")]
)
def test_a_bad_reply_costs_one_test(bad: Any, shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> Any:
        return bad if "Test: two" in asked.prompt else judge(lambda sql: sql == COUNT)(asked)

    state, _ = evaluated(shop_workspace, says, CITIES, COUNT, tests=["one", "two", "three"])
    assert chosen(state) == COUNT
    assert [test.passed for test in state.tests] == [(1,), None, (1,)]
    assert "1 of 3 unit tests were not judged" in state.warnings[0].text


@pytest.mark.parametrize("bad", ["No verdicts here.", Missing("unavailable", "down")])
def test_if_every_reply_is_bad_the_largest_cluster_is_taken(
    bad: Any, shop_workspace: Workspace
) -> None:
    state, _ = evaluated(shop_workspace, bad, CITIES, COUNT, COUNT_ID, tests=["one", "two"])
    assert chosen(state) == COUNT
    assert "no test could be judged" in state.warnings[0].text


def test_a_missing_verdict_is_not_a_failure(shop_workspace: Workspace) -> None:
    replies = {
        "one": verdicts({1: True, 2: True, 3: False}),
        "two": verdicts({1: False, 2: True}),
        "three": verdicts({1: True, 3: True}),
    }

    def says(asked: Asked) -> str:
        return replies[asked.prompt.rsplit("Test: ", 1)[1].split()[0]]

    # 2 passed both of its two tests, 1 two of three, 3 one of two.
    state, _ = evaluated(shop_workspace, says, CITIES, ORDERS, COUNT, tests=["one", "two", "three"])
    assert chosen(state) == ORDERS


def test_one_verdict_does_not_beat_many(shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> str:
        first = "Test: 0" in asked.prompt
        return verdicts(
            {1: True, 2: "Test: 7" not in asked.prompt} if not first else {1: False, 2: True}
        )

    tests = [str(n) for n in range(9)]
    state, _ = evaluated(shop_workspace, says, CITIES, COUNT, tests=tests)
    assert chosen(state) == CITIES  # 8 of 9 each: the author's order decides

    def sparse(asked: Asked) -> str:
        first = "Test: 0" in asked.prompt
        return verdicts({1: True, 2: True} if first else {2: "Test: 7" not in asked.prompt})

    state, _ = evaluated(shop_workspace, sparse, CITIES, COUNT, tests=tests)
    assert chosen(state) == COUNT  # 8 of 9 say more than 1 of 1


def test_per_candidate_judges_one_query_by_all_tests(shop_workspace: Workspace) -> None:
    def says(asked: Asked) -> str:
        return verdicts({1: True, 2: "city" not in asked.prompt.split("The query:")[1]})

    state, script = evaluated(
        shop_workspace, says, CITIES, COUNT, tests=["one", "two"], arrangement="per_candidate"
    )
    assert chosen(state) == COUNT
    assert len(script.asked) == 2
    assert "1. one\n2. two" in script.asked[0].prompt
    assert [test.passed for test in state.tests] == [(0, 1), (1,)]


def test_representatives_stand_for_their_clusters(shop_workspace: Workspace) -> None:
    says = judge(lambda sql: sql == COUNT)
    state, script = evaluated(
        shop_workspace, says, CITIES, COUNT, COUNT_ID, tests=["one"], representatives=True
    )
    assert COUNT_ID not in script.asked[0].prompt
    assert "And 1 more query with the same result" in script.asked[0].prompt
    assert script.asked[0].prompt.count("with the same result") == 1
    assert chosen(state) == COUNT
    assert state.tests[0].passed == (1, 2)


@pytest.mark.parametrize(
    ("queries", "tests", "expected"),
    [
        ((COUNT, COUNT_ID), ("one",), COUNT),
        ((CITIES, COUNT, COUNT_ID), (), COUNT),
        ((BROKEN, COUNT), ("one",), COUNT),
        ((BROKEN, "nonsense"), ("one",), BROKEN),
    ],
)
def test_without_tests_or_difference_nothing_is_asked(
    queries: tuple[str, ...], tests: tuple[str, ...], expected: str, shop_workspace: Workspace
) -> None:
    state, script = evaluated(shop_workspace, "", *queries, tests=tests)
    assert chosen(state) == expected
    assert script.asked == []


def test_when_all_fail_the_answer_says_why(shop_workspace: Workspace) -> None:
    state, _ = evaluated(shop_workspace, "", BROKEN, tests=["one"])
    assert state.selected is not None
    assert state.selected.result is not None
    assert state.selected.result.error is not None
    assert state.confidence is None


def test_sub_queries_take_no_part(shop_workspace: Workspace) -> None:
    part = Candidate(ORDERS, "test", goal="a part")
    state = state_of(shop_workspace, COUNT)
    state = state.evolve(candidates=(part, *state.candidates))
    assert chosen(LargestCluster()(state, context_of(shop_workspace, Script()))) == COUNT


def test_the_largest_cluster_needs_no_model(shop_workspace: Workspace) -> None:
    state = state_of(shop_workspace, CITIES, COUNT, COUNT_ID, BROKEN)
    after = LargestCluster()(state, Context(shop_workspace, Run()))
    assert chosen(after) == COUNT
    assert after.confidence is None
    assert after.basis == Basis("agreement", 2, 4)
    half = pytest.approx(2 / 4)
    assert [c.share for c in after.candidates] == [pytest.approx(1 / 4), half, half, None]


# Money, time, and the recipe as a whole


def test_a_spent_budget_takes_the_largest_cluster_and_says_so(shop_workspace: Workspace) -> None:
    recipe = parse_recipe(RECIPE)
    run = Run(spending=Spending(Budget(calls=3)))
    script = Script(otherwise="never asked")
    models = {"llm": ScriptedModel(script), "parser": _Writes(CITIES, COUNT, COUNT_ID)}
    state = State(Question("How many customers are there?"), SchemaView(shop_workspace.schema))
    after = recipe.step(state, Context(shop_workspace, run, models))
    assert script.asked == []
    assert chosen(after) == COUNT
    assert any("selection.generate_tests" in warning.text for warning in after.warnings)


def test_a_budget_spent_on_the_way_and_a_cancellation_pass_through(
    shop_workspace: Workspace,
) -> None:
    spent = Script(otherwise=Missing("budget", "no calls left"))
    state = state_of(shop_workspace, CITIES, COUNT, tests=["one"])
    with pytest.raises(BudgetSpent):
        EvaluateTests()(state, context_of(shop_workspace, spent))
    with pytest.raises(BudgetSpent):
        GenerateTests()(state, context_of(shop_workspace, spent))
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        EvaluateTests()(state, context_of(shop_workspace, Script(), run))


def test_calls_are_counted_before_they_are_made(shop_workspace: Workspace) -> None:
    apart = state_of(shop_workspace, CITIES, COUNT, COUNT_ID, COUNT, tests=["one", "two"])
    agreeing = state_of(shop_workspace, COUNT, COUNT_ID, tests=["one"])
    assert GenerateTests(tests=4).calls(apart) == 1 + 4 + 1
    assert GenerateTests().calls(agreeing) == 0
    assert EvaluateTests().calls(apart) == 2
    assert EvaluateTests(arrangement="per_candidate").calls(apart) == 3
    assert EvaluateTests(arrangement="per_candidate", representatives=True).calls(apart) == 2
    assert EvaluateTests().calls(agreeing) == 0


class _Writes:
    """A parser that writes these queries."""

    def __init__(self, *queries: str) -> None:
        self.queries = queries

    def parse(self, *_: Any, **__: Any) -> list[Any]:
        return [Parsed(sql, 0.0) for sql in self.queries]


RECIPE = """
name: tested
steps:
  - retrieval.values
  - generation.embedded
  - repair.execution_guided
  - selection.generate_tests: {tests: 3, sampling: {temperature: 0.8, model: ""}}
  - selection.evaluate_tests: {arrangement: per_test, representatives: true}
"""
