"""An endpoint on loopback that misbehaves in a hundred ways, byte by byte.

    with Misbehaving(MODES["endless body"]) as endpoint:
        ... base URL: endpoint.url ...
        assert endpoint.requests <= 3

Each mode is what is done with one connection once a request was read. The standard library's
sockets, so that what no server would send can be sent.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from email.utils import formatdate
from typing import Any

SQL = "SELECT count(*) FROM people"
PIECE = b"x" * 65_536
PAUSE = 0.05
MEGABYTE = 1_000_000


class Connection:
    """What a mode writes to; ends quietly when the client hangs up."""

    def __init__(self, peer: socket.socket, stopped: threading.Event, number: int) -> None:
        self._peer = peer
        self.stopped = stopped
        self.number = number
        """Requests that came before this one."""

    def write(self, data: bytes) -> None:
        self._peer.sendall(data)

    def answer(
        self, body: bytes, status: str = "200 OK", *headers: str, length: int | None = None
    ) -> None:
        """A whole answer; `length` is what it says its body has."""
        told = len(body) if length is None else length
        self.head(status, f"content-length: {told}", *headers)
        self.write(body)

    def head(self, status: str = "200 OK", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", "content-type: application/json", *headers, "", ""]
        self.write("\r\n".join(lines).encode("latin-1", "replace"))

    def wait(self, seconds: float = 60.0) -> None:
        self.stopped.wait(seconds)

    def ever(self) -> Iterator[None]:
        """Until the endpoint is stopped."""
        while not self.stopped.is_set():
            yield


Mode = Callable[[Connection], None]


class Misbehaving:
    """Started by `with`."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._stopped = threading.Event()
        self._count = threading.Lock()
        self.requests = 0

    def __enter__(self) -> Misbehaving:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(0.1)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                peer, _ = self._listener.accept()
            except TimeoutError:
                continue
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        peer.settimeout(30)
        with peer:
            try:
                while method := _read_request(peer):
                    with self._count:
                        number = self.requests
                        self.requests += method == b"POST"
                    self._mode(Connection(peer, self._stopped, number))
            except (OSError, ValueError):
                return


def _read_request(peer: socket.socket) -> bytes:
    """The method of the next request, which has been read; empty where none comes. A GET asks for
    the size of the context, and is misbehaved to like the rest."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(65_536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = (
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    length = next(lengths, 0)
    while len(body) < length:
        body += peer.recv(65_536)
    return head.partition(b" ")[0]


class Hangup(OSError):
    """The connection is closed now."""


def form(content: Any = f"```sql\n{SQL}\n```", **changes: Any) -> dict[str, Any]:
    """A good answer with changes; `message` and `usage` take their parts' places."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "x", "model": "m", "choices": [choice], "usage": usage} | changes


def body(content: Any = f"```sql\n{SQL}\n```", **changes: Any) -> bytes:
    return json.dumps(form(content, **changes)).encode()


def says(content: Any, **changes: Any) -> Mode:
    made = body(content, **changes)
    return lambda to: to.answer(made)


def raw(data: bytes, status: str = "200 OK", *headers: str) -> Mode:
    return lambda to: to.answer(data, status, *headers)


def turned_away(*headers: str, status: str = "429 Too Many Requests") -> Mode:
    return lambda to: to.answer(b'{"error": {"message": "slow down"}}', status, *headers)


def usage(prompt: str, written: str = "20") -> Mode:
    """Numbers as they stand in the JSON."""
    text = body(usage={"prompt_tokens": "@", "completion_tokens": "#"}).decode()
    return raw(text.replace('"@"', prompt).replace('"#"', written).encode())


def huge(size: int) -> Mode:
    def mode(to: Connection) -> None:
        start = body("@")[: body("@").index(b"@")]
        to.head("200 OK", f"content-length: {size}")
        to.write(start)
        for _ in range(size // len(PIECE)):
            to.write(PIECE)
        raise Hangup

    return mode


def endless(to: Connection) -> None:
    to.head("200 OK", "transfer-encoding: chunked")
    for _ in to.ever():
        to.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))


