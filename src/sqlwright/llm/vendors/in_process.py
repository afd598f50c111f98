"""An endpoint whose model is in this process: weights from a folder on this machine.

Loads and generations of all models happen one after another in one thread of the process, which is
not the engine's: a second generation at the same time would take both longer. Weights are loaded
with the first prompt, once, and stay for all sessions of the process. Adapters over one model share
its weights; each call is replied to with its own adapter laid over them. The doorway to peft, which
comes with the extra `finetune`.

Nothing is downloaded, no code of the folder is run and no pickle is read: `weights_folder` refuses
what would need it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlwright.llm.endpoint import Call, Completion, EndpointError
from sqlwright.llm.sending.transport import AtSite, ModelAddress
from sqlwright.llm.vendors.weights import Weights, explained, load, load_tokenizer
from sqlwright.llm.vendors.weights_folder import folder_of, has_tokenizer, state_of, whole_model


class SharedModel:
    """A model in memory and the adapters laid over it, each with a tokenizer of its own where its
    folder has one. Used from one thread."""

    def __init__(self, folder: Path, state: str) -> None:
        """`state` tells these weights from others in that folder. Raises EndpointError for weights
        that can't be loaded."""
        self.state = state
        self._folder = folder
        with explained(f"the weights in {folder} can't be loaded"):
            self._tokenizer, self._model = load(folder)
        self._adapted: Any = None
        """The model as peft knows it; None before the first adapter."""
        self._weights: dict[Path, tuple[str, Weights]] = {}
        """The part that replies for each folder, with the state that it had then."""

    def weights(self, folder: Path, state: str) -> Weights:
        """The part that replies for the model's own folder or an adapter's, with nothing else over
        the model until the next one is asked for. Raises EndpointError."""
        known, weights = self._weights.get(folder, ("", None))
        with explained(f"the adapter in {folder} can't be loaded"):
            if weights is None or known != state:
                weights = self._made(folder, state)
                self._weights[folder] = state, weights
            self._switch(folder)
        return weights

    def _made(self, folder: Path, state: str) -> Weights:
        if folder == self._folder:
            return Weights.over(self._tokenizer, self._model, folder=folder, state=state)
        self._lay(folder)
        tokenizer = load_tokenizer(folder) if has_tokenizer(folder) else self._tokenizer
        return Weights.over(tokenizer, self._model, folder=folder, state=state)

    def _lay(self, folder: Path) -> None:
        """Load an adapter. Raises EndpointError for one that isn't whole."""
        from peft import PeftConfig, PeftModel

        name = _name(folder)
        config = PeftConfig.from_pretrained(str(folder))
        config.inference_mode = True
        if self._adapted is None:
            self._adapted = PeftModel(self._model, config, name, autocast_adapter_dtype=False)
        else:
            if name in self._adapted.peft_config:
                self._adapted.delete_adapter(name)
            self._adapted.add_adapter(name, config)
        found = self._adapted.load_adapter(
            str(folder),
            adapter_name=name,
            autocast_adapter_dtype=False,
            torch_device=str(self._model.device),
            use_safetensors=True,
        )
        if found.missing_keys or found.unexpected_keys:
            count = len(found.missing_keys) + len(found.unexpected_keys)
            self._adapted.delete_adapter(name)
            raise EndpointError(
                f"the adapter in {folder} doesn't fit the weights in {self._folder}: "
                f"{count} of its parts are missing or too many",
                kind="rejected",
                retryable=False,
            )
        self._model.eval()

    def _switch(self, folder: Path) -> None:
        """Lay that folder's adapter over the model, or none for the model's own."""
        if self._adapted is None:
            return
        if folder == self._folder:
            self._adapted.base_model.disable_adapter_layers()
        else:
            self._adapted.base_model.enable_adapter_layers()
            self._adapted.set_adapter(_name(folder), inference_mode=True)


def _name(folder: Path) -> str:
    """The name of an adapter: peft takes no dots in one."""
    return folder.as_uri().replace(".", "%2E")


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
        from sqlwright.llm.vendors.in_process import SharedModel

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
