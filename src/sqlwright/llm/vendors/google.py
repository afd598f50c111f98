"""Google's Gemini. The doorway to the `google-genai` package, which is an extra."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, Completion, EndpointError, PlainMessage
from sqlwright.llm.reply_limits import REASONING
from sqlwright.llm.sending.failures import (
    fewer_tokens,
    left_out,
    refused,
    refuses_system,
    unreachable,
    unreadable,
    unsupported,
)
from sqlwright.llm.sending.transport import NO_KEY, AtSite, Discreet, ModelAddress
from sqlwright.llm.vendors.anthropic import arguments
from sqlwright.llm.vendors.openai import SEEDS
from sqlwright.llm.vendors.reading import (
    UNREADABLE,
    arguments_text,
    count,
    finish,
    guarded,
    likeliest,
    shares,
    token_logprobs,
    well_formed,
    without,
    without_system,
)
from sqlwright.messages import Capabilities, Effort, Reply, TokenLogprob, ToolCall

BY_BUDGET = ("gemini-[12]*",)
"""Names of models that take a number of tokens for thinking; later ones take a level."""
LARGEST_BUDGET = 24_576
"""Tokens for thinking that all of them take."""
_LEVELS: Mapping[Effort, str] = {"none": "minimal", "max": "xhigh"}
"""Levels where they are called otherwise than by us; the least there is for none."""
_OPTIONAL = {
    "temperature": ("temperature",),
    "seed": ("seed",),
    "candidate_count": ("candidatecount", "candidate count", "multiple candidates"),
    "thinking_config": (
        "thinkingconfig",
        "thinking_config",
        "thinkinglevel",
        "thinking_level",
        "thinking level",
        "thinkingbudget",
        "thinking_budget",
        "thinking budget",
        "thinking",
    ),
    "response_logprobs": ("responselogprobs", "response_logprobs", "logprobs"),
    "response_json_schema": ("responsejsonschema", "response_json_schema", "json mode"),
}
"""Parameters that a model may refuse, and how the server calls them; they are then left out."""


class GoogleEndpoint(AtSite):
    """One of Google's models. Raises ConfigError when the package isn't installed."""

    def __init__(self, site: ModelAddress) -> None:
        super().__init__(site)
        self._refused: set[str] = set()
        self._most = 0
        """Reply tokens that the model takes at most, once it has refused more."""
        self._http, self._client = _client(site)

    async def send(self, call: Call) -> Completion:
        import httpx2
        from google.genai import errors

        if "system" in self._refused:
            call = replace(call, messages=without_system(call.messages))
        config, refused_before = self._config(call), frozenset(self._refused)
        try:
            async with asyncio.timeout(self.throttle.seconds):
                answer = await self._client.aio.models.generate_content(
                    model=self._site.model, contents=_contents(call.messages), config=config
                )
        except errors.APIError as error:
            with guarded():
                raise self._status(error, config, call) from None
        except httpx2.TimeoutException:
            raise unreachable(self._site.address, timed_out=True) from None
        except (httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        except UNREADABLE:
            raise unreadable() from None
        with guarded():
            return without(refused_before, _read(json.loads(answer.sdk_http_response.body)))

    async def aclose(self) -> None:
        await self._http.aclose()

    def _config(self, call: Call) -> dict[str, Any]:
        can = self.capabilities
        config: dict[str, Any] = {
            "max_output_tokens": min(call.limit, self._most or call.limit),
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
        if call.reasoning is not None:
            config["thinking_config"] = self._thinking(call.reasoning)
        if can.logprobs and call.logprobs is not None:
            config["response_logprobs"] = True
            if call.logprobs:
                config["logprobs"] = likeliest(call.logprobs)
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

    @property
    def capabilities(self) -> Capabilities:
        """The configured capabilities within what the model was found to take."""
        can = self._site.capabilities
        most = min(can.reply_tokens or self._most, self._most) if self._most else can.reply_tokens
        logprobs = can.logprobs and "response_logprobs" not in self._refused
        return replace(can, reply_tokens=most, logprobs=logprobs)

    def _thinking(self, effort: Effort) -> dict[str, Any]:
        """The setting of thinking: tokens for the models before 3, a level since."""
        if any(fnmatch(self._site.model, pattern) for pattern in BY_BUDGET):
            return {"thinking_budget": min(REASONING[effort], LARGEST_BUDGET)}
        return {"thinking_level": _LEVELS.get(effort, effort).upper()}

    def _status(self, error: Any, config: Mapping[str, Any], call: Call) -> EndpointError:
        body, status = error.details, int(error.code or 500)
        if most := fewer_tokens(status, body, int(config["max_output_tokens"])):
            self._most = most
            return EndpointError(f"it gives {most:,} tokens at most", retry_after=0.0)
        if "system_instruction" in config and refuses_system(status, body):
            self._refused.add("system")
            return left_out("system")
        for parameter, names in _OPTIONAL.items():
            if parameter in config and unsupported(status, body, names):
                self._refused |= {parameter, *(["logprobs"] if "logprobs" in parameter else [])}
                return left_out(parameter)
        headers = {**_wait(body), **(getattr(error.response, "headers", None) or {})}
        now = self._site.wall()
        return refused(self._site.address, status, headers, body, now, sent=call.text)


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
            answer = {
                **_given_id(message.tool_call_id, name),
                "name": name,
                "response": {"result": well_formed(message.text)},
            }
            turns[-1]["parts"].append({"function_response": answer})
            continue
        if message.text:
            turns[-1]["parts"].append({"text": well_formed(message.text)})
        turns[-1]["parts"] += map(_call_part, message.tool_calls)
    return turns


def _call_part(call: ToolCall) -> dict[str, Any]:
    """A tool call as the model made it; newer ones refuse it without its signature."""
    form = {**_given_id(call.id, call.name), "name": call.name, "args": arguments(call)}
    part: dict[str, Any] = {"function_call": form}
    if call.signature:
        part["thought_signature"] = base64.urlsafe_b64decode(call.signature)
    return part


def _given_id(number: str, name: str) -> dict[str, str]:
    """A call's id where the model gave it one; ours begin with the tool's name."""
    return {} if not number or number.startswith(f"{name}-") else {"id": number}


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
    said, thought = (
        "".join(well_formed(part.get("text")) for part in parts if bool(part.get("thought")) == own)
        for own in (False, True)
    )
    asked = [part for part in parts if part.get("functionCall")]
    calls = tuple(
        ToolCall(
            well_formed(each.get("id") or f"{each['name']}-{index}"),
            well_formed(each["name"]),
            arguments_text(each.get("args")),
            _signature(part.get("thoughtSignature")),
        )
        for index, part in enumerate(asked)
        if (each := part["functionCall"])
    )
    ended = "tool_calls" if calls else finish(candidate.get("finishReason"))
    logprobs = _logprobs(candidate.get("logprobsResult") or {})
    if said.strip() or calls:
        return Reply(said, calls, ended, logprobs=logprobs)
    return Reply(thought, (), ended, thought=thought)


def _signature(given: Any) -> str:
    """A signature in one spelling of its bytes. Raises ValueError for what is none."""
    text = well_formed(given).replace("+", "-").replace("/", "_")
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(text)).decode("ascii")


def _logprobs(result: Mapping[str, Any]) -> tuple[TokenLogprob, ...]:
    chosen = result.get("chosenCandidates") or ()
    others = [each.get("candidates") or () for each in result.get("topCandidates") or ()]
    others += [()] * (len(chosen) - len(others))
    return token_logprobs(list(zip(chosen, others, strict=False)), "logProbability")


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
