"""Replies that are scored by their log probabilities, and those that came without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlwright.messages import Reply
from sqlwright.protocols import Context
from sqlwright.types import State

T = TypeVar("T")


@dataclass
class Scoring:
    """The way the replies of one model to one step are read."""

    by_text: bool = False
    """True once a reply came without log probabilities: its text is all there is to go by."""

    def reading(self, weigh: Callable[[Reply], T | None]) -> Callable[[Reply], T | None]:
        """The same reading of replies, which notes those without log probabilities."""

        def read(reply: Reply) -> T | None:
            self.by_text |= not reply.logprobs
            return weigh(reply)

        return read

    def noted(self, state: State, context: Context, model: str) -> State:
        """The state with a warning for a model that gives none; once, however often it is asked."""
        if not self.by_text:
            return state
        name = context.llm(model).name
        told = f"{name} gives no log probabilities, so its replies were scored by their text"
        return state.warn("model", told)
