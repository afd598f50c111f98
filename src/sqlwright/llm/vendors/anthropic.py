"""Anthropic's messages. The doorway to the `anthropic` package, which is an extra.

The API's version of October 2026 takes no temperature. Where the user says that a model does
(capability `temperature`), requests go out under the version before, which older models need for
that, with the key in the header of that time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.sending.failures import (
    fewer_tokens,
    left_out,
    refused,
    unreachable,
    unsupported,
)
from sqlwright.llm.sending.transport import NO_KEY, AtSite, Discreet, ModelAddress
from sqlwright.llm.vendors.reading import (
    arguments_text,
    count,
    finish,
    guarded,
    opaque,
    well_formed,
    without,
)
from sqlwright.messages import Capabilities, Reply, ToolCall

OLDER_VERSION = "2023-06-01"
BY_BUDGET = (
    "claude-3*",
    "claude-*-4",
    "claude-*-4-[0125]",
    "claude-*-4-20*",
    "claude-*-4-[0125]-20*",
)
"""Names of models that think within a number of tokens; later ones go by effort."""
SMALLEST_BUDGET = 1_024
"""Tokens for thinking that these models take at least."""
SHORTEST_TEXT = 256
"""Tokens that are left for the text besides."""
SHORTEST_CACHED = 4_000
"""Characters of a text that is worth a place in the prefix cache: of fewer than 1,024 tokens no
model keeps any."""
_OPTIONAL = {
    "temperature": ("temperature",),
    "effort": ("output_config.effort", "effort"),
    "thinking": ("thinking", "thinking.type", "thinking.adaptive", "thinking.disabled"),
    "cache_control": ("cache_control",),
    "format": ("output_config.format", "output_format"),
    "output_config": ("output_config",),
}
"""Parameters that a model may refuse, and how the server calls them; they are then left out."""


class AnthropicEndpoint(AtSite):
    """One of Anthropic's models. It gives one reply at a time and takes no seed.

    Raises ConfigError when the package isn't installed."""

    def __init__(self, site: ModelAddress) -> None:
        super().__init__(site)
        self._refused: set[str] = set()
        self._most = 0
        """Reply tokens that the model takes at most, once it has refused more."""
        self._client = _client(site)

    async def send(self, call: Call) -> Completion:
        import anthropic
        import httpx2

        body, refused_before = self._body(call), frozenset(self._refused)
        create: Callable[..., Awaitable[Any]] = self._client.messages.with_raw_response.create
        try:
            async with asyncio.timeout(self.throttle.seconds):
                answer = await create(**body)
        except anthropic.APIStatusError as error:
            with guarded():
                raise self._status(error, body, call) from None
        except anthropic.APITimeoutError:
            raise unreachable(self._site.address, timed_out=True) from None
        except (anthropic.AnthropicError, httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        with guarded():
            return without(refused_before, _read(json.loads(answer.http_response.content)))

    async def aclose(self) -> None:
        await self._client.close()

    def _body(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        body: dict[str, Any] = {
            "model": self._site.model,
            "max_tokens": min(call.limit, self._most or call.limit),
            "messages": _messages(call.messages),
            "timeout": self.throttle.seconds,
        }
        if system := self._system(call.messages):
            body["system"] = system
        thinking = self._thinking(call, body["max_tokens"])
        if thinking:
            body["thinking"] = thinking
        if can.temperature:
            body["extra_headers"] = {"anthropic-version": OLDER_VERSION}
            thinks = thinking.get("type", "disabled") != "disabled"  # then it takes none
            if not thinks and "temperature" not in self._refused:
                body["extra_body"] = {"temperature": min(1.0, call.temperature)}  # the scale's end
        if output := self._output(call):
            body["output_config"] = output
        if can.tools and call.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": {"type": "object", **tool.parameters},
                }
                for tool in call.tools
            ]
        return body

    @property
    def capabilities(self) -> Capabilities:
        """The configured capabilities within what the model was found to take."""
        can = self._site.capabilities
        most = min(can.reply_tokens or self._most, self._most) if self._most else can.reply_tokens
        return replace(can, reply_tokens=most)

    def _system(self, messages: Sequence[PlainMessage]) -> str | list[dict[str, Any]]:
        """The system's text, marked for the prefix cache where every request of its kind has it."""
        system = [message for message in messages if message.role == "system"]
        text = "\n\n".join(well_formed(message.text) for message in system)
        fixed = all(message.fixed for message in system)
        if not fixed or len(text) < SHORTEST_CACHED or "cache_control" in self._refused:
            return text
        return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]

    def _thinking(self, call: Call, most: int) -> dict[str, Any]:
        """The setting of thinking; empty where it is left to the model."""
        if call.reasoning is None or "thinking" in self._refused:
            return {}
        if call.reasoning == "none":
            return {"type": "disabled"}
        if not any(fnmatch(self._site.model, pattern) for pattern in BY_BUDGET):
            return {"type": "adaptive"}
        budget = min(max(call.reasoning_tokens, SMALLEST_BUDGET), most - SHORTEST_TEXT)
        return {"type": "enabled", "budget_tokens": budget} if budget >= SMALLEST_BUDGET else {}

    def _output(self, call: Call) -> dict[str, Any]:
        """The form and the effort of the reply."""
        output: dict[str, Any] = {}
        if self.capabilities.json_schema and call.reply_schema is not None:
            output["format"] = {"type": "json_schema", "schema": dict(call.reply_schema)}
        if call.reasoning not in {None, "none"}:
            output["effort"] = "low" if call.reasoning == "minimal" else call.reasoning
        if any(fnmatch(self._site.model, pattern) for pattern in BY_BUDGET):
            output.pop("effort", None)
        if "output_config" in self._refused:
            return {}
        return {name: part for name, part in output.items() if name not in self._refused}

    def _status(self, error: Any, sent: Mapping[str, Any], call: Call) -> EndpointError:
        body, status = error.body, int(error.status_code)
        if most := fewer_tokens(status, body, int(sent["max_tokens"])):
            self._most = most
            return EndpointError(f"it gives {most:,} tokens at most", retry_after=0.0)
        given = {*sent, *sent.get("output_config", {}), *sent.get("extra_body", {})}
        given |= {"cache_control"} if isinstance(sent.get("system"), list) else set()
        for parameter, names in _OPTIONAL.items():
            if parameter in given and unsupported(status, body, names):
                self._refused.add(parameter)
                return left_out(parameter)
        headers = error.response.headers
        now = self._site.wall()
        return refused(self._site.address, status, headers, body, now, sent=call.text)


