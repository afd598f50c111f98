"""The gate in front of every endpoint that gives vectors, as `gate` is for language models.

A step says where its texts come from and takes an `Embedder` for them:

    embedder = context.embedder("openai/text-embedding-3-small")
    vectors = embedder.bound(context.run, step="retrieval.context", origin="schema").embed(texts)

What stored values, or models that were shown them, have written doesn't leave this machine under
`schema-only`. Vectors are kept text by text, so each is paid for once. Embedding helps a question
and doesn't answer it: it takes at most half of what its budget has left, or nothing. Whatever goes
wrong is one `NotEmbedded`, and the step uses the embedded model.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sqlwright.errors import NotEmbedded
from sqlwright.events import TextsEmbedded
from sqlwright.llm.connection import Connection
from sqlwright.llm.endpoint import Call, EmbeddingEndpoint, PlainMessage
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.keeping.digest import call_form, digest
from sqlwright.llm.keeping.recording import Recorder, Recording
from sqlwright.llm.metering import SpendingMeter, largest_cost, prompt_tokens
from sqlwright.llm.prices import Price
from sqlwright.llm.vectors import vectors_from_text, vectors_text
from sqlwright.messages import Missing, Origin, Reply
from sqlwright.protocols import FloatArray, Run
from sqlwright.types import Usage

LONGEST = 4_000
"""Characters of a text that are embedded; models take about 2,000 tokens or more."""
TOKENS = 100_000
"""Tokens of one request at most, by our estimate. OpenAI takes 300,000."""
SHARE = 0.5
"""Share of what the budget has left that one request for vectors may take."""
ROUNDS = 3
"""Attempts at most. In each, stored vectors may turn out to be of another model than new ones."""


@dataclass(frozen=True, eq=False)
class BoundEmbedder:
    """An `Embedder` for one step of one question and texts of one origin."""

    gate: GatedEmbedder
    run: Run
    step: str
    origin: Origin
    keep: bool = True
    """True keeps vectors one by one, where any are kept; False where the step keeps them together.
    What was paid for when the rest failed is kept all the same."""

    @property
    def dimension(self) -> int:
        """Numbers of a vector; 0 before the first one is there."""
        return self.gate.dimension

    def permits(self, origin: Origin) -> bool:
        """True if texts of that origin may be sent."""
        return self.gate.permits(origin, self.run)

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, zeros for a blank text. Raises NotEmbedded and Cancelled."""
        return self.gate.vectors(
            texts, self.run, step=self.step, origin=self.origin, keep=self.keep
        )


@dataclass(frozen=True, eq=False)
class _Known:
    vector: FloatArray
    revision: str
    """Revision of the model, as far as its server told."""


@dataclass
class _Work:
    """State of one request for vectors: what is known, what it took."""

    run: Run
    meter: SpendingMeter
    known: dict[str, _Known] = field(default_factory=dict)
    fresh: dict[str, _Known] = field(default_factory=dict)
    cached: int = 0
    asked: int = 0
    requests: list[Call] = field(default_factory=list)
    tokens: int = 0


