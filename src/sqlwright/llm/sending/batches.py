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
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from sqlwright.errors import UserError
from sqlwright.llm.endpoint import EndpointError, attempt_seed
from sqlwright.llm.sending.failures import Address, refused, too_large, unreachable
from sqlwright.llm.sending.transport import is_loopback

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

    id: str
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    address: Address
    question: object
    came: Future[Answer] = field(default_factory=Future)

    def answer(self, answer: Answer) -> None:
        """Hand over its answer, unless nobody waits any more."""
        if self.came.set_running_or_notify_cancel():
            self.came.set_result(answer)


@dataclass(eq=False)
class _Batch:
    """A batch at its vendor's, and those of its requests that wait for an answer here."""

    id: str
    earlier: bool = True
    """True if an earlier process sent it."""
    items: dict[str, _Item] = field(default_factory=dict)
    due: float = 0.0
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
        self._changed = threading.Condition()
        self._numbers: Counter[str] = Counter()
        self._waiting: list[_Item] = []
        self._open: list[_Batch] = []
        self._last = 0.0
        self._closed = False
        self._failures = 0
        self._earlier = dict(_earlier(journal))
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
            with self._changed:
                self._left -= 1
        if self.error is not None:
            raise self.error

    def transport(self, address: Address) -> BatchTransport:
        """A transport for HTTP clients of a model."""
        return BatchTransport(self, address)

    def ask(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Any], address: Address
    ) -> Future[Answer]:
        """The answer to a request, once its batch has ended. Requests for other samples are told
        apart by their seeds, those made again by number."""
        text = json.dumps([url, body, attempt_seed.get()], sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:48]
        with self._changed:
            self._numbers[key] += 1
            name = f"{key}-{self._numbers[key]}"
            item = _Item(name, url, headers, body, address, _asking.get())
            self._last = time.monotonic()
            if self.error is not None:
                item.answer(STOPPED)
            elif (batch := self._earlier.pop(name, None)) is not None:
                batch.items[name], batch.due = item, self._last + self._quiet[0]
                self._open += [] if batch in self._open else [batch]
            else:
                self._waiting.append(item)
            return item.came

    def _serve(self) -> None:
        """Send what is ready and look at what was sent, until closed."""
        try:
            while not self._closed:
                for items in self._ready():
                    self._send(items)
                for batch in [one for one in self._open if one.due <= time.monotonic()]:
                    self._look(batch)
                time.sleep(self._quiet[0] / 4)
        except UserError as error:
            self.error = error
        except EndpointError as error:
            self.error = UserError(f"{error.message}; --resume goes on")
        finally:
            with self._changed:
                self.error = self.error or UserError("no more batches are sent")
                for item in self._held():
                    item.answer(STOPPED)

    def _held(self) -> list[_Item]:
        """All requests without an answer; called with the lock."""
        return [*self._waiting, *(item for batch in self._open for item in batch.items.values())]

    def _ready(self) -> list[list[_Item]]:
        """The requests to send now, by batches, each to one address and of one model."""
        with self._changed:
            self._waiting = [item for item in self._waiting if not item.came.cancelled()]
            asking = len({item.question for item in self._held()})
            all_wait = asking >= min(self._left, self._at_once)
            if time.monotonic() - self._last < self._quiet[0 if all_wait else 1]:
                return []
            waiting, self._waiting = self._waiting, []
        batches: defaultdict[tuple[str, str, int], list[_Item]] = defaultdict(list)
        sizes: Counter[tuple[str, str]] = Counter()
        for item in waiting:
            kind = item.url, str(item.body.get("model"))
            batches[*kind, sizes[kind] // MOST].append(item)
            sizes[kind] += len(json.dumps(item.body)) + 10_000
        return list(batches.values())

    def _send(self, items: Sequence[_Item]) -> None:
        """Make a batch and keep its id at once; where the vendor has no time for one, later. Raises
        EndpointError."""
        batch = _Batch("", earlier=False, items={one.id: one for one in items})
        batch.due = float("inf")
        with self._changed:
            self._open.append(batch)
        try:
            batch.id = str(_made(items).get("id"))
        except EndpointError as error:
            self._failures += 1
            if not error.retryable or self._failures >= TRIES:
                raise
            with self._changed:
                self._open.remove(batch)
                self._waiting += items
                self._last = time.monotonic() + self._pauses[1]
            self._tell(f"no batch was made: {error.message}; again in a minute")
            return
        self._failures = 0
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"id": batch.id, "requests": list(batch.items)}) + "\n")
            journal.flush()
            os.fsync(journal.fileno())
        batch.pause = self._pauses[0]
        batch.due = time.monotonic() + batch.pause
        self._tell(f"batch {batch.id} sent with {len(items):,} requests")

    def _look(self, batch: _Batch) -> None:
        """Hand over a batch's answers if it has ended. Raises EndpointError, and UserError where it
        was refused or cancelled."""
        with self._changed:
            items = dict(batch.items)
        first = next(iter(items.values()))
        place = f"{_openai(first.url) or first.url}/batches/{batch.id}"
        told: dict[str, Any] = {}
        try:
            told = _object(_fetch(first, "GET", place))
            status = str(told.get("status") or told.get("processing_status"))
            answers = _answers(first, place, told) if status in ENDED else None
            batch.failures = 0
        except EndpointError as error:
            batch.failures += 1
            if not error.retryable or batch.failures >= TRIES:
                raise
            answers, status = None, error.message
        if answers is None:
            batch.pause = min(max(2 * batch.pause, self._pauses[0]), self._pauses[1])
            batch.due = time.monotonic() + batch.pause
            counts = told.get("request_counts")
            numbers = counts.items() if isinstance(counts, dict) else ()
            line = ", ".join([status, *(f"{name} {number}" for name, number in numbers)])
            if line != batch.told:
                self._tell(f"batch {batch.id}: {line}")
            batch.told = line
            return
        left = [item for id_, item in items.items() if id_ not in answers]
        again = batch.earlier or status not in {"completed", "expired"}
        with self._changed:
            batch.items = {id_: one for id_, one in batch.items.items() if id_ not in items}
            self._open = [one for one in self._open if one.items]
            if again:
                self._waiting += left
        for id_ in items.keys() & answers.keys():
            items[id_].answer(answers[id_])
        if not again:
            for item in left:
                item.answer(EXPIRED)
        elif left and not batch.earlier:  # who goes on with the run wants them sent again
            why = _words(told) or "it was cancelled there"
            raise UserError(f"batch {batch.id} at {first.address.origin}: {why}; --resume goes on")


