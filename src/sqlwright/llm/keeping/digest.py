"""A call as plain JSON, and the digest it is found by in the cache and in recordings."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlwright.llm.endpoint import Call
from sqlwright.messages import Reply, TokenLogprob, Took, ToolCall
from sqlwright.presentation.answer import plain

FORM = 1
"""Version of the form that is digested; grows when the same call would come out as another text."""


def call_form(call: Call, model: str) -> dict[str, Any]:
    """Everything that decides what a model replies, without how many replies are wanted."""
    form: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in call.messages],
        "temperature": call.temperature,
        "seed": call.seed,
        "max_tokens": call.max_tokens,
    }
    for name in ("reasoning", "verbosity", "logprobs"):
        if getattr(call, name) is not None:
            form[name] = getattr(call, name)
    if call.reply_schema is not None:
        form["reply_schema"] = plain(call.reply_schema)
    if call.tools:
        form["tools"] = [plain(tool) for tool in call.tools]
    return form


def digest(form: Mapping[str, Any]) -> str:
    """SHA-256 of the form's canonical text, in hexadecimal."""
    text = json.dumps(form, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(f"{FORM}\n{text}".encode("ascii")).hexdigest()


def reply_form(reply: Reply) -> dict[str, Any]:
    """A reply as JSON types; `reply_from` reads it back."""
    form: dict[str, Any] = {"text": reply.text}
    if reply.tool_calls:
        form["tool_calls"] = list(map(_call_form, reply.tool_calls))
    form["finish"] = reply.finish
    form["prompt_tokens"] = reply.prompt_tokens
    form["reply_tokens"] = reply.reply_tokens
    if reply.reasoning_tokens:
        form["reasoning_tokens"] = reply.reasoning_tokens
    if reply.took is not None:
        form["took"] = reply.took._asdict()
    if reply.logprobs:
        form["logprobs"] = plain([list(each) for each in reply.logprobs])
    if reply.thought:
        form["thought"] = reply.thought
    if reply.left_out:
        form["left_out"] = list(reply.left_out)
    return form


def reply_from(form: Any) -> Reply | None:
    """The reply a form holds, marked as one from storage; None when it isn't such a form."""
    if not isinstance(form, dict):
        return None
    text, finish = form.get("text"), form.get("finish", "stop")
    tokens = [form.get(f"{kind}_tokens", 0) for kind in ("prompt", "reply", "reasoning")]
    calls, thought = form.get("tool_calls", []), form.get("thought", "")
    if not isinstance(text, str) or not isinstance(finish, str) or not isinstance(thought, str):
        return None
    if not isinstance(calls, list):
        return None
    if not all(type(count) is int and count >= 0 for count in tokens):
        return None
    tool_calls = [_tool_call(call) for call in calls]
    known = tuple(call for call in tool_calls if call is not None)
    if len(known) < len(tool_calls):
        return None
    logprobs = _logprobs(form.get("logprobs", []))
    if logprobs is None:
        return None
    prompt, written, reasoning = tokens
    counted = prompt, written, reasoning
    took = _took(form.get("took"))
    left_out = form.get("left_out", [])
    if not isinstance(left_out, list) or not all(isinstance(name, str) for name in left_out):
        return None
    return Reply(
        text, known, finish, *counted, logprobs, thought,
        cached=True, took=took, left_out=tuple(left_out),
    )  # fmt: skip


def _took(form: Any) -> Took | None:
    """The cost of a reply; None where that wasn't kept, as by earlier versions."""
    usual = Took()
    if not isinstance(form, dict) or form.keys() != usual._asdict().keys():
        return None
    numbers = [0 if name == "cost" and form[name] is None else form[name] for name in form]
    if not all(type(each) in {int, float} and 0 <= each < math.inf for each in numbers):
        return None
    return Took(**form)


def _logprobs(form: Any) -> tuple[TokenLogprob, ...] | None:
    """Tokens with their log probabilities; None when the form is another."""
    try:
        return tuple(
            TokenLogprob(str(token), float(number), tuple((str(t), float(n)) for t, n in likeliest))
            for token, number, likeliest in form
        )
    except (TypeError, ValueError):
        return None


def _message(message: Any) -> dict[str, Any]:
    form: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.tool_calls:
        form["tool_calls"] = list(map(_call_form, message.tool_calls))
    if message.tool_call_id:
        form["tool_call_id"] = message.tool_call_id
    return form


def _call_form(call: ToolCall) -> dict[str, Any]:
    """A tool call as JSON types, without what it doesn't have."""
    form = asdict(call)
    if not call.signature:
        del form["signature"]
    return form


def _tool_call(form: Any) -> ToolCall | None:
    if not isinstance(form, dict):
        return None
    parts = [form.get("id"), form.get("name"), form.get("arguments", "{}")]
    parts.append(form.get("signature", ""))
    return ToolCall(*parts) if all(isinstance(part, str) for part in parts) else None
