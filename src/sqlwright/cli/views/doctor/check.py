"""One finding of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "fair", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: State
    found: str
    advice: str = ""
