"""A model that chooses tools: what it sees, and what happens when it is of no use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.messages import Capabilities, Missing, Reply, Sample, ToolCall
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.recipes.loading import load_recipe, parse_recipe
from sqlwright.running.agent.known import changes, summary
from sqlwright.running.agent.steering import Agent
from sqlwright.running.agent.tools import tools_of
from sqlwright.running.combinators import NamedStep, leaves, sequence, walk
from sqlwright.running.control_flow import samples
from sqlwright.running.fit import check_fit
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.types import (
    Candidate,
    ColumnLink,
    DescriptionMatch,
    ExecutionError,
    ExecutionResult,
    Note,
    Question,
    State,
    UnitTest,
    ValueMatch,
)
from tests.golden import assert_prompt
from tests.prompts.test_templates import Says
from tests.running.test_parallel import START


@dataclass(frozen=True)
class Finds(Step):
    """Finds a keyword."""

    word: str
    reads: frozenset[str] = frozenset({"question", "keywords"})
    writes: frozenset[str] = frozenset({"keywords"})

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(keywords=(*state.keywords, self.word))


TOOLS = (NamedStep("first", Finds("a")), NamedStep("second", Finds("b")))


CALLS = Capabilities(tools=True, json_schema=True)


def choose(tool: str) -> list[Sample]:
    return [Reply(f'{{"reason": "because", "tool": "{tool}"}}')]


def call(tool: str) -> list[Sample]:
    return [Reply("", (ToolCall("1", tool, '{"reason": "because"}'),), finish="tool_calls")]


def steered(
    *replies: list[Sample],
    tools: tuple[Step, ...] = TOOLS,
    calls: bool = False,
    start: State = START,
    workspace: Any = None,
    **options: Any,
) -> tuple[State, Says]:
    model = Says(*replies)
    model.capabilities = CALLS if calls else Capabilities(json_schema=True)
    agent = Agent(tools, **{"task": "Find words."} | options)
    return agent(start, Context(workspace, Run(), {"llm": model})), model


@pytest.mark.parametrize(("want", "calls"), [(choose, False), (call, True), (choose, True)])
def test_the_model_chooses_the_order_and_the_end(want: Any, calls: bool) -> None:
    replies = (want("second"), want("first"), want("second"), want("done"))
    state, model = steered(*replies, calls=calls)
    assert state.keywords == ("b", "a", "b")
    assert len(model.asked) == 4
    assert not state.warnings


@pytest.mark.parametrize("spelled", ["Second", "`second`", "second()", "words.second", " SECOND\n"])
def test_a_tool_is_known_however_it_is_spelled(spelled: str) -> None:
    ((said,),) = [call(spelled)]
    state, _ = steered([said], choose("done"), calls=True)
    assert state.keywords == ("b",)


def test_tools_are_offered_to_a_model_that_can_call_them_and_to_no_other() -> None:
    _, model = steered(call("done"), calls=True)
    (request,) = model.asked
    assert [tool.name for tool in request.tools] == ["first", "second", "done"]
    assert request.tools[0].description == "Finds a keyword."
    assert request.reply_schema is None
    assert "Call one tool" in str(request.messages[0].text)
    _, model = steered(choose("done"))
    (request,) = model.asked
    assert (request.tools, request.reply_schema is None) == ((), False)
    assert "Call one tool" not in str(request.messages[0].text)


def test_a_call_of_a_tool_that_is_not_there_is_told_and_asked_again() -> None:
    state, model = steered(call("third"), call("second"), call("done"), calls=True)
    assert state.keywords == ("b",)
    told = [str(message.text) for message in model.asked[1].messages]
    assert '"tool": "third"' in told[-2]
    assert "there is no tool 'third' now, only first, second, done" in told[-1]
    assert model.asked[1].tools == model.asked[0].tools


def test_it_is_told_what_is_known_and_what_each_tool_changed() -> None:
    _, model = steered(choose("first"), choose("done"))
    last = str(model.asked[-1].messages[-1].text)
    assert "keywords: 1" in last
    assert "1. first: keywords: 0 -> 1" in last
    assert "first: Finds a keyword" in str(model.asked[0].messages[0].text)


@pytest.mark.parametrize(
    "replies",
    [
        ([Reply("what?")], [Reply("no idea")]),
        (choose("third"), choose("fourth")),
        ([Missing("unavailable", "down")],),
        ([Missing("budget", "spent")],),
        (call("third"), call("fourth")),
        (choose("first"), [Reply("first first first")], [Reply("{")]),
    ],
    ids=["prose", "no such tool", "no reply", "no budget", "no such call", "at first some"],
)
def test_a_model_of_no_use_leaves_the_fixed_order(replies: tuple[list[Sample], ...]) -> None:
    state, _ = steered(*replies, goal="tests", calls=True)
    assert state.keywords == ("a", "b")
    assert "fixed order" in state.warnings[0].text


def test_ending_without_the_goal_runs_what_has_not_run() -> None:
    assert steered(choose("done"), goal="keywords")[0].keywords == ("a", "b")
    assert steered(choose("done"))[0].keywords == ()


def test_turns_are_bounded() -> None:
    state, model = steered(choose("first"), choose("second"), choose("first"), turns=3)
    assert state.keywords == ("a", "b", "a")
    assert len(model.asked) == 3


@dataclass(frozen=True)
class Reads(Step):
    """Finds columns named like keywords, the same however often it runs."""

    reads: frozenset[str] = frozenset({"keywords"})
    writes: frozenset[str] = frozenset({"similar_columns"})

    def applies(self, state: State, context: Context) -> bool:
        return bool(state.keywords)

    def __call__(self, state: State, context: Context) -> State:
        found = (ColumnLink(ColumnRef("t", word), 1.0) for word in state.keywords)
        return state.evolve(similar_columns=tuple(found))


@dataclass(frozen=True)
class Never(Step):
    """Can do nothing with any state."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset({"tests"})

    def applies(self, state: State, context: Context) -> bool:
        return False

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(tests=(UnitTest("It ran."),))


