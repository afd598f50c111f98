"""Requests in the vendors' batches, which take up to a day and cost half: OpenAI's files of them
(`/files`, `/batches`) and Anthropic's message batches (`/messages/batches`).

A transport of HTTP clients keeps each request for a reply back until every question that is being
answered waits for one; then all go in one batch, and each gets its answer as if it had been sent
alone, so that whoever makes requests and reads answers needn't know. A file keeps the batches' ids:
who goes on after a kill takes the answers of the batches that were sent before.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import ssl
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx2

from sqlwright.errors import UserError
from sqlwright.llm.endpoint import EndpointError, attempt_seed
from sqlwright.llm.sending.connections import HttpAnswer, inner
from sqlwright.llm.sending.failures import Address, refused, unreachable
from sqlwright.llm.sending.transport import check_size, is_loopback

QUIET = (1.0, 60.0)
"""Seconds without a further request after which a batch goes: where all questions wait, and where
one of them is at something else."""
PAUSES = (2.0, 60.0)
"""Seconds between two looks at a batch: at first, and at most."""
MOST = 100_000_000
"""Bytes of a batch, where each request counts as 10,000 more; vendors take 200 MB and 50,000."""
LARGEST = 1_000_000_000
"""Bytes of a batch's answers."""
SECONDS = 120.0
"""Seconds without a byte of an answer about a batch."""
TRIES = 8
"""Looks in a row at a batch that may fail."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled", "ended"})
"""Statuses of a batch that doesn't change any more, OpenAI's and Anthropic's."""
PASSING = {"rate_limit_error": 429, "api_error": 500, "overloaded_error": 529}
"""Statuses of passing errors that Anthropic's batches tell by type; others are taken as 400."""
OF_ONE = frozenset({"accept", "connection", "content-length", "content-type", "host"})
"""Headers of a single request."""

Answer = tuple[int, bytes]
"""Status and body of an HTTP response."""
STOPPED: Answer = (400, b'{"error": {"message": "no more batches are sent"}}')
EXPIRED: Answer = (503, b'{"error": {"message": "it expired in its batch"}}')

_asking: ContextVar[object] = ContextVar("asking", default=None)
"""The question that a request is for; the branches of a question have it, too."""


@dataclass(eq=False)
class _Item:
    """A request that waits, with all that its client would send it with."""

    key: str
    """Digest of what it asks for."""
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    address: Address
    question: object = field(default_factory=_asking.get)
    came: Future[Answer] = field(default_factory=Future)

    def answer(self, answer: Answer) -> None:
        """Hand over its answer, unless it has one or nobody waits any more."""
        with suppress(InvalidStateError):
            self.came.set_result(answer)


@dataclass(eq=False)
class _Batch:
    """Requests that go, or went, in one batch."""

    items: dict[str, _Item] = field(default_factory=dict)
    """Those that wait for an answer here, by their names in it."""
    id: str = ""
    """Its vendor's name for it; empty before it is made."""
    earlier: bool = False
    """True if an earlier process sent it."""
    due: float = 0.0
    """When it is to be sent, or looked at."""
    pause: float = 0.0
    failures: int = 0
    told: str = ""


