"""A folder with an adapter (LoRA, in peft's form), looked at without loading anything.

It names the folder of the model that it was trained over. A name of a hub isn't followed: nothing
is downloaded.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
EXTRA = "pip install 'sqlwright[finetune]'"
LARGEST_CONFIG = 1_000_000
"""Bytes of a configuration."""
_MODEL = "base_model_name_or_path"


def is_adapter(folder: Path) -> bool:
    """True for a folder that holds an adapter instead of a whole model."""
    return (folder / CONFIG).exists()


def model_of(folder: Path) -> Path | None:
    """The folder of the model that an adapter is laid over: as its configuration names it, in full
    or as seen from the adapter's own; None where that is no folder of this machine."""
    named = _config(folder).get(_MODEL)
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
    config = _config(folder)
    if config.get("peft_type") != "LORA" or config.get("megatron_config") is not None:
        raise ConfigError(
            f"{title}: the adapter in {folder} isn't a plain LoRA adapter",
            hint=f"Merge it into its model first, with peft: {_MERGING}",
        )
    if not (folder / WEIGHTS).exists():
        pickle = (folder / "adapter_model.bin").exists()
        raise ConfigError(
            f"{title}: {folder} has its adapter as a pickle only (adapter_model.bin)"
            if pickle
            else f"{title}: {folder} has no {WEIGHTS}",
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
            hint=f"Set {_MODEL} in its {CONFIG} to the model's folder, in full or as seen from the "
            f"adapter's, or merge it with peft: {_MERGING} Nothing is downloaded.",
        )
    if find_spec("peft") is None:
        raise ConfigError(f"{title} is an adapter, which needs the package peft", hint=EXTRA)
    return model


_MERGING = "model.merge_and_unload().save_pretrained(FOLDER)."


def _config(folder: Path) -> dict[str, Any]:
    return read_config(folder / CONFIG)


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
