"""A proposed query with its history, result and findings."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from sqlwright.schema import ColumnRef, Schema
from sqlwright.types.results import ExecutionResult, ValueMatch

if TYPE_CHECKING:
    from sqlwright.sql.facts import QueryFacts

ReadingKind = Literal[
    "column", "value", "condition", "bound", "operation", "repeats", "each", "without", "direction",
    "first",
]  # fmt: skip
"""The one thing in which readings differ: the column meant; the stored value; whether a condition
is meant, or which; whether a bound belongs to it; what is worked out; whether what comes twice
counts twice; all together or one row each; rows without a partner; the upper or lower end; all or
the first few."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One reading of a question."""

    text: str
    """The reading in words, as far as it differs from the others."""
    gives: str
    """Its answer in short: the only value, or the number of rows and the first of them."""
    share: float
    """Probability that it is meant if one of the choices is, in [0, 1]; shares add up to 1."""
    candidate: Candidate
    """Its query and rows."""


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """A question to whoever asked, with the readings to choose from."""

    text: str
    kind: ReadingKind
    phrase: str
    """The words of the question that can be read in several ways; empty where none stand for it."""
    choices: tuple[Choice, ...]
    """Two or three, the likeliest first: that is the one answered."""

    @property
    def taken(self) -> Choice:
        """The choice that the answer goes by."""
        return self.choices[0]


PhraseKind = Literal[
    "value", "quotation", "name", "number", "time", "negation", "bound", "pattern", "extreme",
    "average", "count", "sum", "order", "word", "output",
]  # fmt: skip
"""The things that phrases ask for: a stored value; a text in quotes or written as a name; a number;
a time; an exclusion; a comparison; a part of a text; an operation; anything else; a column."""


@dataclass(frozen=True, slots=True)
class AskedPhrase:
    """A phrase of the question, and what in the query answers it."""

    kind: PhraseKind
    text: str
    span: tuple[int, int]
    """First character and end in the question."""
    answer: str = ""
    """The part of the query that answers it, in words; empty for nothing."""
    doubt: float = 0.0
    """The weight against the query of nothing answering it, in [0, 1]."""
    value: ValueMatch | None = None
    """A stored value that it names and the query doesn't use."""
    columns: tuple[ColumnRef, ...] = ()
    """Columns that are called so and the query doesn't use."""
    tables: tuple[str, ...] = ()
    """Likewise."""
    nearest: tuple[ValueMatch, ...] = ()
    """The stored values that are spelled most like it, where none is the same."""


@dataclass(frozen=True)
class Account:
    """The account of one query: every phrase of the question that asks for something."""

    phrases: tuple[AskedPhrase, ...] = ()
    """In reading order."""

    @cached_property
    def unanswered(self) -> tuple[AskedPhrase, ...]:
        """Those that nothing answers, the worst first."""
        left = [one for one in self.phrases if not one.answer]
        return tuple(sorted(left, key=lambda one: -one.doubt))

    @cached_property
    def doubt(self) -> float:
        """The weight of all of them together against the query, in [0, 1]."""
        return 1.0 - prod(1.0 - one.doubt for one in self.unanswered)


NoteKind = Literal[
    "stopped", "vetoed", "mended", "unanswered",
    "fan_out", "text_as_number", "order_by_digits", "replaced", "converted",
    "null_first", "text_among_numbers", "tied", "equal_rows",
    "shortened", "only_null", "date", "second_question", "form", "database",
    "left_out", "budget", "stand_in", "declined", "model", "schema", "embedder", "critic", "record",
    "prompt", "parameter", "linking", "examples", "values", "judging",
]  # fmt: skip
"""The subject of a note: how the run ended, faults of the query, what machine checks found and
replaced in it, its rows, the question, the database, and what went otherwise than planned: prompts
cut to fit, parameters that a model refused, a schema that linking left as it was, examples that
weren't made, stored values that weren't compared, queries or tests that no judge judged."""

TROUBLE: frozenset[NoteKind] = frozenset(
    {"left_out", "budget", "model", "prompt", "linking", "examples", "judging"}
)
"""Kinds of what went otherwise than planned and another step can make good."""

FINDINGS: frozenset[NoteKind] = frozenset(
    {"fan_out", "text_as_number", "order_by_digits", "replaced"}
)
"""Kinds that machine checks of a query give."""
CAVEATS: frozenset[NoteKind] = frozenset(
    {"null_first", "order_by_digits", "text_among_numbers", "tied"}
)
"""Kinds of what the data does to a query's order, comparisons and sums; its answer is doubted."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know, in a sentence. Programs go by the kind, never by the text."""

    kind: NoteKind
    text: str
    cause: str = ""
    """The message of the error that it tells of, where there is one."""

    def __str__(self) -> str:
        return self.text


VetoKind = Literal[
    "all", "amount", "both", "constant", "date", "flag", "join", "key", "moment", "name",
    "negation", "null", "number", "operation", "place", "round", "shown", "text", "unanswered",
    "unit", "value", "window", "year",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Veto:
    """A fault of a query that runs, read from its form: no right query has it."""

    kind: VetoKind
    message: str
    """The fault, in words."""
    done: str = ""
    """The mend, in words, for faults that can be mended; empty for others."""


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
    declined: str = ""
    """For one without a query: what the database lacks to answer, in the words of its author."""
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
            self.source, self.sql + self.declined, self.goal, str(self.sample), self.plan,
            self.parent_id,
        )  # fmt: skip
        content = "\0".join(written).encode("utf-8", "surrogatepass")
        object.__setattr__(self, "id", hashlib.blake2b(content, digest_size=6).hexdigest())

    @property
    def parent_id(self) -> str:
        """The id of the candidate it was made from; empty for what an author wrote."""
        return "" if self.parent is None else self.parent.id

    @property
    def first(self) -> Candidate:
        """The version that its author wrote, before any repair."""
        return self if self.parent is None else self.parent.first

    @property
    def writer(self) -> str:
        """The author of its first version: its prompt, or the step where that has one prompt only,
        and the language model that it names."""
        name = self.first.prompt or self.first.source
        return f"{name}, {self.first.model}" if self.first.model else name


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on queries that it saw at once, in one order."""

    step: str
    shown: tuple[str, ...]
    """The ids of the candidates, in the order in which they were shown."""
    votes: tuple[float, ...]
    """The part of the vote that each has, in that order; empty where no reply could be used."""
