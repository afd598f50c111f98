"""The known providers of language models: base URLs, key variables, capabilities, and the hosts
that a key belongs to."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from sqlwright.llm.sending.transport import is_loopback
from sqlwright.messages import Capabilities

ALL = Capabilities(n=True, seed=True, logprobs=True, json_schema=True, tools=True)


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of the table."""

    name: str
    wire: str
    """The protocol: `openai`, `azure` (the same at other paths), or one of `WIRES`."""
    base_url: str
    """Empty where every user has one of their own."""
    key_variable: str = ""
    """The vendor's own variable with the key; empty where none is used."""
    base_url_variable: str = ""
    """The vendor's own variable with another base URL."""
    hosts: tuple[str, ...] = ()
    """Patterns of the hosts its key belongs to."""
    needs_key: bool = False
    capabilities: Capabilities = ALL
    unlike: tuple[tuple[str, str], ...] = ()
    """(pattern of a model's name, capability it lacks)."""
    reasoning: tuple[str, ...] = ()
    """Patterns of names of models that think without being told to."""
    newer_length: bool = False
    """True if the limit of reply tokens is called `max_completion_tokens`."""
    vendor_headers: tuple[tuple[str, str], ...] = ()
    """(header its own hosts take, the vendor's own variable with the value)."""
    in_process: bool = False
    """True if its models are folders of weights that this process loads."""

    def capabilities_of(self, model: str) -> Capabilities:
        """Capabilities of a model as far as its name tells."""
        lacks = {what: False for pattern, what in self.unlike if fnmatch.fnmatch(model, pattern)}
        thinks = any(fnmatch.fnmatch(model.lower(), pattern) for pattern in self.reasoning)
        return replace(self.capabilities, reasoning=thinks, **lacks)


WIRES: dict[str, str] = {
    "anthropic": "sqlwright.llm.vendors.anthropic:AnthropicEndpoint",
    "google": "sqlwright.llm.vendors.google:GoogleEndpoint",
    "weights": "sqlwright.llm.vendors.in_process:WeightsEndpoint",
}
"""Protocols that aren't OpenAI's: a class that takes a `ModelAddress`, loaded when it is needed."""

_THINKERS = ("o[1-9]*", "gpt-5*", "gpt-[6-9]*")
_REASONING = tuple((each, what) for each in _THINKERS for what in ("temperature", "logprobs"))
_OPEN_THINKERS = ("*gpt-oss*", "*deepseek-r*", "*qwen3*", "*thinking*", "*reason*")  # served by all
_LOCAL = replace(ALL, n=False, remote=False)

PROVIDERS: dict[str, Provider] = {
    row.name: row
    for row in (
        Provider(
            "openai",
            "openai",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            ("api.openai.com", "*.api.openai.com"),
            needs_key=True,
            unlike=_REASONING,
            reasoning=_THINKERS,
            newer_length=True,
            vendor_headers=(
                ("openai-organization", "OPENAI_ORG_ID"),
                ("openai-project", "OPENAI_PROJECT_ID"),
            ),
        ),
        Provider(
            "azure",
            "azure",
            "",
            "AZURE_OPENAI_API_KEY",
            "AZURE_OPENAI_ENDPOINT",
            ("*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"),
            needs_key=True,
            unlike=_REASONING,
            reasoning=_THINKERS,
            newer_length=True,
        ),
        Provider(
            "openrouter",
            "openai",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            hosts=("openrouter.ai",),
            needs_key=True,
            capabilities=replace(ALL, n=False),
            reasoning=("openai/o[1-9]*", "openai/gpt-[5-9]*", *_OPEN_THINKERS),
        ),
        Provider(
            "anthropic",
            "anthropic",
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            ("api.anthropic.com",),
            needs_key=True,
            capabilities=Capabilities(
                seed=False, json_schema=True, tools=True, temperature=False, context_tokens=200_000
            ),
            reasoning=("claude-fable*", "claude-mythos*"),
        ),
        Provider(
            "google",
            "google",
            "https://generativelanguage.googleapis.com",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            ("generativelanguage.googleapis.com",),
            needs_key=True,
            capabilities=replace(ALL, n=False, context_tokens=1_000_000),
            reasoning=("gemini-2.5*", "gemini-[3-9]*"),
        ),
        Provider(
            "vllm",
            "openai",
            "http://localhost:8000/v1",
            "VLLM_API_KEY",
            "VLLM_BASE_URL",
            capabilities=replace(ALL, remote=False),
            reasoning=_OPEN_THINKERS,
        ),
        Provider(
            "ollama",
            "openai",
            "http://localhost:11434/v1",
            base_url_variable="OLLAMA_HOST",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
        ),
        Provider(
            "llamacpp",
            "openai",
            "http://localhost:8080/v1",
            "LLAMA_API_KEY",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
        ),
        Provider(
            "lmstudio",
            "openai",
            "http://localhost:1234/v1",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
        ),
        Provider(
            "weights",
            "weights",
            "",
            capabilities=Capabilities(n=True, logprobs=True, remote=False, context_tokens=4_096),
            in_process=True,
        ),
        Provider(
            "openai-compatible",
            "openai",
            "",
            capabilities=replace(ALL, n=False, json_schema=False, tools=False),
            reasoning=_OPEN_THINKERS,
        ),
    )
}
"""Providers by the first part of `provider/model`. 'openai-compatible' is any other server."""


def key_belongs(provider: Provider, base_url: str, bound: Sequence[str] = ()) -> bool:
    """True if the provider's key may be sent to that address.

    It may to this machine and to the provider's own hosts under TLS, and to the hosts that the user
    bound it to. A local server's key belongs to the address it was configured for."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if any(fnmatch.fnmatchcase(host, pattern.lower()) for pattern in bound):
        return True
    if provider.hosts:
        to_vendor = any(fnmatch.fnmatchcase(host, pattern) for pattern in provider.hosts)
        return to_vendor and parts.scheme == "https"
    return is_loopback(base_url)
