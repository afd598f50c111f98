"""A base model and its tokenizer from a folder on this machine, with an adapter to be trained.

No code of the folder is run, no pickle of it is read, and nothing is downloaded.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.trainer.plan import Device, Precision, Quantized, Settings
from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.vendors import weights
from sqlwright.llm.vendors.chat_text import end_tokens
from sqlwright.llm.vendors.weights_folder import check_weights

EXTRA = "pip install 'sqlwright[finetune]'"
PACKAGES = ("torch", "transformers", "peft", "trl", "accelerate", "datasets")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in memory."""

    folder: Path
    """Of the base model."""
    tokenizer: Any
    model: Any
    """The base model, or with an adapter peft's."""
    ends: Sequence[int]
    """The tokens that end a reply."""


def quiet() -> None:
    """Have the libraries send nothing and say nothing. Called before they are imported first."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ[name] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    ours = r"(transformers|trl|peft|accelerate|huggingface_hub)\b"
    warnings.filterwarnings("ignore", category=FutureWarning, module=ours)
    from huggingface_hub import constants
    from transformers.utils import logging

    # Where something has imported it before, it has read the environment as that was then.
    constants.HF_HUB_OFFLINE = constants.HF_HUB_DISABLE_TELEMETRY = True

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def check_packages() -> None:
    """Raise ConfigError where the extra isn't installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigError(f"training needs the package {' and '.join(missing)}", hint=EXTRA)


def chosen_device(device: Device) -> str:
    """`cuda` or `cpu`. Raises ConfigError for a GPU that isn't there."""
    import torch

    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ConfigError(
            "training on `cuda` needs a GPU that torch can use, and finds none",
            hint="Use --training device=cpu for a small model, or install torch's build for "
            "your GPU.",
        )
    return "cuda" if there and device != "cpu" else "cpu"


def chosen_precision(precision: Precision, device: str) -> Precision:
    """The precision that `auto` stands for. Raises ConfigError for one that the device hasn't."""
    import torch

    has_bf16 = device == "cpu" or torch.cuda.is_bf16_supported()
    if precision == "auto":
        return "bf16" if device == "cuda" and has_bf16 else "fp32"
    if precision == "bf16" and not has_bf16:
        raise ConfigError(
            "this GPU has no bf16",
            hint="Use --training precision=fp16, or auto, which finds what it has.",
        )
    if precision == "fp16" and device == "cpu":
        raise ConfigError("fp16 takes a GPU", hint="Use --training precision=fp32 on a processor.")
    return precision


def check_quantized(quantized: Quantized, device: str) -> None:
    """Raise ConfigError where a model can't be kept in 4 bits."""
    if quantized == "none":
        return
    if device != "cuda":
        raise ConfigError(
            f"quantized {quantized} (QLoRA) needs an NVIDIA GPU, and this training is on {device}",
            hint="Use --training quantized=none, which keeps the model in 16 or 32 bits.",
        )
    if find_spec("bitsandbytes") is None:
        raise ConfigError(
            f"quantized {quantized} (QLoRA) needs the package bitsandbytes",
            hint="pip install bitsandbytes, or use --training quantized=none.",
        )


def load(
    folder: Path,
    *,
    quantized: Quantized = "none",
    adapter: Path | None = None,
    trainable: bool = False,
    precision: Precision = "auto",
    device: Device = "auto",
) -> Loaded:
    """The model of a folder, as it stands on its device; with an adapter, trained on if it is
    `trainable`. Raises ConfigError."""
    check_packages()
    check_weights(folder, "the model to be trained")
    quiet()
    place = chosen_device(device)
    check_quantized(quantized, place)
    with explained(f"the model in {folder} can't be loaded"):
        tokenizer, model = _base(folder, quantized, chosen_precision(precision, place), place)
        ends = end_tokens(tokenizer, model)
        _without_sampling(model, ends)
        if adapter is not None:
            from peft import PeftModel

            model = PeftModel.from_pretrained(
                model, str(adapter), is_trainable=trainable, local_files_only=True
            )
    if not ends:
        raise ConfigError(
            f"the model in {folder} has no token that ends a reply",
            hint="Name one as eos_token of its tokenizer: without one no reply would ever end.",
        )
    return Loaded(folder, tokenizer, model, ends)


def with_padding(loaded: Loaded) -> None:
    """Have the tokenizer fill up rows with a token that ends a reply, where it has none for that;
    what is filled up isn't read."""
    tokenizer = loaded.tokenizer
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(loaded.ends[0])


def lora_config(settings: Settings) -> Any:
    """The adapter that settings describe, for peft."""
    from peft import LoraConfig

    named = settings.target_modules
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=named[0] if len(named) == 1 and named[0] == "all-linear" else list(named),
        bias="none",
        task_type="CAUSAL_LM",
    )


def with_lora(loaded: Loaded, settings: Settings, *, seed: int) -> Loaded:
    """The model with a new adapter, whose first weights are drawn by the seed. Raises
    ConfigError."""
    from peft import get_peft_model
    from transformers import set_seed

    set_seed(seed)
    with explained("the adapter can't be put into the model"):
        model = get_peft_model(loaded.model, lora_config(settings))
    return Loaded(loaded.folder, loaded.tokenizer, model, loaded.ends)


@contextmanager
def explained(problem: str) -> Iterator[None]:
    """Errors of the libraries become a ConfigError with their first line."""
    try:
        with weights.explained(problem):
            yield
    except EndpointError as error:
        hint = "Use --training with a smaller micro_batch or quantized=nf4, or less --context."
        spent = error.message.endswith(weights.NO_MEMORY)
        raise ConfigError(error.message, hint=hint if spent else "") from error


def _base(folder: Path, quantized: Quantized, precision: Precision, device: str) -> tuple[Any, Any]:
    """Tokenizer and model of a folder."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    folder = folder.resolve()  # an adapter names it as its base model
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[precision]
    more: dict[str, Any] = {}
    if quantized == "nf4":
        from transformers import BitsAndBytesConfig

        more["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype
        )
        more["device_map"] = {"": int(os.environ.get("LOCAL_RANK", "0"))}
    tokenizer = AutoTokenizer.from_pretrained(str(folder), **here)
    model, about = AutoModelForCausalLM.from_pretrained(
        str(folder), use_safetensors=True, dtype=dtype, output_loading_info=True, **here, **more
    )
    if missing := sorted(about["missing_keys"]):
        raise ConfigError(
            f"the weights in {folder} aren't whole: {len(missing)} are missing, {missing[0]} first",
            hint="Copy the model again.",
        )
    if quantized == "none" and device == "cuda":
        model = model.to(torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))))
    return tokenizer, model


def _without_sampling(model: Any, ends: Sequence[int]) -> None:
    """Forget how the folder would have the model sample: a call says all there is."""
    from transformers import GenerationConfig

    model.generation_config = GenerationConfig(eos_token_id=list(ends) or None)
