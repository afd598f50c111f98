"""Google's Gemini. The doorway to the `google-genai` package, which is an extra."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.sending.failures import refused, unreachable, unreadable, unsupported
from sqlwright.llm.sending.transport import NO_KEY, AtSite, Discreet, ModelAddress
from sqlwright.llm.vendors.anthropic import arguments
from sqlwright.llm.vendors.openai import SEEDS
from sqlwright.llm.vendors.reading import (
    UNREADABLE,
    arguments_text,
    count,
    finish,
    guarded,
    shares,
    well_formed,
)
from sqlwright.messages import Reply, ToolCall

FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_OPTIONAL = {
    "temperature": ("temperature",),
    "seed": ("seed",),
    "candidate_count": ("candidatecount", "candidate count", "multiple candidates"),
    "response_json_schema": ("responsejsonschema", "response_json_schema", "json mode"),
}
"""Parameters that a model may refuse, and how the server calls them; they are then left out."""


class GoogleEndpoint(AtSite):
    """One of Google's models. Raises ConfigError when the package isn't installed."""

    def __init__(self, site: ModelAddress) -> None:
        super().__init__(site)
        self._refused: set[str] = set()
        self._http, self._client = _client(site)

    async def send(self, call: Call) -> Completion:
        import httpx2
        from google.genai import errors

        config = self._config(call)
        try:
            answer = await self._client.aio.models.generate_content(
                model=self._site.model, contents=_contents(call.messages), config=config
            )
        except errors.APIError as error:
            with guarded():
                raise self._status(error, config) from None
        except httpx2.TimeoutException:
            raise unreachable(self._site.address, timed_out=True) from None
        except (httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        except UNREADABLE:
            raise unreadable() from None
        with guarded():
            return _read(json.loads(answer.sdk_http_response.body))

    async def aclose(self) -> None:
        await self._http.aclose()

    def _config(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        config: dict[str, Any] = {
            "max_output_tokens": call.limit,
            "should_return_http_response": True,  # read here, so that a bad body is ours to judge
            "automatic_function_calling": {"disable": True},
        }
        system = "\n\n".join(well_formed(m.text) for m in call.messages if m.role == "system")
        if system:
            config["system_instruction"] = system
        if can.temperature:
            config["temperature"] = call.temperature
        if can.seed:
            config["seed"] = call.seed % SEEDS
        if can.n and call.n > 1:
            config["candidate_count"] = call.n
        if can.json_schema and call.reply_schema is not None:
            config["response_mime_type"] = "application/json"
            config["response_json_schema"] = dict(call.reply_schema)
        if can.tools and call.tools:
            declared = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters_json_schema": {"type": "object", **tool.parameters},
                }
                for tool in call.tools
            ]
            config["tools"] = [{"function_declarations": declared}]
        return {name: value for name, value in config.items() if name not in self._refused}

    def _status(self, error: Any, config: Mapping[str, Any]) -> EndpointError:
        body, status = error.details, int(error.code or 500)
        for parameter, names in _OPTIONAL.items():
            if parameter in config and unsupported(status, body, names):
                self._refused.add(parameter)
                return EndpointError(f"it doesn't take {parameter!r}", retry_after=0.0)
        headers = {**_wait(body), **(getattr(error.response, "headers", None) or {})}
        return refused(self._site.address, status, headers, body, self._site.wall())


def _wait(body: Any) -> dict[str, str]:
    """A wish to wait, which this API puts into the body, in the form of the usual header."""
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, Mapping) and str(detail.get("retryDelay", "")).endswith("s"):
            return {"retry-after": str(detail["retryDelay"]).removesuffix("s")}
    return {}


def _contents(messages: Sequence[PlainMessage]) -> list[dict[str, Any]]:
    tools = {call.id: call.name for message in messages for call in message.tool_calls}
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "parts": []})
        if message.role == "tool":
            name = tools.get(message.tool_call_id, "tool")
            answer = {"name": name, "response": {"result": well_formed(message.text)}}
            turns[-1]["parts"].append({"function_response": answer})
            continue
        if message.text:
            turns[-1]["parts"].append({"text": well_formed(message.text)})
        turns[-1]["parts"] += [
            {"function_call": {"name": call.name, "args": arguments(call)}}
            for call in message.tool_calls
        ]
    return turns


def _read(form: Mapping[str, Any]) -> Completion:
    usage = form.get("usageMetadata") or {}
    prompt = count(usage.get("promptTokenCount"))
    written = count(usage.get("candidatesTokenCount"))
    thought = count(usage.get("thoughtsTokenCount"))
    if thought is not None:
        written = (written or 0) + thought
    blocked = (form.get("promptFeedback") or {}).get("blockReason")
    candidates = form.get("candidates") or ([{"finishReason": "blocked"}] if blocked else [])
    parts = zip(
        shares(written or 0, len(candidates)), shares(thought or 0, len(candidates)), strict=True
    )
    replies = tuple(
        replace(
            _reply(candidate),
            prompt_tokens=(prompt or 0) if index == 0 else 0,
            reply_tokens=tokens,
            reasoning_tokens=hidden,
        )
        for index, (candidate, (tokens, hidden)) in enumerate(zip(candidates, parts, strict=True))
    )
    return Completion(
        replies,
        revision=well_formed(form.get("modelVersion")),
        prompt_tokens=prompt,
        reply_tokens=written,
        cached_prompt_tokens=count(usage.get("cachedContentTokenCount")) or 0,
        reasoning_tokens=thought or 0,
    )


def _reply(candidate: Mapping[str, Any]) -> Reply:
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(well_formed(part.get("text")) for part in parts if not part.get("thought"))
    asked = [part["functionCall"] for part in parts if part.get("functionCall")]
    calls = tuple(
        ToolCall(
            well_formed(each.get("id") or f"{each['name']}-{index}"),
            well_formed(each["name"]),
            arguments_text(each.get("args")),
        )
        for index, each in enumerate(asked)
    )
    ended = "tool_calls" if calls else finish(candidate.get("finishReason"), FINISH)
    return Reply(text, calls, ended)


def _client(site: ModelAddress) -> tuple[Any, Any]:
    try:
        from google import genai
        from google.genai import types
    except ImportError:
        raise ConfigError(
            f"{site.name} needs the package google-genai", hint="pip install 'sqlwright[google]'"
        ) from None
    Discreet.hush("google_genai._api_client", "google_genai.models")
    http = site.client("x-goog-api-key")
    options = types.HttpOptions(
        base_url=site.base_url,
        timeout=int(site.throttle.seconds * 1000),
        httpx_async_client=http,
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    client = genai.Client(api_key=site.key or NO_KEY, vertexai=False, http_options=options)
    return http, client
