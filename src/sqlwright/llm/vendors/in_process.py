"""An endpoint whose model is in this process: weights from a folder on this machine.

Loads and generations of all models happen one after another in one thread of the process, which is
not the engine's: a second generation at the same time would take both longer. Weights are loaded
with the first prompt, once, and stay for all sessions of the process. Adapters over one model share
its weights; each call is replied to with its own adapter laid over them.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.llm.endpoint import Call, Completion
from sqlwright.llm.sending.transport import AtSite, ModelAddress
from sqlwright.llm.vendors.weights_folder import folder_of, state_of, whole_model

if TYPE_CHECKING:
    from sqlwright.llm.vendors.adapters import SharedModel


class WeightsEndpoint(AtSite):
    """One model by its weights. Nothing is sent anywhere."""

    def __init__(self, site: ModelAddress) -> None:
        super().__init__(site)
        self._folder = folder_of(site.model)
        self._state = state_of(self._folder)

    async def send(self, call: Call) -> Completion:
        """The replies, all samples in one batch. Raises EndpointError; cancelling it ends the
        generation with its next token."""
        stop = threading.Event()
        process = _process(os.getpid())
        context = self.capabilities.context_tokens
        work = partial(process.reply, self._folder, self._state, call, context, stop=stop)
        try:
            return await asyncio.get_running_loop().run_in_executor(process.worker, work)
        finally:
            stop.set()

    async def aclose(self) -> None:
        """Nothing: the weights stay for other sessions."""


class _Process:
    """The models of a process and the thread that they are used in."""

    def __init__(self, number: int) -> None:
        self.worker = ThreadPoolExecutor(1, f"sqlwright-weights-{number}")
        self._loaded: dict[Path, SharedModel] = {}
        """Models by their folder."""

    def reply(
        self, folder: Path, state: str, call: Call, context: int, *, stop: threading.Event
    ) -> Completion:
        """The replies to a call; the weights are loaded if they aren't, or not in this state. Those
        of a model are there once, for itself and all adapters over it."""
        from sqlwright.llm.vendors.adapters import SharedModel

        own = whole_model(folder)
        known = state if own == folder else state_of(own)
        model = self._loaded.pop(own, None)
        if model is None or model.state != known:
            model = None  # before others take as much memory
            model = SharedModel(own, known)
        self._loaded[own] = model
        return model.weights(folder, state).reply(call, stop, context=context)


@cache
def _process(number: int) -> _Process:
    """Those of a process: neither threads nor what they have loaded survive a fork."""
    return _Process(number)
