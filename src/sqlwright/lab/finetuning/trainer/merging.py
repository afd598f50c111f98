"""An adapter merged into its base model: a folder for servers that take no adapters."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.trainer import loading
from sqlwright.lab.finetuning.trainer.plan import Precision
from sqlwright.lab.finetuning.trainer.record import RunFolder, model_digest
from sqlwright.llm.vendors.weights_folder import check_weights


def merge(adapter: Path, model: Path, out: Path, *, precision: Precision = "auto") -> Path:
    """Write a base model with an adapter merged in, as safetensors, to a folder that isn't there
    yet.

    `auto` is bf16 for a model that is stored in it, else fp32. Raises ConfigError, also for another
    model than the one that the adapter's run has on record.
    """
    loading.check_packages()
    if not (adapter / "adapter_config.json").exists():
        raise ConfigError(
            f"{adapter} holds no adapter",
            hint="Name the folder `adapter` of a training that has ended.",
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is there already", hint="Name a folder that isn't there yet.")
    check_weights(model, "the base model")
    record = RunFolder(adapter.parent).record()
    if record and model_digest(model, record) != record["base"]["digest"]:
        raise ConfigError(
            f"{model} isn't the model that the adapter was trained on: its content is another",
            hint=f"That was {record['base_folder']} when it was trained.",
        )
    _write(model, adapter, out, precision)
    return out


def _write(base: Path, adapter: Path, out: Path, precision: Precision) -> None:
    from transformers import GenerationConfig

    wanted = _stored(base) if precision == "auto" else precision
    loaded = loading.load(base, adapter=adapter, precision=wanted, device="cpu")
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    with loading.explained(f"the merged model can't be written to {out}"):
        whole = loaded.model.merge_and_unload(safe_merge=True)
        if (base / "generation_config.json").exists():
            whole.generation_config = GenerationConfig.from_pretrained(str(base))
        whole.save_pretrained(str(part))
        loaded.tokenizer.save_pretrained(str(part))
        if out.exists():
            out.rmdir()
        part.rename(out)


def _stored(base: Path) -> Precision:
    """The precision that a model is stored in, where it is one of ours; else the widest."""
    from transformers import AutoConfig

    with loading.explained(f"the configuration in {base} can't be read"):
        config = AutoConfig.from_pretrained(
            str(base), local_files_only=True, trust_remote_code=False
        )
    return "bf16" if str(config.dtype).endswith("bfloat16") else "fp32"
