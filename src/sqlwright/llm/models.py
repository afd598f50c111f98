"""All models of a session by role or name: the embedded ones, and language models behind the gate.

A language model is named `provider/model` (`provider:model` is understood too) or by the user's own
name for it (`LlmOptions.models`); `llm` is the one to use by default. Which service a name means
and whose key it takes is in `vendors/services.py`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.errors import ConfigError
from sqlwright.llm.options import LlmOptions
from sqlwright.messages import Capabilities
from sqlwright.protocols import Model, ModelsByRole

if TYPE_CHECKING:  # what only a language model needs is imported with the first one
    from sqlwright.llm.gate import GatedModel
    from sqlwright.llm.keeping.cache import ReplyCache
    from sqlwright.llm.keeping.recording import Recorder, Recording
    from sqlwright.llm.prices import Price, Prices
    from sqlwright.llm.sending.engine import Engine
    from sqlwright.llm.vendors.connecting import Service

DEFAULT = "llm"
"""The role of the language model to use where a step names no other."""


class Models(Mapping[str, Model]):
    """The embedded models by role and language models by name, each made when first asked for.

    May be shared between threads. Raises ConfigError for a name that doesn't fit, a key that is
    missing, and a model of unknown price under a budget of money.
    """

    def __init__(
        self,
        embedded: ModelsByRole,
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
        self._lock = threading.Lock()
        self._made: dict[str, GatedModel] = {}
        self._prices: Prices | None = None
        replay, record = map(_path, (self._options.replay, self._options.record))
        self._replay: Recording | None = None
        self._recorder: Recorder | None = None
        if replay is not None or record is not None:
            from sqlwright.llm.keeping.recording import Recorder, read_recording

            self._replay = None if replay is None else read_recording(replay)
            self._recorder = None if record is None else Recorder(record)
        self._cache = cache if self._options.cache and replay is None else None

    @cached_property
    def cache(self) -> ReplyCache | None:
        """The replies that are kept; None where none are."""
        from sqlwright.llm.keeping.cache import ReplyCache

        return None if self._cache is None else ReplyCache(self._cache)

    @cached_property
    def _engine(self) -> Engine:
        from sqlwright.llm.sending.engine import Engine

        return Engine()

    @property
    def default(self) -> str:
        """The name of the language model to use by default; empty without one."""
        if not self._options.model and self._replay is not None and len(self._replay.models) == 1:
            return next(iter(self._replay.models))
        return self._options.model

    def __getitem__(self, role: str) -> Model:
        if role in list(self._embedded):
            return self._embedded[role]
        name = self.default if role == DEFAULT else role
        from sqlwright.llm.vendors.services import known_providers, with_slash

        if not name:
            raise ConfigError(
                "this recipe asks a language model, and none was named",
                hint="Name one with -m provider/model, model= in Python, or [llm] model in the "
                f"project file. {known_providers()}",
            )
        name = with_slash(name)
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

    def need(self, names: Iterable[str], *, asker: str) -> None:
        """Make these models now; an empty name is the default's. Raises ConfigError, which says who
        asks for one by a name of the user's."""
        for name in names:
            try:
                self[name or DEFAULT]
            except ConfigError as error:
                if not name or re.search("[/:]", name):
                    raise
                told = f"{asker} asks the model {name}: {error}"
                raise ConfigError(told, hint=error.hint) from None

    def close(self) -> None:
        """Drop what is under way and close all connections. Safe to call twice."""
        if "_engine" in vars(self):
            self._engine.close()

    def _make(self, name: str) -> GatedModel:
        from sqlwright.llm.gate import Connection, GatedModel
        from sqlwright.llm.vendors.connecting import batched, check, connect
        from sqlwright.llm.vendors.context_size import told_of
        from sqlwright.llm.vendors.services import limits_for, service_for

        if self._replay is not None:
            name = _recorded_as(name, self._replay.models, self._options)
            known = self._replay.models.get(name) or Capabilities(remote=False)
            return GatedModel(name, known, None, replay=self._replay)
        service = service_for(name, self._options, self._environ)
        if self._options.batches is not None:
            service = batched(service, self._options.batches)
        check(service)
        said = dict(service.capabilities)
        # Sent a schema, a server nobody knows shows what it does with it: see `GatedModel`.
        able = replace(service, capabilities=(("json_schema", True), *service.capabilities))
        return GatedModel(
            service.title,
            service.can,
            Connection(
                partial(connect, able if service.provider.wire == "openai" else service),
                self._engine,
                address=service.address,
                told=None if "context_tokens" in said else partial(told_of, service),
            ),
            price=self._price(service),
            revision=service.revision,
            cache=self.cache,
            recorder=self._recorder,
            limits=limits_for(name, self._options),
            key=service.key or "",
            known_as=service.name,
            said=frozenset(said),
        )

    def _price(self, service: Service) -> Price | None:
        from sqlwright.llm.prices import load_prices
        from sqlwright.llm.vendors.services import price_of

        if self._prices is None:
            self._prices = load_prices(_path(self._options.prices))
        price = price_of(service, self._prices)
        if price is not None and service.batches is not None and service.price is None:
            price = price.times(self._prices.batches.get(service.provider.name, 1.0))
        if price is None and self._options.needs_prices:
            raise ConfigError(
                f"the price of {service.title} isn't known, so a budget in money can't be kept",
                hint=f"{_where_prices_go(service)} Or give the budget in calls or tokens.",
            )
        return price


def _where_prices_go(service: Service) -> str:
    """A sentence that says how to tell the price of a model, in dollars per million tokens."""
    if service.label:
        return (
            f"Add prompt_price = and reply_price = to [models.{service.label}] in the project "
            "file, in dollars per million tokens."
        )
    return (
        f'Write [models."{service.name}"] with prompt = and reply = in dollars per million tokens '
        "into a file, and name it with [llm] prices in the project file or SQLWRIGHT_LLM_PRICES."
    )


def _recorded_as(name: str, recorded: Iterable[str], options: LlmOptions) -> str:
    """The name by which a recording knows a model: an entry of `options.models` is recorded with
    what it stood for then, whatever it stands for now."""
    if "/" in name:
        return name
    entry = options.models.get(name)
    titles = [each for each in recorded if each.startswith(f"{name} (")]
    expected = f"{name} ({entry.model})" if entry else ""
    return expected if expected in titles or not titles else titles[0]


def _path(named: str | Path | None) -> Path | None:
    return None if named is None else Path(named).expanduser()