def _messages(messages: Sequence[PlainMessage]) -> list[dict[str, Any]]:
    """Without the system's; neighbours of one role joined, as the results of tools must be."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"] += _blocks(message)
    return [turn for turn in turns if turn["content"]]


def _blocks(message: PlainMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id}
        return [{**result, "content": well_formed(message.text)}]
    blocks: list[dict[str, Any]] = []
    if message.tool_calls and message.thought:  # checked by the server: as it was, and first
        blocks += opaque(message.thought).get("blocks", [])
    if message.text.strip():  # an empty one is refused
        blocks.append({"type": "text", "text": well_formed(message.text)})
    for call in message.tool_calls:
        given = {"type": "tool_use", "id": call.id, "name": call.name}
        blocks.append({**given, "input": arguments(call)})
    return blocks


def arguments(call: ToolCall) -> dict[str, Any]:
    """A tool call's arguments as an object; empty when the model wrote something else."""
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _read(form: Mapping[str, Any]) -> Completion:
    usage = form.get("usage") or {}
    cached = count(usage.get("cache_read_input_tokens")) or 0
    prompt, written = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    put = count(usage.get("cache_creation_input_tokens")) or 0
    hidden = count((usage.get("output_tokens_details") or {}).get("thinking_tokens")) or 0
    if prompt is not None:
        prompt += cached + put
    blocks = form["content"]
    text = "".join(well_formed(block["text"]) for block in blocks if block["type"] == "text")
    calls = tuple(
        ToolCall(
            well_formed(block["id"]), well_formed(block["name"]), arguments_text(block.get("input"))
        )
        for block in blocks
        if block["type"] == "tool_use"
    )
    thought = [block for block in blocks if block["type"] in {"thinking", "redacted_thinking"}]
    kept = json.dumps({"blocks": thought}) if thought and calls else ""
    if not (text.strip() or calls):
        text = kept = "".join(well_formed(block.get("thinking")) for block in thought)
    reply = Reply(
        text,
        calls,
        finish(form.get("stop_reason")),
        prompt or 0,
        written or 0,
        reasoning_tokens=hidden,
        thought=kept,
    )
    return Completion(
        (reply,),
        revision=well_formed(form.get("model")),
        prompt_tokens=prompt,
        reply_tokens=written,
        cached_prompt_tokens=cached,
        written_prompt_tokens=put,
        reasoning_tokens=hidden,
    )


def _client(site: ModelAddress) -> Any:
    try:
        import anthropic
    except ImportError:
        raise ConfigError(
            f"{site.name} needs the package anthropic", hint="pip install 'sqlwright[anthropic]'"
        ) from None
    Discreet.hush("anthropic", "anthropic._base_client")
    older = site.capabilities.temperature
    http = site.client("x-api-key") if older else site.client("authorization", "Bearer")
    return anthropic.AsyncAnthropic(
        base_url=site.base_url,
        api_key=site.key or NO_KEY,
        max_retries=0,
        http_client=http,
        open_telemetry=False,  # spans could carry prompts
    )
