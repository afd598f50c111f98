"""The gate in front of every language model: privacy, cache and replay, budget, record.

Everything a step says to a model goes through `GatedModel.complete`, in this order:

1. Privacy. Under `schema-only` a request that would leave this machine loses every span that came
   from the database's data. Nothing else decides it.
2. Stored replies. A replay answers everything from its recording or not at all; the cache gives
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
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlwright.events import ModelAsked, ModelCalled
from sqlwright.llm import schema_probe
from sqlwright.llm.endpoint import (
    Call,
    CallOutcome,
    Endpoint,
    EndpointError,
    PlainMessage,
    Told,
)
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.keeping.digest import call_form, digest
from sqlwright.llm.keeping.recording import Recorder, Recording
from sqlwright.llm.metering import SpendingMeter, prompt_tokens, too_long, took_when_made
from sqlwright.llm.prices import Price
from sqlwright.llm.reply_limits import ReplyLimits
from sqlwright.llm.sending.attempts import is_cut
from sqlwright.llm.sending.budget_batches import Rule, SampleRange, missing_ranges, next_batch
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.sending.failures import error_without_key, reply_without_key
from sqlwright.messages import LONGEST_REPLY, Capabilities, Message, Missing, Reply, Request, Sample
from sqlwright.protocols import Run
from sqlwright.spending import Spending, plus
from sqlwright.types import Usage

E_co = TypeVar("E_co", bound=Endpoint, covariant=True)


class Connection(Generic[E_co]):
    """The way to an endpoint: the endpoint, made when the first one is, and who calls it.

    A vendor's package takes a third of a second to load, which stored replies needn't wait for.
    """

    def __init__(
        self,
        connect: Callable[[], E_co],
        engine: Engine,
        *,
        address: str = "",
        told: Callable[[], Coroutine[Any, Any, Told]] | None = None,
    ) -> None:
        """`address` is where the endpoint is, without secrets: the same name elsewhere is another
        model. `told` asks it about the model; None where its context size is known."""
        self.engine = engine
        self._told = told
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

    def told(self, run: Run) -> Told | None:
        """The model as its server tells of it; None where it didn't answer this time. Raises
        EndpointError where nobody is there."""
        if self._told is None:
            return Told()
        try:
            return self.engine.fetch(self._told, run)
        except EndpointError as error:
            if error.kind == "gone":
                raise
            return None

    @property
    def capabilities(self) -> Capabilities | None:
        """Capabilities of the endpoint; None before it is made."""
        return None if self._endpoint is None else self._endpoint.capabilities


SPARED_CALLS = 8
"""Calls that a budget must have left for one that only proves what a server does."""
WAIT = 0.05
"""Seconds between looks at whether the run was cancelled while requests of others are under way."""

FEW_WEIGHTS = 4_000_000_000
"""Weights below which a model is small. Chosen: those of 0.5 and 1.5 billion lose themselves in
prompts of thousands of tokens, those of 7 don't."""

LONGEST_THOUGHT = 1_000_000
"""Characters kept of a vendor's record of reasoning. Chosen; they are some thousand."""

_FINGERPRINT = re.compile(r"/?fp_\w+$")
"""The part of a reported revision that names a set-up of the vendor's servers, of which it uses
several at once. For the cache they are one model."""


@dataclass
class _PendingRequest:
    """A request on its way: as it may be sent, and its samples so far."""

    request: Request
    messages: tuple[Message, ...]
    """The messages with what privacy left of them."""
    call: Call
    samples: list[Sample | None]
    key: str = ""
    """Key of the request in the cache."""
    seconds: float = 0.0
    cut: int = 0
    """Replies of which only the end was kept."""
    left_out: tuple[str, ...] = ()
    """Parameters that the model turned out not to take."""

    def ended(self) -> tuple[Sample, ...]:
        """All samples; there is no gap left."""
        return tuple(sample for sample in self.samples if sample is not None)


