"""Protocols of everything a step is given and may call. Implementations live elsewhere.

`models` has the protocols of models; all of them can be imported from here.

Internal: may change without notice. `sqlwright` exports the public part.
"""

from __future__ import annotations

import math
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, runtime_checkable

from sqlwright.boundary.arguments import Count, Positive, checked_fields
from sqlwright.errors import Cancelled, ConfigError
from sqlwright.events import EventSink, no_events
from sqlwright.messages import Privacy
from sqlwright.protocols.models import (
    Assessment,
    Critic,
    Embedder,
    FloatArray,
    GroupLink,
    KeptDescriptions,
    KeptTexts,
    KeptVectors,
    LanguageModel,
    Linker,
    Links,
    Model,
    ModelsByRole,
    Parsed,
    Parser,
    TellsContext,
    context_tokens,
)
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.spending import Spending
from sqlwright.types import Cell, ExecutionResult, State, ValueMatch
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost, ScanLimit

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile, TableProfile
    from sqlwright.types.stored import Formats

R = TypeVar("R")


@dataclass
class _Made:
    """A value that is, or is being, made once."""

    inputs: tuple[object, ...]
    """Kept, because they are told apart by identity."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    outcome: list[Any] = field(default_factory=list)
    """Empty until it is there."""


class Remembered:
    """Values made once for all steps of a question; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, _Made] = {}

    def once(
        self, make: Callable[[], R], what: str, inputs: tuple[object, ...], options: Hashable = None
    ) -> R:
        """The value that `make` gave the first time for the same inputs; see `Run.once`."""
        key = (what, options, tuple(map(id, inputs)))
        with self._lock:
            made = self._made.setdefault(key, _Made(inputs))
        with made.lock:
            if not made.outcome:
                made.outcome.append(make())
            outcome: R = made.outcome[0]
            return outcome


class RowReader(Protocol):
    """Reads a database by SQL that sqlwright itself wrote. One thread uses it, any may
    `interrupt` it."""

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[tuple[Cell, ...]]:
        """Rows one by one, as stored. Raises ReadFailed."""
        ...

    def interrupt(self) -> None:
        """Make the statement that is running fail. Callable from any thread."""
        ...


@runtime_checkable
class Database(Protocol):
    """A database that can't be written through. Implementations: `database.*`."""

    @property
    def dialect(self) -> str:
        """A name of `sql.dialects`."""
        ...

    @property
    def url(self) -> str:
        """Without secrets."""
        ...

    @property
    def identity(self) -> str:
        """Tells databases apart, whoever asks and however it was named; no secrets."""
        ...

    @property
    def path(self) -> Path | None:
        """The file or folder that holds it; None on a server."""
        ...

    @property
    def tables(self) -> tuple[str, ...] | None:
        """The only tables and views that may be read, by their stored names; None for all."""
        ...

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        """The functions of its own that queries may call."""
        ...

    def schema(self, *, seconds: float = ...) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""
        ...

    def reader(self, *, seconds: float | None = None) -> AbstractContextManager[RowReader]:
        """Reads by SQL that sqlwright itself wrote, `seconds` for all of it. Raises
        DatabaseUnavailable."""
        ...

    def execute(self, sql: str, run: Run, *, limits: Limits | None = None) -> ExecutionResult:
        """Check, then run one query under limits. Every failure is in the result."""
        ...

    def check(self, sql: str) -> None:
        """Raise UnsafeQuery unless the text is one query that only reads, and only what may be
        read. `execute` does this first."""
        ...

    @property
    def estimates(self) -> bool:
        """True if `cost` tells how much a query reads."""
        ...

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The engine's estimate of a query, nothing of which runs. Every failure is in it."""
        ...

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; cheap. Empty where that can't be told."""
        ...

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        """Notes for people on tables, by their names in any case: rows of a file that were left
        out, and the like. Empty where nothing is guessed."""
        ...

    def doubted(
        self, tables: Collection[str], columns: Collection[tuple[str, str]]
    ) -> tuple[str, ...]:
        """Reasons why whatever is read of tables, or of columns of theirs, may be wrong: rows of a
        file that are left out, cells that can't be understood. Names in any case."""
        ...

    def size(self) -> int | None:
        """About how many bytes are stored; None when it can't be told at once."""
        ...

    def close(self) -> None: ...


__all__ = [
    "Assessment",
    "Catalog",
    "Context",
    "Critic",
    "Database",
    "Embedder",
    "FloatArray",
    "GroupLink",
    "KeptDescriptions",
    "KeptTexts",
    "KeptVectors",
    "LanguageModel",
    "Limits",
    "Linker",
    "Links",
    "Model",
    "ModelsByRole",
    "Parsed",
    "Parser",
    "Remembered",
    "RowReader",
    "Run",
    "Saved",
    "Step",
    "TellsContext",
    "ValueIndex",
    "Workspace",
    "context_tokens",
]


