"""A loopback server of batches: OpenAI's files and batches, Anthropic's message batches.

Batches end at their last look, the first by default. `ends` gives each batch its end by its number
from 0: "completed", "expired" or "cancelled" with half of the answers, "failed" with none, "open"
for never; `fails` says by a request's body which status it gets in place of an answer.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}


@dataclass
class Batch:
    requests: dict[str, Mapping[str, Any]]
    end: str
    last: int = 1
    looks: int = 0

    @property
    def status(self) -> str:
        return self.end if self.looks >= self.last and self.end != "open" else "in_progress"

    @property
    def answered(self) -> Sequence[str]:
        """Ids that got an answer."""
        count = len(self.requests)
        share = {"completed": count, "failed": 0, "open": 0}.get(self.end, (count + 1) // 2)
        return [*self.requests][:share]


@dataclass
class BatchServer:
    """`with BatchServer(answer) as server:`; its URL is `server.url`."""

    answer: Callable[[Mapping[str, Any]], str]
    ends: Sequence[str] = ()
    fails: Callable[[Mapping[str, Any]], int] = lambda body: 0
    refuses: Sequence[int] = ()
    """Statuses of the first requests to make a batch, 0 for one that is taken."""
    looks: int = 1
    """Looks at a batch until it has ended."""
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    """Paths of requests that were no part of a batch's way."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __enter__(self) -> BatchServer:
        self._asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply(server.get(self.path))

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("content-length") or 0))
                server.headers.append(dict(self.headers.items()))
                self._reply(server.post(self.path, content))

            def _reply(self, answer: tuple[int, bytes]) -> None:
                self.send_response(answer[0])
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer[1])))
                self.end_headers()
                self.wfile.write(answer[1])

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def requests(self) -> list[Mapping[str, Any]]:
        """All that was paid for: the bodies of requests that got an answer."""
        made = self.batches.values()
        return [batch.requests[id_] for batch in made for id_ in batch.answered]

    def post(self, path: str, content: bytes) -> tuple[int, bytes]:
        with self.lock:
            if path == "/v1/files":
                found = re.search(rb"\r\n\r\n(\{\"custom_id.*?)\r\n--", content, re.DOTALL)
                assert found is not None
                assert b'name="purpose"\r\n\r\nbatch' in content
                id_ = f"file-{len(self.files)}"
                self.files[id_] = found[1]
                return 200, json.dumps({"id": id_}).encode()
            if path not in {"/v1/batches", "/v1/messages/batches"}:
                self.alone.append(path)
                return 404, b"{}"
            form = json.loads(content)
            self._asked.append(path)
            refused = self.refuses[len(self._asked) - 1 :][:1]
            if refused and refused[0]:
                return refused[0], b'{"error": {"message": "no batches for you"}}'
            if path == "/v1/batches":
                assert form["completion_window"] == "24h"
                lines = map(json.loads, self.files[form["input_file_id"]].splitlines())
                rows = [(line["custom_id"], line["body"]) for line in lines if line["method"]]
            else:
                rows = [(one["custom_id"], one["params"]) for one in form["requests"]]
            number = len(self.batches)
            end = self.ends[number] if number < len(self.ends) else "completed"
            self.batches[f"batch_{number}"] = Batch(dict(rows), end, self.looks)
            return 200, json.dumps({"id": f"batch_{number}"}).encode()

    def get(self, path: str) -> tuple[int, bytes]:
        with self.lock:
            if found := re.fullmatch(r"/v1/files/(\w+)_(out|err)/content", path.replace("-", "_")):
                return 200, self._lines(found[1], answered=found[2] == "out", chat=True)
            if found := re.fullmatch(r"/v1/messages/batches/(\w+)/results", path):
                return 200, self._lines(found[1], answered=None, chat=False)
            found = re.fullmatch(r"/v1/(messages/)?batches/(\w+)", path)
            if found is None or found[2] not in self.batches:
                return 404, b"{}"
            batch = self.batches[found[2]]
            batch.looks += 1
            return 200, json.dumps(self._told(found[2], batch, chat=not found[1])).encode()

    def _told(self, id_: str, batch: Batch, *, chat: bool) -> dict[str, Any]:
        ended = batch.status == batch.end
        if not chat:
            counts = {"succeeded": 1, "canceled": int(batch.end == "cancelled")}
            status = "ended" if ended else "in_progress"
            place = f"{self.url}/messages/batches/{id_}/results" if ended else None
            told = {"processing_status": status, "request_counts": counts, "results_url": place}
            return {"id": id_, **told}
        told = {"id": id_, "status": batch.status, "request_counts": {"total": len(batch.requests)}}
        if ended and batch.end == "failed":
            return told | {"errors": {"data": [{"message": "model not found in line 1"}]}}
        files = {"output_file_id": f"{id_}-out", "error_file_id": f"{id_}-err"}
        return told | (files if ended else {})

    def _lines(self, id_: str, *, answered: bool | None, chat: bool) -> bytes:
        batch, lines = self.batches[id_], []
        for name, body in batch.requests.items():
            got = name in batch.answered
            status = self.fails(body) if got else 0
            if answered is None or answered == (got and not status):
                line = self._chat if chat else self._message
                lines.append({"custom_id": name, **line(body, batch, status, got=got)})
        return "".join(json.dumps(line) + "\n" for line in reversed(lines)).encode()

    def _chat(self, body: Any, batch: Batch, status: int, *, got: bool) -> dict[str, Any]:
        if not got:
            return {"response": None, "error": {"code": f"batch_{batch.end}", "message": "no"}}
        if status:
            return {"response": {"status_code": status, "body": {"error": {"message": "odd"}}}}
        message = {"role": "assistant", "content": self.answer(body)}
        choices = [
            {"index": number, "message": message, "finish_reason": "stop"}
            for number in range(body.get("n") or 1)
        ]
        return {"response": {"status_code": 200, "body": {"choices": choices, **SAID}}}

    def _message(self, body: Any, batch: Batch, status: int, *, got: bool) -> dict[str, Any]:
        if not got:
            return {"result": {"type": "canceled" if batch.end == "cancelled" else "expired"}}
        if status:
            kind = "overloaded_error" if status == 529 else "invalid_request_error"
            error = {"type": "error", "error": {"type": kind, "message": "odd"}}
            return {"result": {"type": "errored", "error": error}}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": self.answer(body)}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return {"result": {"type": "succeeded", "message": message}}
