"""What is meant for import: the names of `sqlwright`, their table, and what packages say of it."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import sqlwright
from sqlwright.types.candidates import Form

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sqlwright"
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
TABLE = PAGE[PAGE.index("## Names") : PAGE.index("## Errors")]
PACKAGES = sorted(
    path.parent.relative_to(SOURCE).as_posix()
    for path in [*SOURCE.glob("*/__init__.py"), *SOURCE.glob("lab/*/__init__.py")]
    if path.parent.name != "lab"
)
PUBLIC = re.compile(r"^Public(?:: (`\w+`(?:, `\w+`)*); the rest is internal)?\b", re.MULTILINE)
INTERNAL = "Internal: may change without notice."


def docstring(package: str) -> str:
    tree = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8"))
    return ast.get_docstring(tree) or ""


def ours(annotation: Any) -> Iterator[type]:
    """The classes of ours in an annotation, unions and containers opened."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("sqlwright"):
        yield annotation
    for part in get_args(annotation):
        if not isinstance(part, str):
            yield from ours(part)


def within(kind: type, known: set[type]) -> set[type]:
    """It, the classes of its fields, and so on."""
    if kind in known:
        return known
    known.add(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        for field in fields(kind):
            for part in ours(hints[field.name]):
                if part is not Form:  # a candidate's form is for our own steps
                    within(part, known)
    return known


def exported(kind: type) -> bool:
    return getattr(sqlwright, kind.__name__, None) is kind


def test_every_name_is_there_and_in_the_table() -> None:
    assert all(getattr(sqlwright, name) is not None for name in sqlwright.__all__)
    assert sqlwright.__all__ == sorted(sqlwright.__all__, key=str.casefold)
    rows = [line for line in TABLE.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named, key=str.casefold) == sqlwright.__all__


@pytest.mark.parametrize(
    "function",
    [
        sqlwright.open,
        sqlwright.Session.ask,
        sqlwright.Session.choose,
        sqlwright.Session.run,
        sqlwright.compare,
        sqlwright.Session.run_sql,
        sqlwright.Session.warm,
        sqlwright.Step.__call__,
    ],
    ids=lambda function: function.__qualname__,
)
def test_what_it_takes_and_gives_is_exported(function: Any) -> None:
    module = sys.modules[function.__module__]
    hints = get_type_hints(function, vars(module), include_extras=False)
    kinds = {kind for hint in hints.values() for kind in ours(hint)}
    assert {kind.__name__ for kind in kinds if not exported(kind)} == set()


@pytest.mark.parametrize("kind", [sqlwright.Answer, sqlwright.State, sqlwright.Turn])
def test_all_that_is_in_it_is_exported(kind: type) -> None:
    kinds = within(kind, set())
    assert len(kinds) > 10 or kind is sqlwright.Turn
    missing = {each.__name__ for each in kinds if not exported(each) and not issubclass(each, Enum)}
    assert missing == set()


def test_nothing_is_imported_for_a_name_before_it_is_used() -> None:
    look = "import sys, sqlwright; print([m for m in sys.modules if m.startswith('sqlwright.')])"
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_whether_it_is_meant_for_import(package: str) -> None:
    text = docstring(package)
    said = PUBLIC.search(text)
    assert (said is not None) != (INTERNAL in text)
    for name in re.findall(r"`(\w+)`", said[1] or "") if said else []:
        module = SOURCE / package / name
        assert module.is_dir() or module.with_suffix(".py").is_file()


def test_the_documents_and_examples_import_only_what_is_meant_for_it() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")]
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text("utf-8")
        texts += re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    imported = {
        name for text in texts for name in re.findall(r"(?:from|import) sqlwright\.([\w.]+)", text)
    }
    assert {name for name in imported if not meant(name)} == set()
    assert "lab.evaluation.run" in imported


def meant(name: str) -> bool:
    """Whether `sqlwright.NAME` is a module for others."""
    package, _, module = name.partition(".")
    if package == "lab":
        room, _, module = module.partition(".")
        package = f"lab/{room}"
    if package not in PACKAGES:
        return f"`sqlwright.{package}`" in (inspect.getdoc(sqlwright) or "")
    said = PUBLIC.search(docstring(package))
    return said is not None and (said[1] is None or f"`{module}`" in said[1])
