"""Has a language model refine queries by what came of running them (MAG-SQL's outcome table)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlwright.candidates import result_rank
from sqlwright.prompts.demonstrations import NESTED, load_revisions, texts
from sqlwright.prompts.fitting import Fitted
from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context
from sqlwright.schema import SchemaView
from sqlwright.sql.reading import computes_within
from sqlwright.steps.repair.faults import FaultRule, settled
from sqlwright.steps.repair.mending import Looked, Mending
from sqlwright.steps.showing import Style
from sqlwright.types import Candidate, State

NESTED_PROMPT = "repair/refine_nested"
"""The prompt for a query that found no rows and has another one within it."""
NULL_ROWS = 5
"""First rows in which some but not all cells being NULL is a reason to refine; as in MAG-SQL."""
RULE = FaultRule(nulls=False, literals=False, null_rows=NULL_ROWS)
"""The reasons to refine a query, by default."""


@dataclass(frozen=True)
class Refine(Mending):
    """Has a language model refine candidates by their outcome (MAG-SQL section 3.4), a call each.

    - An error, a timeout included: with its message. Where a column isn't there, the prompt shows
      the whole schema in full, whatever the view shows.
    - No row: as it is; a query with another one within it by a prompt of its own.
    - Some but not all cells of the first rows are NULL: with advice to exclude it. All of them
      NULL, or a single row, is accepted.

    The new query is executed and takes the old one's place, which stays its parent, only if it
    is better: rows are better than none, none better than an error, rows without NULL better than
    those with. A reply that can't be used, and one that repeats a query that ran, settle it. For
    several rounds the step runs in `repeat_until` with the condition `accepted`, which goes by the
    default options.
    """

    prompt: str = "repair/refine"
    nested_shots: int = 2
    """Worked examples for a query that found no rows and has another one within it."""
    style: Style = "ddl"
    """The form of the schema."""
    examples: int = 6
    """Stored values shown beside a column at most."""
    empty: bool = True
    """Refine queries that find no rows."""
    null_rows: int = NULL_ROWS
    """First rows that are looked at for NULL; 0 accepts it."""
    by_schema: bool = True
    """Mend by the schema what fails, and tell the model which tables have a column that it looks
    for elsewhere; not in the paper."""
    sampling: Sampling = field(default_factory=Sampling)

    source: ClassVar[str] = "repair.refine"
    rows: ClassVar[int] = 5
    purpose: ClassVar[str] = (
        "Mends queries that failed, found nothing or found NULL among other things; a new query is "
        "kept only if it is better. One call for each of them."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __post_init__(self) -> None:
        for option in ("nested_shots", "examples", "null_rows"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    @property
    def rule(self) -> FaultRule:
        """The faults that count by these options."""
        return FaultRule(self.empty, nulls=False, literals=False, null_rows=self.null_rows)

    @property
    def tried_rule(self) -> FaultRule:
        """The same."""
        return self.rule

    def looked_at(self, candidate: Candidate, state: State, context: Context) -> Looked:
        """The candidate and what its outcome speaks against it."""
        if settled(candidate) or candidate.result is None:
            return Looked(candidate, (), wanted=False)
        faults = tuple(self.rule.of_result(candidate, state.question))
        return Looked(candidate, faults, wanted=bool(faults))

    def better(self, new: Candidate, looked: Looked, state: State, context: Context) -> bool:
        """As of any mending; of two with rows the one without NULL in the first."""
        if any(fault.kind == "some_null" for fault in looked.faults):
            faulty = any(self.rule.of_result(new, state.question))
            return result_rank(new) == 0 and not faulty
        return super().better(new, looked, state, context)

    def fitted(self, looked: Looked, state: State, context: Context) -> Fitted:
        """The prompt for its outcome."""
        nested = _nested(looked)
        demonstrations = self._demonstrations(state.view.schema.dialect) if nested else []
        if _lacks_column(looked.candidate):
            state = state.evolve(view=SchemaView(context.workspace.schema))
        template = NESTED_PROMPT if nested else self.prompt
        return self.about(looked, state, context, template=template, demonstrations=demonstrations)

    def _demonstrations(self, dialect: str) -> list[Mapping[str, Any]]:
        return [texts(one) for one in load_revisions(NESTED, dialect)[: self.nested_shots]]


def _nested(looked: Looked) -> bool:
    """True of a query that found no rows and has one within it whose result it compares with."""
    empty = any(fault.kind == "empty" for fault in looked.faults)
    return empty and computes_within(looked.candidate.sql, looked.candidate.dialect)


def _lacks_column(candidate: Candidate) -> bool:
    result = candidate.result
    return (
        result is not None and result.error is not None and result.error.cause == "unknown_column"
    )
