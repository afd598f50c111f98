"""Endpoints that speak OpenAI's chat completions: most vendors and local servers do.

The form is small and the same everywhere, so it is written and read here. The vendor's own package
takes three times the processor time for each request, most of it to check what we wrote and to put
the answer into models that nobody looks at, and it reads the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.metering import prompt_tokens
from sqlwright.llm.sending.connections import Connections, HttpAnswer
from sqlwright.llm.sending.failures import (
    FEWEST_TOKENS,
    fewer_tokens,
    left_out,
    ran_out,
    refused,
    refuses_system,
    refuses_value,
    told_context,
    unsupported,
)
from sqlwright.llm.sending.transport import AtSite, ModelAddress
from sqlwright.llm.vendors.reading import (
    arguments_text,
    count,
    finish,
    guarded,
    likeliest,
    opaque,
    price,
    shares,
    token_logprobs,
    well_formed,
    without,
    without_system,
)
from sqlwright.messages import Capabilities, Reply, ToolCall

SEEDS = 2**31
"""Servers take seeds below this."""
SPARE = 1.02
"""Factor on the tokens that a server counted of a prompt: of another they are a guess."""
COLDEST = 0.01
"""Temperature for a server that takes none of 0."""

_FALLBACKS = {
    "n": None,
    "seed": None,
    "temperature": None,
    "response_format": None,
    "reasoning_effort": None,
    "verbosity": None,
    "top_logprobs": None,
    "logprobs": None,
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
    "tools": None,
    "stream_options": None,
    "stream": None,
}
"""Parameters that a model may refuse, and what then goes in their place."""


_THOUGHT = ("reasoning_content", "reasoning_details")
"""Parts of a message that some servers (DeepSeek, OpenRouter) want back with its tool calls."""


class OpenAIEndpoint(AtSite):
    """One model behind an OpenAI-compatible server. `api_version` makes it one of Azure's."""

    def __init__(
        self, site: ModelAddress, *, api_version: str = "", newer_length: bool = False
    ) -> None:
        super().__init__(site)
        self._length = "max_completion_tokens" if newer_length else "max_tokens"
        self._refused: set[str] = set()
        self._coldest = 0.0
        """The lowest temperature that it takes, once it has refused 0."""
        self._most = 0
        """Reply tokens that the server takes at most, once it has refused more."""
        self._context, self._share = 0, 1.0
        """Tokens of prompt and reply together, once it told, and its count of a prompt by ours."""
        self._plainer = False
        """True once it took no `json_schema`; some take a schema with `json_object`."""
        self._connections = _connections(site, "chat/completions", api_version)

    @property
    def capabilities(self) -> Capabilities:
        """The configured capabilities without those that the model refused."""
        can = self._site.capabilities
        most = min(can.reply_tokens or self._most, self._most) if self._most else can.reply_tokens
        return replace(
            can,
            n=can.n and "n" not in self._refused,
            logprobs=can.logprobs and "logprobs" not in self._refused,
            json_schema=can.json_schema and "response_format" not in self._refused,
            tools=can.tools and "tools" not in self._refused,
            reply_tokens=most,
            context_tokens=min(can.context_tokens, self._context or can.context_tokens),
        )

    async def send(self, call: Call) -> Completion:
        if "system" in self._refused:
            call = replace(call, messages=without_system(call.messages))
        body, refused_before = self._body(call), frozenset(self._refused)
        with guarded():
            answer = await self._connections.post(body, tokens=call.n * call.limit)
            if not answer.ok and ran_out(answer.status, answer.refusal_body):
                return Completion((Reply("", finish="length"),) * call.n)
            if not answer.ok:
                raise self._status(answer, body, call)
            read = _read(_form(self._site, answer.content, "choices"))
            return without(refused_before, read)

    async def aclose(self) -> None:
        await self._connections.aclose()

    def _body(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        body: dict[str, Any] = {
            "model": self._site.model,
            "messages": [_message(message) for message in call.messages],
            "stream": True,  # shows that a slow server works, and ends with the connection
            "stream_options": {"include_usage": True},
            self._length: min(call.limit, self._most or call.limit, self._room(call)),
        }
        if can.n and call.n > 1:
            body["n"] = call.n
        if can.temperature:
            body["temperature"] = max(call.temperature, self._coldest)
        if can.seed:
            body["seed"] = call.seed % SEEDS
        if call.reasoning is not None:
            body["reasoning_effort"] = call.reasoning
        if call.verbosity is not None:
            body["verbosity"] = call.verbosity
        if can.logprobs and call.logprobs is not None:
            body["logprobs"] = True
            if call.logprobs:
                body["top_logprobs"] = likeliest(call.logprobs)
        if can.json_schema and call.reply_schema is not None:
            body["response_format"] = _reply_format(call.reply_schema, plainer=self._plainer)
        if can.tools and call.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in call.tools
            ]
        for parameter in sorted(self._refused & body.keys()):
            value, instead = body.pop(parameter), _FALLBACKS[parameter]
            if instead is not None and instead not in self._refused:
                body[instead] = value
        if "stream" not in body:
            body.pop("stream_options", None)
        return body

    def _room(self, call: Call) -> int:
        """Tokens that the context has for a reply, as far as the server told."""
        if not self._context:
            return call.limit
        left = self._context - SPARE * self._share * prompt_tokens(call)
        return max(FEWEST_TOKENS, int(left))

    def _status(self, answer: HttpAnswer, body: Mapping[str, Any], call: Call) -> EndpointError:
        """The error for a status. A parameter the model doesn't know is left out from then on."""
        refusal_body = answer.refusal_body
        if body["messages"][0]["role"] == "system" and refuses_system(answer.status, refusal_body):
            self._refused.add("system")
            return left_out("system")
        sent = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        if told := told_context(answer.status, refusal_body, sent):
            self._context, self._share = told[0], told[1] / prompt_tokens(call)
            return EndpointError("its context has less room for a reply", retry_after=0.0)
        if most := fewer_tokens(answer.status, refusal_body, sent):
            self._most = most
            return EndpointError(f"it gives {most:,} tokens at most", retry_after=0.0)
        parameter = unsupported(
            answer.status, refusal_body, [name for name in _FALLBACKS if name in body]
        )
        if parameter is not None:
            if parameter == "response_format" and body[parameter]["type"] == "json_schema":
                self._plainer = True
            elif parameter == "temperature" and not body[parameter] and refuses_value(refusal_body):
                self._coldest = COLDEST
                parameter = "a temperature of 0"
            else:
                self._refused.add(parameter)
            return left_out(parameter)
        return _refused(self._site, answer, refusal_body, call.text)


