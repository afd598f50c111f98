"""Parts of a question, each one condition further than the one before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A question on the way to the whole one: what it asks for, and the first of its conditions."""

    text: str
    condition: str = ""
    """The condition that it adds to the one before; empty where nothing says so."""
