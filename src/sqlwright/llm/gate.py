"""The gate in front of every language model: privacy, what is at hand, budget, the record.

Everything a step says to a model goes through `GatedModel.complete`, in this order:

1. Privacy. Under `schema-only` a request that would leave this machine loses every span that came
   from the database's data. This is the only place that decides it.
2. What is at hand. A replay answers everything from its recording or not at all; the cache gives
   the replies it has.
3. Budget. Requests are sent in order as far as they fit; those that don't fit yet wait for what is
   under way to be settled. Where only a part fits, fewer samples are asked for, then shorter
   replies; when even that doesn't fit, they are `Missing('budget')`.
4. The record: a `call` event for each request in the caller's thread, in the order of the
   requests, and a line in a recording if one is being made.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sqlwright.llm.endpoint import Call, CallOutcome, Endpoint, PlainMessage
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.keeping.digest import call_form, digest
from sqlwright.llm.keeping.recording import Recorder, Recording
from sqlwright.llm.keys import error_without_key, reply_without_key
from sqlwright.llm.metering import SpendingMeter
from sqlwright.llm.prices import Price
from sqlwright.llm.sending.budget_batches import Part, Rule, missing_parts, next_batch
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import LONGEST_REPLY, Capabilities, Message, Missing, Reply, Request, Sample
from sqlwright.protocols import Run
from sqlwright.types import Usage

E_co = TypeVar("E_co", bound=Endpoint, covariant=True)

WAIT = 0.05
"""Seconds between looks at whether the run was cancelled while requests of others are under way."""

_FINGERPRINT = re.compile(r"/?fp_\w+$")
"""The part of a reported revision that names a set-up of the vendor's servers, of which it uses
several at once. For the cache they are one model."""


class Line(Generic[E_co]):
    """Where requests are sent: an endpoint, made when the first one is, and who calls it.

    A vendor's package takes a third of a second to load, which replies at hand needn't wait for.
    """

    def __init__(self, connect: Callable[[], E_co], engine: Engine, *, address: str = "") -> None:
        """`address` is where the endpoint is, without secrets: the same name elsewhere is another
        model."""
        self.engine = engine
        self.address = address
        self._connect = connect
        self._lock = threading.Lock()
        self._endpoint: E_co | None = None

    @property
    def endpoint(self) -> E_co:
        """Made now if it isn't yet. Raises ConfigError, as for a package that isn't installed."""
        with self._lock:
            if self._endpoint is None:
                self._endpoint = self._connect()
            return self._endpoint

    @property
    def capabilities(self) -> Capabilities | None:
        """What the endpoint was found to be able to do; None before it is made."""
        return None if self._endpoint is None else self._endpoint.capabilities


@dataclass
class _Asked:
    """A request on its way: as it may be sent, and its samples so far."""

    request: Request
    messages: tuple[Message, ...]
    """With what privacy left of them."""
    call: Call
    samples: list[Sample | None]
    key: str = ""
    """By which the cache knows it."""
    seconds: float = 0.0
    cut: int = 0
    """Replies of which only the end was kept."""

    def ended(self) -> tuple[Sample, ...]:
        """All samples; there is no gap left."""
        return tuple(sample for sample in self.samples if sample is not None)


class GatedModel:
    """A language model. Implements `protocols.LanguageModel`; safe to use from any thread."""

    def __init__(
        self,
        name: str,
        capabilities: Capabilities,
        line: Line[Endpoint] | None,
        *,
        price: Price | None = None,
        revision: str = "",
        cache: ReplyCache | None = None,
        recorder: Recorder | None = None,
        replay: Recording | None = None,
        key: str = "",
    ) -> None:
        """`line` is None where there is only a replay. `revision` is the model's as configured.
        `key` is the endpoint's, which is told nowhere; see `keys`."""
        self._name = name
        self._capabilities = capabilities
        self._line = line
        self._price = price
        self._revision = revision
        self._reported = ""
        self._cache = cache
        self._recorder = recorder
        self._replay = replay or Recording({}, {})
        self._key_sent = key

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What the endpoint can do; some are found out to lack something only later."""
        found = None if self._line is None else self._line.capabilities
        return found or self._capabilities

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        """For each request its `n` samples; see `protocols.LanguageModel`."""
        asked = [self._at_hand(request, run) for request in requests]
        at_hand = sum(_at_hand(sample) for one in asked for sample in one.samples)
        if at_hand:
            run.spending.book(step, Usage(cached=at_hand))
        meter = SpendingMeter(run.spending, step, self._price)
        if self._line is not None:
            self._send(asked, self._line, run, meter)
        for one in asked:
            self._report(one, run, meter)
        return [one.ended() for one in asked]

    def _at_hand(self, request: Request, run: Run) -> _Asked:
        """The request as it may be sent, with the samples that needn't be."""
        messages = self._permitted(request.messages, run)
        call = Call(
            tuple(
                PlainMessage(m.role, str(m.text), m.tool_calls, m.tool_call_id) for m in messages
            ),
            n=request.n,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            seed=request.seed,
            reply_schema=request.reply_schema if self.capabilities.json_schema else None,
            tools=request.tools if self.capabilities.tools else (),
        )
        samples: list[Sample | None]
        key = ""
        if self._line is None:
            samples = list(self._replay.find(call, self._name))
        elif self._cache is None:
            samples = [None] * call.n
        else:
            key = self._key(call)
            found = (_of_sample(key, number) for number in range(call.n))
            samples = [self._cache.get(each, revision=self._reported) for each in found]
        return _Asked(request, messages, call, samples, key)

    def _permitted(self, messages: tuple[Message, ...], run: Run) -> tuple[Message, ...]:
        """The messages without what the run's privacy doesn't let out of this machine."""
        if run.privacy == "full":
            return messages
        if not self.capabilities.remote:
            if any(span.origin == "value" for message in messages for span in message.text.spans):
                run.confided.set()
            return messages
        # A model on this machine that was shown values may have repeated them.
        kept = [replace(message, text=message.text.without("value")) for message in messages]
        if run.confided.is_set():
            kept = [
                replace(
                    message,
                    text=message.text.without("model"),
                    tool_calls=tuple(replace(one, arguments="{}") for one in message.tool_calls),
                )
                for message in kept
            ]
        return tuple(kept)

    def _key(self, call: Call) -> str:
        """By which the cache knows a call; see `_of_sample`."""
        address = "" if self._line is None else self._line.address
        form = call_form(call, self._name)
        return digest(form | {"revision": self._revision, "address": address})

    def _send(
        self, asked: Sequence[_Asked], line: Line[Endpoint], run: Run, meter: SpendingMeter
    ) -> None:
        """Fill in the samples that are missing, in waves where the budget is short."""
        waiting = [
            part
            for place, one in enumerate(asked)
            for part in missing_parts(place, one.call, [s is not None for s in one.samples])
        ]
        if not waiting:
            return
        endpoint = line.endpoint
        rule = Rule(endpoint.capabilities.n, self._price)
        idle = 0  # waves in a row in which the budget gave nothing
        while waiting:
            wave, rest = next_batch(waiting, run.spending, rule)
            if not wave or idle > 1:
                if _over(run) or not run.spending.wait(WAIT):
                    _give_up(asked, waiting, run)
                    return
                idle = 0
                continue
            started = run.clock()
            calls = [part.to_send() for part in wave]
            outcomes = line.engine.run_all(endpoint, calls, run=run, meter=meter)
            again: list[Part] = []
            for part, outcome in zip(wave, outcomes, strict=True):
                asked[part.place].seconds += run.clock() - started
                self._take(asked[part.place], part, outcome)
                again += _turned_away(part, asked[part.place])
            idle = idle + 1 if sum(p.count for p in again) == sum(p.count for p in wave) else 0
            waiting = again + rest

    def _take(self, one: _Asked, part: Part, outcome: CallOutcome) -> None:
        """Put the samples of a part in their places; keep the replies for the next time."""
        revision = _FINGERPRINT.sub("", outcome.revision)
        self._reported = revision or self._reported
        for number, sample in enumerate(outcome.samples, start=part.first):
            if isinstance(sample, Missing):
                if sample.kind != "budget":
                    message = error_without_key(sample.message, self._key_sent)
                    one.samples[number] = replace(sample, message=message)
                continue
            calls = tuple(
                replace(
                    each,
                    arguments=reply_without_key(each.arguments, self._key_sent)[:LONGEST_REPLY],
                )
                for each in sample.tool_calls
            )
            text = reply_without_key(sample.text, self._key_sent)
            one.cut += len(text) > LONGEST_REPLY
            reply = replace(sample, text=text[-LONGEST_REPLY:], tool_calls=calls)
            one.samples[number] = reply
            cut_by_budget = reply.finish == "length" and part.call.max_tokens < one.call.max_tokens
            if self._cache is not None and not cut_by_budget:
                self._cache.put(_of_sample(one.key, number), reply, revision=revision)

    def _report(self, one: _Asked, run: Run, meter: SpendingMeter) -> None:
        samples, request = one.ended(), one.request
        if self._recorder is not None:
            self._recorder.add(one.call, self._name, self.capabilities, samples, step=meter.step)
        replies = [sample for sample in samples if isinstance(sample, Reply)]
        payload: dict[str, Any] = {
            "step": meter.step,
            "model": self._name,
            "n": request.n,
            "temperature": request.temperature,
            "seed": request.seed,
            "max_tokens": request.max_tokens,
            "messages": one.messages,
            "tools": [tool.name for tool in one.call.tools],
            "replies": samples,
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "reply_tokens": sum(reply.reply_tokens for reply in replies),
            "cached": sum(reply.cached for reply in replies),
            "cut": one.cut,
            "cost": meter.costs.get(id(one.call.messages), 0.0),
            "seconds": one.seconds,
        }
        run.events("call", payload)


def _of_sample(key: str, number: int) -> str:
    return digest({"call": key, "sample": number})


def _at_hand(sample: Sample | None) -> bool:
    return isinstance(sample, Reply) and sample.cached


def _turned_away(part: Part, one: _Asked) -> list[Part]:
    """What the budget left open of a part, because something else was faster."""
    there = [sample is not None for sample in one.samples]
    inside = range(part.first, part.first + part.count)
    there = [present or number not in inside for number, present in enumerate(there)]
    return missing_parts(part.place, one.call, there)


def _over(run: Run) -> bool:
    return run.cancelled.is_set() or run.remaining() <= 0


def _give_up(asked: Sequence[_Asked], waiting: Sequence[Part], run: Run) -> None:
    """Mark what wasn't sent."""
    missing = Missing("budget", f"the budget ({run.spending.budget}) has no room for this request")
    if _over(run):
        missing = Missing("cancelled", "the run ended before the request was sent")
    for part in waiting:
        for number in range(part.first, part.first + part.count):
            asked[part.place].samples[number] = missing
