"""A language model that is told what to reply, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from sqlwright.lab.finetuning.example import Turn
from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.metering import too_long
from sqlwright.messages import Capabilities, Missing, Reply, Request, Sample
from sqlwright.protocols import Run


@dataclass(frozen=True, slots=True)
class Taught:
    """A prompt, and the reply it was given."""

    step: str
    """Name of the step that asked."""
    place: int
    """Number of the prompt among all that steps by that name asked, from 0."""
    messages: tuple[Turn, ...]
    completion: str
    fits: bool = True
    """False for a prompt that the gate would not send: it doesn't fit the context."""


Says = Callable[[str, int], str | None]
"""The reply by the name of the step and the `place` of its prompt; None is none: for the step the
model failed."""


class Teacher:
    """Replies as it is told to; all samples of a prompt are the same. Used from one thread.

    Nothing is sent anywhere, so prompts hold what privacy `full` lets out.
    """

    def __init__(self, says: Says, *, context_tokens: int) -> None:
        """`context_tokens` is what the model to be trained reads; prompts are fitted to it."""
        self.taught: list[Taught] = []
        """The prompts with their replies, in order."""
        self._says = says
        self._places: dict[str, count[int]] = {}
        self._capabilities = Capabilities(
            n=True, logprobs=True, remote=False, context_tokens=context_tokens
        )

    @property
    def name(self) -> str:
        """`provider/model`."""
        return "finetuning/teacher"

    @property
    def capabilities(self) -> Capabilities:
        """Those of a model in this process."""
        return self._capabilities

    def complete(
        self,
        requests: Sequence[Request],
        run: Run,  # noqa: ARG002 - as all models do
        *,
        step: str,
    ) -> list[tuple[Sample, ...]]:
        """The replies. Raises nothing."""
        return [self._reply(request, step) for request in requests]

    def _reply(self, request: Request, step: str) -> tuple[Sample, ...]:
        place = next(self._places.setdefault(step, count()))
        said = self._says(step, place)
        if said is None:
            return (Missing("unavailable", "the teacher has no reply"),) * request.n
        turns = tuple(Turn(message.role, str(message.text)) for message in request.messages)
        sent = tuple(PlainMessage(turn.role, turn.text) for turn in turns)
        call = Call(sent, max_tokens=request.max_tokens)
        unsent = too_long(self.name, call, self._capabilities.context_tokens, self._capabilities)
        self.taught.append(Taught(step, place, turns, said, fits=unsent is None))
        return (Reply(said),) * request.n
