"""Seconds in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