@dataclass(frozen=True)
class FindsOnce(Finds):
    """Finds a keyword in the question."""

    reads: frozenset[str] = frozenset({"question"})


READS = (NamedStep("once", FindsOnce("a")), NamedStep("columns", Reads()))


def test_with_nothing_left_to_do_it_ends_without_a_call() -> None:
    state, model = steered(choose("columns"), tools=READS, goal="keywords")
    # The first tool alone can do something, so it runs; then only the second can.
    assert (state.keywords, len(state.similar_columns)) == (("a",), 1)
    assert len(model.asked) == 1
    assert "- once:" not in str(model.asked[0].messages[0].text)


def test_reaching_the_goal_leaves_the_rest_to_the_model() -> None:
    state, model = steered(choose("done"), tools=READS, goal="keywords")
    assert (state.similar_columns, len(model.asked)) == ((), 1)


@pytest.mark.parametrize("goal", ["", "keywords"])
def test_a_tool_that_can_do_nothing_is_not_offered(goal: str) -> None:
    tools = (*TOOLS, NamedStep("never", Never()))
    state, model = steered(choose("never"), choose("first"), choose("done"), tools=tools, goal=goal)
    assert "- never:" not in str(model.asked[0].messages[0].text)
    assert "there is no tool 'never' now" in str(model.asked[1].messages[-1].text)
    assert (state.keywords, state.tests) == (("a",), ())


def test_a_tool_of_steps_applies_where_one_of_them_does() -> None:
    never = sequence(Never(), Never())
    state, model = steered(choose("done"), tools=(never, sequence(Never(), Finds("a"))))
    assert not state.tests
    assert "- never:" not in str(model.asked[0].messages[0].text)
    assert "never_and_finds: " in str(model.asked[0].messages[0].text)