class Batches:
    """The batches of a run. Used from any thread; its own sends them and looks at them.

    `error` says why no more are sent: one was refused, or cancelled at its vendor's."""

    def __init__(
        self,
        journal: Path,
        tell: Callable[[str], None],
        questions: int,
        *,
        at_once: int,
        pace: float = 1.0,
    ) -> None:
        """`journal` is the file that keeps the ids; `tell` takes a line where anything changes; of
        all questions so many are answered at once. `pace` is a factor on the seconds between two
        looks, and before a batch goes."""
        self.error: UserError | None = None
        self._journal, self._tell, self._left, self._at_once = journal, tell, questions, at_once
        self._quiet, self._pauses = ([pace * each for each in two] for two in (QUIET, PAUSES))
        self._coming: SimpleQueue[_Item | None] = SimpleQueue()
        """From other threads: requests, and None for a question that has ended."""
        self._numbers: Counter[str] = Counter()
        self._waiting: dict[str, _Item] = {}
        self._last = 0.0
        self._closed = False
        self._earlier = dict(_earlier(journal))
        self._batches = list(dict.fromkeys(self._earlier.values()))
        self._thread = threading.Thread(target=self._serve, name="sqlwright-batches", daemon=True)

    def __enter__(self) -> Batches:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._thread.join(2 * self._quiet[0])

    @contextmanager
    def question(self) -> Iterator[None]:
        """A question is being answered by this thread. Raises `error` at the end."""
        token = _asking.set(object())
        try:
            yield
        finally:
            _asking.reset(token)
            self._coming.put(None)
        if self.error is not None:
            raise self.error

    def transport(self, address: Address) -> BatchTransport:
        """A transport for HTTP clients of a model."""
        return BatchTransport(self, address)

    def ask(self, item: _Item) -> Future[Answer]:
        """The answer to a request, once its batch has ended."""
        self._coming.put(item)
        if self.error is not None:  # set before those that came are told
            item.answer(STOPPED)
        return item.came

    def _serve(self) -> None:
        """Send what is ready and look at what was sent, until closed."""
        try:
            while not self._closed:
                self._take()
                self._batches += self._ready()
                for batch in self._batches:
                    if batch.items and batch.due <= time.monotonic():
                        self._go_on(batch)
                time.sleep(self._quiet[0] / 4)
        except UserError as error:
            self.error = error
        except EndpointError as error:
            self.error = UserError(f"{error.message}; --resume goes on")
        finally:
            self.error = self.error or UserError("no more batches are sent")
            self._take()
            for item in self._held():
                item.answer(STOPPED)

    def _take(self) -> None:
        """Take in what came from other threads."""
        while not self._coming.empty():
            if (item := self._coming.get()) is None:
                self._left -= 1
                continue
            self._last = time.monotonic()
            self._numbers[item.key] += 1
            name = f"{item.key}-{self._numbers[item.key]}"
            batch = self._earlier.pop(name, None)
            if batch is None:
                self._waiting[name] = item
            else:
                batch.items[name], batch.due = item, self._last + self._quiet[0]

    def _held(self) -> list[_Item]:
        """All requests that wait for an answer."""
        named = [self._waiting, *(batch.items for batch in self._batches)]
        return [one for items in named for one in items.values() if not one.came.cancelled()]

    def _ready(self) -> list[_Batch]:
        """Batches of the requests to send now, each to one address and of one model."""
        asking = len({item.question for item in self._held()})
        all_wait = asking >= min(self._left, self._at_once)
        if time.monotonic() - self._last < self._quiet[0 if all_wait else 1]:
            return []
        batches: defaultdict[tuple[str, str, int], _Batch] = defaultdict(_Batch)
        sizes: Counter[tuple[str, str]] = Counter()
        for name, item in self._waiting.items():
            kind = item.url, str(item.body.get("model"))
            batches[*kind, sizes[kind] // MOST].items[name] = item
            sizes[kind] += len(json.dumps(item.body)) + 10_000
        self._waiting = {}
        return list(batches.values())

    def _go_on(self, batch: _Batch) -> None:
        """Send a batch or look at it; again after a while, where it hasn't ended or its vendor has
        no time. Raises EndpointError, and UserError where it was refused or cancelled."""
        try:
            line = self._look(batch) if batch.id else self._send(batch)
            batch.failures, pause = 0, 2 * batch.pause
        except EndpointError as error:
            batch.failures += 1
            if not error.retryable or batch.failures >= TRIES:
                raise
            what = f"batch {batch.id}" if batch.id else "no batch was made"
            line, pause = f"{what}: {error.message}; again in a minute", self._pauses[1]
        batch.pause = min(max(pause, self._pauses[0]), self._pauses[1])
        batch.due = time.monotonic() + batch.pause
        if line != batch.told:
            self._tell(line)
        batch.told = line

    def _send(self, batch: _Batch) -> str:
        """Make a batch and keep its id at once; what happened, in words. Raises EndpointError."""
        batch.items = {id_: one for id_, one in batch.items.items() if not one.came.cancelled()}
        if not batch.items:
            return ""
        batch.id = str(_made(batch.items).get("id"))
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"id": batch.id, "requests": list(batch.items)}) + "\n")
            journal.flush()
            os.fsync(journal.fileno())
        return f"batch {batch.id} sent with {len(batch.items):,} requests"

    def _look(self, batch: _Batch) -> str:
        """Hand over a batch's answers if it has ended; its status in words. Raises EndpointError,
        and UserError where it was refused or cancelled."""
        items, first = batch.items, next(iter(batch.items.values()))
        told = _object(_fetch(first, "GET", f"{_place(first)}/{batch.id}"))
        status = str(told.get("status") or told.get("processing_status"))
        counts = told.get("request_counts")
        numbers = counts.items() if isinstance(counts, dict) else ()
        parts = [status, *(f"{name} {number}" for name, number in numbers)]
        line = f"batch {batch.id}: {', '.join(parts)}"
        if status not in ENDED:
            return line
        answers = _answers(first, batch.id, told)
        left = items.keys() - answers.keys()
        again = batch.earlier or status not in {"completed", "expired"}
        batch.items = {}
        for name, item in items.items():
            if again and name in left:
                self._waiting[name] = item
            else:
                item.answer(answers.get(name, EXPIRED))
        if left and again and not batch.earlier:  # who goes on with the run wants them sent again
            why = _words(told) or "it was cancelled there"
            raise UserError(f"batch {batch.id} at {first.address.origin}: {why}; --resume goes on")
        return line


