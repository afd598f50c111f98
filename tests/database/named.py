"""Cases of functions that the setting names: `tests/cases/attacks/named`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from sqlwright.types import ExecutionResult

FOLDER = Path(__file__).parents[1] / "cases" / "attacks" / "named"


def read(engine: str) -> dict[str, Any]:
    """The cases of an engine."""
    found: dict[str, Any] = yaml.safe_load((FOLDER / f"{engine}.yaml").read_text("utf-8"))
    return found


def attacks(cases: Mapping[str, Any]) -> list[str]:
    """Every attack among them; each says what it would do and why it is refused."""
    assert all(set(group) == {"kind", "why", "sql"} for group in cases["attacks"])
    return [sql for group in cases["attacks"] for sql in group["sql"]]


def shown(result: ExecutionResult) -> list[list[object]]:
    """Rows as the cases have them: decimals as texts."""
    assert result.error is None, result.error
    return [[str(cell) if isinstance(cell, Decimal) else cell for cell in row]
            for row in result.rows]  # fmt: skip
