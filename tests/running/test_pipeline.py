"""One error policy, and what an answer is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sqlwright.errors import (
    Cancelled,
    ConfigError,
    MalformedReply,
    ModelUnavailable,
    SqlwrightError,
)
from sqlwright.local.steps.execution_guided import ExecutionGuidedRepair
from sqlwright.protocols import Context, Limits, Run, Step, Workspace
from sqlwright.running.combinators import named, sequence
from sqlwright.running.control_flow import parallel
from sqlwright.running.pipeline import GRACE, Pipeline
from sqlwright.schema import ColumnRef
from sqlwright.sql.reading import is_query
from sqlwright.steps.selection.unjudged import FirstValid
from sqlwright.types import Answer, Basis, Candidate, Note, Question, Refusal, State, ValueMatch

MODELS: Mapping[str, Any] = {}
COUNT = "SELECT COUNT(*) FROM orders"


@dataclass(frozen=True)
class Does(Step):
    act: Callable[[State, Context], State]
    reads: frozenset[str] = frozenset({"question"})
    writes: frozenset[str] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        return self.act(state, context)


def writes(*sql: str) -> Does:
    new = tuple(Candidate(one, "test", -float(place)) for place, one in enumerate(sql))
    return Does(lambda state, _: state.evolve(candidates=new))


def raises(error: SqlwrightError) -> Does:
    def act(state: State, _: Context) -> State:
        raise error

    return Does(act)


def answer_of(workspace: Workspace, *steps: Any, run: Run | None = None) -> Answer:
    pipeline = Pipeline("test", sequence(*steps))
    answer, _ = pipeline.run(Question("how many?"), workspace, MODELS, run or Run())
    return answer


def test_an_answer_says_what_it_rests_on(shop_workspace: Workspace) -> None:
    sql = "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.total > 100"
    answer = answer_of(shop_workspace, writes(sql), ExecutionGuidedRepair(), FirstValid())
    assert (answer.status, answer.recipe, answer.dialect) == ("answered", "test", "sqlite")
    assert answer.columns == ("name",)
    assert answer.rows == (("Ada Brandt",),)
    assert set(answer.used_tables) == {"customers", "orders"}
    assert ColumnRef("orders", "total") in answer.used_columns
    assert [time.step for time in answer.times] == ["Does", "ExecutionGuidedRepair", "FirstValid"]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_cancelled_after_branches_keeps_what_all_of_them_have(
    shop_workspace: Workspace, workers: int
) -> None:
    branches = parallel(
        named(writes(COUNT), "first"), named(writes("SELECT 2"), "second"), workers=workers
    )
    pipeline = Pipeline("test", sequence(branches, raises(Cancelled("stopped"))))
    _, state = pipeline.run(Question("how many?"), shop_workspace, MODELS, Run())
    assert {candidate.sql for candidate in state.candidates} == {COUNT, "SELECT 2"}


def test_an_answer_says_what_its_query_says(shop_workspace: Workspace) -> None:
    sql = "SELECT name FROM customers WHERE city != 'München' AND id > 1"
    held = ValueMatch("munich", ColumnRef("customers", "city"), "München", 1.0, 2)
    other = ValueMatch("bonn", ColumnRef("customers", "city"), "Bonn", 0.7, 1)
    written = Candidate(sql, "test", values=(held, other))
    step = Does(lambda state, _: state.evolve(candidates=(written,)))
    answer = answer_of(shop_workspace, step, ExecutionGuidedRepair(), FirstValid())
    assert [part.text for part in answer.reading] == [
        "customers.city != 'München'",
        "customers.id > 1",
    ]
    # A value in a column of the query is not understood when the query doesn't hold it.
    assert answer.values == (held,)


def test_alternatives_are_one_per_other_result(shop_workspace: Workspace) -> None:
    queries = (COUNT, "SELECT 4", "SELECT 5", "SELECT 5.0", "SELECT nope", "SELECT 6", "SELECT 7",
               "SELECT 8", "SELECT 9")  # fmt: skip
    answer = answer_of(shop_workspace, writes(*queries), ExecutionGuidedRepair(), FirstValid())
    assert answer.sql == COUNT
    assert [c.sql for c in answer.alternatives] == ["SELECT 5", "SELECT 6", "SELECT 7", "SELECT 8"]


def test_without_a_critic_there_is_no_probability(
    shop_workspace: Workspace,
) -> None:
    alone = answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), FirstValid())
    assert (alone.confidence, alone.basis) == (None, Basis("none", 0, 1))
    split = answer_of(
        shop_workspace, writes(COUNT, "SELECT 5"), ExecutionGuidedRepair(), FirstValid()
    )
    assert (split.confidence, split.basis) == (None, Basis("none", 0, 2))
    assert "2 queries, nothing judged them" in str(split)


def test_an_answer_that_was_cut_short_claims_little(shop_workspace: Workspace) -> None:
    stop = raises(Cancelled("cancelled"))
    early = answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), stop)
    assert (early.status, early.confidence, early.basis.kind) == ("answered", None, "none")
    judged = Does(lambda state, _: state.evolve(confidence=0.9))
    late = answer_of(
        shop_workspace, writes(COUNT), ExecutionGuidedRepair(), FirstValid(), judged, stop
    )
    assert late.confidence == 0.9


@pytest.mark.parametrize(
    ("given", "expected"), [(-3.0, 0.0), (7.0, 1.0), (float("nan"), 0.0), (0.25, 0.25)]
)
def test_confidence_is_always_between_zero_and_one(
    shop_workspace: Workspace, given: float, expected: float
) -> None:
    sure = Does(lambda state, _: state.evolve(confidence=given))
    answer = answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), FirstValid(), sure)
    assert answer.confidence == expected


def test_an_empty_result_and_a_cut_one_are_said(shop_workspace: Workspace) -> None:
    null = answer_of(
        shop_workspace, writes("SELECT MAX(1) WHERE 0"), ExecutionGuidedRepair(), FirstValid()
    )
    assert any("nothing but NULL" in warning.text for warning in null.warnings)
    cut = answer_of(
        shop_workspace,
        writes("SELECT product FROM lines"),
        ExecutionGuidedRepair(),
        FirstValid(),
        run=Run(limits=Limits(rows=2)),
    )
    assert cut.truncated
    assert cut.warnings == ()  # `truncated` says it, and each form of the answer tells it once


def judged(*confidences: float, warnings: tuple[Note, ...] = (), answerable: float = 1.0) -> Does:
    """Selects the first candidate; each has its confidence."""

    def act(state: State, _: Context) -> State:
        rated = [
            replace(one, confidence=sure)
            for one, sure in zip(state.candidates, confidences, strict=True)
        ]
        rated[0] = replace(rated[0], warnings=warnings)
        return state.evolve(
            selected=rated[0],
            candidates=tuple(rated),
            confidence=confidences[0],
            answerable=answerable,
        )

    return Does(act)


ODD, NEW = Note("fan_out", "odd"), Note("fan_out", "new")


def test_doubt_has_its_main_reason_and_that_is_told_once(shop_workspace: Workspace) -> None:
    def doubt(*sql: str, step: Does) -> tuple[str, tuple[Note, ...]]:
        answer = answer_of(shop_workspace, writes(*sql), ExecutionGuidedRepair(), step)
        return answer.doubt, answer.warnings

    two = (COUNT, "SELECT 77")
    assert doubt(*two, step=judged(0.5, 0.4, warnings=(ODD,))) == ("", (ODD,))
    told, others = doubt(*two, step=judged(0.4, 0.1, warnings=(ODD, NEW)))
    assert (told, others) == ("odd", (NEW,))
    told, _ = doubt("SELECT 1 WHERE 0", step=judged(0.4))
    assert told == "the query found no rows"
    told, others = doubt("SELECT MAX(1) WHERE 0", step=judged(0.4))
    assert told == "the query found nothing but NULL"
    assert told not in map(str, others)
    told, _ = doubt(*two, step=judged(0.4, 0.3))
    assert told == "another query with another result is about as likely (30%)"
    told, _ = doubt(*two, step=judged(0.4, 0.1, answerable=0.3))
    assert told == "the database may not hold what is asked"
    told, _ = doubt(*two, step=judged(0.4, 0.1))
    assert told == "no query that was tried fits the question well"


def test_what_is_not_indexed_yet_is_said(shop_workspace: Workspace) -> None:
    noted = replace(shop_workspace, notes=("values of 2 columns are not indexed yet",))
    answer = answer_of(noted, writes(COUNT), ExecutionGuidedRepair(), FirstValid())
    assert Note("database", "values of 2 columns are not indexed yet") in answer.warnings


def test_no_candidate_is_a_failure_with_advice(shop_workspace: Workspace) -> None:
    answer = answer_of(shop_workspace, writes(), ExecutionGuidedRepair(), FirstValid())
    assert (answer.status, answer.sql, answer.confidence) == ("failed", None, None)
    assert answer.message
    assert answer.suggestion


def test_only_candidates_in_error_is_a_failure_that_shows_the_query(
    shop_workspace: Workspace,
) -> None:
    answer = answer_of(
        shop_workspace, writes("SELECT nope FROM orders"), ExecutionGuidedRepair(), FirstValid()
    )
    assert (answer.status, answer.sql) == ("failed", "SELECT nope FROM orders")
    assert "nope" in answer.message


def test_a_refusal_keeps_what_was_tried_as_alternatives(shop_workspace: Workspace) -> None:
    refuse = Does(
        lambda state, _: state.evolve(refusal=Refusal("unsure", "too unclear", "ask more")),
        writes=frozenset({"refusal"}),
    )
    answer = answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), refuse)
    assert (answer.status, answer.sql, answer.rows) == ("refused", None, ())
    assert (answer.message, answer.suggestion) == ("too unclear", "ask more")
    assert [c.sql for c in answer.alternatives] == [COUNT]
    assert answer.refusal == "unsure"


@pytest.mark.parametrize(
    "error",
    [
        ModelUnavailable("the critic's weights are missing", hint="Reinstall."),
        MalformedReply("no SQL in the reply"),
        Cancelled("cancelled"),
    ],
)
def test_a_step_that_fails_does_not_lose_the_question(
    shop_workspace: Workspace, error: SqlwrightError
) -> None:
    answer = answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), raises(error))
    assert answer.status == "answered"
    assert answer.rows == ((4,),)
    assert str(error) in answer.warnings[0].text


def test_what_was_never_executed_is_when_a_later_step_fails(shop_workspace: Workspace) -> None:
    answer = answer_of(shop_workspace, writes(COUNT), raises(ModelUnavailable("gone")))
    assert (answer.status, answer.rows) == ("answered", ((4,),))


def test_a_failure_before_any_candidate_says_why(shop_workspace: Workspace) -> None:
    answer = answer_of(shop_workspace, raises(ModelUnavailable("no parser", hint="Reinstall.")))
    assert answer.status == "failed"
    assert answer.message == "no parser. Reinstall."


def test_user_errors_go_to_the_caller(shop_workspace: Workspace) -> None:
    with pytest.raises(ConfigError):
        answer_of(shop_workspace, writes(COUNT), raises(ConfigError("yours to put right")))


def test_a_deadline_still_gives_the_candidate_at_hand(shop_workspace: Workspace) -> None:
    time = [0.0]

    def late(state: State, context: Context) -> State:
        time[0] = 10.0
        return state

    run = Run(seconds=5.0, clock=lambda: time[0])
    answer = answer_of(shop_workspace, writes(COUNT), Does(late), ExecutionGuidedRepair(), run=run)
    assert (answer.status, answer.rows) == ("answered", ((4,),))
    assert "time limit" in answer.warnings[0].text


def test_a_cancelled_run_executes_nothing_more(shop_workspace: Workspace) -> None:
    def cancel(state: State, context: Context) -> State:
        context.run.cancelled.set()
        return state

    answer = answer_of(
        shop_workspace, writes(COUNT), Does(cancel), ExecutionGuidedRepair(), FirstValid()
    )
    assert (answer.status, answer.sql) == ("failed", COUNT)
    assert "cancelled" in answer.message


def test_events_go_on_to_the_runs_own_sink(
    shop_workspace: Workspace,
) -> None:
    seen: list[str] = []
    run = Run(events=lambda event: seen.append(event.kind))
    answer_of(shop_workspace, writes(COUNT), ExecutionGuidedRepair(), FirstValid(), run=run)
    assert seen.count("step") == 3
    assert seen.count("execution") == 1


@pytest.mark.parametrize(
    ("late", "status"), [(0.0, "answered"), (GRACE - 0.1, "answered"), (GRACE + 0.1, "failed")]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_reading_sql_ends_a_moment_after_the_run(
    shop_workspace: Workspace, late: float, status: str, workers: int
) -> None:
    """A reply that came in time is still read; one that takes long doesn't hold the answer up."""
    time = [0.0]
    sql = f"SELECT {', '.join(['id'] * 400)}, {late}, {workers} FROM orders"

    def reads(state: State, _: Context) -> State:
        time[0] = 5.0
        assert is_query(f"SELECT {late}, {workers}")  # the end of the run is seen
        time[0] += late
        assert is_query(sql)
        return state.evolve(candidates=(Candidate(sql, "test"),), selected=Candidate(sql, "test"))

    run = Run(seconds=5.0, clock=lambda: time[0])
    branches = parallel(named(Does(reads), "a"), named(Does(lambda s, _: s), "b"), workers=workers)
    answer = answer_of(shop_workspace, branches, run=run)
    assert (answer.sql is None) is (status == "failed")
