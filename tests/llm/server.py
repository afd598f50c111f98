"""A real HTTP server on loopback that speaks the wire formats of language models, and misbehaves.

    with ModelServer(answer=lambda asked: "SELECT 1", faults=some_bad(0.2)) as server:
        ... base URL: server.url ...
        assert server.dropped == 0

It serves OpenAI's chat completions (also under Azure's paths), Anthropic's messages, Google's
generateContent. What a request gets depends on its own content and on how
often the same was asked before, never on the order in which threads arrive. Standard library only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

FAULTS = (
    "rate_limit",  # 429 with Retry-After
    "server_error",  # 500
    "drop",  # the connection closes without an answer
    "cut",  # it closes in the middle of the body
    "stall",  # the body begins and never ends
    "truncated",  # a whole answer, but its JSON stops in the middle
    "html",  # a proxy's page instead of JSON, with status 200
    "few",  # fewer choices than asked for
    "many",  # more of them
    "empty",  # a finished reply without content
    "prose",  # prose where JSON was asked for
)
PASSING = tuple(fault for fault in FAULTS if fault != "stall")

STATUS = {
    "bad_request": (400, "invalid_value"),
    "too_long": (400, "context_length_exceeded"),
    "unauthorized": (401, "invalid_api_key"),
    "forbidden": (403, "unsupported_country"),
    "not_found": (404, "model_not_found"),
    "conflict": (409, "conflict"),
    "unprocessable": (422, "unprocessable"),
    "no_credit": (429, "insufficient_quota"),
    "server_error": (500, "server_error"),
    "unavailable": (503, "overloaded"),
}
"""Faults that are a status and an error code."""


@dataclass(frozen=True)
class Asked:
    """A request as the server read it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    number: int
    """How many requests came before it."""
    repeat: int
    """How many of them had the same body."""

    @property
    def prompt(self) -> str:
        """The last message's text, in any of the wire formats."""
        if "input" in self.body:
            return "\n".join(self.texts)
        if "contents" in self.body:
            return str(self.body["contents"][-1]["parts"][-1].get("text", ""))
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else str(content[-1].get("text", ""))

    @property
    def n(self) -> int:
        return int(self.body.get("n") or 1)

    def random(self, seed: object) -> random.Random:
        """The same for the same body and repeat, whoever came first."""
        text = json.dumps([str(seed), self.body, self.repeat], sort_keys=True)
        return random.Random(hashlib.sha256(text.encode()).hexdigest())


Fault = Callable[[Asked], str]
"""Which fault a request gets; an empty text is none. A value of `FAULTS` or `STATUS`,
'slow' (the whole answer, but in small pieces over 0.2 s), 'redirect', 'rate_limit_date',
'rate_limit_in_body', 'unsupported:<parameter>' (if it was sent), 'refused:<parameter>',
'says:<message>' (with status 400), 'status:<number>:<body>', or 'raw:<body>'."""


def well(asked: Asked) -> str:
    return ""


def in_order(*faults: str) -> Fault:
    """The first requests get these faults, in the order they arrive; later ones none."""
    return lambda asked: faults[asked.number] if asked.number < len(faults) else ""


def always(fault: str) -> Fault:
    return lambda asked: fault


def some_bad(share: float, kinds: Sequence[str] = PASSING, seed: int = 0) -> Fault:
    """This share of the answers is bad, evenly of these kinds."""

    def choose(asked: Asked) -> str:
        generator = asked.random(f"fault/{seed}")
        return generator.choice(kinds) if generator.random() < share else ""

    return choose


def at_once(asked: Asked) -> float:
    return 0.0


def constant(seconds: float) -> Callable[[Asked], float]:
    return lambda asked: seconds


def long_tail(median: float, p99: float, seed: int = 0) -> Callable[[Asked], float]:
    """Log-normal latencies with this median and this 99th percentile, in seconds."""
    sigma = math.log(p99 / median) / statistics.NormalDist().inv_cdf(0.99)
    return lambda asked: asked.random(f"latency/{seed}").lognormvariate(math.log(median), sigma)


@dataclass(frozen=True)
class Served:
    """When a request was answered; in seconds of `time.monotonic`."""

    asked: Asked
    fault: str
    latency: float
    """How long it was meant to take."""
    began: float
    ended: float
    dropped: bool