class BatchTransport(httpx2.AsyncBaseTransport):
    """Has requests for replies answered by batches, and sends all others."""

    def __init__(self, batches: Batches, address: Address) -> None:
        self._batches, self._address = batches, address
        self._others = httpx2.AsyncHTTPTransport(trust_env=not address.here)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, of a batch where it is a reply. Cancelled, it is waited for no more."""
        url = str(request.url)
        if request.method != "POST" or not url.endswith(("/chat/completions", "/messages")):
            return await self._others.handle_async_request(request)
        body = json.loads(await request.aread())
        body = {name: value for name, value in body.items() if not name.startswith("stream")}
        headers = {name: value for name, value in request.headers.items() if name not in OF_ONE}
        coming = self._batches.ask(url, headers, body, self._address)
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
                batch = _Batch(str(told["id"]))
                yield from ((str(id_), batch) for id_ in told["requests"])


def _openai(url: str) -> str | None:
    """The address that OpenAI's paths follow; None where it is Anthropic's."""
    return url.removesuffix("/chat/completions") if url.endswith("/chat/completions") else None


def _made(items: Sequence[_Item]) -> dict[str, Any]:
    """The vendor's account of a batch that it made of requests. Raises EndpointError."""
    first, path = items[0], "/v1/chat/completions"
    if (base := _openai(first.url)) is None:
        listed = [{"custom_id": one.id, "params": one.body} for one in items]
        return _object(_fetch(first, "POST", f"{first.url}/batches", json={"requests": listed}))
    told = {"method": "POST", "url": path}
    lines = [json.dumps({"custom_id": one.id, **told, "body": one.body}) + "\n" for one in items]
    files = {"file": ("batch.jsonl", "".join(lines).encode())}
    sent = _fetch(first, "POST", f"{base}/files", data={"purpose": "batch"}, files=files)
    made = {"input_file_id": _object(sent).get("id"), "endpoint": path, "completion_window": "24h"}
    return _object(_fetch(first, "POST", f"{base}/batches", json=made))


def _answers(first: _Item, place: str, told: Mapping[str, Any]) -> dict[str, Answer]:
    """The answers of a batch that has ended, by request; without those that got none."""
    base = _openai(first.url)
    ids = (told.get("output_file_id"), told.get("error_file_id"))
    places = [f"{base}/files/{id_}/content" for id_ in ids if id_]
    if base is None and told.get("results_url"):
        places = [f"{place}/results"]
    lines = [line for each in places for line in _fetch(first, "GET", each).splitlines()]
    rows = [_object(line) for line in lines if line.strip()]
    found = {str(row.get("custom_id")): _answer(row) for row in rows}
    return {id_: answer for id_, answer in found.items() if answer is not None}


def _answer(row: Mapping[str, Any]) -> Answer | None:
    """The response that a line tells of; None for a request that wasn't made."""
    response, result = row.get("response"), row.get("result")
    if isinstance(response, dict) and type(response.get("status_code")) is int:
        return response["status_code"], json.dumps(response.get("body")).encode()
    if not isinstance(result, dict):
        return None
    if result.get("type") == "succeeded":
        return 200, json.dumps(result.get("message")).encode()
    if result.get("type") != "errored":
        return EXPIRED if result.get("type") == "expired" else None
    error = result.get("error")
    inner = error.get("error") if isinstance(error, dict) else None
    name = inner.get("type") if isinstance(inner, dict) else None
    return PASSING.get(str(name), 400), json.dumps(error).encode()


def _words(told: Mapping[str, Any]) -> str:
    """The vendor's words on why it took no batch; empty without any."""
    errors = told.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    said = [str(one.get("message")) for one in listed or () if isinstance(one, dict)]
    return " ".join(" ".join(said[:3]).split())[:400]


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
    try:
        with (
            httpx2.Client(follow_redirects=False, trust_env=own, timeout=SECONDS) as client,
            client.stream(method, url, headers=dict(item.headers), **content) as answer,
        ):
            for piece in answer.iter_bytes():
                said += piece
                if len(said) > LARGEST:
                    raise too_large(LARGEST)
    except httpx2.HTTPError as error:
        found = unreachable(item.address, error)
        raise EndpointError(found.message, retryable=method == "GET") from None
    if not answer.is_success:
        body: Any = said[:10_000].decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):
            body = json.loads(said)
        raise refused(item.address, answer.status_code, answer.headers, body, time.time())
    return said
