"""One call, pursued until each of its samples is there or there is no point in going on.

Samples an endpoint doesn't give at once are asked for one by one, side by side. What failed for a
passing reason is asked again after a pause; a reply without content is one of those reasons.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlwright.llm.endpoint import Call, CallOutcome, Completion, Endpoint, EndpointError, Meter
from sqlwright.llm.sending.backoff import delay
from sqlwright.llm.sending.rate_limit import RateLimiter
from sqlwright.messages import Missing, Reply, Sample
from sqlwright.protocols import Run

CHARACTERS_PER_TOKEN = 4
"""A rough guess for rate limits only, corrected when the endpoint tells the real number."""

SEED_STEP = 1_000_003
"""Between the seeds of attempts after an empty reply: the same seed would give the same nothing.
A prime far above any number of samples, so that no two samples ever share a seed."""


@dataclass
class CallAttempts:
    """A call under way. `outcome` can be read at any time, also when it was cancelled."""

    endpoint: Endpoint
    call: Call
    run: Run
    meter: Meter
    _lane: RateLimiter = field(init=False)
    _samples: list[Sample | None] = field(init=False)
    _revision: str = ""

    def __post_init__(self) -> None:
        self._samples = [None] * self.call.n

    def outcome(self, ended: str) -> CallOutcome:
        """What is there. What isn't yet was cut short because of `ended`."""
        missing = Missing("cancelled", ended)
        return CallOutcome(tuple(sample or missing for sample in self._samples), self._revision)

    async def follow(self, lane: RateLimiter) -> None:
        """Until every sample is there or missing for good."""
        self._lane = lane
        places = range(self.call.n)
        if self.endpoint.capabilities.n or self.call.n == 1:
            await self._fetch(places, _Trouble())
        else:
            await self._fetch_each(places, _Trouble())

    async def _fetch_each(self, places: Sequence[int], trouble: _Trouble) -> None:
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(self._fetch([place], replace(trouble)))

    async def _fetch(self, places: Sequence[int], trouble: _Trouble) -> None:
        """Ask for neighbouring samples with one request until it succeeds or can't."""
        while True:
            seed = self.call.seed + places[0] + SEED_STEP * trouble.empty
            asked = replace(self.call, n=len(places), seed=seed)
            answer = await self._attempt(asked, again=trouble.tries > 0)
            if isinstance(answer, Missing):
                return self._give_up(places, answer)
            if isinstance(answer, EndpointError):
                if not answer.retryable:
                    return self._give_up(places, Missing(answer.kind, answer.message))
                trouble.add(answer)
            else:
                left = self._keep(places, answer)
                if not left:
                    return None
                trouble.empty += not all(map(_has_content, answer.replies))
                if len(left) < len(places):
                    return await self._fetch_each(left, trouble)
                trouble.add(EndpointError("the reply was empty"))
            wait = self._delay(asked, trouble)
            if (missing := self._hopeless(trouble, wait)) is not None:
                return self._give_up(places, missing)
            await asyncio.sleep(wait)

    def _keep(self, places: Sequence[int], answer: Completion) -> Sequence[int]:
        """Take over the good replies, surplus ones aside; the places that are still open."""
        good = [reply for reply in answer.replies if _has_content(reply)]
        if good:
            self._revision = answer.revision or self._revision
        for place, reply in zip(places, good, strict=False):
            self._samples[place] = reply
        return places[len(good) :]

    async def _attempt(self, asked: Call, *, again: bool) -> Completion | EndpointError | Missing:
        tokens = _tokens_at_most(asked)
        party = self.run.cancelled  # one for all branches of a question
        async with self._lane.slot(party, tokens, first=again):
            if not self.meter.reserve(asked):
                return Missing("budget", "the budget doesn't allow another request")
            answer: Completion | EndpointError | None = None
            try:
                answer = await self._send(asked)
            finally:
                self.meter.settle(asked, answer)
            self._lane.note(answer, tokens)
            return answer

    async def _send(self, asked: Call) -> Completion | EndpointError:
        seconds = self.endpoint.throttle.seconds
        try:
            async with asyncio.timeout(seconds):
                return await self.endpoint.send(asked)
        except TimeoutError:
            return EndpointError(f"no complete reply within {seconds:g} s")
        except EndpointError as error:
            return error

    def _delay(self, asked: Call, trouble: _Trouble) -> float:
        text = "\n".join(message.text for message in asked.messages)
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        purpose = f"llm/{self.endpoint.name}/{digest}/{asked.seed}/{trouble.tries}"
        generator = self.run.random(purpose)
        return delay(self.endpoint.throttle, trouble.tries, trouble.retry_after, generator)

    def _hopeless(self, trouble: _Trouble, wait: float) -> Missing | None:
        """Why another attempt is pointless; None when it isn't."""
        throttle = self.endpoint.throttle
        reason = f"{self.endpoint.name}: {trouble.message}"
        turned_away = trouble.tries - trouble.failures
        if trouble.failures >= throttle.attempts or turned_away >= throttle.turned_away:
            return Missing("unavailable", f"{reason} ({trouble.tries} attempts)")
        if trouble.crowded or trouble.retry_after is not None:
            trouble.asked_for += wait
        else:
            trouble.failing_for += wait
            if trouble.failing_for > throttle.retrying:
                return Missing("unavailable", f"{reason} ({trouble.tries} attempts)")
        if wait > self.run.remaining() or trouble.asked_for > throttle.patience:
            return Missing("unavailable", f"{reason} (waiting {wait:.0f} s more is too long)")
        return None

    def _give_up(self, places: Sequence[int], missing: Missing) -> None:
        for place in places:
            self._samples[place] = missing


@dataclass
class _Trouble:
    """What went wrong so far on the way to some samples."""

    message: str = ""
    tries: int = 0
    """Attempts that brought nothing."""
    failures: int = 0
    """Those of them that weren't just a wish to slow down."""
    empty: int = 0
    """Those that brought a reply without content."""
    crowded: bool = False
    asked_for: float = 0.0
    """Seconds waited because the endpoint asked for it."""
    failing_for: float = 0.0
    """Seconds waited because it failed and said nothing about when to come again."""
    retry_after: float | None = None

    def add(self, error: EndpointError) -> None:
        self.message = error.message
        self.tries += 1
        self.failures += not error.crowded
        self.crowded = error.crowded
        self.retry_after = error.retry_after


def _has_content(reply: Reply) -> bool:
    """False for a reply that claims to be finished and says nothing.

    One cut short by the token limit or a filter is what it is: asking again doesn't help."""
    return bool(reply.text.strip() or reply.tool_calls) or reply.finish not in {"stop", ""}


def _tokens_at_most(call: Call) -> float:
    characters = sum(len(message.text) for message in call.messages)
    return characters / CHARACTERS_PER_TOKEN + call.n * call.max_tokens
