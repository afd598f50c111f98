"""The known providers of language models: base URLs, key variables, capabilities.

A key belongs to the hosts of its provider. It goes elsewhere only where the user named the host
together with the key; otherwise a request to another base URL is sent without one.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import EmbeddingEndpoint, Endpoint, Throttle
from sqlwright.llm.sending.transport import ModelAddress, is_loopback
from sqlwright.messages import Capabilities

if TYPE_CHECKING:
    from sqlwright.llm.prices import Price

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
    embeds: int = 0
    """Texts it is asked to give the vectors of at once; 0 where it gives none in OpenAI's form. The
    vendors take 2,048, but reading so large an answer would hold up everybody else's."""

    def capabilities_of(self, model: str) -> Capabilities:
        """Capabilities of a model as far as its name tells."""
        lacks = {what: False for pattern, what in self.unlike if fnmatch.fnmatch(model, pattern)}
        thinks = any(fnmatch.fnmatch(model.lower(), pattern) for pattern in self.reasoning)
        return replace(self.capabilities, reasoning=thinks, **lacks)


WIRES: dict[str, str] = {
    "anthropic": "sqlwright.llm.vendors.anthropic:AnthropicEndpoint",
    "google": "sqlwright.llm.vendors.google:GoogleEndpoint",
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
            embeds=512,
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
            embeds=512,
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
            embeds=256,
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
            embeds=1024,
        ),
        Provider(
            "ollama",
            "openai",
            "http://localhost:11434/v1",
            base_url_variable="OLLAMA_HOST",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
            embeds=256,
        ),
        Provider(
            "llamacpp",
            "openai",
            "http://localhost:8080/v1",
            "LLAMA_API_KEY",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
            embeds=256,
        ),
        Provider(
            "lmstudio",
            "openai",
            "http://localhost:1234/v1",
            capabilities=replace(_LOCAL, context_tokens=8_192),
            reasoning=_OPEN_THINKERS,
            embeds=256,
        ),
        Provider(
            "openai-compatible",
            "openai",
            "",
            capabilities=replace(ALL, n=False, json_schema=False, tools=False),
            reasoning=_OPEN_THINKERS,
            embeds=256,
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


@dataclass(frozen=True, slots=True)
class Service:
    """One model as the user configured it."""

    provider: Provider
    model: str
    base_url: str = ""
    """Empty for the provider's own."""
    key: str | None = None
    key_variable: str = ""
    """The variable that the key came from, for messages; empty for the provider's own variable."""
    key_hosts: tuple[str, ...] = ()
    """Hosts the user bound the key to, besides the provider's."""
    capabilities: tuple[tuple[str, Any], ...] = ()
    """Overrides, by field of `Capabilities`."""
    remote: bool | None = None
    """True if requests leave this machine, by the user's word; None goes by the address."""
    throttle: Throttle = Throttle()  # noqa: RUF009 - frozen
    api_version: str = "2024-10-21"
    """Azure only."""
    vendor_headers: tuple[tuple[str, str], ...] = ()
    """Names and values for the provider's own hosts."""
    label: str = ""
    """The user's name for it; empty where it is named by its provider."""
    revision: str = ""
    """The model's, by the user's word."""
    price: Price | None = None
    """By the user's word; None goes by the tables."""
    own_key: Literal["", "bound", "unbound"] = ""
    """Set where the user named a variable for this model's key alone; `unbound` where that key may
    not be sent to the address."""

    def __repr__(self) -> str:
        return f"Service({self.name})"  # no key in a traceback

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.provider.name}/{self.model}"

    @property
    def title(self) -> str:
        """`provider/model`, after the user's name for it if there is one."""
        return f"{self.label} ({self.name})" if self.label else self.name

    @property
    def address(self) -> str:
        """The base URL in effect. Raises ConfigError when there is none or it isn't HTTP."""
        address = self.base_url or self.provider.base_url
        if address and "://" not in address:
            address = f"http://{address}"  # OLLAMA_HOST is often just host:port
        if not address:
            variable = self.provider.base_url_variable
            place = (
                f"base_url in [models.{self.label}]"
                if self.label
                else ("--base-url, base_url= in Python, or [llm] base_url in the project file")
            )
            raise ConfigError(
                f"{self.title} needs a base URL",
                hint=f"Say where it is with {place}"
                f"{f', or with the variable {variable}' if variable else ''}.",
            )
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(f"the base URL of {self.title} is no http or https address")
        if parts.username or parts.password:
            raise ConfigError(
                f"the base URL of {self.title} holds a user or password", hint="use a key instead"
            )
        if self.provider.name == "ollama" and not parts.path.strip("/"):
            return f"{address.rstrip('/')}/v1"
        return address.rstrip("/")

    @property
    def sendable_key(self) -> str | None:
        """The key, if it may be sent to the address."""
        belongs = key_belongs(self.provider, self.address, self.key_hosts)
        return self.key if self.key and belongs and self.own_key != "unbound" else None

    @property
    def sendable_headers(self) -> tuple[tuple[str, str], ...]:
        """The vendor's headers, if the address is one of its own."""
        return self.vendor_headers if key_belongs(self.provider, self.address) else ()

    @property
    def can(self) -> Capabilities:
        """Capabilities, the user's word before the table's. Raises ConfigError."""
        known = self.provider.capabilities_of(self.model)
        try:
            capabilities_set = replace(known, **dict(self.capabilities))
        except TypeError:
            names = ", ".join(Capabilities.__dataclass_fields__)
            raise ConfigError(
                f"an unknown capability is set for {self.title}", hint=f"there are: {names}"
            ) from None
        return replace(capabilities_set, remote=self._leaves())

    def _leaves(self) -> bool:
        """True if requests leave this machine. Raises ConfigError where that can't be denied."""
        if self.remote is None:
            return not is_loopback(self.address)  # no capability says otherwise
        host = urlsplit(self.address).hostname or ""
        if not self.remote and any(
            fnmatch.fnmatchcase(host, pattern) for pattern in self.provider.hosts
        ):
            raise ConfigError(
                f"{self.title} is at its vendor's, {host}, which is not this machine",
                hint="Leave out remote = false; it is for a server of your own.",
            )
        return self.remote


