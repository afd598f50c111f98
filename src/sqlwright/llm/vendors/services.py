"""Finds the service of a language model by name: `provider/model` or `provider:model`.

Keys come from the vendors' own variables and go to the vendors' own hosts. To send one anywhere
else the user binds it to the host in the variable SQLWRIGHT_KEYS:

    SQLWRIGHT_KEYS="llm.example.com=... gateway.example.com=..."

A model of `LlmOptions.models` may have a variable of its own. Whoever writes it in Python, or names
the project file, says where its key goes; a project file that was merely found can't.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.prices import FREE, Price, Prices
from sqlwright.llm.reply_limits import ReplyLimits
from sqlwright.llm.sending.transport import is_loopback
from sqlwright.llm.vendors.connecting import Service
from sqlwright.llm.vendors.providers import PROVIDERS, Provider
from sqlwright.llm.vendors.weights_folder import folder_of, state_of

ANYWHERE = "openai-compatible"
"""The provider that has no address of its own."""
KEYS_VARIABLE = "SQLWRIGHT_KEYS"
RESERVED = frozenset({"llm", "linker", "parser", "critic", "embedder"})
"""Roles of `Context.models`, which no entry can be called."""
WEIGHTS_SECONDS = 3_600.0
"""Time-out of a request to weights in this process, where an entry names none: no network can hang,
and a processor may need long. A question's own limit holds all the same."""
_ENTRY = re.compile(r"[\w.-]+")


def split_name(name: str) -> tuple[Provider, str]:
    """Provider and model of a name. Raises ConfigError with the known providers."""
    match = re.match(r"([^/:]+)[/:](.+)", name)
    if match is None:
        entry = f', or add [models.{name}] with model = "provider/model" to the project file'
        entry = entry if _ENTRY.fullmatch(name) and name not in RESERVED else ""
        raise ConfigError(
            f"{name!r} doesn't say who serves it",
            hint=f"Write provider/model{entry}. {known_providers()}",
        )
    if match[1] not in PROVIDERS:
        raise ConfigError(
            f"unknown provider {match[1]!r} of the model {name!r}",
            hint=f"{known_providers()} {ANYWHERE} is any server that speaks OpenAI's protocol.",
        )
    return PROVIDERS[match[1]], match[2]


def service_for(name: str, options: LlmOptions, environ: Mapping[str, str]) -> Service:
    """A model, or an entry of `options.models`, as options and environment configure it. Raises
    ConfigError."""
    entry = options.models.get(name)
    label = "" if entry is None else name
    told = _of_no_entry(name, options) if entry is None else _checked(name, entry, options)
    provider, model = split_name(told.model)
    vendors_url = environ.get(provider.base_url_variable, "") if provider.base_url_variable else ""
    address = told.base_url or vendors_url
    provider = _served_elsewhere(provider, address)
    if provider.in_process:
        return _of_weights(provider, model, told, options, label)
    service = Service(
        provider,
        model,
        base_url=address,
        capabilities=_capabilities(told),
        remote=True if options.remote else told.remote,
        throttle=_throttle(told, options.throttle),
        label=label,
        revision=told.revision,
        price=_price(told),
    )
    bound = bound_keys(environ)
    host = urlsplit(address if "://" in address else f"http://{address}").hostname or ""
    if told.key_env:
        return _with_own_key(service, told, environ)
    if host in bound:
        return replace(service, key=bound[host], key_variable=KEYS_VARIABLE, key_hosts=(host,))
    # A vendor's variable for the address comes from where its key does: they belong together.
    service = replace(
        service,
        key=environ.get(provider.key_variable) or None if provider.key_variable else None,
        key_variable="" if provider.key_variable and not told.base_url else KEYS_VARIABLE,
        key_hosts=() if told.base_url or not host else (host,),
        vendor_headers=tuple(
            (header, environ[variable])
            for header, variable in provider.vendor_headers
            if environ.get(variable)
        ),
    )
    version = environ.get("OPENAI_API_VERSION")
    return replace(service, api_version=version) if version else service


def _served_elsewhere(provider: Provider, address: str) -> Provider:
    """The provider at an address: OpenAI's protocol is spoken by many, who have neither its prices
    nor its abilities. Of its own only what says where its key goes is kept."""
    host = urlsplit(address if "://" in address else f"http://{address}").hostname or ""
    own = any(fnmatch.fnmatchcase(host, pattern) for pattern in provider.hosts)
    if provider.name != "openai" or not address or own:
        return provider
    other = PROVIDERS[ANYWHERE]
    return replace(
        other,
        key_variable=provider.key_variable,
        base_url_variable=provider.base_url_variable,
        hosts=provider.hosts,
        reasoning=(*other.reasoning, *provider.reasoning),
    )


def limits_for(name: str, options: LlmOptions) -> ReplyLimits:
    """Reasoning and length of a model's replies: an entry's own, where it says so, else those for
    all."""
    said = options.models.get(name) or options
    return ReplyLimits(
        options.reasoning if said.reasoning is None else said.reasoning,
        options.reasoning_tokens if said.reasoning_tokens is None else said.reasoning_tokens,
        options.verbosity if said.verbosity is None else said.verbosity,
    )