def _refused(site: ModelAddress, answer: HttpAnswer, refusal_body: Any, sent: str) -> EndpointError:
    return refused(
        site.address, answer.status, answer.headers, refusal_body, site.wall(), sent=sent
    )


def _form(site: ModelAddress, content: bytes, part: str) -> Any:
    """A body's JSON, which has this part or tells of an error."""
    form = json.loads(content)
    if not form.get(part) and form.get("error"):
        # Some gateways report an error of the model behind them with status 200.
        code = form["error"].get("code") if isinstance(form["error"], Mapping) else None
        status = int(str(code)) if re.fullmatch("[1-9][0-9]{2}", str(code)) else 502
        raise refused(site.address, status, {}, form, site.wall())
    return form


def _read(form: Mapping[str, Any]) -> Completion:
    usage = form.get("usage") or {}
    prompt, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details") or {}
    hidden = count((usage.get("completion_tokens_details") or {}).get("reasoning_tokens")) or 0
    choices = sorted(form["choices"], key=lambda choice: int(choice.get("index") or 0))
    parts = zip(shares(written or 0, len(choices)), shares(hidden, len(choices)), strict=True)
    replies = tuple(
        replace(
            _reply(choice),
            prompt_tokens=(prompt or 0) if index == 0 else 0,
            reply_tokens=tokens,
            reasoning_tokens=thought,
        )
        for index, (choice, (tokens, thought)) in enumerate(zip(choices, parts, strict=True))
    )
    revision = (form.get("model") or "", form.get("system_fingerprint") or "")
    return Completion(
        replies,
        revision="/".join(well_formed(part) for part in revision if part),
        prompt_tokens=prompt,
        reply_tokens=written,
        cached_prompt_tokens=count(details.get("cached_tokens")) or 0,
        written_prompt_tokens=count(details.get("cache_write_tokens")) or 0,
        reasoning_tokens=hidden,
        cost=price(usage.get("cost")),
    )


def _reply(choice: Mapping[str, Any]) -> Reply:
    message = choice["message"]
    calls = tuple(
        ToolCall(
            well_formed(call.get("id") or index),
            well_formed(call["function"]["name"]),
            arguments_text(call["function"].get("arguments")),
        )
        for index, call in enumerate(message.get("tool_calls") or ())
    )
    ended = finish(choice.get("finish_reason"))
    text, thought = _plain(message.get("content")), _thought(message) if calls else ""
    if not text and message.get("refusal"):
        text, ended = well_formed(message["refusal"]), "refusal"
    if not (text.strip() or calls):  # some servers take all that a model says for its reasoning
        said = message.get("reasoning_content") or message.get("reasoning")
        text = thought = _plain(said) if isinstance(said, str | list) else ""
    listed = (choice.get("logprobs") or {}).get("content") or ()
    return Reply(
        text,
        calls,
        ended,
        logprobs=token_logprobs(
            [(each, each.get("top_logprobs") or ()) for each in listed], "logprob"
        ),
        thought=thought,
    )


def _thought(message: Mapping[str, Any]) -> str:
    """The parts of a message that say what it was thought by, as JSON; empty without any."""
    parts = {name: message[name] for name in _THOUGHT if message.get(name)}
    return json.dumps(parts) if parts else ""


def _plain(content: Any) -> str:
    """Text of a message, whole or in parts."""
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content)
    return well_formed(content)


def _message(message: PlainMessage) -> dict[str, Any]:
    form: dict[str, Any] = {"role": message.role, "content": well_formed(message.text)}
    if message.tool_calls:
        form["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_calls and message.thought:
        form |= {name: part for name, part in opaque(message.thought).items() if name in _THOUGHT}
    if message.role == "tool":
        form["tool_call_id"] = message.tool_call_id
    return form


def _reply_format(schema: Mapping[str, Any], *, plainer: bool) -> dict[str, Any]:
    if plainer:
        return {"type": "json_object", "schema": dict(schema)}
    named = {"name": "reply", "schema": dict(schema), "strict": _is_closed(schema)}
    return {"type": "json_schema", "json_schema": named}


def _is_closed(schema: Any) -> bool:
    """True if every object names all its properties: OpenAI's strict mode takes nothing else."""
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(map(_is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False:
            return False
        if set(properties) != set(schema.get("required") or ()):
            return False
    return all(map(_is_closed, schema.values()))


def _connections(site: ModelAddress, path: str, api_version: str) -> Connections:
    """Azure has an address for each model, and its key in a header of its own."""
    if not api_version:
        return Connections(site, f"{site.base_url}/{path}", "authorization", "Bearer")
    deployment = f"{site.base_url}/openai/deployments/{quote(site.model, safe='')}"
    return Connections(site, f"{deployment}/{path}?api-version={quote(api_version)}", "api-key")
