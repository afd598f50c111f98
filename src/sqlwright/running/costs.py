"""What an answer's query reads, by its engine's estimate."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Run, Workspace
from sqlwright.types import Answer


def with_cost(answer: Answer, workspace: Workspace, run: Run) -> Answer:
    """The answer with what its query reads, where the engine tells."""
    if answer.status != "answered" or not answer.sql or not workspace.database.estimates:
        return answer
    try:
        cost = workspace.database.cost(answer.sql, run)
    except DatabaseUnavailable:
        return answer  # it has its rows; a server that is gone now changes nothing of them
    return replace(answer, cost=cost) if cost.told else answer