class GatedModel:
    """A language model. Implements `protocols.LanguageModel`; safe to use from any thread."""

    def __init__(
        self,
        name: str,
        capabilities: Capabilities,
        line: Connection[Endpoint] | None,
        *,
        price: Price | None = None,
        revision: str = "",
        cache: ReplyCache | None = None,
        recorder: Recorder | None = None,
        replay: Recording | None = None,
        limits: ReplyLimits | None = None,
        key: str = "",
        known_as: str = "",
        said: Collection[str] = (),
    ) -> None:
        """`line` is None where there is only a replay. `revision` is the model's as configured,
        `limits` what it is to reply like. `key` is the endpoint's, which is told nowhere; see
        `keys`. `known_as` is the model's name towards the cache, where that is another. `said` are
        the capabilities that are the user's word."""
        self._name = name
        self._known_as = known_as or name
        self._capabilities = capabilities
        self._connection = line
        self.price = price
        self._revision = revision
        self._reported = ""
        self._cache = cache
        self._recorder = recorder
        self._replay = replay or Recording({}, {})
        self._limits = limits or ReplyLimits()
        self._key_sent = key
        self._said = said
        self._told: Told | None = None
        """The model as its server tells of it; None before it was asked."""
        self._holds: bool | None = None
        """True if the server was seen to hold a reply to a schema; None before."""
        self._proving = threading.Lock()
        self._gone: WeakKeyDictionary[Spending, Missing] = WeakKeyDictionary()
        """Questions, by their accounts, for which nobody was at the address."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the endpoint; some are found to lack something only later."""
        found = None if self._connection is None else self._connection.capabilities
        can = found or self._capabilities
        told = self._told or Told()
        holds = self._capabilities.json_schema if self._holds is None else self._holds
        few = "small" not in self._said and 0 < told.weights < FEW_WEIGHTS
        return replace(
            can,
            context_tokens=told.context_tokens or can.context_tokens,
            json_schema=holds and (found is None or found.json_schema),
            small=can.small or few,
        )

    def context_tokens(self, run: Run) -> int:
        """Tokens of prompt and reply together: asked of the server once, where it tells, else as
        the capabilities say."""
        known = self._told is not None or run.spending in self._gone
        if not known and self._connection is not None:
            # Who doesn't answer isn't asked again for the same question.
            asking = partial(self._connection.told, run)
            try:
                self._told = run.once(asking, "llm/told", (self,))
            except EndpointError as error:
                self._gone[run.spending] = Missing("gone", error.message)
        return self.capabilities.context_tokens

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        """Ask the model. Returns for each request its `n` samples; see
        `protocols.LanguageModel`."""
        if any(request.reply_schema is not None for request in requests):
            self._prove(run)
        began = run.clock()
        asked = [self._at_hand(request, run) for request in requests]
        at_hand = [self._kept(pending) for pending in asked]
        meter = SpendingMeter(run.spending, step, self.price)
        if self._connection is not None:
            self._send(asked, self._connection, run, meter)
        if any(used.cached for used in at_hand):
            self._book(at_hand, began, run, step)
        for pending in asked:
            self._report(pending, run, meter)
        return [pending.ended() for pending in asked]

    def _prove(self, run: Run) -> None:
        """See once whether a server that tells of itself holds replies to a schema: by a request
        whose schema allows nothing but what no model says. It counts as a call; it is in no trace,
        as it belongs to no question."""
        self.context_tokens(run)
        left = run.spending.left().calls
        line, told = self._connection, self._told or Told()
        if line is None or not told.context_tokens or "json_schema" in self._said:
            return
        with self._proving:
            if self._holds is not None or (left is not None and left < SPARED_CALLS):
                return
            self._holds = True  # so that the schema is sent
            pending = self._at_hand(schema_probe.REQUEST, run)
            self._send([pending], line, run, SpendingMeter(run.spending, "llm.probe", self.price))
            (sample,) = pending.ended()
            self._holds = schema_probe.is_held(sample)

    def _at_hand(self, request: Request, run: Run) -> _PendingRequest:
        """The request as it may be sent, with the samples that needn't be."""
        context = self.context_tokens(run)  # asked for before the capabilities are read
        messages, can = self._permitted(request.messages, run), self.capabilities
        call = Call(
            tuple(map(_plain, messages)),
            n=request.n,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            seed=request.seed,
            reasoning=self._limits.effort(request),
            verbosity=request.verbosity or self._limits.verbosity,
            logprobs=request.logprobs if can.logprobs else None,
            reply_schema=request.reply_schema if can.json_schema else None,
            tools=request.tools if can.tools else (),
            is_whole=request.is_whole,
        )
        call = self._limits.limited(call, can)
        samples: list[Sample | None]
        key = ""
        if self._connection is None:
            samples = list(self._replay.find(call, self._name))
            return _PendingRequest(request, messages, call, samples)
        if (refusal := too_long(self._name, call, context, can)) is not None:
            return _PendingRequest(request, messages, call, [refusal] * call.n)
        if self._cache is None:
            samples = [None] * call.n
        else:
            key = self._key(call)
            found = (_of_sample(key, number) for number in range(call.n))
            samples = [self._cache.get(each, revision=self._reported) for each in found]
        return _PendingRequest(request, messages, call, samples, key)

    def _kept(self, pending: _PendingRequest) -> Usage:
        """The replies at hand of a request, and what they took when they were made; its seconds are
        those of the one that took longest."""
        used, longest = Usage(), 0.0
        for number, sample in enumerate(pending.samples):
            if not (isinstance(sample, Reply) and sample.cached):
                continue
            first = number == 0 or not self._capabilities.n
            took = sample.took or took_when_made(sample, pending.call, self.price, first=first)
            more = Usage(
                cached=1,
                kept_calls=took.calls,
                kept_prompt_tokens=took.prompt_tokens,
                kept_reply_tokens=took.reply_tokens,
                kept_cost=took.cost,
                kept_by_text=int(sample.took is None),
            )
            used, longest = plus(used, more), max(longest, took.seconds)
        return replace(used, kept_seconds=longest)

    @staticmethod
    def _book(at_hand: Sequence[Usage], began: float, run: Run, step: str) -> None:
        """Book replies at hand. Time is saved beyond what replies took that were sent for beside
        them."""
        longest = max(used.kept_seconds for used in at_hand)
        saved = max(0.0, longest - (run.clock() - began))
        run.saved.seconds += saved
        run.spending.book(step, replace(reduce(plus, at_hand), kept_seconds=saved))

    def _permitted(self, messages: tuple[Message, ...], run: Run) -> tuple[Message, ...]:
        """The messages without what the run's privacy doesn't let out of this machine."""
        if run.privacy == "full":
            return messages
        if not self.capabilities.remote:
            if any(span.origin == "value" for message in messages for span in message.text.spans):
                run.local_model_saw_values.set()
            return messages
        # A model on this machine that was shown values may have repeated them.
        kept = [replace(message, text=message.text.without("value")) for message in messages]
        if run.local_model_saw_values.is_set():
            kept = [
                replace(
                    message,
                    text=message.text.without("model"),
                    thought="",
                    tool_calls=tuple(
                        replace(call, arguments="{}", signature="") for call in message.tool_calls
                    ),
                )
                for message in kept
            ]
        return tuple(kept)

    def _key(self, call: Call) -> str:
        """Key of a call in the cache; see `_of_sample`."""
        address = "" if self._connection is None else self._connection.address
        form = call_form(call, self._known_as)
        return digest(form | {"revision": self._revision, "address": address})

    def _send(
        self,
        asked: Sequence[_PendingRequest],
        line: Connection[Endpoint],
        run: Run,
        meter: SpendingMeter,
    ) -> None:
        """Fill in the samples that are missing, in batches where the budget is short."""
        waiting = [
            part
            for index, pending in enumerate(asked)
            for part in missing_ranges(
                index, pending.call, [s is not None for s in pending.samples]
            )
        ]
        if not waiting:
            return
        endpoint = line.endpoint
        rule = Rule(endpoint.capabilities.n, self.price)
        idle = 0  # batches in a row for which the budget gave nothing
        run.events(ModelAsked(self._name, sum(prompt_tokens(part.to_send()) for part in waiting)))
        while waiting:
            if (gone := self._gone.get(run.spending)) is not None:
                _mark(asked, waiting, gone)
                return
            batch, rest = next_batch(waiting, run.spending, rule)
            if not batch or idle > 1:
                if _over(run) or not run.spending.wait(WAIT):
                    _give_up(asked, waiting, run)
                    return
                idle = 0
                continue
            started = run.clock()
            calls = [part.to_send() for part in batch]
            outcomes = line.engine.run_all(endpoint, calls, run=run, meter=meter)
            again: list[SampleRange] = []
            for part, outcome in zip(batch, outcomes, strict=True):
                asked[part.index].seconds += run.clock() - started
                self._take(asked[part.index], part, outcome)
                for sample in outcome.samples:
                    if isinstance(sample, Missing) and sample.kind == "gone":
                        self._gone[run.spending] = sample
                again += _turned_away(part, asked[part.index])
            idle = idle + 1 if sum(p.count for p in again) == sum(p.count for p in batch) else 0
            waiting = again + rest

    def _take(self, pending: _PendingRequest, part: SampleRange, outcome: CallOutcome) -> None:
        """Store the samples of a range; keep the replies for the next time."""
        revision = _FINGERPRINT.sub("", outcome.revision)
        self._reported = revision or self._reported
        pending.left_out += outcome.left_out
        for number, sample in enumerate(outcome.samples, start=part.first):
            if isinstance(sample, Missing):
                if sample.kind != "budget":
                    message = error_without_key(sample.message, self._key_sent)
                    pending.samples[number] = replace(sample, message=message)
                continue
            calls = tuple(
                replace(
                    each,
                    arguments=reply_without_key(each.arguments, self._key_sent)[:LONGEST_REPLY],
                )
                for each in sample.tool_calls
            )
            text = reply_without_key(sample.text, self._key_sent)
            pending.cut += len(text) > LONGEST_REPLY
            reply = replace(
                sample,
                text=text[-LONGEST_REPLY:],
                tool_calls=calls,
                thought=reply_without_key(sample.thought, self._key_sent)[:LONGEST_THOUGHT],
                logprobs=sample.logprobs if text == sample.text else (),
            )
            pending.samples[number] = reply
            self._limits.note(pending.call, reply)
            if self._cache is not None and not is_cut(reply, pending.call):
                self._cache.put(_of_sample(pending.key, number), reply, revision=revision)

    def _report(self, pending: _PendingRequest, run: Run, meter: SpendingMeter) -> None:
        samples, request, can = pending.ended(), pending.request, self.capabilities
        if self._recorder is not None:
            self._recorder.add(pending.call, self._name, can, samples, step=meter.step)
        replies = [sample for sample in samples if isinstance(sample, Reply)]
        before = (name for reply in replies for name in reply.left_out)
        run.events(
            ModelCalled(
                step=meter.step,
                model=self._name,
                n=request.n,
                temperature=request.temperature,
                seed=request.seed,
                max_tokens=request.max_tokens,
                messages=pending.messages,
                tools=tuple(tool.name for tool in pending.call.tools),
                replies=samples,
                prompt_tokens=sum(reply.prompt_tokens for reply in replies),
                reply_tokens=sum(reply.reply_tokens for reply in replies),
                reasoning_tokens=sum(reply.reasoning_tokens for reply in replies),
                cached=sum(reply.cached for reply in replies),
                cut=pending.cut,
                left_out=tuple(dict.fromkeys((*pending.left_out, *before))),
                cost=meter.costs.get(id(pending.call.messages), 0.0),
                seconds=pending.seconds,
                not_sent=() if can.temperature or not request.temperature else ("temperature",),
            )
        )