@checked_fields
@dataclass(frozen=True, slots=True)
class Limits:
    """The most one query may take: seconds, rows, bytes. Every limit is on by default."""

    seconds: Positive = 10.0
    rows: Count = 1_000
    result_bytes: Count = 16 * 1024 * 1024
    cell_bytes: Count = 1024 * 1024
    memory_bytes: Count = 1024 * 1024 * 1024
    scan: ScanLimit | None = None
    """The most that it may read by the engine's estimate, which is asked for before it runs; None
    asks for none."""


@dataclass(slots=True)
class Saved:
    """Seconds that a run, or a branch of one, didn't wait for language models as their replies were
    at hand."""

    seconds: float = 0.0


@dataclass(frozen=True)
class Run:
    """One question's budget, deadline, cancellation, seed, clock, day and event sink.

    Every model call and every SQL execution takes it, so limits and cancellation always belong to
    the right question. It is frozen: to hear the events of a part of it, or to give a part less
    time, hand that part a `fork`.
    """

    id: str = ""
    seed: int = 0
    seconds: float | None = None
    """Time allowed in all; None is no limit."""
    limits: Limits = field(default_factory=Limits)
    events: EventSink = no_events
    clock: Callable[[], float] = time.monotonic
    today: date = field(default_factory=date.today)
    """The day that “last month” is reckoned from."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    spending: Spending = field(default_factory=Spending)
    """Budget and cost of language models so far."""
    privacy: Privacy = "full"
    """Limit on what requests that leave the machine may hold."""
    stand_in: bool = True
    """True if embedded models may answer where a recipe's language model wrote no query."""
    local_model_saw_values: threading.Event = field(default_factory=threading.Event)
    """Set once a model on this machine was shown values that mayn't leave it."""
    saved: Saved = field(default_factory=Saved, repr=False, compare=False)
    """Of this branch; branches side by side have one each, of which the longest counts."""
    remembered: Remembered = field(default_factory=Remembered, repr=False, compare=False)
    started: float = math.nan
    """Start of the run in seconds of `clock`; by default now."""

    def __post_init__(self) -> None:
        if math.isnan(self.started):
            object.__setattr__(self, "started", self.clock())

    def fork(self, events: EventSink, *, seconds: float | None = None) -> Run:
        """The same run with another event sink, for a branch of its own; with `seconds`, one that
        begins now and has that much time. Budget, cancellation and clock stay shared."""
        if seconds is None:
            return replace(self, events=events)
        return replace(self, events=events, seconds=seconds, started=math.nan)

    def remaining(self) -> float:
        """Seconds left before the deadline; infinity without one."""
        return float("inf") if self.seconds is None else self.started + self.seconds - self.clock()

    def check(self) -> None:
        """Raise `Cancelled` when the run was cancelled or its deadline has passed."""
        if self.cancelled.is_set():
            raise Cancelled("cancelled")
        if self.remaining() <= 0:
            raise Cancelled(f"the time limit of {self.seconds:g} s has passed")

    def once(
        self, make: Callable[[], R], what: str, inputs: tuple[object, ...], options: Hashable = None
    ) -> R:
        """The value of `make`, made once for this question however many samples and steps ask.

        `what` names it; it must depend on nothing but `inputs`, which are frozen and told apart by
        identity, and `options`, told apart by equality. A caller waits while another makes it. An
        error of `make` is raised, and the next caller tries again.
        """
        return self.remembered.once(make, what, inputs, options)

    def random(self, purpose: str) -> random.Random:
        """A generator for one purpose, the same in every run with this seed."""
        return random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - to be repeatable, not secret


@runtime_checkable
class ValueIndex(Protocol):
    """Stored values by similarity to a phrase. Implementations: `indexes.*`."""

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column."""
        ...

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase."""
        ...


@runtime_checkable
class Catalog(Protocol):
    """The profile of a database. Implementation: `catalog.records.Catalog`."""

    @property
    def schema(self) -> Schema: ...
    @property
    def tables(self) -> Mapping[str, TableProfile]: ...
    @property
    def columns(self) -> Mapping[ColumnRef, ColumnProfile]: ...
    @property
    def stored(self) -> Formats:
        """Columns whose dates and amounts have to be converted before a query can use them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was left out or couldn't be read."""

    @property
    def unmatched(self) -> Mapping[ForeignKey, str]:
        """Declared keys of which few values are found where they lead, and how few, in words."""

    @property
    def steady(self) -> Catalog | None:
        """The part that doesn't depend on how much time there was to look; None: all of it."""

    @property
    def dates(self) -> Mapping[ColumnRef, bool]:
        """True for columns of dates, False for others whose values are all written alike."""

    def enumerations(self) -> Mapping[ColumnRef, tuple[str, ...]]:
        """All values of the columns that hold very few different short texts."""

    @property
    def listed(self) -> Mapping[ColumnRef, tuple[str, ...]]:
        """All values of the columns that hold few different short texts."""


