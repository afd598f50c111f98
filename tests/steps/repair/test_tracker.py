"""Vetoes over a database as object mappers lay it out, on three engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Candidate, Question, State
from tests.steps.repair.prepared import ENGINES, prepared_on

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "vetoes" / "tracker.yaml").read_text("utf-8")
)
TABLES = """
CREATE TABLE "User" (id INTEGER PRIMARY KEY, "firstName" VARCHAR(20), "isAdmin" BOOLEAN NOT NULL);
CREATE TABLE "Ticket" (
    id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, status VARCHAR(20) NOT NULL,
    "assigneeId" INTEGER REFERENCES "User" (id), "reporterId" INTEGER REFERENCES "User" (id),
    julian DOUBLE PRECISION NOT NULL, "closedAt" TIMESTAMP
);
CREATE TABLE "Label" (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL);
CREATE TABLE "_TicketLabels" (
    "A" INTEGER REFERENCES "Ticket" (id), "B" INTEGER REFERENCES "Label" (id)
);
CREATE TABLE "Invoice" (
    id INTEGER PRIMARY KEY, "paidCents" INTEGER NOT NULL, "createdAt" TIMESTAMP NOT NULL,
    "paidAt" TIMESTAMP
);
CREATE TABLE "Desk" (id INTEGER PRIMARY KEY, room VARCHAR(20) NOT NULL);
CREATE TABLE "Move" (
    id INTEGER PRIMARY KEY, "originDeskId" INTEGER REFERENCES "Desk" (id),
    "targetDeskId" INTEGER REFERENCES "Desk" (id)
);
INSERT INTO "Desk" VALUES (1, 'Attic'), (2, 'Cellar'), (3, 'Hall');
INSERT INTO "Move" VALUES (1, 1, 2), (2, 1, 3), (3, 2, 3), (4, 3, 2), (5, 1, 2);
INSERT INTO "User" VALUES (1, 'Ann', TRUE), (2, 'Bo', FALSE), (3, 'Cy', TRUE);
INSERT INTO "Label" VALUES (1, 'bug'), (2, 'urgent');
"""


def rows() -> Iterator[str]:
    """The rows of tickets, their labels and invoices as statements."""
    for n in range(1, 13):
        status = "CLOSED" if n <= 5 else "IN_PROGRESS"
        closed = f"'2024-02-{n:02} 10:00:00'" if n <= 3 else "NULL"
        assignee, reporter = 1 + n % 2, 2 if n <= 2 else 3
        yield (
            f"INSERT INTO \"Ticket\" VALUES ({n}, 'Title {n}', '{status}', {assignee}, {reporter}, "
            f"{n}.5, {closed})"
        )
        yield f'INSERT INTO "_TicketLabels" VALUES ({n}, {2 if n % 4 == 0 else 1})'
        paid = f"'2024-03-{n:02} 09:30:00'" if n <= 8 else "NULL"
        yield f"INSERT INTO \"Invoice\" VALUES ({n}, {n * 10}, '2024-01-{n:02} 00:00:00', {paid})"


@pytest.fixture(scope="module", params=ENGINES)
def tracker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    script = TABLES + ";\n".join(rows()) + ";"
    folder = tmp_path_factory.mktemp("tracker")
    with prepared_on(request.param, script, folder, request) as workspace:
        yield workspace


@pytest.mark.parametrize("case", CASES, ids=[f"{c['question']} {c.get('where')}" for c in CASES])
def test_the_tracker(tracker: Workspace, case: dict[str, Any]) -> None:
    where = f" WHERE {case['where']}" if "where" in case else ""
    sql = case.get("sql") or f'SELECT count(*) FROM "{case["from"]}"{where}'
    context = Context(tracker, Run())
    state = State(Question(case["question"]), SchemaView(tracker.schema))
    state = ValueRetrieval()(state, context)
    state = state.evolve(candidates=execute([Candidate(sql, "test")], tracker.database, Run()))
    (candidate,) = VetoRepair(unanswered=False)(state, context).candidates
    truth = "1" if tracker.database.dialect == "sqlite" else "TRUE"
    done = [text.format(yes=truth) for text in case.get("done", [])]
    assert [veto.done for veto in candidate.mended] == done
    assert [veto.message for veto in candidate.vetoes] == case.get("vetoes", [])
    assert candidate.result is not None
    found = [list(row) for row in candidate.result.rows]
    assert sorted(found) == (case["rows"] if "rows" in case else [[case["count"]]])