def _plain(message: Message) -> PlainMessage:
    return PlainMessage(
        message.role,
        str(message.text),
        message.tool_calls,
        message.tool_call_id,
        message.thought,
        fixed=message.text.own,
    )


def _of_sample(key: str, number: int) -> str:
    return digest({"call": key, "sample": number})


def _turned_away(part: SampleRange, pending: _PendingRequest) -> list[SampleRange]:
    """The samples of a part that got no budget, because another request was faster."""
    there = [sample is not None for sample in pending.samples]
    inside = range(part.first, part.first + part.count)
    there = [present or number not in inside for number, present in enumerate(there)]
    return missing_ranges(part.index, pending.call, there)


def _over(run: Run) -> bool:
    return run.cancelled.is_set() or run.remaining() <= 0


def _give_up(asked: Sequence[_PendingRequest], waiting: Sequence[SampleRange], run: Run) -> None:
    """Mark what wasn't sent."""
    if _over(run):
        missing = Missing("cancelled", "the run ended before the request was sent")
    else:
        budget = run.spending.give_up()
        missing = Missing("budget", f"the budget ({budget}) has no room for this request")
    _mark(asked, waiting, missing)


def _mark(
    asked: Sequence[_PendingRequest], waiting: Sequence[SampleRange], missing: Missing
) -> None:
    for part in waiting:
        for number in range(part.first, part.first + part.count):
            asked[part.index].samples[number] = missing
