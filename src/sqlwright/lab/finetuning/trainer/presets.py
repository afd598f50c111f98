"""Settings of the papers by name. Each value says where it is from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlwright.boundary.named import unknown
from sqlwright.lab.finetuning.trainer.plan import Settings

PRESETS: Mapping[str, Settings] = MappingProxyType(
    {
        "small": Settings(),  # ours, for models of 0.5 to 3 billion parameters
        "dpo": Settings(
            rank=16,  # the alignment handbook's recipe of DPO with QLoRA
            alpha=16,  # there
            dropout=0.0,  # trl's trainer for it trains without
            epochs=1.0,  # the handbook
            batch=32,  # ours
            learning_rate=5e-6,  # the handbook
            schedule="cosine",  # the handbook
            warm_up=0.1,  # the handbook
        ),
        "grpo": Settings(
            dropout=0.0,  # ours: replies are drawn by the very model that is trained
            epochs=1.0,  # ours
            batch=64,  # ours: 8 replies to each of 8 prompts
            learning_rate=1e-5,  # ours: ten times that of the paper, which trains all weights
            schedule="constant",  # ours
            warm_up=0.0,  # ours
            max_grad_norm=0.2,  # ours
        ),
        "chess": Settings(
            rank=128,  # CHESS, appendix B.2
            alpha=256,  # there
            dropout=0.05,  # ours: the paper gives none
            epochs=2.0,  # CHESS, appendix B.2
            batch=32,  # there
            learning_rate=1e-4,  # there
            schedule="cosine",  # there
            warm_up=0.03,  # ours: the paper gives none
            max_grad_norm=1.0,  # ours: the paper gives none
            max_tokens=8_192,  # ours: the paper gives none
            quantized="nf4",  # CHESS, appendix B.2: 4-bit quantization of the base model
        ),
        "msc": Settings(
            rank=32,  # MSc-SQL, implementation details
            alpha=128,  # there
            dropout=0.05,  # there
            batch=12,  # MSc-SQL, implementation details: the effective batch
            epochs=2.0,  # the paper gives none; as its code's configuration `ampere`
            learning_rate=5e-5,  # the same
            schedule="cosine",  # the same
            warm_up=0.03,  # as its code
            max_grad_norm=0.3,  # as its code
            max_tokens=8_192,  # as its code, which gives Mistral 12,000
            quantized="nf4",  # MSc-SQL, implementation details: QLoRA
        ),
        "msc-code-simple": Settings(
            rank=32,  # its code's configuration `simple`
            alpha=128,  # `simple`
            dropout=0.05,  # its code
            batch=6,  # `simple`
            epochs=3.0,  # `simple`
            learning_rate=2e-4,  # `simple`
            schedule="constant",  # `simple`
            warm_up=0.0,  # a constant schedule of the code's trainer knows none
            max_grad_norm=0.3,  # its code
            max_tokens=8_192,  # its code, which gives Mistral 12,000
            quantized="nf4",  # its code
        ),
        "msc-code-ampere": Settings(
            rank=64,  # its code's configuration `ampere`
            alpha=128,  # `ampere`
            dropout=0.05,  # its code
            batch=12,  # `ampere`
            epochs=2.0,  # `ampere`
            learning_rate=5e-5,  # `ampere`
            schedule="cosine",  # `ampere`
            warm_up=0.03,  # its code
            max_grad_norm=0.3,  # its code
            max_tokens=8_192,  # its code, which gives Mistral 12,000
            quantized="nf4",  # its code
        ),
        "chase-selector": Settings(
            rank=16,  # CHASE-SQL, appendix on the models: LoRA of rank 16
            epochs=10.0,  # there
            alpha=32,  # ours: the paper, which trains by a vendor's service, gives no more
            dropout=0.05,  # ours
            batch=32,  # ours
            learning_rate=1e-4,  # ours
            schedule="cosine",  # ours
            warm_up=0.03,  # ours
            max_grad_norm=1.0,  # ours
            max_tokens=8_192,  # ours
            quantized="none",  # ours
        ),
    }
)


def find_preset(name: str) -> Settings:
    """The settings of that name. Raises ConfigError."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]