def _of_no_entry(name: str, options: LlmOptions) -> ModelOptions:
    """The options that hold for a model named by its provider. The address, `remote = False`
    and capabilities are those of the model to use by default, and of others of its provider."""
    if options.models and not re.search("[/:]", name):
        raise ConfigError(
            f"no model is called {name!r}",
            hint=f"There are: {', '.join(options.models)}. Add [models.{name}] with "
            'model = "provider/model" to the project file, or write provider/model.',
        )
    provider = split_name(name)[0].name
    default = "" if options.model in options.models else options.model
    chosen = split_name(default)[0].name if default else ANYWHERE
    if provider != chosen:
        return ModelOptions(name)
    return ModelOptions(
        name,
        options.base_url,
        remote=options.remote,
        revision=options.revision if with_slash(name) == with_slash(default) else "",
        capabilities=options.capabilities,
    )


def _of_weights(
    provider: Provider, model: str, told: ModelOptions, options: LlmOptions, label: str
) -> Service:
    """A folder of weights as a service. Raises ConfigError for what only a server has."""
    if told.base_url or told.key_env:
        place = f"[models.{label}]" if label else f"{provider.name}/{model}"
        raise ConfigError(
            f"{place} is a folder of this machine, and has a "
            f"{'base_url' if told.base_url else 'key_env'}",
            hint="Leave it out: nothing is sent for weights in this process.",
        )
    throttle = _throttle(told, options.throttle)
    slow = max(throttle.seconds, WEIGHTS_SECONDS) if told.timeout is None else told.timeout
    return Service(
        provider,
        model,
        capabilities=_capabilities(told),
        remote=True if options.remote else told.remote,
        throttle=replace(throttle, concurrency=1, seconds=slow, attempts=2),
        label=label,
        revision=told.revision or state_of(folder_of(model)),
        price=_price(told),
    )


def _checked(name: str, entry: ModelOptions, options: LlmOptions) -> ModelOptions:
    """The entry. Raises ConfigError where its name can't be one, it doesn't say who serves it or
    what contradicts itself."""
    place = f"[models.{name}]"
    if not _ENTRY.fullmatch(name) or name in RESERVED:
        raise ConfigError(
            f"a model can't be called {name!r}",
            hint="A name has letters, digits, '-', '_' and '.', and is none of "
            f"{', '.join(sorted(RESERVED))}.",
        )
    if not re.search("[/:]", entry.model):
        raise ConfigError(
            f"{place} doesn't say who serves it: model = {entry.model!r}",
            hint=f"There write provider/model, not the name of another entry. {known_providers()}",
        )
    if (entry.prompt_price is None) != (entry.reply_price is None):
        raise ConfigError(
            f"{place} has one of prompt_price and reply_price",
            hint="Add the other one; what costs nothing costs 0.",
        )
    if options.base_url and options.model == name:
        raise ConfigError(
            f"there is a base_url for all, and the model to use is {place}",
            hint=f"Write base_url into {place} and leave the other one out.",
        )
    return entry


def _with_own_key(service: Service, told: ModelOptions, environ: Mapping[str, str]) -> Service:
    """The service with the key of the entry's own variable, bound to the host of its address where
    the variable says so or whoever wrote the entry may."""
    host = urlsplit(service.address).hostname or ""
    value = environ.get(told.key_env, "")
    binding = f"{host}="
    said_here = value.lower().startswith(binding) and len(value) > len(binding)
    vendors = told.key_env == service.provider.key_variable
    goes = said_here or not told.found or is_loopback(service.address)
    return replace(
        service,
        key=(value[len(binding) :] if said_here else value) or None,
        key_variable=told.key_env,
        key_hosts=(host,) if goes else (),
        own_key="bound" if goes or vendors else "unbound",
    )


def _capabilities(told: ModelOptions) -> tuple[tuple[str, bool | int], ...]:
    sizes = {"context_tokens": told.context_tokens, "reply_tokens": told.reply_tokens}
    return (*told.capabilities, *((name, size) for name, size in sizes.items() if size is not None))


def _throttle(told: ModelOptions, usual: Throttle) -> Throttle:
    own = {
        "concurrency": told.concurrency,
        "seconds": told.timeout,
        "retrying": told.retrying,
        "requests_per_minute": told.requests_per_minute,
        "tokens_per_minute": told.tokens_per_minute,
    }
    given: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
    return replace(usual, **given)


def _price(told: ModelOptions) -> Price | None:
    if told.prompt_price is None or told.reply_price is None:
        return None
    return Price(told.prompt_price, told.reply_price)


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
    """Price of a model, its entry's before the tables'; None where nobody knows. A server on the
    user's own machine costs nothing."""
    listed = service.price or prices.of(service.name)
    provider = service.provider
    own_server = is_loopback(provider.base_url) and is_loopback(service.address)
    return FREE if listed is None and (own_server or provider.in_process) else listed


def with_slash(name: str) -> str:
    """`provider/model`, also where it was written with a colon."""
    return re.sub(r"^([^/:]+):", r"\1/", name)


def known_providers() -> str:
    """A sentence that lists them."""
    return f"Providers: {', '.join(PROVIDERS)}."
