"""Asks a server how many tokens prompt and reply may have together, and how many weights the model
has, where it tells.

Local servers give a model less than it could take, and differ in what they do with a longer prompt:
Ollama drops its beginning without a word. Every request goes to the host of the model's base URL,
with that model's key, and follows no redirect, as prompts do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from sqlwright.llm.endpoint import Told
from sqlwright.llm.sending.connections import Connections, inner
from sqlwright.llm.sending.transport import ModelAddress
from sqlwright.llm.vendors.connecting import Service, site_of
from sqlwright.llm.vendors.weights_folder import context_tokens, folder_of

SECONDS = 5.0
"""Time-out of a request."""
LEAST = 4_096
"""Tokens Ollama gives a model that asks for no number, where memory is short; 32k or more where it
isn't."""

MOST_WEIGHTS = 10**14
"""Weights of a model at most; no model has as many."""

_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
_WEIGHTS = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)([KMB])")


async def told_of(service: Service) -> Told:
    """The model as its server tells of it. Raises EndpointError where there is no answer."""
    if service.provider.in_process:
        return Told(context_tokens(folder_of(service.model)))
    asking = _ASKED.get(service.provider.name)
    if asking is None:
        return Told()
    server = _Server(site_of(service))
    return Told(await asking(server), server.weights)


class _Server:
    """The server of a model, asked about itself."""

    def __init__(self, site: ModelAddress) -> None:
        self._site = site
        self.model = site.model
        self.root = site.base_url.removesuffix("/v1")
        self.weights = 0
        """Number of the model's parameters, as far as any answer told it."""

    async def ask(
        self, url: str, form: Mapping[str, Any] | None = None, *, seconds: float = SECONDS
    ) -> Any:
        """The JSON at an address, empty where there is none. Raises EndpointError."""
        throttle = self._site.throttle
        quick = replace(throttle, seconds=min(seconds, throttle.seconds))
        site = replace(self._site, throttle=quick)
        connections = Connections(site, url, "authorization", "Bearer")
        try:
            answer = await (connections.get() if form is None else connections.post(form))
        finally:
            await connections.aclose()
        try:
            return json.loads(answer.content) if answer.ok else {}
        except (ValueError, RecursionError):
            return {}

    async def listed(self) -> Any:
        """The model's entry in OpenAI's list; the only one where the server has just one."""
        data = inner(await self.ask(f"{self._site.base_url}/models"), "data")
        entries = data if isinstance(data, list) else []
        named = [each for each in entries if inner(each, "id") == self.model]
        entry: Any = next(iter(named or (entries if len(entries) == 1 else [])), {})
        self.weights = _size(inner(entry, "meta", "n_params"), most=MOST_WEIGHTS)
        return entry


async def _of_list(server: _Server) -> int:
    """vLLM, and whoever else adds the size to OpenAI's list."""
    entry = await server.listed()
    told = _size(inner(entry, "max_model_len")) or _size(inner(entry, "meta", "n_ctx"))
    return told or (await _of_props(server) if inner(entry, "owned_by") == "llamacpp" else 0)


async def _of_llamacpp(server: _Server) -> int:
    """The size by its own page; its list tells how many weights there are."""
    await server.listed()
    return await _of_props(server)


async def _of_props(server: _Server) -> int:
    """The size of one slot: what the server was given is shared among them."""
    told = await server.ask(f"{server.root}/props")
    return _size(inner(told, "default_generation_settings", "n_ctx")) or _size(inner(told, "n_ctx"))


async def _of_ollama(server: _Server) -> int:
    """The size that Ollama gave the model, else the one the model asks for or the least that is
    given. Ollama tells it of a loaded model only, so the model is loaded now, as the first prompt
    would have it; the OpenAI form takes no size with a request."""
    if given := await _given_by_ollama(server):
        return given
    shown = await server.ask(f"{server.root}/api/show", {"model": server.model})
    about = inner(shown, "model_info")
    if not isinstance(about, dict):
        return 0
    server.weights = _weights(inner(shown, "details", "parameter_size"))
    parameters = inner(shown, "parameters")
    wanted = _NUM_CTX.search(parameters if isinstance(parameters, str) else "")
    if wanted is None:
        await server.ask(f"{server.root}/api/generate", {"model": server.model}, seconds=math.inf)
        if given := await _given_by_ollama(server):
            return given
    sizes = (_size(each) for key, each in about.items() if key.endswith(".context_length"))
    largest = next((size for size in sizes if size), 0)
    size = int(wanted[1]) if wanted else LEAST
    return min(size, largest) if largest else size


async def _given_by_ollama(server: _Server) -> int:
    """Tokens of the model as it is loaded; 0 where it isn't."""
    loaded = inner(await server.ask(f"{server.root}/api/ps"), "models")
    names = {server.model, f"{server.model}:latest"}
    for each in loaded if isinstance(loaded, list) else []:
        if names & {str(inner(each, "model")), str(inner(each, "name"))}:
            server.weights = _weights(inner(each, "details", "parameter_size"))
            return _size(inner(each, "context_length"))
    return 0


async def _of_lmstudio(server: _Server) -> int:
    told = await server.ask(f"{server.root}/api/v0/models/{quote(server.model)}")
    return _size(inner(told, "loaded_context_length"))


_ASKED: Mapping[str, Callable[[_Server], Awaitable[int]]] = {
    "vllm": _of_list,
    "openai-compatible": _of_list,
    "llamacpp": _of_llamacpp,
    "ollama": _of_ollama,
    "lmstudio": _of_lmstudio,
}
"""Providers whose servers tell; the others are vendors, whose models all have large contexts."""


def _size(value: Any, *, most: int = 10**9) -> int:
    """A number of tokens; 0 for what is none."""
    return value if type(value) is int and 0 < value <= most else 0


def _weights(value: Any) -> int:
    """A number of weights as Ollama writes it, such as 494.03M or 7.6B; 0 for what is none."""
    written = _WEIGHTS.fullmatch(value) if isinstance(value, str) else None
    return int(float(written[1]) * 1_000 ** ("KMB".index(written[2]) + 1)) if written else 0
