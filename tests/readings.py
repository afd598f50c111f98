"""A step that gives two readings of each question, so that what asks back can be tested whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlwright.candidates import execute
from sqlwright.protocols import Context, Step
from sqlwright.types import Candidate, State

JOINED = "FROM customers JOIN contacts USING (customer_id)"


@dataclass(frozen=True)
class TwoReadings(Step):
    """Takes the customer's name, with the contact's nearly as likely, of the city that is named;
    counts customers where a number is asked for."""

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "selected", "confidence"})

    def __call__(self, state: State, context: Context) -> State:
        text = state.question.text
        city = "Rome" if "Rome" in text else "Oslo"
        queries = {
            f"SELECT {table}.name, phone {JOINED} WHERE city = '{city}'": confidence
            for table, confidence in (("customers", 0.5), ("contacts", 0.4))
        }
        if text.startswith("How many"):
            queries = {"SELECT count(*) FROM customers": 0.6}
        written = [Candidate(sql, "test", confidence=sure) for sql, sure in queries.items()]
        ran = execute(written, context.workspace.database, context.run)
        return state.evolve(candidates=ran, selected=ran[0], confidence=ran[0].confidence)