def test_it_fits_a_recipe_like_the_sequence_it_falls_back_to() -> None:
    agent = Agent((READS[0], READS[0]), task="Find words.")
    assert "keywords" in check_fit(agent)
    assert len(list(leaves(agent))) == 2


def test_a_recipe_names_it_and_a_combinator_is_a_tool_under_its_steps_names() -> None:
    recipe = parse_recipe(
        """
name: agents
steps:
  - retrieval.values
  - agent:
      task: Write queries.
      goal: candidates
      turns: 4
      steps:
        - samples: {count: 2, steps: [generation.embedded, repair.execution_guided]}
        - repair.execution_guided
  - selection.first_valid
""",
        ["agent.turns=2"],
    )
    agent: Any = recipe.step.steps[1]  # type: ignore[attr-defined]
    assert list(tools_of(agent.steps)) == [
        "embedded_and_execution_guided",
        "execution_guided",
    ]
    assert agent.turns == 2
    with pytest.raises(ConfigError, match="task"):
        parse_recipe("name: x\nsteps:\n  - agent: {steps: [selection.first_valid]}\n")


def test_tools_of_one_name_are_told_apart() -> None:
    names = tools_of([NamedStep("a.direct", TOOLS[0]), NamedStep("b.Direct", TOOLS[1]), Agent(())])
    assert list(names) == ["direct", "direct_2", "agent"]
    assert list(tools_of([NamedStep("done", TOOLS[0])])) == ["done_2"]


def known() -> State:
    """A state with something of every kind, its stored data marked by the word secret."""
    columns = (Column("city", "TEXT"), Column("id", "INTEGER"))
    recent = Table("recent", columns[1:], kind="view")
    view = SchemaView(Schema("sqlite", (Table("t", columns), recent)))
    error = ExecutionError("sql", "no such column: secret", cause="unknown_column")
    asks = Candidate("SELECT name\nFROM t", "test", by_model=True)
    found = ExecutionResult(("name", "n"), (("secret", 1), ("secret too", 2)))
    chosen = replace(asks, sql="SELECT id FROM t WHERE id = 0", result=ExecutionResult(("id",)))
    return START.evolve(
        question=Question("Which stores are in Oakland?", evidence="a store is a row of t"),
        view=view,
        keywords=("oakland", "stores"),
        values=(ValueMatch("oakland", ColumnRef("t", "city"), "Secret Oakland", 1.0),),
        candidates=(
            replace(asks, sql="SELECT t.name FROM t", result=found),
            replace(asks, sql="SELECT nam FROM t", result=ExecutionResult(error=error)),
            replace(asks, result=found),
            replace(asks, sql="SELECT name  FROM t", sample=2, result=found),
            chosen,
            replace(asks, sql="SELECT max(id) FROM t"),
        ),
        selected=chosen,
        similar_columns=(ColumnLink(ColumnRef("t", "id"), 0.9),),
        descriptions=(DescriptionMatch(ColumnRef("t", "city"), "description", "a town", 0.8),),
        tests=(UnitTest("It shows names.", (0, 2)), UnitTest("It is short.")),
        warnings=(Note("model", "a call failed: secret"),),
    )


def test_the_state_shows_what_was_found_and_what_came_of_the_queries() -> None:
    text = str(summary(known()))
    for shown in (
        "oakland, stores",
        "t(city, id)",
        "t.city = 'Secret Oakland', for \"oakland\"",
        "candidates: 6 written, 5 different (1 failed, 1 found nothing, 2 different results)",
        "Columns with names like keywords:\nt.id\n",
        "view recent(id)",
        "1. SELECT name FROM t\n   given by 3 queries, 2 of them different:\n   2 rows, 2 ",
        "   2 rows, 2 columns\n   name | n\n   'secret' | 1\n   'secret too' | 2\n2. ",
        "2. selected: SELECT id FROM t WHERE id = 0\n   0 rows, 1 column\n   id\n3. ",
        "3. SELECT nam FROM t\n   the query failed: no such column: secret",
        "4. SELECT max(id) FROM t\n   not run yet",
        "- It shows names. (passed by 1)",
        "- It is short. (not judged)",
        "a call failed: secret",
    ):
        assert shown in text, shown


