"""The corpus of hostile text, and what it means for output to be harmless."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parents[1] / "cases" / "hostile" / "texts.yaml"
JOINERS = "\u200c\u200d"
"""Zero-width joiners shape scripts and emoji, and do nothing else."""


def texts() -> dict[str, str]:
    """Every text by its name."""
    return {case["name"]: _text(case) for case in yaml.safe_load(FILE.read_text("utf-8"))}


def acting(text: str) -> set[str]:
    """Characters a terminal would act on or hide, by Unicode's categories, not by our own list."""
    return {
        character
        for character in text
        if character not in JOINERS
        and (
            unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
            or ord(character) & 0xFFFE == 0xFFFE
        )
    }


def _text(case: dict[str, Any]) -> str:
    if "surrogates" in case:
        return "".join(map(chr, case["surrogates"]))
    if "repeat" in case:
        return str(case["repeat"]["text"]) * int(case["repeat"]["times"])
    return str(case["text"])
