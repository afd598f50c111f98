"""Endpoints that speak OpenAI's chat completions and embeddings: most vendors and local servers do.

The doorway to the `openai` package, which is loaded when the first endpoint is made. Its own
retries are off (the engine's are seeded and fair), redirects aren't followed, and only headers that
we mean to send go out: the package also reads keys of other services from the environment.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage, Throttle
from sqlwright.llm.failures import refused, unreachable, unsupported
from sqlwright.llm.reading import arguments_text, count, finish, guarded, price, shares, well_formed
from sqlwright.llm.transport import NO_KEY, Discreet, Site
from sqlwright.llm.vectors import vectors_from_form, vectors_text
from sqlwright.messages import Capabilities, Reply, ToolCall

SEEDS = 2**31
"""Servers take seeds below this."""
FEWEST = 8
"""Texts of a request for vectors that no server calls too many."""
_TOO_MANY = {400, 413, 422}

_FALLBACKS = {
    "n": None,
    "seed": None,
    "temperature": None,
    "response_format": None,
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
}
"""Parameters that a model may refuse, and what then goes in their place."""


class OpenAIEndpoint:
    """One model behind an OpenAI-compatible server. `api_version` makes it one of Azure's."""

    def __init__(self, site: Site, *, api_version: str = "", newer_length: bool = False) -> None:
        self._site = site
        self._length = "max_completion_tokens" if newer_length else "max_tokens"
        self._refused: set[str] = set()
        self._client = _client(site, api_version)

    @property
    def name(self) -> str:
        return self._site.name

    @property
    def capabilities(self) -> Capabilities:
        """As configured, less what the model turned out to refuse."""
        can = self._site.capabilities
        return replace(can, n=False) if "n" in self._refused else can

    @property
    def throttle(self) -> Throttle:
        return self._site.throttle

    async def send(self, call: Call) -> Completion:
        body = self._body(call)
        create: Callable[..., Awaitable[Any]]
        create = self._client.chat.completions.with_raw_response.create
        with _failures(self._site, lambda error: self._status(error, body)):
            answer = await create(**body)
        return self._completion(answer.http_response.content)

    async def aclose(self) -> None:
        await self._client.close()

    def _body(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        body: dict[str, Any] = {
            "model": self._site.model,
            "messages": [_message(message) for message in call.messages],
            self._length: call.max_tokens,
        }
        if can.n and call.n > 1:
            body["n"] = call.n
        if can.temperature:
            body["temperature"] = call.temperature
        if can.seed:
            body["seed"] = call.seed % SEEDS
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
        parameter = unsupported(status, said, [name for name in _FALLBACKS if name in body])
        if parameter is not None:
            self._refused.add(parameter)
            return EndpointError(f"it doesn't take {parameter!r}", retry_after=0.0)
        return refused(self._site.address, status, error.response.headers, said, self._site.wall())

    def _completion(self, content: bytes) -> Completion:
        with guarded():
            return _read(_form(self._site, content, "choices"))


class OpenAIEmbeddings:
    """A model behind an OpenAI-compatible server that gives vectors: an `EmbeddingEndpoint`.

    A server that refuses many texts at once is sent fewer; nobody says how many it takes."""

    def __init__(self, site: Site, *, batch: int, api_version: str = "") -> None:
        self._site = site
        self._batch = batch
        self._client = _client(site, api_version)

    @property
    def name(self) -> str:
        return self._site.name

    @property
    def capabilities(self) -> Capabilities:
        return self._site.capabilities

    @property
    def throttle(self) -> Throttle:
        return self._site.throttle

    @property
    def batch(self) -> int:
        return self._batch

    async def send(self, call: Call) -> Completion:
        texts = [well_formed(message.text) for message in call.messages]
        create: Callable[..., Awaitable[Any]] = self._client.embeddings.with_raw_response.create
        with _failures(self._site, lambda error: self._status(error, len(texts))):
            answer = await create(model=self._site.model, input=texts, encoding_format="float")
        with guarded():
            form = _form(self._site, answer.http_response.content, "data")
            vectors = vectors_from_form(form, len(texts))
            usage = form.get("usage") or {}
            tokens = count(usage.get("prompt_tokens"))
            return Completion(
                (Reply(vectors_text(vectors), prompt_tokens=tokens or 0),),
                revision=well_formed(form.get("model")),
                prompt_tokens=tokens,
                reply_tokens=0,
                cost=price(usage.get("cost")),
            )

    async def aclose(self) -> None:
        await self._client.close()

    def _status(self, error: Any, texts: int) -> EndpointError:
        status = int(error.status_code)
        if status in _TOO_MANY and texts > FEWEST:
            self._batch = min(self._batch, max(FEWEST, texts // 4))
        said, headers = error.body, error.response.headers
        return refused(self._site.address, status, headers, said, self._site.wall())


@contextmanager
def _failures(site: Site, status: Callable[[Any], EndpointError]) -> Iterator[None]:
    """What the package raises as what the engine knows."""
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise status(error) from None
    except openai.APITimeoutError:
        raise unreachable(site.address, timed_out=True) from None
    except (openai.OpenAIError, httpx2.HTTPError, OSError) as error:
        raise unreachable(site.address, error) from None


def _form(site: Site, content: bytes, part: str) -> Any:
    """A body's JSON, which has this part or tells of an error."""
    form = json.loads(content)
    if not form.get(part) and form.get("error"):
        # Some gateways report an error of the model behind them with status 200.
        status = int(form["error"].get("code") or 502)
        raise refused(site.address, status, {}, form, site.wall())
    return form


def _read(form: Mapping[str, Any]) -> Completion:
    usage = form.get("usage") or {}
    prompt, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details") or {}
    choices = sorted(form["choices"], key=lambda choice: int(choice.get("index") or 0))
    parts = shares(written or 0, len(choices))
    replies = tuple(
        _reply(choice, (prompt or 0) if place == 0 else 0, tokens)
        for place, (choice, tokens) in enumerate(zip(choices, parts, strict=True))
    )
    revision = (form.get("model") or "", form.get("system_fingerprint") or "")
    return Completion(
        replies,
        revision="/".join(well_formed(part) for part in revision if part),
        prompt_tokens=prompt,
        reply_tokens=written,
        cached_prompt_tokens=count(details.get("cached_tokens")) or 0,
        cost=price(usage.get("cost")),
    )


def _reply(choice: Mapping[str, Any], prompt_tokens: int, reply_tokens: int) -> Reply:
    message = choice["message"]
    calls = tuple(
        ToolCall(
            well_formed(call.get("id") or place),
            well_formed(call["function"]["name"]),
            arguments_text(call["function"].get("arguments")),
        )
        for place, call in enumerate(message.get("tool_calls") or ())
    )
    ended = finish(choice.get("finish_reason"))
    text = _plain(message.get("content"))
    if not text and message.get("refusal"):
        text, ended = well_formed(message["refusal"]), "refusal"
    return Reply(text, calls, ended, prompt_tokens, reply_tokens)


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


def _client(site: Site, api_version: str) -> Any:
    import openai

    Discreet.hush("openai", "openai._base_client")
    key = site.key or NO_KEY
    if api_version:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=site.base_url,
            api_version=api_version,
            api_key=key,
            max_retries=0,
            http_client=site.client("api-key"),
        )
    return openai.AsyncOpenAI(
        base_url=site.base_url,
        api_key=key,
        max_retries=0,
        http_client=site.client("authorization", "Bearer"),
    )
