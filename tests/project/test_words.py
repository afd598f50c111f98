"""Fences around the words of the code: docstrings are statements, numbers have units.

`UNWORDED` lists the rooms that aren't held to it yet. It only shrinks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.project.sources import texts, trees

QUESTION = re.compile(
    r"(What|Where|Who|Whose|Whom|How|Which|Whether|Why)\b"  # begins with a question word
    r"|[^.:;]*\?(\s|$)"  # or its first sentence is a question
)

UNWORDED: dict[str, frozenset[str]] = {
    "docstrings": frozenset(),
    "numbers": frozenset(),
}
"""Rooms (beginnings of paths) not yet done, by fence."""


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every string that stands for itself: docstrings, of attributes and constants too. Those of
    the forms of replies are left out: they are text for a model, which reads them in the schema."""
    for node in ast.walk(tree):
        forms = isinstance(node, ast.ClassDef) and any(
            isinstance(parent, ast.Name) and parent.id == "BaseModel" for parent in node.bases
        )
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and not forms:
                yield child.value


def questions(module: str) -> list[str]:
    """The docstrings of a module that ask instead of saying."""
    return [
        f"{module}: line {string.lineno}: {text.splitlines()[0]}"
        for string in strings(trees()[module])
        if isinstance(string.value, str)
        and (text := string.value.strip())
        and (QUESTION.match(text) or text.endswith("?"))
    ]


def is_number(node: ast.expr | None) -> bool:
    """True of a number, also with a sign or as a product of numbers."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def bare_numbers(module: str) -> list[str]:
    """The numeric constants of a module without a docstring below or a comment beside or above."""
    lines, body = texts()[module].splitlines(), trees()[module].body
    bare = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not is_number(node.value):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = target.id if isinstance(target, ast.Name) else ""
        said = isinstance(after, ast.Expr) or "#" in lines[(node.end_lineno or node.lineno) - 1]
        said = said or lines[node.lineno - 2].startswith("#")
        if name.isupper() and not said:
            bare.append(f"{module}: {name}")
    return bare


FENCES = {"docstrings": questions, "numbers": bare_numbers}


@pytest.mark.parametrize("fence", FENCES)
def test_words_are_plain(fence: str) -> None:
    open_rooms = tuple(UNWORDED[fence])
    done = [module for module in trees() if not module.startswith(open_rooms)]
    assert [finding for module in done for finding in FENCES[fence](module)] == []
