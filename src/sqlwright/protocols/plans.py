"""Databases that tell how they would carry out a query."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sqlwright.protocols import Run
from sqlwright.types.plans import EnginePlan


@runtime_checkable
class TellsPlan(Protocol):
    """A database that tells its plan for a query. Implementation: `database.sqlite.database`."""

    def plan(self, sql: str, run: Run) -> EnginePlan:
        """Check, then compile one query under limits; nothing of it runs. Every failure is in the
        plan."""
        ...
