"""One configured model: its address, key and capabilities, checked and connected.

A key goes to the hosts of its provider, and elsewhere only where the user named the host together
with it; otherwise a request to another base URL is sent without one.
"""

from __future__ import annotations

import fnmatch
import importlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Batching, Endpoint, Throttle
from sqlwright.llm.sending.transport import ModelAddress, is_loopback
from sqlwright.llm.vendors.providers import WIRES, Provider, key_belongs
from sqlwright.llm.vendors.weights_folder import check_weights, folder_of
from sqlwright.messages import Capabilities

if TYPE_CHECKING:
    from sqlwright.llm.prices import Price


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
    batches: Batching | None = None
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
        """The base URL in effect, or that of the folder of weights. Raises ConfigError when there
        is none or it isn't HTTP."""
        if self.provider.in_process:
            return folder_of(self.model).as_uri()
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
        if self.remote is None:  # no capability says otherwise
            return not (self.provider.in_process or is_loopback(self.address))
        host = urlsplit(self.address).hostname or ""
        if not self.remote and any(
            fnmatch.fnmatchcase(host, pattern) for pattern in self.provider.hosts
        ):
            raise ConfigError(
                f"{self.title} is at its vendor's, {host}, which is not this machine",
                hint="Leave out remote = false; it is for a server of your own.",
            )
        return self.remote


WHOLE_DAYS = Throttle(100_000, seconds=3 * 86_400.0, attempts=3, first_delay=0.0, longest_delay=0.0)
"""Limits of a model whose replies come in batches."""


def batched(service: Service, batches: Batching) -> Service:
    """The same model asked by batches. Raises ConfigError where its vendor has no such interface
    that is known here."""
    if service.provider.wire not in {"openai", "anthropic"}:
        raise ConfigError(
            f"no batches are known of {service.title}", hint="Leave out --executor batches."
        )
    return replace(service, batches=batches, throttle=WHOLE_DAYS)


def check(service: Service) -> None:
    """Raise ConfigError for a missing key or base URL, or weights that can't be loaded. Nothing is
    loaded or sent."""
    if service.provider.in_process:
        check_weights(folder_of(service.model), service.title)
        return
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
        batches=service.batches,
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