class BatchTransport(httpx2.AsyncBaseTransport):
    """Has requests for replies answered by batches, and sends all others."""

    def __init__(self, batches: Batches, address: Address) -> None:
        self._batches, self._address = batches, address
        own = not address.here
        self._others = httpx2.AsyncHTTPTransport(trust_env=own, verify=_trusted(own))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, of a batch where it is a reply. Cancelled, it is waited for no more."""
        url = str(request.url)
        if request.method != "POST" or not url.endswith(("/chat/completions", "/messages")):
            return await self._others.handle_async_request(request)
        body = json.loads(await request.aread())
        body = {name: value for name, value in body.items() if not name.startswith("stream")}
        headers = {name: value for name, value in request.headers.items() if name not in OF_ONE}
        # Requests for other samples are told apart by their seeds, those made again by number.
        text = json.dumps([url, body, attempt_seed.get()], sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:48]
        coming = self._batches.ask(_Item(key, url, headers, body, self._address))
        status, content = await asyncio.wrap_future(coming)
        kind = {"content-type": "application/json"}
        return httpx2.Response(status, headers=kind, content=content)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._others.aclose()


def _earlier(journal: Path) -> Iterator[tuple[str, _Batch]]:
    """The batches of earlier processes by their requests; a line that was cut short is none."""
    if journal.exists():
        for line in journal.read_text("utf-8").split("\n")[:-1]:
            with suppress(ValueError):
                told = json.loads(line)
                batch = _Batch(id=str(told["id"]), earlier=True)
                yield from ((str(id_), batch) for id_ in told["requests"])


def _place(item: _Item) -> str:
    """The address of the batches at a request's vendor: beside OpenAI's chats, under Anthropic's
    messages."""
    return item.url.removesuffix("/chat/completions") + "/batches"


def _made(items: Mapping[str, _Item]) -> dict[str, Any]:
    """The vendor's account of a batch that it made of requests. Raises EndpointError."""
    first, path = next(iter(items.values())), "/v1/chat/completions"
    if first.url.endswith("/messages"):
        made: dict[str, Any] = {
            "requests": [{"custom_id": id_, "params": one.body} for id_, one in items.items()]
        }
    else:
        told = {"method": "POST", "url": path}
        rows = ({"custom_id": id_, **told, "body": one.body} for id_, one in items.items())
        files = {"file": ("batch.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())}
        place = _place(first).removesuffix("batches") + "files"
        sent = _object(_fetch(first, "POST", place, data={"purpose": "batch"}, files=files))
        made = {"input_file_id": sent.get("id"), "endpoint": path, "completion_window": "24h"}
    return _object(_fetch(first, "POST", _place(first), json=made))


def _answers(first: _Item, batch: str, told: Mapping[str, Any]) -> dict[str, Answer]:
    """The answers of a batch that has ended, by request; without those that got none."""
    files = _place(first).removesuffix("batches") + "files"
    ids = (told.get("output_file_id"), told.get("error_file_id"))
    places = [f"{files}/{id_}/content" for id_ in ids if id_]
    if told.get("results_url"):
        places.append(f"{_place(first)}/{batch}/results")
    lines = [line for each in places for line in _fetch(first, "GET", each).splitlines()]
    rows = [_object(line) for line in lines if line.strip()]
    found = {str(row.get("custom_id")): _answer(row) for row in rows}
    return {id_: answer for id_, answer in found.items() if answer is not None}


def _answer(row: Mapping[str, Any]) -> Answer | None:
    """The response that a line tells of; None for a request that wasn't made."""
    status, kind = inner(row, "response", "status_code"), inner(row, "result", "type")
    if type(status) is int:
        return status, json.dumps(inner(row, "response", "body")).encode()
    if kind == "succeeded":
        return 200, json.dumps(inner(row, "result", "message")).encode()
    if kind == "errored":
        passing = PASSING.get(str(inner(row, "result", "error", "error", "type")), 400)
        return passing, json.dumps(inner(row, "result", "error")).encode()
    return EXPIRED if kind == "expired" else None


def _words(told: Mapping[str, Any]) -> str:
    """The vendor's words on why it took no batch; empty without any."""
    listed = inner(told, "errors", "data")
    said = [str(inner(one, "message")) for one in listed[:3]] if isinstance(listed, list) else []
    return " ".join(" ".join(said).split())[:400]


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise EndpointError("what came about a batch is no JSON object")
    return found


def _fetch(item: _Item, method: str, url: str, **content: Any) -> bytes:
    """The body of a response, asked for as the client of a request would. Raises EndpointError.
    What makes something isn't tried again where no response came: it may have been made."""
    said, own = b"", not is_loopback(url)
    client = httpx2.Client(trust_env=own, verify=_trusted(own), timeout=SECONDS)
    try:
        with client, client.stream(method, url, headers=item.headers, **content) as response:
            for piece in response.iter_bytes():
                said += piece
                check_size(len(said), LARGEST)
    except httpx2.HTTPError as error:
        found = unreachable(item.address, error)
        raise EndpointError(found.message, retryable=method == "GET") from None
    answer = HttpAnswer(response.status_code, response.headers, said)
    if not answer.ok:
        raise refused(item.address, answer.status, answer.headers, answer.refusal_body, time.time())
    return said


@cache
def _trusted(own: bool) -> ssl.SSLContext:
    """The authorities trusted, by the user's own environment or not; slow to read."""
    return httpx2.create_ssl_context(trust_env=own)
