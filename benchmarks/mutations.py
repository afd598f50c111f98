"""What can be changed in a module so that a test ought to fail: used by `mutants.py`.

A mutation replaces one piece of a module's text. Left alone is what no test should hold fast, or
what can't matter: docstrings, annotations, type aliases, imports, decorators, base classes,
`__repr__`, asserts, the texts of errors and log records, `strict=`, `copy=`, the second argument of
`isinstance`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
EMPTY = {
    "str": "''",
    "list": "[]",
    "tuple": "()",
    "set": "set()",
    "frozenset": "frozenset()",
    "dict": "{}",
    "Sequence": "()",
    "Mapping": "{}",
    "Iterable": "()",
    "Iterator": "iter(())",
    "Moves": "{}",
}
"""What a return value becomes, by the annotation's name; None where it isn't listed."""
LOGS = {"log", "logger", "logging", "warnings"}
LITERALS = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.List, ast.Tuple, ast.JoinedStr)


@dataclass(frozen=True, slots=True)
class Mutation:
    """One piece of a module's text replaced: bytes `start` to `end` of `path`."""

    path: str
    kind: str
    line: int
    function: str
    """The outermost function it stands in, qualified by its classes; empty for a module's own
    statements."""
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        return f"{self.path}:{self.start}-{self.end}:{self.text}"

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutations_of(path: str, source: bytes) -> list[Mutation]:
    """Every mutation of a module, in the order of its text."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda one: (one.start, one.end, one.text))


def compiles(mutation: Mutation, source: bytes) -> bool:
    """Whether the changed module is one, and another than before."""
    try:
        changed = ast.parse(mutation.applied(source))
    except (SyntaxError, ValueError):
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


def other_texts(text: str) -> Iterator[str]:
    """Ways to spoil a text of a table: without one alternative, without one word, longer."""
    parts = text.split("|")
    shorter = ["|".join(parts[:at] + parts[at + 1 :]) for at in range(len(parts))]
    sound = [one for one in shorter if _is_pattern(one)] if len(parts) > 1 else []
    if sound:
        yield from sound
        return
    words = text.split()
    if len(words) > 2 and not re.search(r"[\\({%]", text):
        for at in range(len(words)):
            yield " ".join(words[:at] + words[at + 1 :])
        return
    yield text + "x"


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Walks a module and notes what may be changed."""

    def __init__(self, path: str, source: bytes) -> None:
        self.found: list[Mutation] = []
        self._path = path
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._names: list[str] = []
        self._functions = 0
        self._returns: list[str] = []
        self._known: list[set[str]] = []
        """Names that each open function has given a value."""
        self._table = True
        """Texts met here are data: in a table, or compared with."""

    # ---- notes

    def _at(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _note(self, kind: str, node: ast.expr | ast.stmt, text: str, line: int = 0) -> None:
        start = self._at(node.lineno, node.col_offset)
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        function = ".".join(self._names) if self._functions else ""
        self.found.append(
            Mutation(self._path, kind, line or node.lineno, function, start, end, text)
        )

    def _instead(self, kind: str, node: ast.expr, new: ast.expr) -> None:
        self._note(kind, node, f"({ast.unparse(new)})")

    # ---- what is left alone, or only looked at in part

    def _skip(self, node: ast.AST) -> None:
        pass

    visit_Import = visit_ImportFrom = _skip  # noqa: N815
    visit_Assert = visit_JoinedStr = _skip  # noqa: N815

    def visit_Raise(self, node: ast.Raise) -> None:
        self._note("statement removed", node, "pass")

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name.split(".")[0] in LOGS or name in {"TypeVar", "ParamSpec", "NewType"}:
            return
        self.visit(node.func)
        first = {"isinstance": (0, 1), "issubclass": (0, 1), "cast": (1, 2)}.get(name, (0, 99))
        before = self._table
        self._table = before or name.endswith((".startswith", ".endswith"))
        for argument in node.args[slice(*first)]:
            self.visit(argument)
        self._table = before
        for keyword in node.keywords:
            if keyword.arg not in {"strict", "copy", "maxsize"}:
                self.visit(keyword.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in {"__repr__", "__str__"}:
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outermost = not self._functions
        if outermost:
            self._names.append(node.name)
        table, self._table = self._table, False
        self._functions += 1
        self._returns.append(ast.unparse(node.returns) if node.returns else "None")
        self._known.append({one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)})
        for statement in node.body:
            self.visit(statement)
        self._known.pop()
        self._returns.pop()
        self._functions -= 1
        self._table = table
        if outermost:
            self._names.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    # ---- statements

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            self._note("statement removed", node, "yield from ()")
        elif ast.unparse(node.value).split(".")[0] not in LOGS:
            self._note("statement removed", node, "pass")
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        alias = isinstance(node.value, ast.BinOp | ast.Subscript | ast.Name)
        if not self._functions and ("__all__" in names or alias):
            return
        if self._functions:
            if not names or self._known[-1].issuperset(names):
                self._note("statement removed", node, "pass")
            self._known[-1].update(names)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._note("statement removed", node, "pass")
        new = ARITHMETIC[type(node.op)]()
        changed = ast.AugAssign(node.target, new, node.value)
        self._note("arithmetic", node, ast.unparse(changed))
        self.visit(node.value)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._note("statement removed", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._note("statement removed", node, "pass")

    def visit_Delete(self, node: ast.Delete) -> None:
        self._note("statement removed", node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._note("statement removed", node, "pass")
            return
        annotation = self._returns[-1]
        name = re.split(r"\W", annotation)[0]
        if name == "bool":
            text = f"not ({ast.unparse(node.value)})"
        elif name in {"int", "float"}:
            text = f"({ast.unparse(node.value)}) + 1"
        else:
            text = "None" if "None" in annotation else EMPTY.get(name, "None")
        if not isinstance(node.value, ast.Constant) and ast.unparse(node.value) != text:
            self._note("return value", node, f"return {text}")
        self.visit(node.value)

    def _tested(self, test: ast.expr) -> None:
        if ast.unparse(test) == "TYPE_CHECKING":
            return
        plain = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        new = test.operand if plain else ast.UnaryOp(ast.Not(), test)  # type: ignore[attr-defined]
        self._instead("condition negated", test, new)
        if plain:
            self.visit(test.operand)  # type: ignore[attr-defined]
        elif isinstance(test, ast.Compare) and type(test.ops[0]) in {ast.Is, ast.IsNot}:
            return  # its opposite is the negated condition
        else:
            self.visit(test)

    def visit_If(self, node: ast.If | ast.While) -> None:
        self._tested(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    visit_While = visit_If  # noqa: N815

    def visit_match_case(self, node: ast.match_case) -> None:
        pattern = node.pattern
        whole = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if not whole and node.guard is None:
            text = ast.unparse(pattern)
            self._note("case removed", pattern, f"{text} if False")  # type: ignore[arg-type]
        elif node.guard is not None:
            self._tested(node.guard)
        before, self._table = self._table, True
        self.visit(pattern)
        self._table = before
        for statement in node.body:
            self.visit(statement)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for pattern in (*node.patterns, *node.kwd_patterns):
            self.visit(pattern)

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        if isinstance(node.value, ast.Constant):
            self.visit(node.value)

    # ---- expressions

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._tested(node.test)
        self.visit(node.body)
        self.visit(node.orelse)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        for test in node.ifs:
            self._tested(test)

    def visit_Compare(self, node: ast.Compare) -> None:
        new = COMPARISONS[type(node.ops[0])]()
        changed = ast.Compare(node.left, [new, *node.ops[1:]], node.comparators)
        self._instead("comparison", node, changed)
        before, self._table = self._table, True
        self.generic_visit(node)
        self._table = before

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        new = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self._instead("boolean operator", node, ast.BoolOp(new, node.values))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(
            isinstance(side, LITERALS)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in (node.left, node.right)
        )
        if type(node.op) in ARITHMETIC and not texts:
            changed = ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
            self._instead("arithmetic", node, changed)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._instead("condition negated", node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._note("constant", node, str(not value))
        elif isinstance(value, int | float):
            for new in (value + 1, value - 1):
                self._note("constant", node, f"({new})" if new < 0 else repr(new))
        elif isinstance(value, str) and self._table:
            self._text(node, value)

    def _text(self, node: ast.Constant, value: str) -> None:
        """A text of a table spoiled. A whole table in one text counts as one line, for it is data
        more than rules; a pattern over several lines counts as all of them."""
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        segment = ast.get_source_segment(self._source.decode(), node) or ""
        if lines > 1 and segment.startswith('"""'):
            for word in re.finditer(r"\S+", segment[3:-3]):
                start, end = (at + 3 for at in word.span())
                self._note("text", node, segment[:start].rstrip(" ") + segment[end:])
            return
        texts = list(other_texts(value))
        for at, text in enumerate(texts):
            self._note("text", node, repr(text), node.lineno + at * lines // len(texts))
