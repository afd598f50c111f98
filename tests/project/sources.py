"""The code of the package, read once, by whoever looks at it first: importing this reads nothing,
because every worker imports every file of tests."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "sqlwright"


@cache
def texts() -> dict[str, str]:
    """Every module's text by its path."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in paths}


@cache
def trees() -> dict[str, ast.Module]:
    """Every module's parse tree by its path."""
    return {module: ast.parse(text) for module, text in texts().items()}
