"""Fences around the whole repository: sizes, prints, handlers, names. Each test lists what breaks
it, as `module: what`."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import TypeVar

from tests.project.sources import SOURCE, texts, trees

T = TypeVar("T", bound=ast.AST)

BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "base", "core", "misc"}
EDGES = ("cli/", "doctor.py", "database/workers/worker.py")
"""Where everything may be caught: the edges of a process."""


def nodes(kind: type[T]) -> Iterator[tuple[str, T]]:
    """Every node of a kind with its module."""
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield module, node


def names_in(node: ast.AST | None) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node else {""}


def test_modules_have_at_most_600_lines() -> None:
    lengths = {module: len(text.splitlines()) for module, text in texts().items()}
    assert [f"{module}: {n} lines" for module, n in lengths.items() if n > 600] == []
    assert median(lengths.values()) <= 200


def test_the_top_has_at_most_12_modules() -> None:
    assert len([module for module in texts() if Path(module).parent == Path()]) <= 12


def test_functions_have_at_most_60_lines_signatures_not_counted() -> None:
    def body_lines(function: ast.FunctionDef) -> int:
        return (function.end_lineno or 0) - function.body[0].lineno + 1

    long = [
        f"{module}: {function.name} has {body_lines(function)} lines"
        for module, function in nodes(ast.FunctionDef)
        if body_lines(function) > 60
    ]
    assert long == []


def test_functions_take_at_most_five_positional_parameters() -> None:
    def positional(function: ast.FunctionDef) -> int:
        arguments = (*function.args.posonlyargs, *function.args.args)
        return len([a for a in arguments if a.arg not in {"self", "cls"}])

    # A network's `forward` takes what its framework hands it.
    many = [
        f"{module}: {function.name}"
        for module, function in nodes(ast.FunctionDef)
        if positional(function) > 5 and function.name != "forward"
    ]
    assert many == []


def test_modules_classes_and_functions_are_documented() -> None:
    missing = [
        module for module, tree in trees().items() if tree.body and not ast.get_docstring(tree)
    ]
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_":
                missing += [] if ast.get_docstring(node) else [f"{module}: {node.name}"]
    assert missing == []


def test_nothing_prints_outside_the_command_line() -> None:
    prints = [
        f"{module}: line {call.lineno}"
        for module, call in nodes(ast.Call)
        if not module.startswith("cli/")
        and isinstance(call.func, ast.Name)
        and call.func.id == "print"
    ]
    assert prints == []


def test_no_function_changes_a_global() -> None:
    assert [module for module, _ in nodes(ast.Global)] == []


def test_everything_is_caught_only_at_the_edges_of_a_process() -> None:
    # What is caught to clean up and raised again is not swallowed.
    broad = [
        f"{module}: line {handler.lineno}"
        for module, handler in nodes(ast.ExceptHandler)
        if not module.startswith(EDGES)
        and names_in(handler.type) & {"", "Exception", "BaseException"}
        and not isinstance(handler.body[-1], ast.Raise)
    ]
    assert broad == []
    suppressed = [
        f"{module}: line {call.lineno}"
        for module, call in nodes(ast.Call)
        if not module.startswith(EDGES)
        and names_in(call.func) & {"suppress"}
        and any(names_in(kind) & {"Exception", "BaseException"} for kind in call.args)
    ]
    assert suppressed == []


def test_the_parser_is_imported_whole_before_its_parts() -> None:
    # Two threads may import it at once: one that begins with a part and one that begins with the
    # whole wait for each other, and Python lets one of them go on with a module that is half read.
    early = [
        f"{module}:{node.lineno}: {node.module}"
        for module, node in nodes(ast.ImportFrom)
        if (node.module or "").startswith("sqlglot.")
        and not texts()[module].splitlines()[node.lineno - 2].strip().startswith("from sqlglot ")
    ]
    assert early == []


def test_the_base_error_has_one_handler() -> None:
    handlers = [
        module
        for module, handler in nodes(ast.ExceptHandler)
        if not module.startswith(EDGES) and "SqlwrightError" in names_in(handler.type)
    ]
    # A branch that fails costs its own part; a run that fails still answers with what it has.
    assert handlers == ["running/parallel.py", "running/pipeline.py"]


def test_names_say_what_is_in_a_module() -> None:
    assert [m for m in trees() if BANNED_NAMES & set(Path(m).with_suffix("").parts)] == []


def test_what_comes_from_a_file_or_a_model_is_never_run() -> None:
    runs = [
        f"{module}: {call.func.id}"
        for module, call in nodes(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in {"eval", "exec", "__import__"}
    ]
    pickles = [
        module
        for module, node in nodes(ast.Import)
        if {alias.name for alias in node.names} & {"pickle", "marshal", "shelve"}
    ]
    assert runs + pickles == []


def test_the_core_names_no_wing_not_even_for_types() -> None:
    """The contract in .importlinter doesn't see imports under TYPE_CHECKING. The names of
    `sqlwright` itself are loaded when they are asked for."""
    wings = ("local", "lab")
    found = [
        f"{module}: {node.module}"
        for module, tree in trees().items()
        if not module.startswith(("local/", "lab/", "cli/")) and module != "__init__.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and node.module.startswith(tuple(f"sqlwright.{wing}" for wing in wings))
    ]
    assert found == []


def test_every_part_has_a_layer_in_the_import_contracts() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(SOURCE.parents[1] / ".importlinter")
    kinds = {contracts[s]["type"] for s in contracts.sections() if s.startswith("importlinter:")}
    assert kinds == {"layers", "acyclic_siblings", "independence", "forbidden"}
    layers = contracts["importlinter:contract:layers"]["layers"]
    named = {name.strip("() ") for line in layers.split("\n") for name in line.split("|")}
    ours = {
        f"sqlwright.{path.stem}"
        for path in SOURCE.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").is_file()) and path.stem != "__init__"
    }
    assert ours - named == set()
