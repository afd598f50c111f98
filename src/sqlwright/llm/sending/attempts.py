"""Attempts at one call, until each of its samples is there or another attempt is pointless.

Samples an endpoint doesn't give at once are asked for one by one, side by side. What failed for a
passing reason is asked again after a pause; a reply without content is one of those reasons. A
reply that ended for length is asked for once more, with twice the limit, where there is room; it is
kept until a longer one is there, and is no answer (`prompts.sampling`).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlwright.llm.endpoint import (
    Call,
    CallOutcome,
    Completion,
    Endpoint,
    EndpointError,
    Meter,
    attempt_seed,
)
from sqlwright.llm.sending.failures import delay
from sqlwright.llm.sending.rate_limit import RateLimiter
from sqlwright.llm.sending.repetition import told
from sqlwright.messages import LONGEST_REPLY, Missing, Reply, Sample
from sqlwright.protocols import Run
from sqlwright.spending import plus
from sqlwright.types import Usage

CHARACTERS_PER_TOKEN = 4
"""A rough guess for rate limits only, corrected when the endpoint tells the real number."""

SEED_STEP = 1_000_003
"""Difference between the seeds of attempts after an empty reply: the same seed would give the same
nothing. A prime far above any number of samples, so that no two samples ever share a seed."""


@dataclass
class CallAttempts:
    """A call under way. `outcome` can be read at any time, also when it was cancelled."""

    endpoint: Endpoint
    call: Call
    run: Run
    meter: Meter
    _limiter: RateLimiter = field(init=False)
    _samples: list[Sample | None] = field(init=False)
    _spent: list[Usage] = field(init=False)
    """The usage of all attempts, by the first sample that each was to bring."""
    _seconds: list[float] = field(init=False)
    """Seconds from the beginning to each sample."""
    _revision: str = ""
    _left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._samples = [None] * self.call.n
        self._spent, self._seconds = [Usage()] * self.call.n, [0.0] * self.call.n
        self._began = self.run.clock()

    def outcome(self, ended: str) -> CallOutcome:
        """The samples so far. What isn't there yet was cut short because of `ended`."""
        missing = Missing("cancelled", ended)
        samples = tuple(
            replace(sample, took=replace(spent, kept_seconds=seconds).fresh)
            if isinstance(sample, Reply)
            else sample or missing
            for sample, spent, seconds in zip(
                self._samples, self._spent, self._seconds, strict=True
            )
        )
        return CallOutcome(samples, self._revision, self._left_out)

    async def complete(self, limiter: RateLimiter) -> None:
        """Send requests until every sample is there or missing for good."""
        self._limiter = limiter
        numbers = range(self.call.n)
        if self.endpoint.capabilities.n or self.call.n == 1:
            await self._fetch(self.call, numbers, _Trouble())
        else:
            await self._fetch_each([(self.call, number, _Trouble()) for number in numbers])

    async def _fetch_each(self, wanted: Sequence[tuple[Call, int, _Trouble]]) -> None:
        async with asyncio.TaskGroup() as group:
            for call, number, trouble in wanted:
                group.create_task(self._fetch(call, [number], trouble))

    async def _fetch(self, call: Call, numbers: Sequence[int], trouble: _Trouble) -> None:
        """Ask for neighbouring samples with one request until it succeeds or can't."""
        while True:
            seed = self.call.seed + numbers[0] + SEED_STEP * trouble.empty
            request = replace(call, n=len(numbers), seed=seed)
            answer = await self._attempt(request, numbers[0], again=trouble.tries > 0)
            if isinstance(answer, Missing):
                return self._give_up(numbers, answer)
            if isinstance(answer, EndpointError):
                if not answer.retryable:
                    return self._give_up(numbers, Missing(answer.kind, answer.message))
                trouble.add(answer)
                if answer.left_out and answer.left_out not in self._left_out:
                    self._left_out += (answer.left_out,)
            else:
                left = self._keep(numbers, answer)
                trouble.empty += not all(map(_has_content, answer.replies))
                if len(left) < len(numbers):
                    cut = self._cut(numbers[: len(numbers) - len(left)])
                    longer = self._longer(call, cut)
                    if longer is not None and len(cut) == len(numbers):
                        call, trouble = longer, _Trouble()
                        continue
                    again = [(call, number, replace(trouble)) for number in left]
                    if longer is not None:
                        again += [(longer, number, _Trouble()) for number in cut]
                    return await self._fetch_each(again)
                trouble.add(EndpointError("the reply was empty"))
            wait = self._delay(request, trouble)
            if (missing := self._reason_to_stop(trouble, wait)) is not None:
                return self._give_up(numbers, missing)
            await asyncio.sleep(wait)

    def _keep(self, numbers: Sequence[int], answer: Completion) -> Sequence[int]:
        """Store the good replies, surplus ones aside. Returns the numbers still missing."""
        good = [told(reply) for reply in answer.replies if _has_content(reply)]
        if good:
            self._revision = answer.revision or self._revision
        for number, reply in zip(numbers, good, strict=False):
            self._samples[number] = reply
            self._seconds[number] = self.run.clock() - self._began
        return numbers[len(good) :]

    def _cut(self, numbers: Sequence[int]) -> list[int]:
        """Those whose reply ended for length before all that is wanted was there."""
        return [
            number
            for number in numbers
            if isinstance(reply := self._samples[number], Reply)
            and is_cut(reply, self.call)
            and len(reply.text) < LONGEST_REPLY  # more of it than is read wouldn't help
        ]

    def _longer(self, call: Call, cut: Sequence[int]) -> Call | None:
        """The call with more room, for samples that were cut; None where model or context have no
        more, and for one that has got more already."""
        if call.max_tokens != self.call.max_tokens:
            return None
        most = self.endpoint.capabilities.reply_tokens
        room = min(call.room, most) if most else call.room
        replies = (self._samples[number] for number in cut)
        unsaid = any(isinstance(one, Reply) and (one.unsaid or not one.text) for one in replies)
        return replace(call, room=room).longer(unsaid=unsaid)

    async def _attempt(
        self, request: Call, first: int, *, again: bool
    ) -> Completion | EndpointError | Missing:
        tokens = _tokens_at_most(request)
        party = self.run.cancelled  # one for all branches of a question
        async with self._limiter.slot(party, tokens, first=again):
            if not self.meter.reserve(request):
                return Missing("budget", "the budget doesn't allow another request")
            answer: Completion | EndpointError | None = None
            try:
                answer = await self._send(request)
            finally:
                used = self.meter.settle(request, answer)
                self._spent[first] = plus(self._spent[first], used)
            self._limiter.note(answer, tokens)
            return answer

    async def _send(self, request: Call) -> Completion | EndpointError:
        attempt_seed.set(request.seed)
        try:
            return await self.endpoint.send(request)
        except TimeoutError:
            return EndpointError(f"no complete reply within {self.endpoint.throttle.seconds:g} s")
        except EndpointError as error:
            return error

    def _delay(self, request: Call, trouble: _Trouble) -> float:
        digest = hashlib.blake2b(request.text.encode("utf-8", "replace"), digest_size=8).hexdigest()
        purpose = f"llm/{self.endpoint.name}/{digest}/{request.seed}/{trouble.tries}"
        generator = self.run.random(purpose)
        return delay(self.endpoint.throttle, trouble.tries, trouble.retry_after, generator)

    def _reason_to_stop(self, trouble: _Trouble, wait: float) -> Missing | None:
        """The reason to stop trying; None when another attempt makes sense."""
        throttle = self.endpoint.throttle
        reason = f"{self.endpoint.name}: {trouble.message}"
        turned_away = trouble.tries - trouble.failures
        if trouble.failures >= throttle.attempts or turned_away >= throttle.turned_away:
            return Missing("unavailable", f"{reason} ({trouble.tries} attempts)")
        if trouble.crowded or trouble.retry_after is not None:
            trouble.requested_wait += wait
        else:
            trouble.failure_wait += wait
            if trouble.failure_wait > throttle.retrying:
                return Missing("unavailable", f"{reason} ({trouble.tries} attempts)")
        if wait > self.run.remaining() or trouble.requested_wait > throttle.patience:
            return Missing("unavailable", f"{reason} (waiting {wait:.0f} s more is too long)")
        return None

    def _give_up(self, numbers: Sequence[int], missing: Missing) -> None:
        for number in numbers:
            if self._samples[number] is None:  # a reply that was cut is better than none
                self._samples[number] = missing