def check(service: Service) -> None:
    """Raise ConfigError for a missing key or base URL. Nothing is loaded or sent."""
    provider, address = service.provider, service.address
    variable = service.key_variable or provider.key_variable
    if service.own_key and not service.key:
        raise ConfigError(
            f"{service.title} needs a key, and the variable {variable} isn't set",
            hint=f"Set {variable}, or leave key_env out for a server that takes no key.",
        )
    if service.own_key == "unbound":
        host = urlsplit(address).hostname
        raise ConfigError(
            f"the key in {variable} isn't bound to {host}, where {service.title} is",
            hint=f"A project file alone can't say where a key goes. Write {variable}='{host}=KEY' "
            "in the environment, or name the file in SQLWRIGHT_PROJECT if you trust it.",
        )
    if provider.needs_key and not service.key and key_belongs(provider, address):
        raise ConfigError(f"{service.title} needs a key", hint=f"set the variable {variable}")


def connect(service: Service) -> Endpoint:
    """The endpoint of a configured model; nothing is sent yet. Loads the vendor's package.

    Raises ConfigError for a missing key, base URL or package."""
    check(service)
    return _endpoint(service, site_of(service))


def connect_embeddings(service: Service) -> EmbeddingEndpoint:
    """The endpoint of a configured model that gives vectors; nothing is sent yet.

    Raises ConfigError for a missing key, base URL or package, and a provider that has none."""
    check_embeds(service)
    from sqlwright.llm.vendors.openai import OpenAIEmbeddings

    return OpenAIEmbeddings(
        site_of(service), batch=service.provider.embeds, api_version=_api_version(service)
    )


def check_embeds(service: Service) -> None:
    """Like `check`; raises ConfigError for a provider that gives no vectors, too."""
    if not service.provider.embeds:
        those = ", ".join(name for name, row in PROVIDERS.items() if row.embeds)
        raise ConfigError(
            f"{service.title} can't be the embedder",
            hint=f"Providers that embed: {those}. Without `embedder` the embedded model does it.",
        )
    check(service)


def site_of(service: Service) -> ModelAddress:
    """The address of a configured model, with all that is needed to call it."""
    provider, address = service.provider, service.address
    variable = service.key_variable or provider.key_variable
    return ModelAddress(
        service.title,
        service.model,
        address,
        capabilities=service.can,
        throttle=service.throttle,
        key=service.sendable_key,
        key_variable=variable,
        vendor_headers=service.sendable_headers,
        proxies=not is_loopback(address),
    )


def _endpoint(service: Service, site: ModelAddress) -> Endpoint:
    provider = service.provider
    if provider.wire in WIRES:
        module, _, name = WIRES[provider.wire].partition(":")
        made: Endpoint = getattr(importlib.import_module(module), name)(site)
        return made
    from sqlwright.llm.vendors.openai import OpenAIEndpoint

    newer = provider.newer_length
    return OpenAIEndpoint(site, api_version=_api_version(service), newer_length=newer)


def _api_version(service: Service) -> str:
    return service.api_version if service.provider.wire == "azure" else ""
