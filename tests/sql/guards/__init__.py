"""Cases that the tests of the guards share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parents[2] / "cases"
SETUP: dict[str, Any] = yaml.safe_load((CASES / "guard" / "setup.yaml").read_text("utf-8"))
WRITTEN = {"postgres": "postgres", "duckdb": "duckdb", "mysql": "mysql", "mariadb": "mysql"}
"""The cases of each dialect."""


def readable(dialect: str) -> tuple[str, ...]:
    """The tables that a query of the cases may read."""
    listed = (*SETUP["readable"], *SETUP[WRITTEN[dialect]]["readable"])
    if dialect != "postgres":
        return listed
    return (*listed, *(f"public.{name}" for name in listed if "." not in name))


def attacks(dialect: str) -> list[str]:
    """Every attack on a dialect."""
    text = (CASES / "attacks" / WRITTEN[dialect] / "attacks.yaml").read_text("utf-8")
    return [sql for group in yaml.safe_load(text) for sql in group["sql"]]


def harmless(dialect: str) -> list[str]:
    """Queries that are to pass, those of all dialects first."""
    folder = CASES / "guard" / "harmless"
    files = [folder / "common.yaml", folder / f"{WRITTEN[dialect]}.yaml"]
    if dialect == "mysql":
        files.append(folder / "mysql_only.yaml")
    return [sql for file in files for sql in yaml.safe_load(file.read_text("utf-8"))]
