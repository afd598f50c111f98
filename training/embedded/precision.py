"""The number type that training computes matrix products in."""

from __future__ import annotations

import torch

INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")
"""Features of a processor (x86, AMX, ARM) that multiply bfloat16 matrices in hardware."""


def cpu_dtype() -> torch.dtype:
    """The dtype for `torch.autocast`: bfloat16 where the processor has instructions for it, which
    takes about half the time of float32, else float32. Without them bfloat16 is computed in
    software, some 50 times slower."""
    features = torch.cpu.get_capabilities()
    return torch.bfloat16 if any(features.get(name) for name in INSTRUCTIONS) else torch.float32


def compute_dtype(device: torch.device) -> torch.dtype:
    """The dtype for `torch.autocast` on a device: bfloat16 on a GPU, else as `cpu_dtype` says."""
    return torch.bfloat16 if device.type == "cuda" else cpu_dtype()


def autocast(dtype: torch.dtype, device: str = "cpu") -> torch.autocast:
    """The context in which matrix products on a kind of device take the dtype that `compute_dtype`
    gave."""
    return torch.autocast(device, torch.bfloat16, enabled=dtype is torch.bfloat16)