@dataclass
class _Trouble:
    """Failures so far of the requests for some samples."""

    message: str = ""
    tries: int = 0
    """Attempts that brought nothing."""
    failures: int = 0
    """Failed attempts, without those that were asked to slow down."""
    empty: int = 0
    """Attempts that brought a reply without content."""
    crowded: bool = False
    requested_wait: float = 0.0
    """Seconds waited because the endpoint asked for it."""
    failure_wait: float = 0.0
    """Seconds waited because it failed and said nothing about when to come again."""
    retry_after: float | None = None

    def add(self, error: EndpointError) -> None:
        self.message = error.message
        self.tries += 1
        self.failures += 0 if error.crowded else error.failures
        self.crowded = error.crowded
        self.retry_after = error.retry_after


def is_cut(reply: Reply, call: Call) -> bool:
    """True for a reply that ended for length and isn't whole."""
    whole = call.is_whole is not None and call.is_whole(reply.text)
    return reply.finish == "length" and not whole


def _has_content(reply: Reply) -> bool:
    """False for a reply that claims to be finished and says nothing.

    One cut short by a filter is what it is: asking again doesn't help."""
    return bool(reply.text.strip() or reply.tool_calls) or reply.finish not in {"stop", ""}


def _tokens_at_most(call: Call) -> float:
    characters = sum(len(message.text) for message in call.messages)
    return characters / CHARACTERS_PER_TOKEN + call.n * call.limit