def endless_spaces(to: Connection) -> None:
    to.head("200 OK", "transfer-encoding: chunked")
    for _ in to.ever():
        to.write(b"1\r\n \r\n" * 2_000)


def endless_until_closed(to: Connection) -> None:
    to.head("200 OK", "connection: close")
    for _ in to.ever():
        to.write(b"[" * 65_536)


def streams(*pieces: bytes, ever: bytes = b"", ends: bool = True) -> Mode:
    """A stream of these pieces, then of one of them on and on."""

    def mode(to: Connection) -> None:
        to.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in pieces:
            to.write(piece)
        for _ in to.ever() if ever else ():
            to.write(ever * 100)
        if not ends:
            to.wait()
        raise Hangup

    return mode


def event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def drip(to: Connection) -> None:
    whole = body()
    to.head("200 OK", f"content-length: {len(whole)}")
    for byte in whole:
        to.write(bytes([byte]))
        time.sleep(PAUSE)


def drip_head(to: Connection) -> None:
    for _ in to.ever():
        to.write(b"HTTP/1.1 200 OK\r\nx-"[:1])
        time.sleep(PAUSE)


def endless_head(to: Connection) -> None:
    to.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(10**9):
        to.write(b"x-%d: %s\r\n" % (number, b"y" * 1_000))


