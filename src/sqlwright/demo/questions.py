"""The demo's questions and their checked answers."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from sqlwright.types import Cell


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question about the demo business; `digest` is `rows_digest` of its answer."""

    level: str
    text: str
    sql: str
    digest: str


def demo_questions() -> tuple[DemoQuestion, ...]:
    """All thirty, easy ones first."""
    path = Path(__file__).parent / "questions.toml"
    listed = tomllib.loads(path.read_text("utf-8"))["question"]
    return tuple(DemoQuestion(**question) for question in listed)


def rows_digest(rows: Iterable[tuple[Cell, ...]]) -> str:
    """A checksum of rows whatever their order; floats to nine significant digits, so that
    summing in another order doesn't change it."""
    plain = [[_digest_text(cell) for cell in row] for row in rows]
    return hashlib.sha256(json.dumps(sorted(plain)).encode()).hexdigest()[:12]


def _digest_text(cell: Cell) -> str:
    """The same text on every engine: a whole decimal is an integer, another one a real number."""
    if isinstance(cell, Decimal):
        cell = int(cell) if cell == cell.to_integral_value() else float(cell)
    return f"{cell:.9g}" if isinstance(cell, float) else str(cell)
