"""Transcripts as they are stored: cases/transcripts/NAME.json, and the prompts in prompts.json.

A prompt is stored as the digests of its paragraphs, and each paragraph once for all transcripts:
demonstrations and schemas stand in nearly every prompt. Texts are lists of lines, so that a
difference can be read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from sqlwright.llm.keeping.digest import reply_form, reply_from
from sqlwright.messages import Capabilities, Missing, Request, Sample

FOLDER = Path(__file__).parents[1] / "cases" / "transcripts"
PARTS = "prompts.json"
UNTYPED = Missing("unavailable", "nobody typed a reply to this prompt")
BETWEEN = "\n\n"
"""Between the paragraphs of a prompt."""


@dataclass(frozen=True)
class Exchange:
    """One reply that a step asked for, and what was said."""

    step: str
    seed: int
    """Of this very reply."""
    prompt: str
    """Everything the model sees of the request; see `prompt_text`."""
    sample: Sample

    @property
    def key(self) -> tuple[str, int, str]:
        return self.step, self.seed, self.prompt


@dataclass(frozen=True)
class Transcript:
    """One question asked with one recipe, and the answer it led to."""

    question: str
    evidence: str
    database: str
    """`demo`, a script under tests/databases by its name, or one under cases/transcripts."""
    recipe: str
    overrides: tuple[str, ...]
    today: str
    """The day it was asked on, as YYYY-MM-DD."""
    capabilities: Capabilities
    gold: str | None
    """A query known to be right; None where there is none."""
    right: bool
    status: str
    sql: str | None
    exchanges: tuple[Exchange, ...]

    @property
    def name(self) -> str:
        words = re.sub(r"\W+", "-", self.question.casefold()).strip("-")
        return f"{Path(self.database).stem}-{self.recipe}-{words[:50].strip('-')}"


def prompt_text(request: Request, can: Capabilities) -> str:
    """Everything a model that can do so much sees of a request, as one text."""
    messages = [
        {
            "role": message.role,
            "text": str(message.text),
            "tool_calls": [asdict(call) for call in message.tool_calls],
            "tool_call_id": message.tool_call_id,
        }
        for message in request.messages
    ]
    form: dict[str, Any] = {"messages": messages}
    if can.json_schema and request.reply_schema is not None:
        form["reply_schema"] = request.reply_schema
    if can.tools and request.tools:
        form["tools"] = [asdict(tool) for tool in request.tools]
    return prompt_of_form(form)


def prompt_of_form(form: Mapping[str, Any]) -> str:
    """`prompt_text` of a request as a recording holds it."""
    parts = []
    for message in form["messages"]:
        answered = message.get("tool_call_id")
        parts.append(f"<<{message['role']}{f' to {answered}' if answered else ''}>>")
        parts.append(str(message["text"]))
        parts += [
            f"<<calls {call['id']}>>\n{call['name']} {call['arguments']}"
            for call in message.get("tool_calls") or ()
        ]
    if form.get("reply_schema") is not None:
        parts.append(f"<<reply schema>>\n{_json(form['reply_schema'])}")
    parts += [f"<<tool>>\n{_json(tool)}" for tool in form.get("tools") or ()]
    return BETWEEN.join(parts)


def load(folder: Path = FOLDER) -> list[Transcript]:
    """All of them, by name."""
    parts = json.loads((folder / PARTS).read_text("utf-8"))
    texts = {digest: "\n".join(lines) for digest, lines in parts.items()}
    paths = sorted(path for path in folder.glob("*.json") if path.name != PARTS)
    return [_transcript(json.loads(path.read_text("utf-8")), texts) for path in paths]


def save(transcripts: Iterable[Transcript], folder: Path = FOLDER) -> None:
    """Write all of them; files of others are removed."""
    parts: dict[str, str] = {}
    files = {each.name: _form(each, parts) for each in transcripts}
    for path in folder.glob("*.json"):
        if path.stem not in files:
            path.unlink()
    files[PARTS.removesuffix(".json")] = {
        digest: text.split("\n") for digest, text in sorted(parts.items())
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, form in files.items():
        text = json.dumps(form, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", "utf-8")


def sample_from(form: Mapping[str, Any]) -> Sample:
    """A reply as a recording holds it, or what kept it away."""
    if "missing" in form:
        return Missing(form["missing"], form.get("message", ""))
    reply = reply_from(form)
    assert reply is not None, f"no reply: {form}"
    return replace(reply, cached=False)


def _transcript(form: Mapping[str, Any], texts: Mapping[str, str]) -> Transcript:
    known = {field.name for field in fields(Capabilities)}
    can = {name: value for name, value in form["capabilities"].items() if name in known}
    exchanges = []
    for each in form["exchanges"]:
        prompt = BETWEEN.join(texts[digest] for digest in each["prompt"].split())
        reply = dict(each["reply"])
        if "text" in reply:
            reply["text"] = "\n".join(reply["text"])
        exchanges.append(Exchange(each["step"], each["seed"], prompt, sample_from(reply)))
    given = {field.name: form[field.name] for field in fields(Transcript) if field.name in form}
    given |= {"overrides": tuple(form["overrides"]), "capabilities": Capabilities(**can)}
    return Transcript(**{**given, "exchanges": tuple(exchanges)})


def _form(transcript: Transcript, parts: dict[str, str]) -> dict[str, Any]:
    """Its JSON; the paragraphs go into `parts`."""
    usual = asdict(Capabilities())
    form = {f.name: getattr(transcript, f.name) for f in fields(Transcript)}
    can = asdict(transcript.capabilities)
    form["capabilities"] = {name: can[name] for name in can if can[name] != usual[name]}
    form["exchanges"] = [_exchange(each, parts) for each in transcript.exchanges]
    return form


def _exchange(exchange: Exchange, parts: dict[str, str]) -> dict[str, Any]:
    digests = []
    for text in exchange.prompt.split(BETWEEN):
        digests.append(hashlib.sha256(text.encode()).hexdigest()[:10])
        assert parts.setdefault(digests[-1], text) == text, "two paragraphs share a digest"
    reply: dict[str, Any]
    if isinstance(exchange.sample, Missing):
        reply = {"missing": exchange.sample.kind, "message": exchange.sample.message}
    else:
        whole = reply_form(exchange.sample)
        reply = {**whole, "text": whole["text"].split("\n")}
        del reply["prompt_tokens"], reply["reply_tokens"]
    return {
        "step": exchange.step,
        "seed": exchange.seed,
        "prompt": " ".join(digests),
        "reply": reply,
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=dict)
