"""Enumerations of servers in words, alike for all engines."""

from __future__ import annotations

from collections.abc import Sequence

MOST_LABELS = 100
"""Labels of an enumeration that are told and kept."""


def labels_told(labels: Sequence[str]) -> str:
    """The labels of an enumeration as part of a sentence: "one of: new, paid"."""
    more = ", ..." if len(labels) > MOST_LABELS else ""
    return f"one of: {', '.join(labels[:MOST_LABELS])}{more}"