@pytest.mark.parametrize("calls", [False, True], ids=["replying", "calling"])
def test_the_prompt(calls: bool, shop_workspace: Workspace) -> None:
    agents = [one for one in walk(load_recipe("chess-agents").step) if isinstance(one, Agent)]
    (writer,) = [one for one in agents if one.goal == "candidates"]
    _, model = steered(
        (call if calls else choose)("first"),
        (call if calls else choose)("done"),
        tools=(*TOOLS, *writer.steps),
        calls=calls,
        start=known(),
        workspace=shop_workspace,
        task=writer.task,
    )
    assert_prompt(f"agent{'_calls' if calls else ''}", model.asked[-1].messages)


def test_stored_data_stays_home_where_values_mayn_not_leave() -> None:
    text = str(summary(known(), grouped=False).without("value"))
    assert "ecret" not in text
    assert "given by 3" not in text
    assert "1. SELECT t.name FROM t\n   many rows, 2 columns" in text
    assert "2. SELECT nam FROM t\n   the query failed: [hidden]" in text
    assert "3. SELECT name FROM t\n   many rows, 2 columns" in text
    assert "oakland, stores" in text


def test_a_huge_state_is_shown_in_part() -> None:
    much = START.evolve(
        keywords=tuple(f"word {n} " + "x" * 500 for n in range(500)),
        values=tuple(
            ValueMatch(f"p{n}", ColumnRef("t", "c"), "v" * 5_000, 1.0) for n in range(500)
        ),
        candidates=tuple(
            Candidate(
                f"SELECT {n}, '{'y' * 5_000}'",
                "test",
                by_model=True,
                result=ExecutionResult(("a",) * 50, (("z" * 1_000,) * 50,) * 100),
            )
            for n in range(60)
        ),
        tests=tuple(UnitTest(f"Test {n} " + "t" * 1_000) for n in range(60)),
        warnings=tuple(Note("model", f"{n} " + "w" * 5_000) for n in range(50)),
    )
    text = str(summary(much))
    assert len(text) < 15_000
    assert "and 485 more" in text
    assert "60 written, 60 different" in text


def test_queries_that_begin_alike_are_told_apart_by_their_ends() -> None:
    head = "SELECT " + ", ".join(f"column_{n}" for n in range(100)) + " FROM t"
    queries = tuple(
        Candidate(f"{head} LIMIT {n}", "test", result=ExecutionResult(("a",), ((n,),)))
        for n in range(9)
    )
    text = str(summary(START.evolve(candidates=queries, tests=(UnitTest("One.", (0, 8)),))))
    assert "9 written, 9 different (0 failed, 0 found nothing, 9 different results)" in text
    assert all(f"FROM t LIMIT {n}\n" in text for n in range(8))
    assert "and 1 more query, numbered on" in text
    assert "- One. (passed by 1, 1 not shown)" in text
    text = str(summary(START.evolve(candidates=queries[:1])))
    assert "1 written, 1 different (0 failed, 0 found nothing, 1 different result)" in text


def test_a_change_is_told_by_amounts() -> None:
    after = START.evolve(candidates=(Candidate("SELECT 'secret'", "t"),), keywords=("secret",))
    assert "secret" not in str(changes(START, after))
    assert str(changes(START, START)) == "changed nothing"