@dataclass(frozen=True)
class Workspace:
    """One database with everything prepared for it."""

    database: Database
    schema: Schema
    """With descriptions and inferred joins."""
    values: ValueIndex
    catalog: Catalog | None
    """The profile of every column and table; None where nothing was measured."""
    notes: tuple[str, ...] = ()
    """Sentences on what isn't indexed yet and similar, shown to the user as warnings."""
    descriptions: KeptDescriptions | None = None
    """None when nothing was prepared."""
    texts: KeptTexts | None = None
    """Vectors of the names and descriptions of tables and columns; None when nothing was
    prepared."""


@dataclass(frozen=True)
class Context:
    """Everything a step is handed besides the state."""

    workspace: Workspace
    run: Run
    models: ModelsByRole = field(default_factory=dict)
    calibrated: Callable[[State, Schema], State] | None = None
    """The state with the probabilities its answer would have; None where nothing was fitted."""

    def weighed(self, state: State) -> State:
        """The state with calibrated probabilities, for a step to look at; as it is without any.

        They are put into the answer at the end: a step that gave such a state back would have them
        applied twice.
        """
        return state if self.calibrated is None else self.calibrated(state, self.workspace.schema)

    def llm(self, name: str = "") -> LanguageModel:
        """The language model of that name, by default the run's. Raises ConfigError without one."""
        role = name or "llm"
        model = self.models[role]
        return model if isinstance(model, LanguageModel) else _misfit(role, "complete")

    @property
    def embedder(self) -> Embedder:
        """The embedder. Raises ConfigError."""
        model = self.models["embedder"]
        return model if isinstance(model, Embedder) else _misfit("embedder", "embed")

    @property
    def linker(self) -> Linker:
        """The linker. Raises ConfigError."""
        model = self.models["linker"]
        return model if isinstance(model, Linker) else _misfit("linker", "link")

    @property
    def parser(self) -> Parser:
        """The parser. Raises ConfigError."""
        model = self.models["parser"]
        return model if isinstance(model, Parser) else _misfit("parser", "parse")

    @property
    def critic(self) -> Critic:
        """The critic. Raises ConfigError."""
        model = self.models["critic"]
        return model if isinstance(model, Critic) else _misfit("critic", "assess")


def _misfit(role: str, method: str) -> NoReturn:
    raise ConfigError(
        f"the model given as {role!r} isn't one: it has no `{method}`",
        hint="sqlwright.protocols says what is asked of the model of each role.",
    )


class Step(ABC):
    """One unit of work, without a model unless it says so. Total: an empty state gives a state."""

    @property
    @abstractmethod
    def reads(self) -> frozenset[str]:
        """State fields it needs."""

    @property
    @abstractmethod
    def writes(self) -> frozenset[str]:
        """State fields it may change."""

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles in `Context.models` of the models it uses, loaded beside opening the database."""
        return ()

    @property
    def language_models(self) -> tuple[str, ...]:
        """Names of the language models it asks; an empty name is the run's own."""
        return ()

    @property
    def prepared(self) -> frozenset[str]:
        """The things it reads that `prepare` makes only where they are asked for:
        `values.vectors`, `minhash-LIBRARY`."""
        return frozenset()

    @property
    def purpose(self) -> str:
        """Told to a language model that chooses among steps: what it does, when to use it, what it
        costs. By default the first line of what is written about the class."""
        return (type(self).__doc__ or type(self).__name__).strip().split("\n")[0]

    @property
    def cheaper(self) -> str:
        """The registered step that runs where the budget doesn't reach; with none it's left out."""
        return ""

    def applies(self, state: State, context: Context) -> bool:  # noqa: ARG002 - as the next one
        """False where it could do nothing with the state: agents don't offer it."""
        return True

    def calls(self, state: State) -> int | None:  # noqa: ARG002 - for those that override it
        """Calls of language models it needs, with those for what comes after it; with fewer left it
        doesn't begin. None where it may begin with any number left."""
        return None

    @abstractmethod
    def __call__(self, state: State, context: Context) -> State:
        """A new state with the step's findings; `state` stays as it is."""
