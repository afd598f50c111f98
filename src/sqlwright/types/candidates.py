"""A proposed query with its history, result and findings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sqlwright.schema import ColumnRef, Schema
from sqlwright.types.account import Account
from sqlwright.types.notes import Note, Veto
from sqlwright.types.results import ExecutionResult
from sqlwright.types.values import ValueMatch

if TYPE_CHECKING:
    from sqlwright.sql.facts import QueryFacts


@runtime_checkable
class Form(Protocol):
    """A query as its author built it, before it was written as text."""

    def facts(self, schema: Schema) -> QueryFacts:
        """The facts of the query. Raises UnsupportedQuery where it doesn't fit the schema."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed query. Repairs keep their parent, so a candidate's history is a chain."""

    sql: str
    source: str
    """The step that wrote it."""
    score: float = 0.0
    """The author's own score: a log probability for the embedded parser."""
    result: ExecutionResult | None = None
    parent: Candidate | None = None
    tried: tuple[Candidate, ...] = ()
    """Repairs of it that were no better, in order; without a query where a reply could not be
    used."""
    goal: str = ""
    """The sub-question it answers; empty for the whole question."""
    columns: tuple[ColumnRef, ...] = ()
    """Columns it uses, where the author knows them."""
    values: tuple[ValueMatch, ...] = ()
    """Stored values it rests on, where the author knows them."""
    plan: str = ""
    """The reasoning that led to it, where its author gave one."""
    sample: int = 0
    """Number of the author's sample it is, from 1; 0 if there is only one."""
    note: str = ""
    """The change a repair made, in words, for the trace and the user."""
    warnings: tuple[Note, ...] = ()
    """Findings of machine checks; shown when the candidate is chosen."""
    prompt: str = ""
    """The prompt its author was asked with, where it may have several."""
    model: str = ""
    """The language model that its author names; empty for the run's own."""
    by_model: bool = False
    """True if a language model wrote the whole query. Any other query may hold stored data."""
    confidence: float | None = None
    """Calibrated probability that it is right, where a model fitted to say so has judged it."""
    share: float | None = None
    """Part of the samples that stands behind its result, weighted by unit tests, where selection
    has counted; it says how often models repeat themselves, not how probable the result is."""
    vetoes: tuple[Veto, ...] = ()
    """Faults that nobody mended; it isn't held to be right."""
    mended: tuple[Veto, ...] = ()
    """Faults of the candidate it was made from, put right in it."""
    account: Account | None = field(default=None, compare=False)
    """The part of it that answers each phrase of the question, where a step has looked."""
    form: Form | None = field(default=None, repr=False, compare=False)
    """The form that `sql` was written from, where its author has it."""
    dialect: str = field(default="sqlite", compare=False)
    """The dialect of `sql`, the database's: authors need not say it, executing does
    (`candidates.execute`)."""
    id: str = field(init=False, compare=False, default="")
    """Identifies the candidate, the same in every run: 12 hex digits, a digest of its author,
    query, sub-question, sample, plan and parent. Executing and judging it don't change it."""

    def __post_init__(self) -> None:
        written = (
            self.source, self.sql, self.goal, str(self.sample), self.plan, self.parent_id
        )  # fmt: skip
        content = "\0".join(written).encode("utf-8", "surrogatepass")
        object.__setattr__(self, "id", hashlib.blake2b(content, digest_size=6).hexdigest())

    @property
    def parent_id(self) -> str:
        """The id of the candidate it was made from; empty for what an author wrote."""
        return "" if self.parent is None else self.parent.id
