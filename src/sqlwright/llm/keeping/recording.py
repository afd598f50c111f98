"""Recordings of requests and replies in an open format, played back without any model.

A recording is JSON Lines: the first line names the format; then a line for each request, in the
order of the run, with the request in readable form, its digest and its replies by sample number;
a line before a model's first request says what the model can do, or that it gives vectors. Two
lines about one request add up, the later one wins. Requests are recognised by everything that
decides their replies but the limit of tokens: model, messages, temperature, seed, schema of the
reply and tools.

Recordings are data for tests, evaluations and demonstrations. They hold prompts, and with them
what the prompts quote of a database. What looks like a credential is masked.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from sqlwright.boundary.secrets import mask
from sqlwright.boundary.text import to_json
from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call
from sqlwright.llm.keeping.digest import call_form, digest, reply_form, reply_from
from sqlwright.messages import Capabilities, Missing, Sample

FORMAT = "sqlwright-recording"
VERSION = 1
"""Version of the recording's format; its first line names it."""
KEPT = ("unavailable", "rejected")
"""Kinds of failures that are recorded. What an endpoint failed to do is part of the record; what a
budget cut short isn't."""


def recorded_key(call: Call, model: str) -> str:
    """The digest by which a recording knows a request."""
    form = call_form(call, model)
    del form["max_tokens"]
    return digest(form)


class Recorder:
    """Writes a recording; goes on with one that is there. Raises ConfigError if it can't.

    Safe to use from any thread: a request is one line, written at once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        known = read_recording(path) if _has_content(path) else Recording({}, {})
        self._held = {name: can.json_schema for name, can in known.models.items()}
        """For each model on record, True if it holds replies to a schema; found out in between."""
        if not _has_content(path):
            self._append({"format": FORMAT, "version": VERSION})

    def add(
        self,
        call: Call,
        model: str,
        capabilities: Capabilities,
        samples: Sequence[Sample],
        *,
        step: str,
    ) -> None:
        """Put a request with its replies on record."""
        kept = [
            _sample_form(number, sample)
            for number, sample in enumerate(samples)
            if not isinstance(sample, Missing) or sample.kind in KEPT
        ]
        with self._lock:
            if self._held.get(model) is not capabilities.json_schema:
                self._append({"model": model, "capabilities": asdict(capabilities)})
                self._held[model] = capabilities.json_schema
            form = {"step": step, **call_form(call, model)}
            line = {"key": recorded_key(call, model), "request": form, "replies": kept}
            self._append(_masked(line))

    def _append(self, line: Mapping[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, f"{to_json(line)}\n".encode("utf-8", "backslashreplace"))
            finally:
                os.close(handle)
        except OSError as error:
            raise ConfigError(f"{self.path} can't be written: {error.strerror}") from None


class Recording:
    """A recording read back."""

    def __init__(
        self,
        samples: Mapping[tuple[str, int], Sample],
        models: Mapping[str, Capabilities],
    ) -> None:
        self.samples = samples
        """Samples by the request's key and the number of the sample."""
        self.models = models
        """Capabilities of each model that was asked, by name."""

    def find(self, call: Call, model: str) -> tuple[Sample, ...]:
        """The call's samples; `Missing('unrecorded')` for those that aren't there."""
        key = recorded_key(call, model)
        absent = Missing("unrecorded", f"the recording has no reply of {model} to this request")
        return tuple(self.samples.get((key, number), absent) for number in range(call.n))


def read_recording(path: Path) -> Recording:
    """A recording from its file, a last line cut short by a kill left out. Raises ConfigError."""
    lines = list(_lines(path))
    if not lines or lines[0].get("format") != FORMAT:
        raise ConfigError(f"{path} is not a recording of language models")
    if lines[0].get("version") != VERSION:
        raise ConfigError(
            f"{path} is in a form this version can't read ({lines[0].get('version')!r})",
            hint="A newer sqlwright wrote it.",
        )
    samples: dict[tuple[str, int], Sample] = {}
    models: dict[str, Capabilities] = {}
    for line in lines[1:]:
        if "capabilities" in line:
            models[str(line.get("model"))] = _capabilities(line["capabilities"])
            continue
        for form in line.get("replies") or ():
            number = form.get("sample") if isinstance(form, dict) else None
            sample = _sample_from(form)
            if sample is None or type(number) is not int:
                raise ConfigError(f"{path}: a reply in it can't be read: {str(form)[:200]}")
            samples[str(line.get("key")), number] = sample
    return Recording(samples, models)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        texts = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the recording {path} can't be read: {problem}") from None
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError:
            if number == len(texts):  # no line feed after it: cut short
                return
            raise ConfigError(f"{path}, line {number}: not JSON") from None
        if not isinstance(line, dict):
            raise ConfigError(f"{path}, line {number}: not an object")
        yield line


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _sample_form(number: int, sample: Sample) -> dict[str, Any]:
    if isinstance(sample, Missing):
        return {"sample": number, "missing": sample.kind, "message": sample.message}
    return {"sample": number, **reply_form(sample)}


def _sample_from(form: Any) -> Sample | None:
    if isinstance(form, dict) and form.get("missing") in KEPT:
        return Missing(form["missing"], str(form.get("message", "")))
    return reply_from(form)


def _capabilities(form: Any) -> Capabilities:
    """Capabilities of a model by the recording; defaults for what it doesn't say."""
    given = form if isinstance(form, dict) else {}
    usual = Capabilities()
    known: dict[str, Any] = {
        f.name: given[f.name]
        for f in fields(Capabilities)
        if type(given.get(f.name)) is type(getattr(usual, f.name))
    }
    return replace(usual, **known)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return value
