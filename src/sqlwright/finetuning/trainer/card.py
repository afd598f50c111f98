"""The model card of a run."""

from __future__ import annotations

from sqlwright.finetuning.trainer.running.record import RunFolder


def write_card(folder: RunFolder) -> None:
    """Write it."""
