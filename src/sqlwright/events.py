"""The events of a run: what happens while a question is answered, each as a small frozen value.

A run has one sink (`Run.events`), given when the run is made. To see the events of a part of a run,
hand that part a run of its own (`Run.fork`) with a sink that passes them on. The events of a whole
run, in order: those of opening the database, `RunStarted`, those of the steps, `RunEnded`.
Events of branches that run side by side come in the order of the branches.

`kind` is an event's name in a trace. Events that aren't `recorded` are for displays of progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sqlwright.messages import Message, Privacy, Sample
from sqlwright.types import Answer, ExecutionResult, State, TierRecord, Turn


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run."""

    kind: ClassVar[str]
    recorded: ClassVar[bool] = True
    """True if the event is written into the trace."""


EventSink = Callable[[Event], None]
"""Takes each event of a run: a trace, a progress display, both, neither. Called from any thread."""


def no_events(event: Event) -> None:
    """The sink that drops everything."""


@dataclass(frozen=True, slots=True)
class PreparationStarted(Event):
    """A database is being prepared while it is opened."""

    kind: ClassVar[str] = "preparing"

    database: str


@dataclass(frozen=True, slots=True)
class PreparationEnded(Event):
    """A database was prepared while it was opened."""

    kind: ClassVar[str] = "prepared"

    database: str
    folder: Path
    """The folder of the indexes and profiles that were made."""
    seconds: float
    values: int
    """Number of stored values that can be found."""
    first: bool
    """True if the database was prepared for the first time."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The database is open and the first step about to begin. Holds all that a second run needs."""

    kind: ClassVar[str] = "start"

    id: str
    time: str
    """ISO 8601, UTC."""
    question: str
    evidence: str
    history: tuple[Turn, ...]
    database: str
    fingerprint: str
    recipe: Mapping[str, Any]
    """As it was loaded: name, steps, overrides."""
    seed: int
    seconds: float | None
    limits: Mapping[str, float]
    model: str
    budget: str
    privacy: Privacy
    sqlwright: str
    """The version."""
    python: str
    """The version."""
    notes: tuple[str, ...]
    """Sentences on what isn't known of the database."""
    stand_in: bool = True
    """True if embedded models might answer in a language model's place."""


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The run has an answer; nothing follows."""

    kind: ClassVar[str] = "answer"

    answer: Answer
    seconds: float
    """Since the run began."""


@dataclass(frozen=True, slots=True)
class ChoiceMade(Event):
    """A reading was chosen of the question that an answer asked back."""

    kind: ClassVar[str] = "choice"

    of: str
    """The trace of that answer; empty where it has none."""
    asked: str
    number: int
    """From 1."""
    text: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A step began."""

    kind: ClassVar[str] = "begin"

    step: str
    sample: int
    """Number of the sample that it belongs to, from 1; 0 if there is only one."""


@dataclass(frozen=True, slots=True)
class StepEnded(Event):
    """A step ended; where an error ended it, it changed nothing."""

    kind: ClassVar[str] = "step"

    step: str
    seconds: float
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class SubQuestionStarted(Event):
    """Steps begin that answer one sub-question."""

    kind: ClassVar[str] = "sub_question"

    number: int
    """From 1."""
    total: int
    text: str
    sample: int
    """Number of the sample that it belongs to, from 1; 0 if there is only one."""


@dataclass(frozen=True, slots=True)
class BranchStepStarted(Event):
    """A step of a branch begins now. Its `StepStarted` follows in the order of the branches."""

    kind: ClassVar[str] = "branch"
    recorded: ClassVar[bool] = False

    step: str
    sample: int


@dataclass(frozen=True, slots=True)
class BranchesProgressed(Event):
    """`ended` branches of `total` have ended. Branches within a branch count in its place."""

    kind: ClassVar[str] = "progress"
    recorded: ClassVar[bool] = False

    ended: int
    total: int


@dataclass(frozen=True, slots=True)
class BranchesMerged(Event):
    """The additions of branches were merged after one of them had failed."""

    kind: ClassVar[str] = "merged"

    state: State


@dataclass(frozen=True, slots=True)
class BranchesEnded(Event):
    """The additions of branches were merged, none of which had failed. It isn't recorded: what
    each branch did is."""

    kind: ClassVar[str] = "branches"
    recorded: ClassVar[bool] = False

    state: State


@dataclass(frozen=True, slots=True)
class TierEnded(Event):
    """It was decided whether to ask a language model (further); where it was, it has replied."""

    kind: ClassVar[str] = "tier"

    tier: TierRecord
    state: State


StateReached = BranchesEnded | BranchesMerged | TierEnded
"""A combinator has a state that no step of its own ended with."""


@dataclass(frozen=True, slots=True)
class QueryExecuted(Event):
    """A query was executed, or refused."""

    kind: ClassVar[str] = "execution"

    sql: str
    result: ExecutionResult


@dataclass(frozen=True, slots=True)
class ModelAsked(Event):
    """Prompts go to a language model now; `ModelCalled` follows once it has replied."""

    kind: ClassVar[str] = "asked"
    recorded: ClassVar[bool] = False

    model: str
    prompt_tokens: int
    """Of all of them, an upper estimate."""


@dataclass(frozen=True, slots=True)
class ModelCalled(Event):
    """A language model was asked, or the cache or a recording in its place."""

    kind: ClassVar[str] = "call"

    step: str
    model: str
    n: int
    """Replies wanted."""
    temperature: float
    seed: int
    max_tokens: int
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    replies: tuple[Sample, ...]
    prompt_tokens: int
    reply_tokens: int
    reasoning_tokens: int
    """The part of `reply_tokens` that was reasoning, as far as the endpoint says."""
    cached: int
    """Replies that weren't asked for again."""
    cut: int
    """Replies of which only the end was kept."""
    left_out: tuple[str, ...]
    """Parameters that the model turned out not to take; they aren't sent any more."""
    cost: float | None
    """In US dollars; None is unknown."""
    seconds: float
    not_sent: tuple[str, ...] = ()
    """Settings of the request that the model is known not to take."""


@dataclass(frozen=True, slots=True)
class ReplyUnreadable(Event):
    """A reply of a language model couldn't be parsed."""

    kind: ClassVar[str] = "malformed"

    step: str
    prompt: int
    """Index of the prompt among those asked together, from 0."""
    problem: str
