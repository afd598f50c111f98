"""The verbs: what steps are handed and what they may call. Implementations live elsewhere."""

from __future__ import annotations

import math
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from sqlwright.boundary.arguments import Count, Positive, checked_fields
from sqlwright.errors import Cancelled
from sqlwright.events import EventSink, no_events
from sqlwright.messages import Capabilities, Privacy, Request, Sample
from sqlwright.schema import Schema
from sqlwright.spending import Spending
from sqlwright.types import ExecutionResult, State, ValueMatch

FloatArray = npt.NDArray[np.float32]
EMBEDDER = "embedder"
"""The role of the embedded embedder, and what roles of others begin with."""


@checked_fields
@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may take. Every limit is on by default."""

    seconds: Positive = 10.0
    rows: Count = 1_000
    result_bytes: Count = 16 * 1024 * 1024
    cell_bytes: Count = 1024 * 1024
    memory_bytes: Count = 1024 * 1024 * 1024


R = TypeVar("R")


@dataclass
class _Made:
    """What is, or is being, worked out once."""

    inputs: tuple[object, ...]
    """Kept, because they are told apart by identity."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    outcome: list[Any] = field(default_factory=list)
    """Empty until it is there."""


class Remembered:
    """What a question's steps worked out once for all of them; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, _Made] = {}

    def once(
        self, make: Callable[[], R], what: str, inputs: tuple[object, ...], options: Hashable = None
    ) -> R:
        """What `make` gave the first time, for the same inputs; see `Run.once`."""
        key = (what, options, tuple(map(id, inputs)))
        with self._lock:
            made = self._made.setdefault(key, _Made(inputs))
        with made.lock:
            if not made.outcome:
                made.outcome.append(make())
            outcome: R = made.outcome[0]
            return outcome


@dataclass(frozen=True)
class Run:
    """One question's budget, deadline, cancellation, seed, clock, day and event sink.

    Every model call and every SQL execution takes it, so limits and cancellation always belong to
    the right question. It is frozen: who wants to hear what a part of it does, or to give a part
    less time, hands that part a `fork`.
    """

    id: str = ""
    seed: int = 0
    seconds: float | None = None
    """Time allowed in all; None is no limit."""
    limits: Limits = field(default_factory=Limits)
    events: EventSink = no_events
    clock: Callable[[], float] = time.monotonic
    today: date = field(default_factory=date.today)
    """What “last month” is reckoned from."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    spending: Spending = field(default_factory=Spending)
    """What language models may cost and have cost."""
    privacy: Privacy = "full"
    """What requests that leave the machine may hold."""
    confided: threading.Event = field(default_factory=threading.Event)
    """Set once a model on this machine was shown values that mayn't leave it."""
    remembered: Remembered = field(default_factory=Remembered, repr=False, compare=False)
    started: float = math.nan
    """When it began, by `clock`; by default now."""

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
        """What `make` gives, worked out once for this question however many samples and steps ask.

        `what` names it; it must depend on nothing but `inputs`, which are frozen and told apart by
        identity, and `options`, told apart by equality. Who asks while it is worked out waits. When
        `make` raises, that is raised and the next one who asks tries again.
        """
        return self.remembered.once(make, what, inputs, options)

    def random(self, purpose: str) -> random.Random:
        """A generator for one purpose, the same in every run with this seed."""
        return random.Random(f"{self.seed}/{purpose}")  # noqa: S311 - to be repeatable, not secret


@runtime_checkable
class Database(Protocol):
    """A database that can't be written through. Implementations: `database.sqlite`."""

    @property
    def dialect(self) -> str: ...
    @property
    def url(self) -> str:
        """Without secrets."""
        ...

    def schema(self) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable."""
        ...

    def execute(self, sql: str, run: Run, *, limits: Limits | None = None) -> ExecutionResult:
        """Check, then run one query under limits. Every failure is in the result."""
        ...

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; cheap."""
        ...

    def close(self) -> None: ...


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
class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), float32, unit length."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A language model behind the gate: privacy, budget, cache. Implementations: `llm.*`."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        """For each request its `n` samples, in order, whatever happened to each of them.

        Blocks until all are there, the deadline passes or the run is cancelled; what is missing
        then is a `Missing`. Never raises for what an endpoint does. `step` is who pays.
        """
        ...


@dataclass(frozen=True)
class Workspace:
    """One database with everything prepared for it."""

    database: Database
    schema: Schema
    """With descriptions and inferred joins."""
    values: ValueIndex
    catalog: Any
    """`catalog.Catalog`: the profile of every column and table."""
    notes: tuple[str, ...] = ()
    """What isn't indexed yet and similar, shown to the user as warnings."""
    descriptions: Any = None
    """`indexes.descriptions.StoredVectors`; None when nothing was prepared."""
    texts: Any = None
    """`local.text_vectors.PreparedVectors` of what names and describes tables and columns; None
    when nothing was prepared."""


@dataclass(frozen=True)
class Context:
    """Everything a step is handed besides the state."""

    workspace: Workspace
    run: Run
    models: Mapping[str, Any] = field(default_factory=dict)
    """Models by role: 'linker', 'parser', 'critic', 'embedder'; language models under their names
    `provider/model`, the one to use by default under 'llm'."""

    def llm(self, name: str = "") -> LanguageModel:
        """The language model of that name, by default the run's. Raises ConfigError without one."""
        model: LanguageModel = self.models[name or "llm"]
        return model

    def embedder(self, name: str = "") -> Any:
        """The embedder of that name, by default the embedded one: an `Embedder`, or for
        `provider/model` an `llm.embedding.GatedEmbedder`. Raises ConfigError."""
        return self.models[embedder_role(name)]


def embedder_role(name: str = "") -> str:
    """Under which `Context.models` has the embedder of that name."""
    return f"{EMBEDDER}/{name}" if name else EMBEDDER


class Step(ABC):
    """One unit of work. Total: an empty state gives a state, not an exception.

    A step inherits from this class, says what it reads and writes, and is called. What it says
    besides has defaults that fit a step that asks no model.
    """

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
        """Roles in `Context.models` of the embedded models and embedders it uses; a session loads
        them beside opening the database."""
        return ()

    @property
    def language_models(self) -> tuple[str, ...]:
        """Names of the language models it asks; an empty name is the run's own."""
        return ()

    @property
    def cheaper(self) -> str:
        """The registered step that runs in its place where the budget doesn't reach; without one,
        the step is left out."""
        return ""

    def calls(self, state: State) -> int | None:  # noqa: ARG002 - for those that override it
        """Calls of language models it needs, those included that must be left for what comes after
        it: with fewer left it doesn't begin. None where it may begin whatever is left."""
        return None

    @abstractmethod
    def __call__(self, state: State, context: Context) -> State:
        """A new state with what the step found out; `state` stays as it is."""
