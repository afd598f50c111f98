"""The examples that README, documentation, help texts and docstrings print, found by their form."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlwright

ROOT = Path(__file__).parents[2]
_COMMAND = re.compile(r"(?:^|[\s`(])sqlwright +[^\n`]*", re.MULTILINE)
_PIPED = re.compile(r"echo +\"([^\"]+)\" *\| *sqlwright")
_CALL = re.compile(r"\.ask\(\s*\"([^\"]+)\"")
_MAYBE = re.compile(r"sqlwright(?! import\b)[\s\\\"']|\.ask\(")
"""In every module whose texts may hold an example: the name is no part of a path or an import."""
_SQL = re.compile(r"(?:SELECT|WITH)\b")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


@dataclass(frozen=True, slots=True)
class Example:
    """A question or a query that is printed somewhere."""

    text: str
    places: tuple[str, ...]

    @property
    def is_sql(self) -> bool:
        return _SQL.match(self.text) is not None


def printed() -> tuple[Example, ...]:
    """Each example once, with the files that print it."""
    found: dict[str, dict[str, None]] = {}
    for place, text in _texts():
        for one in examples_in(text):
            found.setdefault(one, {})[place] = None
    return tuple(Example(text, tuple(places)) for text, places in found.items())


def examples_in(text: str) -> Iterator[str]:
    """The questions and queries of command lines and calls in a text."""
    text = text.replace("\\\n", " ")
    yield from _PIPED.findall(text)
    yield from _CALL.findall(text)
    for line in _COMMAND.findall(text):
        for word in _QUOTED.findall(line):
            (bare,) = shlex.split(word)
            # What is no question: "...", an amount, a name.
            if " " in bare and bare[:1].isupper():
                yield bare


def _texts() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if path.name in {"python.md", "extend.md"}:
            continue  # they ask another database or other models; tests of their own run them
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    package = Path(sqlwright.__file__).parent
    for path in sorted(package.rglob("*.py")):
        code = path.read_text("utf-8")
        if not _MAYBE.search(code):
            continue  # parsing takes longest, and every worker of the tests does it
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(path.relative_to(package)), node.value
