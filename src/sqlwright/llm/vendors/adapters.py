"""Lays adapters over weights in this process: one model in memory, however many adapters it has.
The doorway to peft, which comes with the extra `finetune`.

Nothing is downloaded, no code of the folder is run and no pickle is read: `adapter_folder` refuses
what would need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.vendors.weights import Weights, explained, load, load_tokenizer
from sqlwright.llm.vendors.weights_folder import has_tokenizer


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
