"""Anthropic's messages. The doorway to the `anthropic` package, which is an extra.

The API's version of October 2026 takes no temperature. Where the user says that a model does
(capability `temperature`), requests go out under the version before, which older models need for
that, with the key in the header of that time.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.sending.failures import refused, unreachable, unsupported
from sqlwright.llm.sending.transport import NO_KEY, AtSite, Discreet, ModelAddress
from sqlwright.llm.vendors.reading import arguments_text, count, finish, guarded, well_formed
from sqlwright.messages import Reply, ToolCall

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
OLDER_VERSION = "2023-06-01"


class AnthropicEndpoint(AtSite):
    """One of Anthropic's models. It gives one reply at a time and takes no seed.

    Raises ConfigError when the package isn't installed."""

    def __init__(self, site: ModelAddress) -> None:
        super().__init__(site)
        self._refused: set[str] = set()
        self._client = _client(site)

    async def send(self, call: Call) -> Completion:
        import anthropic
        import httpx2

        body = self._body(call)
        create: Callable[..., Awaitable[Any]] = self._client.messages.with_raw_response.create
        try:
            answer = await create(**body)
        except anthropic.APIStatusError as error:
            with guarded():
                raise self._status(error, body) from None
        except anthropic.APITimeoutError:
            raise unreachable(self._site.address, timed_out=True) from None
        except (anthropic.AnthropicError, httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        with guarded():
            return _read(json.loads(answer.http_response.content))

    async def aclose(self) -> None:
        await self._client.close()

    def _body(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        body: dict[str, Any] = {
            "model": self._site.model,
            "max_tokens": call.limit,
            "messages": _messages(call.messages),
            "timeout": self.throttle.seconds,
        }
        system = "\n\n".join(well_formed(m.text) for m in call.messages if m.role == "system")
        if system:
            body["system"] = system
        if can.temperature:
            body["extra_headers"] = {"anthropic-version": OLDER_VERSION}
            body["extra_body"] = {"temperature": min(1.0, call.temperature)}  # the scale's end
        if can.json_schema and call.reply_schema is not None:
            body["output_config"] = {
                "format": {"type": "json_schema", "schema": dict(call.reply_schema)}
            }
        if can.tools and call.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": {"type": "object", **tool.parameters},
                }
                for tool in call.tools
            ]
        for name in self._refused:
            body.pop(name, None)
        return body

    def _status(self, error: Any, body: Mapping[str, Any]) -> EndpointError:
        body, status = error.body, int(error.status_code)
        for parameter, called in (("extra_body", "temperature"), ("output_config",) * 2):
            if parameter in body and unsupported(status, body, [called]):
                self._refused.add(parameter)
                return EndpointError(f"it doesn't take {called!r}", retry_after=0.0)
        headers = error.response.headers
        return refused(self._site.address, status, headers, body, self._site.wall())


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
    reply = Reply(
        text,
        calls,
        finish(form.get("stop_reason"), FINISH),
        prompt or 0,
        written or 0,
        reasoning_tokens=hidden,
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