Answerer = Callable[[Asked], str | Sequence[str | Mapping[str, Any]] | Mapping[str, Any]]
"""The reply's text; one per choice; or a whole message in OpenAI's form. Beside its parts a message
may say `finish_reason`, `reasoning_tokens` (spent unseen; told of unless `untold`), `logprobs`."""


BESIDE = ("finish_reason", "reasoning_tokens", "logprobs", "untold")


def echo(asked: Asked) -> str:
    return f"echo {asked.body.get('seed', '')}: {asked.prompt}"


@dataclass
class ModelServer:
    """Started by `with`. What it saw can be read from any thread."""

    answer: Answerer = echo
    faults: Fault = well
    latency: Callable[[Asked], float] = at_once
    retry_after: float = 0.05
    """Seconds that 429 and 503 ask to wait."""
    usage: bool = True
    streams: bool = False
    """Whether a reply is streamed where that is asked for; with the fault 'unfinished' it ends in
    the middle, with 'error_inside' by an error."""
    gives_n: bool = True
    """Whether `n` is understood; otherwise there is one choice whatever was asked."""
    redirect_to: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What it tells of itself, by path; a function is given the request's body. 404 elsewhere."""
    looked_up: list[Asked] = field(default_factory=list)
    """Requests about the server itself, which ask for no reply."""
    served: list[Served] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    dropped: int = 0
    """Requests whose client hung up before it had the answer."""
    connections: int = 0
    _asked: Counter[str] = field(default_factory=Counter)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __enter__(self) -> ModelServer:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL of an OpenAI-compatible client."""
        return f"{self.origin}/v1"

    @property
    def seen(self) -> list[Asked]:
        """What was asked, in order of arrival, answered or not."""
        return list(self._seen)

    def idle(self, within: float = 5.0) -> bool:
        """Whether nothing is in flight, now or soon."""
        end = time.monotonic() + within
        while self.in_flight and time.monotonic() < end:
            time.sleep(0.005)
        return not self.in_flight

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._seen: list[Asked] = []
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; False when the connection is over."""
        asked = await self._read(reader)
        if asked is None:
            return await self._tell(reader, writer)
        began = time.monotonic()
        fault, latency = self.faults(asked), self.latency(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        dropped = True
        try:
            # Made ready first, so that writing the answer is part of its latency.
            response = self._response(asked, fault)
            dropped = not await _pause(began + latency - time.monotonic(), reader)
            return not dropped and await self._answer(response, fault, reader, writer)
        finally:
            self.in_flight -= 1
            dropped = dropped or fault == "stall"
            self.dropped += dropped
            self.served.append(Served(asked, fault, latency, began, time.monotonic(), dropped))

    async def _tell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request about the server itself."""
        asked = self.looked_up[-1]
        told = self.told.get(asked.path)
        form = told(asked.body) if callable(told) else told
        if form == "redirect":
            location = {"location": self.redirect_to + asked.path}
            return await self._answer((307, location, b"{}"), "", reader, writer)
        found = (200, {}, json.dumps(form).encode())
        missing: tuple[int, dict[str, str], bytes] = (404, {}, b"{}")
        return await self._answer(missing if form is None else found, "", reader, writer)

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        """The request; None for one about the server itself."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        lines = (line.split(":", 1) for line in head[1:] if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, value in lines}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(raw or b"{}")
        if "messages" not in body and "contents" not in body and "input" not in body:
            self.looked_up.append(Asked(head[0].split(" ")[1], headers, body, 0, 0))
            return None
        key = json.dumps(body, sort_keys=True)
        asked = Asked(head[0].split(" ")[1], headers, body, len(self._seen), self._asked[key])
        self._asked[key] += 1
        self._seen.append(asked)
        return asked

    async def _answer(
        self,
        response: tuple[int, dict[str, str], bytes],
        fault: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        if fault == "drop":
            return False
        status, headers, body = response
        named = {"content-type": "application/json"} | headers
        head = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in named.items())]
        whole = f"content-length: {len(body)}"
        writer.write("\r\n".join([*head, whole, "", ""]).encode("latin-1"))
        if fault in ("cut", "stall"):
            writer.write(body[: len(body) // 2])
            await writer.drain()
            if fault == "stall":
                await reader.read(1)  # until the client hangs up
            return False
        pieces = 20 if fault == "slow" else 1
        for piece in range(pieces):
            await asyncio.sleep(0.01 * (pieces > 1))
            writer.write(body[piece * len(body) // pieces : (piece + 1) * len(body) // pieces])
            await writer.drain()
        return True

    def _response(self, asked: Asked, fault: str) -> tuple[int, dict[str, str], bytes]:
        wait = {"retry-after": str(self.retry_after)}
        if fault == "rate_limit":
            return 429, wait, _error("slow down", "rate_limit_exceeded")
        if fault == "rate_limit_in_body":  # as Google asks for patience
            delay = {"@type": "type.example/RetryInfo", "retryDelay": f"{self.retry_after:g}s"}
            text = "You exceeded your quota, please check your plan and billing details."
            error = {"code": 429, "message": text, "status": "EXHAUSTED", "details": [delay]}
            return 429, {}, json.dumps({"error": error}).encode()
        if fault == "rate_limit_date":
            date = formatdate(time.time() + self.retry_after, usegmt=True)
            return 429, {"retry-after": date}, _error("slow down", "rate_limit_exceeded")
        if fault == "redirect":
            return 307, {"location": self.redirect_to + asked.path}, b"{}"
        if fault.startswith("unsupported:"):
            name = fault.partition(":")[2]
            if name in asked.body:
                return 400, {}, _error(f"{name} isn't supported", "unsupported_parameter", name)
            fault = ""
        if fault.startswith("refused:"):
            name = fault.partition(":")[2]
            return 400, {}, _error(f"{name} is not supported by this model", "invalid", name)
        if fault.startswith("status:"):
            _, status, text = fault.split(":", 2)
            return int(status), {}, text.encode()
        if fault.startswith("says:"):
            return 400, {}, _error(fault[5:], "invalid_request_error")
        if fault in STATUS:
            status, code = STATUS[fault]
            # A careless server quotes the prompt in its error.
            return status, wait if status == 503 else {}, _error(f"no: {asked.prompt}", code)
        if fault == "html":
            fault = "raw:<html><body>Bad gateway</body></html>"
        if fault.startswith("raw:"):
            return 200, {}, fault[4:].encode()
        form = self._form(asked, self._messages(asked, fault))
        if self.streams and asked.body.get("stream"):
            return 200, {"content-type": "text/event-stream"}, _streamed(form, fault)
        body = json.dumps(form).encode()
        return 200, {}, body[: len(body) // 2] if fault == "truncated" else body

    def _messages(self, asked: Asked, fault: str) -> list[dict[str, Any]]:
        n = asked.n if self.gives_n else 1
        n += {"few": -1, "many": 1}.get(fault, 0)
        given = self.answer(asked)
        texts: list[Any] = [given] * n if isinstance(given, str | Mapping) else [*given][:n]
        if fault == "empty":
            texts = [""] * n
        if fault == "prose":
            texts = ["I think the best way to look at this is to begin with the tables."] * n
        return [{"content": each} if isinstance(each, str) else dict(each) for each in texts]

    def _form(self, asked: Asked, messages: list[dict[str, Any]]) -> dict[str, Any]:
        hidden = sum(int(m.get("reasoning_tokens", 0)) for m in messages)
        written = sum(len(str(m.get("content", m))) // 4 + 1 for m in messages)
        counts = (len(json.dumps(asked.body)) // 4, written + hidden)
        if "/messages" in asked.path:
            return _anthropic(messages, counts)
        if ":generateContent" in asked.path:
            return _google(messages, counts)
        return _openai(asked, messages, counts if self.usage else None)


def _streamed(form: Mapping[str, Any], fault: str) -> bytes:
    """A reply in OpenAI's chunks, each with a few letters of its texts."""
    usage = form.get("usage")
    chunks: list[Mapping[str, Any]] = []
    for choice in form["choices"]:
        parts = _parts(choice["message"])
        if choice.get("logprobs"):
            chunks += [
                {"index": choice["index"], "delta": {}, "logprobs": {"content": [one]}}
                for one in choice["logprobs"]["content"]
            ]
        chunks += [{"index": choice["index"], "delta": part} for part in parts]
        if fault not in {"unfinished", "error_inside"}:
            ended = {
                "index": choice["index"],
                "delta": {},
                "finish_reason": choice["finish_reason"],
            }
            chunks.append(ended)
    beside = {name: form[name] for name in ("id", "model", "system_fingerprint")}
    told: list[Any] = [beside | {"choices": [chunk]} for chunk in chunks]
    if fault == "error_inside":
        told.append({"error": {"message": "the worker is gone", "code": 500}})
    elif fault != "unfinished":
        told += [beside | {"choices": [], "usage": usage}]
    lines = [": at work", *(f"data: {json.dumps(each)}" for each in told)]
    lines += ["data: [DONE]"] if fault not in {"unfinished", "error_inside"} else []
    return "".join(f"{line}\n\n" for line in lines).encode()


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A message in pieces."""
    parts: list[Mapping[str, Any]] = [{"role": message["role"]}]
    for name, value in message.items():
        if isinstance(value, str) and name != "role":
            parts += [{name: value[at : at + 3]} for at in range(0, len(value), 3)]
    for place, call in enumerate(message.get("tool_calls") or ()):
        text = call["function"]["arguments"]
        head = {**call, "index": place, "function": {"name": call["function"]["name"]}}
        parts.append({"tool_calls": [head]})
        parts += [
            {"tool_calls": [{"index": place, "function": {"arguments": text[at : at + 3]}}]}
            for at in range(0, len(text), 3)
        ]
    return parts


async def _pause(seconds: float, reader: asyncio.StreamReader) -> bool:
    """Wait; False when the client hung up meanwhile."""
    if seconds <= 0:
        return True
    try:
        async with asyncio.timeout(seconds):
            await reader.read(1)  # ends early only when the client does
    except TimeoutError:
        return True
    return False


def _error(message: str, code: str, parameter: str | None = None) -> bytes:
    error = {"message": message, "type": "error", "code": code, "param": parameter}
    return json.dumps({"type": "error", "error": error}).encode()


def _openai(
    asked: Asked, messages: list[dict[str, Any]], counts: tuple[int, int] | None
) -> dict[str, Any]:
    choices = [
        {
            "index": place,
            "message": {"role": "assistant"}
            | {name: part for name, part in message.items() if name not in BESIDE},
            "finish_reason": message.get("finish_reason")
            or ("tool_calls" if message.get("tool_calls") else "stop"),
            "logprobs": message.get("logprobs"),
        }
        for place, message in enumerate(messages)
    ]
    form: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body.get("model", ""),
        "system_fingerprint": "fp_test",
        "choices": choices,
    }
    if counts is not None:
        prompt, reply = counts
        form["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
        }
        hidden = sum(int(message.get("reasoning_tokens", 0)) for message in messages)
        if hidden and not messages[0].get("untold"):
            form["usage"]["completion_tokens_details"] = {"reasoning_tokens": hidden}
    return form


def _anthropic(messages: list[dict[str, Any]], counts: tuple[int, int]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for message in messages[:1]:
        content += message.get("thinking", ())
        if message.get("content"):
            content.append({"type": "text", "text": message["content"]})
        content += [
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["function"]["name"],
                "input": json.loads(call["function"]["arguments"]),
            }
            for call in message.get("tool_calls", ())
        ]
    used_tool = any(part["type"] == "tool_use" for part in content)
    return {
        "id": "msg_x",
        "type": "message",
        "role": "assistant",
        "model": "claude-test-1",
        "content": content,
        "stop_reason": "tool_use" if used_tool else messages[0].get("stop_reason", "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": counts[0], "output_tokens": counts[1]}
        | dict(messages[0].get("usage", {})),
    }


def _google(messages: list[dict[str, Any]], counts: tuple[int, int]) -> dict[str, Any]:
    candidates = []
    for place, message in enumerate(messages):
        text = message.get("content")
        thought = message.get("reasoning")
        parts: list[dict[str, Any]] = [{"text": thought, "thought": True}] if thought else []
        parts += [{"text": text}] if text else []
        parts += [
            {
                "functionCall": {
                    "name": call["function"]["name"],
                    "args": json.loads(call["function"]["arguments"]),
                },
                **({"thoughtSignature": call["signature"]} if "signature" in call else {}),
            }
            for call in message.get("tool_calls", ())
        ]
        content = {"role": "model", "parts": parts}
        ended = {"finishReason": "STOP", "logprobsResult": message.get("logprobs")}
        candidates.append({"index": place, "content": content, **ended})
    return {
        "candidates": candidates,
        "modelVersion": "gemini-test-1",
        "usageMetadata": {
            "promptTokenCount": counts[0],
            "candidatesTokenCount": counts[1],
            "totalTokenCount": sum(counts),
        },
    }
