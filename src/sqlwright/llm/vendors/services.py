"""Finds the service of a language model by name: `provider/model` or `provider:model`.

Keys come from the vendors' own variables and go to the vendors' own hosts. To send one anywhere
else the user binds it to the host in the variable SQLWRIGHT_KEYS:

    SQLWRIGHT_KEYS="llm.example.com=... gateway.example.com=..."
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from sqlwright.errors import ConfigError
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.prices import FREE, Price, Prices
from sqlwright.llm.sending.transport import is_loopback
from sqlwright.llm.vendors.providers import PROVIDERS, Provider, Service

ANYWHERE = "openai-compatible"
"""The provider that has no address of its own."""
KEYS_VARIABLE = "SQLWRIGHT_KEYS"


def split_name(name: str) -> tuple[Provider, str]:
    """Provider and model of a name. Raises ConfigError with the known providers."""
    match = re.match(r"([^/:]+)[/:](.+)", name)
    if match is None:
        raise ConfigError(
            f"{name!r} doesn't say who serves it", hint=f"Write provider/model. {known_providers()}"
        )
    if match[1] not in PROVIDERS:
        raise ConfigError(
            f"unknown provider {match[1]!r} of the model {name!r}",
            hint=f"{known_providers()} {ANYWHERE} is any server that speaks OpenAI's protocol.",
        )
    return PROVIDERS[match[1]], match[2]


def service_for(name: str, options: LlmOptions, environ: Mapping[str, str]) -> Service:
    """A model as the options and the environment configure it. Raises ConfigError."""
    provider, model = split_name(name)
    chosen = split_name(options.model)[0].name if options.model else ANYWHERE
    capabilities = options.capabilities if provider.name == chosen else ()
    own_url = options.base_url if provider.name == chosen else ""
    remote = options.remote if options.remote or provider.name == chosen else None
    vendors_url = environ.get(provider.base_url_variable, "") if provider.base_url_variable else ""
    address = own_url or vendors_url
    bound = bound_keys(environ)
    host = urlsplit(address if "://" in address else f"http://{address}").hostname or ""
    if host in bound:
        return Service(
            provider,
            model,
            base_url=address,
            key=bound[host],
            key_variable=KEYS_VARIABLE,
            key_hosts=(host,),
            capabilities=capabilities,
            remote=remote,
            throttle=options.throttle,
        )
    # A vendor's variable for the address comes from where its key does: they belong together.
    service = Service(
        provider,
        model,
        base_url=address,
        key=environ.get(provider.key_variable) or None if provider.key_variable else None,
        key_variable="" if provider.key_variable and not own_url else KEYS_VARIABLE,
        key_hosts=() if own_url or not host else (host,),
        capabilities=capabilities,
        remote=remote,
        throttle=options.throttle,
        vendor_headers=tuple(
            (header, environ[variable])
            for header, variable in provider.vendor_headers
            if environ.get(variable)
        ),
    )
    version = environ.get("OPENAI_API_VERSION")
    return replace(service, api_version=version) if version else service


def bound_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Keys by the host they were bound to. Raises ConfigError without repeating any."""
    bound: dict[str, str] = {}
    for number, entry in enumerate(environ.get(KEYS_VARIABLE, "").split(), start=1):
        host, equals, key = entry.partition("=")
        if not equals or not host or not key or "/" in host:
            raise ConfigError(
                f"entry {number} of {KEYS_VARIABLE} is not host=key",
                hint="Name the host alone, without https://, and separate entries with spaces.",
            )
        bound[host.lower()] = key
    return bound


def price_of(service: Service, prices: Prices) -> Price | None:
    """Price of a model; None where the provider is a server on the user's own machine."""
    listed = prices.of(service.name)
    own_server = is_loopback(service.provider.base_url) and is_loopback(service.address)
    return FREE if listed is None and own_server else listed


def with_slash(name: str) -> str:
    """`provider/model`, also where it was written with a colon."""
    return re.sub(r"^([^/:]+):", r"\1/", name)


def known_providers() -> str:
    """A sentence that lists them."""
    return f"Providers: {', '.join(PROVIDERS)}."