def informed(to: Connection) -> None:
    for _ in to.ever():
        to.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def early_hints(to: Connection) -> None:
    for _ in range(3):
        to.write(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
    to.answer(body())


def squeezed(encoding: str, size: int) -> Mode:
    """What unpacks to so many bytes; its checksum is missing, which shows at the end only."""
    packer = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
    packed = packer.compress(body("@").partition(b"@")[0]) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(PIECE) + packer.flush(zlib.Z_FULL_FLUSH)
    return raw(packed + block * (size // len(PIECE)), "200 OK", f"content-encoding: {encoding}")


def hangs_up(data: bytes) -> Mode:
    def mode(to: Connection) -> None:
        to.write(data)
        raise Hangup

    return mode


def shorter(to: Connection) -> None:
    to.answer(body(), length=len(body()) + 50)
    raise Hangup


def longer(to: Connection) -> None:
    to.answer(body() + b" and more that nobody announced", length=len(body()))


def another_answer(to: Connection) -> None:
    to.answer(body())
    to.answer(body("a second answer that nobody asked for"))


def silent(to: Connection) -> None:
    to.wait()


def stalls(to: Connection) -> None:
    to.head("200 OK", "content-length: 1000")
    to.write(body()[:40])
    to.wait()


def stalls_in_chunk(to: Connection) -> None:
    to.head("200 OK", "transfer-encoding: chunked")
    to.write(b"ffff\r\n{")
    to.wait()


def good_after(bad: Mode, times: int) -> Mode:
    return lambda to: bad(to) if to.number < times else to.answer(body())


def nested(opening: str, depth: int) -> bytes:
    return body("@").replace(b'"@"', opening.encode() * depth)


UNITS = {
    "selects": "SELECT ",
    "withs": "WITH a AS (",
    "json selects": '{"sql":"SELECT ',
    "json objects": '{"sql": "SELECT 1"} ',
    "brackets": "[",
    "braces": "{'a':",
    "tags": "<sql>'</sql>",
    "fences": "```\n'\n",
    "backticks": "`",
    "thoughts": "<think>",
    "ends of thoughts": "</think>",
    "quotes": "'a",
    "unions": "SELECT 1 UNION ",
    "bullets": "- a  ",
}
"""Replies of one text over and over."""

MODES: dict[str, Mode] = {
    # Sizes
    "200 MB of JSON": huge(200 * MEGABYTE),
    "3 MB of JSON": huge(3 * MEGABYTE),
    "content-length of 10^30": lambda to: to.head("200 OK", f"content-length: {10**30}"),
    "endless body": endless,
    "endless spaces in chunks": endless_spaces,
    "endless brackets until closed": endless_until_closed,
    "endless headers": endless_head,
    "endless 100 Continue": informed,
    "early hints first": early_hints,
    "gzip of 200 MB": squeezed("gzip", 200 * MEGABYTE),
    "deflate of 100 MB": squeezed("deflate", 100 * MEGABYTE),
    "small gzip": squeezed("gzip", 10),
    "unknown encoding": raw(body(), "200 OK", "content-encoding: br"),
    "a million choices": raw(b'{"choices": [' + b"{}," * 600_000 + b"{}]}"),
    "a million keys": raw(b"{" + b"".join(b'"%d":0,' % n for n in range(180_000)) + b'"a":0}'),
    "deep lists": raw(b"[" * 90_000),
    "deep objects": raw(b'{"a":' * 50_000),
    "deep content": raw(nested('[{"text":', 20_000)),
    "deep error": raw(b'{"error":' * 900 + b"1" + b"}" * 900, "400 Bad Request"),
    "a number of a million digits": raw(b'{"choices": ' + b"9" * MEGABYTE + b"}"),
    # Time
    "no answer": silent,
    "stalled body": stalls,
    "stalled chunk": stalls_in_chunk,
    "one byte at a time": drip,
    "head a byte at a time": drip_head,
    # Streams
    "stream": streams(event(f"```sql\n{SQL}\n"), event("```", "stop"), b"data: [DONE]\n\n"),
    "stream without an end": streams(event(f"```sql\n{SQL}\n"), event("```")),
    "stream cut for length": streams(event(SQL), event("", "length"), b"data: [DONE]\n\n"),
    "stream that never stops": streams(ever=b"".join(event(f"{n} ") for n in range(100, 400))),
    "stream that repeats itself": streams(ever=event("so ")),
    "stream that falls silent": streams(event(SQL), ends=False),
    "stream of comments": streams(ever=b": at work\n\n"),
    "stream of nothing": streams(),
    "stream of one event": streams(b"data: ", ever=b"x" * 1_000),
    "stream of noise": streams(bytes(range(256)) * 20),
    "stream of odd chunks": streams(
        b'data: {"choices": 7}\n\n', b"data: []\n\n", b'data: {"choices": [null]}\n\n'
    ),
    "stream of odd calls": streams(
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": 1000000000}, 5]}}]}\n\n'
    ),
    # Connections
    "closed at once": hangs_up(b""),
    "closed in the head": hangs_up(b"HTTP/1.1 200 OK\r\ncontent-"),
    "body shorter than told": shorter,
    "body longer than told": longer,
    "an answer nobody asked for": another_answer,
    "no HTTP": hangs_up(b"SSH-2.0-OpenSSH_9.6\r\n" * 10),
    "HTTP 0.9": hangs_up(body()),
    "TLS": hangs_up(b"\x16\x03\x01\x02\x00\x01\x00" * 20),
    "noise": hangs_up(bytes(range(256)) * 20),
    "status 999": raw(body(), "999 What"),
    "status 600": raw(b"{}", "600 Beyond"),
    "no content": lambda to: to.head("204 No Content"),
    "broken chunks": hangs_up(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
    "two lengths": hangs_up(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n{}"),
    "negative length": hangs_up(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n{}"),
    "redirect to itself": raw(b"", "307 Temporary Redirect", "location: /v1/chat/completions"),
    "redirect to nowhere": raw(b"", "302 Found", "location: http://[::bad"),
    # Statuses and wishes
    "429": turned_away(),
    "429, retry after 0": turned_away("retry-after: 0"),
    "429, retry after -5": turned_away("retry-after: -5"),
    "429, retry after in ms 0": turned_away("retry-after-ms: 0"),
    "429, retry after nan": turned_away("retry-after: nan"),
    "429, retry after 1e308": turned_away("retry-after: 1e308"),
    "429, retry after a text": turned_away("retry-after: " + "soon" * 1_000),
    "429, retry after a past date": turned_away("retry-after: " + formatdate(0, usegmt=True)),
    "429, retry after no date": turned_away("retry-after: Fri, 31 Dec 99999 23:59:59 GMT"),
    "529, retry after 0": turned_away("retry-after: 0", status="529 Overloaded"),
    "500, retry after 0": turned_away("retry-after: 0", status="500 Error"),
    "503": turned_away(status="503 Unavailable"),
    "401": turned_away(status="401 Unauthorized"),
    "400 for n": raw(b'{"error": {"message": "unknown parameter n", "param": "n"}}', "400 Bad"),
    "400 for the temperature": raw(
        b'{"error": {"message": "unsupported", "param": "temperature"}}', "400 Bad"
    ),
    "error code of 10^400": raw(b'{"error": {"code": 1%s}}' % (b"0" * 400)),
    "error code infinite": raw(b'{"error": {"code": 1e999}}'),
    "error code a text": raw(b'{"error": {"code": "whatever"}}'),
    # Forms
    "nothing": raw(b""),
    "null": raw(b"null"),
    "a list": raw(b"[]"),
    "no choices": raw(b"{}"),
    "choices no list": raw(b'{"choices": 7}'),
    "choices of null": raw(b'{"choices": [null]}'),
    "message no object": raw(b'{"choices": [{"message": "x"}]}'),
    "content no text": says({"a": [1, None]}),
    "content of a number": says(12.5),
    "content in odd parts": says([1, None, {"text": 5}]),
    "index of 10^400": raw(body().replace(b'"index": 0', b'"index": 1' + b"0" * 400)),
    "index infinite": raw(body().replace(b'"index": 0', b'"index": 1e999')),
    "half a surrogate": raw(body().replace(b"SELECT", b"\\ud800SELECT")),
    "not UTF-8": raw(body().replace(b"SELECT", b"\xff\xfeSELECT")),
    "UTF-16": raw(body().decode().encode("utf-16")),
    "NUL in the query": says(f"```sql\n{SQL}\0\n```"),
    "tool calls instead": raw(
        body(None).replace(b'"content": null', b'"tool_calls": [{"function": {"name": 5}}]')
    ),
    "finish reason an object": raw(body().replace(b'"stop"', b'{"a": 1}')),
    "model name of 1 MB": says(SQL, model="m" * MEGABYTE),
    # Usage
    "usage missing": says(SQL, usage=None),
    "usage a list": says(SQL, usage=[1, 2]),
    "usage 0": usage("0", "0"),
    "usage negative": usage("-5", "-9"),
    "usage 10^400": usage("1" + "0" * 400, "1" + "0" * 400),
    "usage 10^18": usage("1" + "0" * 18),
    "usage 1e999": usage("1e999"),
    "usage NaN": usage("NaN", "Infinity"),
    "usage texts": usage('"many"', "true"),
    "usage fractions": usage("0.5", "1.5"),
    "cost of 10^400": raw(body(usage={"cost": "@"}).replace(b'"@"', b"1" + b"0" * 400)),
    "cost negative": says(SQL, usage={"cost": -1e300}),
    # Replies
    "empty reply": says(""),
    "1 MB of prose": says("and so on " * 100_000),
    "a query at the end of 1 MB": says("and so on " * 100_000 + f"\n```sql\n{SQL}\n```"),
    **{f"90 kB of {name}": says(unit * (90_000 // len(unit))) for name, unit in UNITS.items()},
    # In between
    "good after closed": good_after(hangs_up(b""), 1),
    "good after 429": good_after(turned_away("retry-after: 0"), 2),
    "good after endless": good_after(huge(3 * MEGABYTE), 1),
}
