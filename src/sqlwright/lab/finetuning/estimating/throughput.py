"""Rates at which GPUs were seen to train, and the share of their peak that they are.

`PUBLISHED` holds figures that others published, with where. A GPU's range of utilization is taken
from its rows where there are any by the same method with code like ours; else it is chosen, and the
estimate says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.estimating.operations import Method, Passes, training_operations
from sqlwright.lab.finetuning.estimating.shape import ModelShape

QWEN = "https://github.com/QwenLM/Qwen (README.md, Profiling of Memory and Speed)"
"""One text at a time, no padding, 8 accumulated, flash attention 2, Hugging Face's trainer."""
NEMO = "https://docs.nvidia.com/nemo-framework/user-guide/24.12/nemotoolkit/performance/performance_summary.html"
"""NVIDIA's own training code in FP8 on texts packed to 4,096 tokens: faster than ours can be."""
EXXACT = "https://www.exxactcorp.com/blog/benchmark/lora-fine-tuning-benchmark-on-nvidia-gpus"
"""Transformers with DDP, an adapter of Llama 3.1 8B: each of four GPUs keeps 96.5 % of its rate."""

_QWEN_1B = ModelShape("Qwen-1.8B", 24, 2048, 2048, 2048, 5504, 151_936)
_QWEN_7B = ModelShape("Qwen-7B", 32, 4096, 4096, 4096, 11008, 151_936)
_QWEN_14B = ModelShape("Qwen-14B", 40, 5120, 5120, 5120, 13696, 152_064)
_QWEN_72B = ModelShape("Qwen-72B", 80, 8192, 8192, 8192, 24576, 152_064)
_LLAMA_7B = ModelShape("Llama-2-7B", 32, 4096, 4096, 4096, 11008, 32_000)


@dataclass(frozen=True, slots=True)
class Published:
    """A rate of training that somebody published."""

    gpu: str
    shape: ModelShape
    method: Method
    tokens: int
    """Length of the texts."""
    rate: float
    """Tokens a second on each GPU."""
    source: str
    memory: float = 0.0
    """Gigabytes on each GPU; 0 where they aren't told."""
    rank: int = 64
    gpus: int = 1
    recomputed: bool = True
    like_ours: bool = True
    """True for code of the kind that we train with: transformers in 16 bits."""

    @property
    def operations(self) -> float:
        """Operations a second on each GPU."""
        passes = Passes(self.method, self.rank, self.recomputed)
        return training_operations(self.shape, passes, [self.tokens]) / self.tokens * self.rate


def _qwen(
    shape: ModelShape, method: Method, tokens: int, memory: float, seconds: float
) -> Published:
    return Published("A100", shape, method, tokens, 8 * tokens / seconds, QWEN, memory)


PUBLISHED: tuple[Published, ...] = (
    _qwen(_QWEN_1B, "lora", 2048, 11.0, 1.7),
    _qwen(_QWEN_1B, "lora", 4096, 16.2, 3.3),
    _qwen(_QWEN_1B, "qlora", 2048, 7.8, 2.0),
    _qwen(_QWEN_1B, "qlora", 4096, 10.2, 3.4),
    _qwen(_QWEN_7B, "lora", 2048, 23.8, 5.2),
    _qwen(_QWEN_7B, "lora", 4096, 29.7, 10.1),
    _qwen(_QWEN_7B, "qlora", 2048, 13.9, 7.0),
    _qwen(_QWEN_7B, "qlora", 4096, 16.9, 11.6),
    _qwen(_QWEN_14B, "lora", 2048, 37.4, 8.4),
    _qwen(_QWEN_14B, "lora", 4096, 42.5, 17.0),
    _qwen(_QWEN_14B, "qlora", 2048, 19.9, 11.8),
    _qwen(_QWEN_14B, "qlora", 4096, 23.0, 20.1),
    _qwen(_QWEN_72B, "qlora", 2048, 64.1, 59.5),
    _qwen(_QWEN_72B, "qlora", 4096, 68.0, 97.7),
    Published("H100", _LLAMA_7B, "lora", 4096, 24_824, NEMO, 0, 16, 8, False, False),
    Published("H100", _LLAMA_7B, "full", 4096, 16_891, NEMO, 0, 0, 8, False, False),
)
"""Rates that others measured, as tokens a second on each GPU."""


@dataclass(frozen=True, slots=True)
class Range:
    """A low and a high figure."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Gpu:
    """A kind of GPU by its maker's data sheet."""

    name: str
    peak: float
    """Operations a second at 16 bits, without sparsity."""
    memory: float
    """Gigabytes."""


GPUS: Mapping[str, Gpu] = {
    "A100": Gpu("A100", 312e12, 80),
    "H100": Gpu("H100", 989e12, 80),
    "L40S": Gpu("L40S", 362e12, 48),
    "RTX4090": Gpu("RTX4090", 165e12, 24),
}

CHOSEN: Mapping[Method, Range] = {
    "lora": Range(0.20, 0.45),
    "qlora": Range(0.15, 0.35),
    "full": Range(0.20, 0.45),
}
"""Shares of the peak where nothing published fits. Chosen: the lower ends lie under everything in
`PUBLISHED`, as newer GPUs are harder to keep busy."""
SCALING = Range(0.80, 0.965)
"""Share of a GPU's rate that it keeps beside others. The upper end is what Exxact measured on four
GPUs with DDP; the lower one is chosen."""


def find_gpu(name: str) -> Gpu:
    """A GPU by its name. Raises ConfigError."""
    known = name.upper().replace(" ", "").replace("-", "")
    if known not in GPUS:
        raise ConfigError(f"there is no GPU {name!r} here", hint=f"Known: {', '.join(GPUS)}.")
    return GPUS[known]


def utilisation(gpu: Gpu, method: Method) -> tuple[Range, str]:
    """The share of a GPU's peak that training reaches, and where the range comes from; the source
    is empty where it is chosen."""
    rows = [
        row for row in PUBLISHED if row.gpu == gpu.name and row.method == method and row.like_ours
    ]
    if not rows:
        return CHOSEN[method], ""
    shares = [row.operations / gpu.peak for row in rows]
    return Range(min(shares), max(shares)), rows[0].source
