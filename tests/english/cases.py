"""Reads `tests/cases/english`: one file for each rule about words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "cases" / "english"


def cases(name: str) -> Any:
    """The content of one file; a case of a file with several lists is under the list's key."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