@pytest.mark.parametrize(("found", "told"), [(0, "0"), (1, "1"), (2, "many"), (23, "many")])
def test_how_much_was_found_is_roughly_told_where_values_stay_home(found: int, told: str) -> None:
    match = ValueMatch("x", ColumnRef("t", "c"), "secret", 1.0)
    after = START.evolve(
        values=(match,) * found,
        candidates=tuple(
            Candidate("SELECT 1", "test", result=ExecutionResult(("n",), ((n,),)))
            for n in range(found)
        ),
    )
    assert f"stored values found: {told}" in str(summary(after).without("value"))
    assert f"stored values found: {found}" in str(summary(after))
    if found:
        assert f"{told} different result" in str(summary(after).without("value"))
        assert f"stored values found: 0 -> {told};" in str(changes(START, after).without("value"))


@dataclass(frozen=True)
class Writes(Step):
    """Writes a query that a seed decides."""

    options: int
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        sql = f"SELECT {state.sample % self.options}"
        written = Candidate(sql, "writes", sample=state.sample)
        return state.evolve(candidates=(*state.candidates, written))


def test_a_tool_that_runs_again_draws_other_samples() -> None:
    tool = samples(3, Writes(100))
    state, _ = steered(*[choose("writes")] * 3, choose("done"), tools=(tool,))
    assert [candidate.sample for candidate in state.candidates] == list(range(1, 10))
    assert state.sample == 0
    alone = (NamedStep("writes", Writes(100)),)
    state, _ = steered(*[choose("writes")] * 3, choose("done"), tools=alone)
    assert [candidate.sample for candidate in state.candidates] == [0, 1, 2]


def test_a_query_that_a_tool_writes_again_has_no_second_vote() -> None:
    tools = (samples(4, Writes(3)), NamedStep("other", Writes(3)))
    state, model = steered(
        choose("writes"), choose("writes"), choose("other"), tools=tools, turns=3
    )
    # The samples of one run vote each; of the second run none is new; another tool has its own.
    assert [one.sample for one in state.candidates] == [1, 2, 3, 4, 0]
    assert "4 of its queries it had written before" in str(model.asked[2].messages[-1].text)


def test_the_agents_of_chess_have_tools_with_purposes_of_their_own() -> None:
    agents = [one for one in walk(load_recipe("chess-agents").step) if isinstance(one, Agent)]
    tools = {name: step.purpose for agent in agents for name, step in tools_of(agent.steps).items()}
    assert {"write_by_dividing", "write_by_query_plan", "extract_keywords", "revise"} <= set(tools)
    assert len(set(tools.values())) == len(tools) == 11
    for purpose in tools.values():
        assert "CHESS" not in purpose
        assert "call" in purpose.casefold()


@pytest.mark.parametrize("calls", [False, True])
def test_an_agent_that_writes_again_sends_other_requests(
    database_files: dict[str, Path], tmp_path: Path, calls: bool
) -> None:
    wanted = ["write_by_dividing"] * 3 + ["write_by_query_plan", "done"]
    turn = [call(tool)[0] if calls else choose(tool)[0] for tool in wanted]
    model = ScriptedModel(
        Script(
            [
                When(lambda asked: "Write candidate queries" in asked.prompt, turn),
                When("agent", call("done")[0] if calls else choose("done")[0]),
                When("generation.direct", "```sql\nSELECT count(*) FROM customers\n```"),
            ],
            otherwise="[]",
        ),
        capabilities=replace(CALLS, remote=False) if calls else None,
    )
    with api.open(
        database_files["shop"],
        recipe="chess-agents",
        overrides=["samples.count=2"],
        models={"llm": model},
        home=tmp_path,
    ) as session:
        answer, state = session.run("How many customers are there?")
    sent = [request for step, request in model.requests if step == "generation.direct"]
    assert len({(request.messages, request.seed) for request in sent}) == len(sent) == 8
    assert (answer.status, answer.rows) == ("answered", ((4,),))
    # Two samples of each tool: what it wrote again doesn't count again.
    assert [candidate.sample for candidate in state.candidates] == [1, 2, 1, 2]
