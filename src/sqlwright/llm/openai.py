"""Endpoints that speak OpenAI's chat completions: most vendors and local servers do.

The doorway to the `openai` package, which is loaded when the first endpoint is made. Its own
retries are off (the engine's are seeded and fair), redirects aren't followed, and only headers that
we mean to send go out: the package also reads keys of other services from the environment.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage, Throttle
from sqlwright.llm.failures import Address, mentions, refused, unreachable, unreadable
from sqlwright.llm.transport import headers_hook, shares
from sqlwright.messages import Capabilities, Reply, ToolCall

NO_KEY = "none"
"""Stands for the key towards the package where there is none; it is never sent."""

_FALLBACKS = {
    "n": None,
    "seed": None,
    "temperature": None,
    "response_format": None,
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
}
"""Parameters that a model may refuse, and what then goes in their place."""
_UNKNOWN = ("support", "unknown", "unrecognized", "permit", "extra input")
"""How servers say that they don't take a parameter."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How to reach an OpenAI-compatible server."""

    base_url: str
    key: str | None = None
    """Already known to belong to this host."""
    key_variable: str = ""
    flavour: Literal["openai", "azure"] = "openai"
    api_version: str = ""
    """Azure only."""
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    vendor_headers: tuple[str, ...] = ()
    """Headers besides the usual ones that the package may send, in lower case."""

    def __repr__(self) -> str:
        return f"Wire({self.base_url!r})"  # no key in a traceback


class OpenAIEndpoint:
    """One model behind an OpenAI-compatible server."""

    def __init__(
        self,
        name: str,
        model: str,
        wire: Wire,
        *,
        capabilities: Capabilities,
        throttle: Throttle,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._model = model
        self._capabilities = capabilities
        self._throttle = throttle
        self._wall = wall
        self._length = wire.length_parameter
        self._address = Address(name, wire.base_url, wire.key_variable, wire.key is not None)
        self._refused: set[str] = set()
        self._client = _client(wire, throttle)

    @property
    def name(self) -> str:
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """As configured, less what the model turned out to refuse."""
        if "n" in self._refused:
            return replace(self._capabilities, n=False)
        return self._capabilities

    @property
    def throttle(self) -> Throttle:
        return self._throttle

    async def send(self, call: Call) -> Completion:
        import httpx2
        import openai

        body = self._body(call)
        create: Callable[..., Awaitable[Any]]
        create = self._client.chat.completions.with_raw_response.create
        try:
            answer = await create(**body)
        except openai.APIStatusError as error:
            raise self._status(error, body) from None
        except openai.APITimeoutError:
            raise unreachable(self._address, timed_out=True) from None
        except (openai.OpenAIError, httpx2.HTTPError, OSError):
            raise unreachable(self._address) from None
        return self._completion(answer.http_response.content)

    async def aclose(self) -> None:
        await self._client.close()

    def _body(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message) for message in call.messages],
            self._length: call.max_tokens,
        }
        if can.n and call.n > 1:
            body["n"] = call.n
        if can.temperature:
            body["temperature"] = call.temperature
        if can.seed:
            body["seed"] = call.seed
        if can.json_schema and call.reply_schema is not None:
            body["response_format"] = _reply_format(call.reply_schema)
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
        return body

    def _status(self, error: Any, body: Mapping[str, Any]) -> EndpointError:
        """What a status means. A parameter the model doesn't know is left out from then on."""
        said, status = error.body, int(error.status_code)
        if status in {400, 422} and mentions(said, _UNKNOWN):
            for parameter in _FALLBACKS:
                if parameter in body and mentions(said, (parameter,)):
                    self._refused.add(parameter)
                    return EndpointError(f"it doesn't take {parameter!r}", retry_after=0.0)
        return refused(self._address, status, error.response.headers, said, self._wall())

    def _completion(self, content: bytes) -> Completion:
        try:
            form = json.loads(content)
            if not form.get("choices") and form.get("error"):
                # Some gateways report an error of the model behind them with status 200.
                status = int(form["error"].get("code") or 502)
                raise refused(self._address, status, {}, form, self._wall())
            return _read(form)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            raise unreadable() from None


def _read(form: Mapping[str, Any]) -> Completion:
    usage = form.get("usage") or {}
    prompt, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    details = usage.get("prompt_tokens_details") or {}
    choices = sorted(form["choices"], key=lambda choice: int(choice.get("index") or 0))
    parts = shares(written or 0, len(choices))
    replies = tuple(
        _reply(choice, (prompt or 0) if place == 0 else 0, tokens)
        for place, (choice, tokens) in enumerate(zip(choices, parts, strict=True))
    )
    revision = (form.get("model") or "", form.get("system_fingerprint") or "")
    cost = usage.get("cost")
    return Completion(
        replies,
        revision="/".join(part for part in revision if part),
        prompt_tokens=prompt,
        reply_tokens=written,
        cached_prompt_tokens=int(details.get("cached_tokens") or 0),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )


def _reply(choice: Mapping[str, Any], prompt_tokens: int, reply_tokens: int) -> Reply:
    message = choice["message"]
    calls = tuple(
        ToolCall(
            str(call.get("id") or place),
            str(call["function"]["name"]),
            str(call["function"].get("arguments") or "{}"),
        )
        for place, call in enumerate(message.get("tool_calls") or ())
    )
    finish = str(choice.get("finish_reason") or "stop")
    text = _plain(message.get("content"))
    if not text and message.get("refusal"):
        text, finish = str(message["refusal"]), "refusal"
    return Reply(text, calls, finish, prompt_tokens, reply_tokens)


def _plain(content: Any) -> str:
    """Text of a message, whole or in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return "" if content is None else str(content)


def _message(message: PlainMessage) -> dict[str, Any]:
    form: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        form["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        form["tool_call_id"] = message.tool_call_id
    return form


def _reply_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": "reply", "schema": dict(schema), "strict": _is_closed(schema)}
    return {"type": "json_schema", "json_schema": named}


def _is_closed(schema: Any) -> bool:
    """Whether every object names all its properties: OpenAI's strict mode takes nothing else."""
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


def _client(wire: Wire, throttle: Throttle) -> Any:
    import httpx2
    import openai

    secret = {"authorization": f"Bearer {wire.key}"}
    if wire.flavour == "azure":
        secret = {"api-key": wire.key or ""}
    only_ours = headers_hook(wire.base_url, secret if wire.key else {}, wire.vendor_headers)
    http = openai.DefaultAsyncHttpxClient(
        follow_redirects=False,
        timeout=httpx2.Timeout(throttle.seconds, connect=min(15.0, throttle.seconds)),
        event_hooks={"request": [only_ours]},
    )
    if wire.flavour == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=wire.base_url,
            api_version=wire.api_version,
            api_key=wire.key or NO_KEY,
            max_retries=0,
            http_client=http,
        )
    return openai.AsyncOpenAI(
        base_url=wire.base_url, api_key=wire.key or NO_KEY, max_retries=0, http_client=http
    )
