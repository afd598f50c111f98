"""Right queries with a condition deleted are mended or held to be wrong; right ones stay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks.left_out import without_one

from sqlwright.candidates import execute, same_result, valid
from sqlwright.demo.business import DemoQuestion, demo_questions, write_business
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Candidate, Question, State


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    path = tmp_path_factory.mktemp("demo") / "business.sqlite"
    write_business(path)
    workspace = open_workspace(str(path), folder=path.parent / "absent")
    yield workspace
    workspace.database.close()


def looked_at(question: str, sql: str, workspace: Workspace) -> Candidate:
    """The one candidate for a question after the step."""
    context = Context(workspace, Run())
    state = State(Question(question), SchemaView(workspace.schema))
    state = ValueRetrieval()(state, context)
    written = execute([Candidate(sql, "test")], workspace.database, context.run)
    (candidate,) = VetoRepair()(state.evolve(candidates=written), context).candidates
    return candidate


def left_out(asked: DemoQuestion, workspace: Workspace) -> Iterator[Candidate]:
    """What remains of a question's query without one of its conditions, where that changes it."""
    (gold,) = execute([Candidate(asked.sql, "test")], workspace.database, Run())
    try:
        form = read_sql(asked.sql, workspace.schema)
    except UnsupportedQuery:
        return
    for _, less in without_one(form):
        sql = write_sql(less, workspace.schema)
        (other,) = execute([Candidate(sql, "test")], workspace.database, Run())
        if valid(other) and not same_result(gold, other):
            yield other


def test_right_queries_of_the_demo_are_left_alone(business: Workspace) -> None:
    doubted = [
        asked.text
        for asked in demo_questions()
        if looked_at(asked.text, asked.sql, business).vetoes
    ]
    assert doubted == []


def test_nearly_all_conditions_that_are_left_out_are_seen(business: Workspace) -> None:
    seen, missed = 0, []
    for asked in demo_questions():
        (gold,) = execute([Candidate(asked.sql, "test")], business.database, Run())
        for less in left_out(asked, business):
            after = looked_at(asked.text, less.sql, business)
            if after.vetoes or same_result(after, gold):
                seen += 1
            else:
                missed.append((asked.text, after.sql))
    assert missed == []
    assert seen >= 12
