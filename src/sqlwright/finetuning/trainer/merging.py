"""A base model with its adapter in it, written as a whole model for servers without adapters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.finetuning.trainer import loading
from sqlwright.finetuning.trainer.plan import Precision

HALVES: dict[str, Precision] = {"bfloat16": "bf16", "float16": "bf16", "float32": "fp32"}
"""The precision in which a model is merged, by the one that it is kept in."""


def merge(adapter: Path, model: Path, out: Path) -> None:
    """Write the whole model to a folder, which is there as a whole or isn't. The base model is read
    in the precision that it is kept in, never in 4 bits. Raises ConfigError."""
    loaded = loading.load(
        model, adapter=adapter, precision=_kept(model), device="cpu", trainable=False
    )
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    with loading.explained("the model can't be merged"):
        whole: Any = loaded.model.merge_and_unload()
        whole.save_pretrained(str(part), safe_serialization=True)
        loaded.tokenizer.save_pretrained(str(part))
    if out.is_dir():
        out.rmdir()
    part.rename(out)


def _kept(model: Path) -> Precision:
    try:
        config = json.loads((model / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model / 'config.json'} can't be read: {error}") from None
    return HALVES.get(str(config.get("dtype") or config.get("torch_dtype")), "fp32")
