"""A folder with the weights of a language model, looked at without loading anything.

It is in the form that `transformers` saves: config.json, *.safetensors, a tokenizer; or it holds an
adapter over such a folder (LoRA, in peft's form), which names the folder of the model that it was
trained over. A name of a hub isn't followed: nothing is downloaded. Weights as pickles are refused:
reading one runs the code in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
ADAPTER_EXTRA = "pip install 'sqlwright[finetune]'"
LARGEST_CONFIG = 1_000_000
"""Bytes of a configuration."""
_MODEL = "base_model_name_or_path"


def is_adapter(folder: Path) -> bool:
    """True for a folder that holds an adapter instead of a whole model."""
    return (folder / ADAPTER_CONFIG).exists()


def model_of(folder: Path) -> Path | None:
    """The folder of the model that an adapter is laid over: as its configuration names it, in full
    or as seen from the adapter's own; None where that is no folder of this machine."""
    named = _adapter_config(folder).get(_MODEL)
    if not isinstance(named, str) or not named or "\0" in named:
        return None
    try:
        found = (folder / Path(named).expanduser()).resolve()
        return found if found.is_dir() else None
    except (OSError, RuntimeError):
        return None


def check_adapter(folder: Path, title: str) -> Path:
    """The folder of the model it is laid over. Raises ConfigError for an adapter that can't be
    used: another kind than LoRA, weights as a pickle, a model that isn't on this machine, or the
    package that lays it over one missing."""
    config = _adapter_config(folder)
    if config.get("peft_type") != "LORA" or config.get("megatron_config") is not None:
        raise ConfigError(
            f"{title}: the adapter in {folder} isn't a plain LoRA adapter",
            hint=f"Merge it into its model first, with peft: {_MERGING}",
        )
    if not (folder / ADAPTER_WEIGHTS).exists():
        pickle = (folder / "adapter_model.bin").exists()
        raise ConfigError(
            f"{title}: {folder} has its adapter as a pickle only (adapter_model.bin)"
            if pickle
            else f"{title}: {folder} has no {ADAPTER_WEIGHTS}",
            hint="Reading a pickle runs the code in it, so none is loaded. If you trust the file, "
            "save the adapter again with save_pretrained(FOLDER), which writes safetensors."
            if pickle
            else "Name the folder that the adapter was saved to as a whole.",
        )
    model = model_of(folder)
    if model is None or is_adapter(model):
        named = config.get(_MODEL)
        raise ConfigError(
            f"{title}: the adapter in {folder} is laid over {named!r}, which is no folder with a "
            "whole model on this machine",
            hint=f"Set {_MODEL} in its {ADAPTER_CONFIG} to the model's folder, in full or as seen "
            f"from the adapter's, or merge it with peft: {_MERGING} Nothing is downloaded.",
        )
    if find_spec("peft") is None:
        raise ConfigError(
            f"{title} is an adapter, which needs the package peft", hint=ADAPTER_EXTRA
        )
    return model


_MERGING = "model.merge_and_unload().save_pretrained(FOLDER)."


def _adapter_config(folder: Path) -> dict[str, Any]:
    return read_config(folder / ADAPTER_CONFIG)


def read_config(path: Path) -> dict[str, Any]:
    """A configuration, of an adapter or of a whole model; empty where there is none that can be
    read."""
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            return {}
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


EXTRA = "pip install 'sqlwright[weights]'"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "spiece.model", "vocab.txt")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_SIZES = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length")
"""Names by which configurations tell the size of the context."""


def folder_of(model: str) -> Path:
    """The folder that a model's name means; `~` is the user's home."""
    return Path(model).expanduser().resolve()


def check_weights(folder: Path, title: str) -> None:
    """Raise ConfigError for a package or folder that isn't there, and for what is no model that may
    be loaded."""
    if not folder.is_dir():
        raise ConfigError(
            f"{title}: there is no folder {folder}",
            hint="Write weights/FOLDER, a folder on this machine with config.json and "
            "*.safetensors. Nothing is downloaded.",
        )
    if is_adapter(folder):
        check_weights(check_adapter(folder, title), title)
        return
    if not any(folder.glob("*.safetensors")):
        raise _no_weights(folder, title)
    if not isinstance(_config(folder).get("model_type"), str):
        raise ConfigError(
            f"{title}: {folder} has no config.json that names a model_type",
            hint="Name the folder that a model was saved to as a whole.",
        )
    if not has_tokenizer(folder):
        raise ConfigError(
            f"{title}: {folder} has no tokenizer",
            hint="Save the model's tokenizer into the same folder: "
            "tokenizer.save_pretrained(FOLDER).",
        )
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{title} needs the package {' and '.join(missing)}", hint=EXTRA)


def has_tokenizer(folder: Path) -> bool:
    """True for a folder with a tokenizer in it."""
    return any((folder / name).exists() for name in _TOKENIZERS)


def whole_model(folder: Path) -> Path:
    """The folder of the model that is loaded for a folder: an adapter's model, or itself."""
    return (model_of(folder) or folder) if is_adapter(folder) else folder


def context_tokens(folder: Path) -> int:
    """Tokens of prompt and reply together as the configuration tells; 0 where it doesn't."""
    config = _config(whole_model(folder))
    inner = config.get("text_config")
    for form in (config, inner if isinstance(inner, dict) else {}):
        for name in _SIZES:
            size = form.get(name)
            if isinstance(size, int) and not isinstance(size, bool) and size > 0:
                return size
    return 0


def weight_bytes(folder: Path) -> int:
    """Bytes of all weights, about what they take in memory."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def memory_bytes() -> int:
    """Bytes of this machine's memory; 0 where the system doesn't tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def state_of(folder: Path) -> str:
    """A digest that changes with the folder's files, by their names, sizes and times: weights that
    were trained further are another model for the cache. That of an adapter changes with its
    model's, too. Empty without a folder."""
    folders = dict.fromkeys((folder, whole_model(folder)))
    try:
        files = [
            sorted((each.name, each.stat()) for each in one.iterdir() if each.is_file())
            for one in folders
        ]
    except OSError:
        return ""
    told = [[name, stat.st_size, stat.st_mtime_ns] for one in files for name, stat in one]
    return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()[:16]


def told_of(folder: Path) -> str:
    """Kind, size and context of a model in a few words, for a folder that was checked."""
    model, context = whole_model(folder), context_tokens(folder)
    told = f"{_config(model)['model_type']}, {weight_bytes(model) / 1e9:.1f} GB of weights"
    told += "" if model == folder else f" in {model} under an adapter"
    return f"{told}, a context of {context:,} tokens" if context else told


def _no_weights(folder: Path, title: str) -> ConfigError:
    """The error for a folder without safetensors."""
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        return ConfigError(
            f"{title}: {folder} has its weights as pickles only ({pickles[0]})",
            hint="Reading a pickle runs the code in it, so none is loaded. If you trust the file, "
            "save the model again with save_pretrained(FOLDER), which writes safetensors.",
        )
    if any(folder.glob("*.gguf")):
        return ConfigError(
            f"{title}: {folder} has its weights as GGUF",
            hint="Serve them with llama.cpp or Ollama, as llamacpp/NAME or ollama/NAME.",
        )
    return ConfigError(
        f"{title}: {folder} holds no weights",
        hint="Name a folder with config.json, *.safetensors and a tokenizer.",
    )


def _config(folder: Path) -> dict[str, Any]:
    return read_config(folder / "config.json")
