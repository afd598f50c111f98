"""All models of a session by role or name: the embedded ones, and language models behind the gate.

A language model is named `provider/model`; `provider:model` is understood too. `llm` is the one to
use by default. Keys come from the vendors' own variables and go to the vendors' own hosts. To send
one anywhere else the user binds it to the host in the variable SQLWRIGHT_KEYS:

    SQLWRIGHT_KEYS="llm.example.com=... gateway.example.com=..."
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlwright.errors import ConfigError
from sqlwright.llm.embedding import GatedEmbedder
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.keeping.recording import Recorder, Recording, read_recording
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.prices import FREE, Price, Prices, load_prices
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.sending.transport import is_loopback
from sqlwright.llm.vendors.providers import (
    PROVIDERS,
    Provider,
    Service,
    check,
    check_embeds,
    connect,
    connect_embeddings,
)
from sqlwright.messages import Capabilities
from sqlwright.protocols import EMBEDDER

DEFAULT = "llm"
"""The role of the language model to use where a step names no other."""
ANYWHERE = "openai-compatible"
"""The provider that has no address of its own."""
KEYS_VARIABLE = "SQLWRIGHT_KEYS"


def split_name(name: str) -> tuple[Provider, str]:
    """Provider and model of a name. Raises ConfigError with the known providers."""
    match = re.match(r"([^/:]+)[/:](.+)", name)
    if match is None:
        raise ConfigError(
            f"{name!r} doesn't say who serves it", hint=f"Write provider/model. {_known()}"
        )
    if match[1] not in PROVIDERS:
        raise ConfigError(
            f"unknown provider {match[1]!r} of the model {name!r}",
            hint=f"{_known()} {ANYWHERE} is any server that speaks OpenAI's protocol.",
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


class Models(Mapping[str, Any]):
    """The embedded models by role and language models by name, each made when first asked for.

    May be shared between threads. Raises ConfigError for a name that doesn't fit, a key that is
    missing, and a model of unknown price under a budget of money.
    """

    def __init__(
        self,
        embedded: Mapping[str, Any],
        options: LlmOptions | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        cache: Path | None = None,
    ) -> None:
        """`embedded` holds models by role, which may be doubles of language models too. `environ`
        has the keys. `cache` is the folder for replies, if they are to be kept."""
        self._embedded = embedded
        self._options = options or LlmOptions()
        self._environ = environ or {}
        self._engine = Engine()
        self._lock = threading.Lock()
        self._made: dict[str, GatedModel] = {}
        self._embedders: dict[str, GatedEmbedder] = {}
        self._prices: Prices | None = None
        replay, record = map(_path, (self._options.replay, self._options.record))
        self._replay: Recording | None = None if replay is None else read_recording(replay)
        self._recorder = None if record is None else Recorder(record)
        kept = cache is not None and self._options.cache and replay is None
        self.cache = ReplyCache(cache) if kept and cache is not None else None

    @property
    def default(self) -> str:
        """The name of the language model to use by default; empty without one."""
        if not self._options.model and self._replay is not None and len(self._replay.models) == 1:
            return next(iter(self._replay.models))
        return self._options.model

    def __getitem__(self, role: str) -> Any:
        if role in list(self._embedded):
            return self._embedded[role]
        if role.startswith(f"{EMBEDDER}/"):
            return self._embedder(role.removeprefix(f"{EMBEDDER}/"))
        name = self.default if role == DEFAULT else role
        if not name:
            raise ConfigError(
                "this recipe asks a language model, and none was named",
                hint="Name one with -m provider/model, model= in Python, or [llm] model in the "
                f"project file. {_known()}",
            )
        name = _with_slash(name)
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._embedded
        if self.default:
            yield DEFAULT

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, role: object) -> bool:
        return role in list(self)

    def close(self) -> None:
        """Drop what is under way and close all connections. Safe to call twice."""
        self._engine.close()

    def _make(self, name: str) -> GatedModel:
        if self._replay is not None:
            known = self._replay.models.get(name) or Capabilities(remote=False)
            return GatedModel(name, known, None, replay=self._replay)
        service = service_for(name, self._options, self._environ)
        check(service)
        return GatedModel(
            service.name,
            service.can,
            Connection(partial(connect, service), self._engine, address=service.address),
            price=self._price(service),
            revision=self._options.revision,
            cache=self.cache,
            recorder=self._recorder,
            key=service.key or "",
        )

    def _embedder(self, name: str) -> Any:
        """The embedder of that name: one given by hand or embedded, else an endpoint."""
        if name in list(self._embedded):
            return self._embedded[name]
        name = _with_slash(name)
        with self._lock:
            if name not in self._embedders:
                self._embedders[name] = self._make_embedder(name)
            return self._embedders[name]

    def _make_embedder(self, name: str) -> GatedEmbedder:
        if self._replay is not None:
            remote = self._replay.embedders.get(name, False)
            return GatedEmbedder(name, None, remote=remote, replay=self._replay)
        service = service_for(name, self._options, self._environ)
        check_embeds(service)
        connecting = partial(connect_embeddings, service)
        return GatedEmbedder(
            service.name,
            Connection(connecting, self._engine, address=service.address),
            remote=service.can.remote,
            price=self._price(service),
            revision=self._options.revision if self._options.model == service.name else "",
            cache=self.cache,
            recorder=self._recorder,
        )

    def _price(self, service: Service) -> Price | None:
        if self._prices is None:
            self._prices = load_prices(_path(self._options.prices))
        price = price_of(service, self._prices)
        if price is None and self._options.budget.cost is not None:
            raise ConfigError(
                f"the price of {service.name} isn't known, so a budget in money can't be kept",
                hint=f'Write [models."{service.name}"] with prompt = and reply = in dollars per '
                "million tokens into a file, and name it with [llm] prices in the project file or "
                "SQLWRIGHT_LLM_PRICES. Or give the budget in calls or tokens.",
            )
        return price


def _path(named: str | Path | None) -> Path | None:
    return None if named is None else Path(named).expanduser()


def _with_slash(name: str) -> str:
    """`provider/model`, also where it was written with a colon."""
    return re.sub(r"^([^/:]+):", r"\1/", name)


def _known() -> str:
    return f"Providers: {', '.join(PROVIDERS)}."