class GatedEmbedder:
    """An embedder behind an endpoint. Safe to use from any thread."""

    def __init__(
        self,
        name: str,
        line: Connection[EmbeddingEndpoint] | None,
        *,
        remote: bool = True,
        price: Price | None = None,
        revision: str = "",
        cache: ReplyCache | None = None,
        recorder: Recorder | None = None,
        replay: Recording | None = None,
    ) -> None:
        """`line` is None where there is only a replay. `remote` is whether texts leave this
        machine, `revision` the model's as configured."""
        self.name = name
        self.remote = remote
        self._line = line
        self._price = price
        self._revision = revision
        self._cache = cache
        self._recorder = recorder
        self._replay = replay or Recording({}, {})
        self._lock = threading.Lock()
        self._reported = ""
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """Numbers of a vector; 0 before the first one is there."""
        return self._dimension

    @property
    def keeps(self) -> bool:
        """True if vectors may be kept on disk."""
        return self._cache is not None

    @property
    def identity(self) -> str:
        """Identity of the vectors' model: name, address, revision and dimension as a digest."""
        address = "" if self._line is None else self._line.address
        about = [self.name, address, self._revision, self._reported, self._dimension]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def bound(self, run: Run, *, step: str, origin: Origin) -> BoundEmbedder:
        """The embedder for texts of one origin; `step` is who pays."""
        return BoundEmbedder(self, run, step, origin)

    def vectors(
        self, texts: Sequence[str], run: Run, *, step: str, origin: Origin, keep: bool = True
    ) -> FloatArray:
        """Unit vectors, one for each text, zeros for a blank one. Raises NotEmbedded, Cancelled."""
        run.check()
        if not self.permits(origin, run):
            raise NotEmbedded(f"privacy is {run.privacy}, and stored values aren't sent")
        cut = [text[:LONGEST] for text in texts]
        wanted = list(dict.fromkeys(text for text in cut if text.strip()))
        work = _Work(run, SpendingMeter(run.spending, step, self._price))
        began, problem = run.clock(), ""
        whole = False
        try:
            self._gather(wanted, work)
            whole = True
        except NotEmbedded as error:
            problem = str(error)
            raise
        finally:
            if keep or not whole:
                self._keep(work.fresh)
            self._report(len(wanted), work, run.clock() - began, problem)
        size = max((len(entry.vector) for entry in work.known.values()), default=self._dimension)
        rows = np.zeros((len(texts), size), dtype=np.float32)
        for row, text in enumerate(cut):
            if text in work.known:
                rows[row] = work.known[text].vector
        return rows

    def permits(self, origin: Origin, run: Run) -> bool:
        """True if the run's privacy lets texts of that origin out of this machine."""
        if run.privacy == "full" or not self.remote:
            return True
        return origin != "value" and not (origin == "model" and run.local_model_saw_values.is_set())

    def _gather(self, wanted: Sequence[str], work: _Work) -> None:
        """A vector for each text, all of them of one and the same model."""
        work.known = self._at_hand(wanted)
        work.cached = len(work.known)
        for _ in range(ROUNDS):
            missing = [text for text in wanted if text not in work.known]
            if missing:
                self._fetch(missing, work)
            if not work.known or self._one_model(work, fresh=missing):
                self._record(work.known)
                return
        raise NotEmbedded(f"{self.name} gives vectors of different lengths or revisions")

    def _at_hand(self, wanted: Iterable[str]) -> dict[str, _Known]:
        """The vectors that needn't be asked for: from the recording if there is nothing else, or
        the cache."""
        known: dict[str, _Known] = {}
        for text in wanted:
            reply, revision = self._kept(text)
            row = None if reply is None else vectors_from_text(reply.text, 1)
            if row is not None:
                known[text] = _Known(row[0], revision)
        return known

    def _kept(self, text: str) -> tuple[Reply | None, str]:
        if self._line is None:
            (sample,) = self._replay.find(_call([text]), self.name)
            return (sample if isinstance(sample, Reply) else None), ""
        stored = None if self._cache is None else self._cache.find(self._key(text))
        return stored or (None, "")

    def _one_model(self, work: _Work, *, fresh: Sequence[str]) -> bool:
        """True if all vectors are of one model. If not, drops the stored ones that aren't of the
        same model as the new ones."""
        guide = work.known[fresh[-1] if fresh else next(iter(work.known))]
        size = len(guide.vector)
        other = [
            text
            for text, entry in work.known.items()
            if len(entry.vector) != size or entry.revision != guide.revision
        ]
        for text in other:
            del work.known[text]
        if not other:
            with self._lock:
                self._dimension, self._reported = size, guide.revision
        return not other

    def _fetch(self, texts: Sequence[str], work: _Work) -> None:
        """Ask for them, as many in a request as the endpoint takes, requests side by side."""
        if self._line is None:
            raise NotEmbedded(f"the recording has no vectors of {self.name} for this")
        endpoint = self._line.endpoint
        waiting = _pieces(texts, endpoint.batch)
        self._afford(waiting, work.run)
        careful = False
        while waiting:
            # After a refusal one request finds out whether fewer texts help.
            batch, waiting = (waiting[:1], waiting[1:]) if careful else (waiting, [])
            calls = [_call(piece) for piece in batch]
            work.requests += calls
            outcomes = self._line.engine.run_all(endpoint, calls, run=work.run, meter=work.meter)
            missing: list[Missing] = []
            again: list[str] = []
            for piece, outcome in zip(batch, outcomes, strict=True):
                (sample,) = outcome.samples
                if isinstance(sample, Reply):
                    self._take(piece, sample, outcome.revision, work)
                elif sample.kind == "rejected" and len(piece) > endpoint.batch:
                    again += piece
                else:
                    missing.append(sample)
            if missing:
                work.run.check()
                raise NotEmbedded(missing[0].message)
            careful = bool(again)
            waiting = _pieces([*again, *(t for piece in waiting for t in piece)], endpoint.batch)

    def _afford(self, pieces: Sequence[Sequence[str]], run: Run) -> None:
        """Raise NotEmbedded when it would leave too little of the budget for the rest."""
        budget = run.spending.budget
        if not budget.limited:
            return
        most = [largest_cost(_call(piece), self._price) for piece in pieces]
        left = run.spending.left()
        cost = sum(math.inf if entry.cost is None else entry.cost for entry in most)
        if (
            (left.calls is not None and len(most) > left.calls * SHARE)
            or (
                left.tokens is not None
                and sum(entry.tokens for entry in most) > left.tokens * SHARE
            )
            or (left.cost is not None and cost > left.cost * SHARE)
        ):
            raise NotEmbedded(f"the budget ({budget}) has no room for it")

    def _take(self, piece: Sequence[str], reply: Reply, revision: str, work: _Work) -> None:
        rows = vectors_from_text(reply.text, len(piece))
        if rows is None:
            raise NotEmbedded(f"{self.name} gave vectors that are none")
        work.asked += len(piece)
        work.tokens += reply.prompt_tokens or prompt_tokens(_call(piece))
        for text, row in zip(piece, rows, strict=True):
            work.known[text] = work.fresh[text] = _Known(row, revision)

    def _keep(self, fresh: Mapping[str, _Known]) -> None:
        if self._cache is None:
            return
        for text, entry in fresh.items():
            reply = Reply(vectors_text(entry.vector))
            self._cache.put(self._key(text), reply, revision=entry.revision)

    def _key(self, text: str) -> str:
        address = "" if self._line is None else self._line.address
        form = {"embedding": call_form(_call([text]), self.name)}
        return digest(form | {"revision": self._revision, "address": address})

    def _record(self, known: Mapping[str, _Known]) -> None:
        if self._recorder is None:
            return
        for text, entry in known.items():
            self._recorder.add_vector(
                _call([text]), self.name, Reply(vectors_text(entry.vector)), remote=self.remote
            )

    def _report(self, wanted: int, work: _Work, seconds: float, problem: str) -> None:
        """An event with counts; neither texts nor vectors are in it."""
        run, meter = work.run, work.meter
        if work.cached:
            run.spending.book(meter.step, Usage(cached=1))
        costs = [meter.costs.get(id(call.messages), 0.0) for call in work.requests]
        run.events(
            TextsEmbedded(
                step=meter.step,
                model=self.name,
                texts=wanted,
                cached=work.cached,
                embedded=work.asked,
                requests=len(work.requests),
                prompt_tokens=work.tokens,
                cost=None if None in costs else math.fsum(cost or 0.0 for cost in costs),
                seconds=seconds,
                problem=problem,
            )
        )


def _call(texts: Sequence[str]) -> Call:
    """A request for the vectors of some texts: there are no reply tokens to pay for."""
    return Call(tuple(PlainMessage("user", text) for text in texts), max_tokens=0)


def _pieces(texts: Sequence[str], most: int) -> list[list[str]]:
    """The texts in requests of at most so many, none too large."""
    pieces: list[list[str]] = []
    room = 0
    for text in texts:
        size = prompt_tokens(_call([text]))
        if not pieces or len(pieces[-1]) >= most or size > room:
            pieces.append([])
            room = TOKENS
        pieces[-1].append(text)
        room -= size
    return pieces
