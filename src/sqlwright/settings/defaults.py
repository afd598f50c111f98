"""The settings of one session: the database it opens, and what every question has that doesn't say
otherwise."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlwright.events import EventSink
from sqlwright.llm.options import LlmOptions
from sqlwright.protocols import Limits, Run
from sqlwright.spending import Budget, Spending


@dataclass(frozen=True, slots=True)
class Target:
    """The database a session opens, and how."""

    url: str = field(repr=False)
    """It may hold a password."""
    folder: Path | None
    descriptions: Path | None
    tables: tuple[str, ...] | None = None
    """The only tables that may be known of and read; None for all."""
    functions: tuple[str, ...] = ()
    """Functions of the database's own that queries may call."""
    prepare: bool = False
    """True if a small database is prepared when it is opened."""


@dataclass(frozen=True)
class Defaults:
    """Settings of every question that doesn't set its own."""

    limits: Limits
    seconds: float | None
    seed: int
    llm: LlmOptions = LlmOptions()  # noqa: RUF009 - frozen
    """Of these the budget of a question, and privacy."""
    stand_in: bool = True
    """True if embedded models may answer where a recipe's language model wrote no query."""
    account: Spending | None = None
    """That of all questions together; None where each has its own alone."""
    reopening: int = 20
    """A database whose data changed is opened afresh when at least this many times as long has
    passed as opening it took: with 20, reopening takes at most a twentieth of the time. Chosen."""

    def sparing(self) -> Defaults:
        """The same for questions of which no language model is asked."""
        return replace(self, llm=replace(self.llm, budget=Budget(calls=0)))

    def run(
        self,
        seconds: float | None,
        cancelled: threading.Event | None,
        on_event: EventSink,
        replies: int = 0,
    ) -> Run:
        """The run of a new question; `seconds` if it sets its own. Its language models' replies may
        have `replies` tokens in all where no budget of tokens is named; 0 is no limit."""
        now = datetime.now(UTC)
        return Run(
            id=f"{now:%Y%m%d-%H%M%S}{now.microsecond // 1000:03d}-{secrets.token_hex(2)}",
            seed=self.seed,
            seconds=self.seconds if seconds is None else seconds,
            limits=self.limits,
            events=on_event,
            cancelled=threading.Event() if cancelled is None else cancelled,
            spending=Spending(self.llm.budget.capped(replies), self.account),
            privacy=self.llm.privacy,
            stand_in=self.stand_in,
        )
