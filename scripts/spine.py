"""The way of a question through the code, measured: which files and lines lead to the first step.

    python scripts/spine.py

Asks the demo business one question with the recipe `local` and watches the main thread until the
first step begins. The spine is what is on the call stack then, with `open` and the recipe's file:
what one reads to follow a question. What the spine called on the way and had returned by then is
listed by call, with the files and lines of the functions that ran below it.

Exits with 1 if the spine has more than FILES files or LINES lines, whole files counted.
"""

import sys
import tempfile
from collections import defaultdict
from importlib.resources import files
from inspect import CO_OPTIMIZED
from pathlib import Path

import sqlwright
from sqlwright.demo.business import write_business
from sqlwright.recipes.registry import RECIPES
from sqlwright.running.combinators import leaves

FILES, LINES = 7, 800
SOURCE = Path(sqlwright.__file__).parent
QUESTION = "How many support tickets are still open?"
RECIPE = "local"
WRAPPERS = {SOURCE / "boundary" / "arguments.py"}
"""Decorators on the stack: they check arguments and call the function written below them."""


class Watch:
    """The functions of sqlwright that the main thread calls, by caller, until a step begins."""

    def __init__(self):
        self.callers = defaultdict(set)
        self.lines_called = {}
        self.stack = []
        self.step = None

    def __call__(self, frame, event, _):
        code = frame.f_code
        if event != "call" or not _is_function(code) or self.stack:
            return
        above = next((f for f in _above(frame.f_back) if _is_function(f.f_code)), None)
        if above is not None:
            self.lines_called.setdefault((above.f_code, code), above.f_lineno)
        self.callers[code].add(above.f_code if above else None)
        if self.step is not None and code is self.step:
            self.stack = [f.f_code for f in _above(frame.f_back) if _is_function(f.f_code)][::-1]

    def below(self, code, spine):
        """The functions that ran because `code` did, none of the spine's files among them."""
        found, waiting = set(), [code]
        called = defaultdict(set)
        for callee, callers in self.callers.items():
            for caller in callers:
                called[caller].add(callee)
        while waiting:
            one = waiting.pop()
            if one not in found and _path(one) not in spine:
                found.add(one)
                waiting += called[one]
        return found


def _above(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_function(code):
    """Whether it is a function of the package; bodies of modules and classes aren't."""
    return code.co_filename.startswith(str(SOURCE)) and bool(code.co_flags & CO_OPTIMIZED)


def _path(code):
    return Path(code.co_filename)


def _lines(codes):
    """How many lines the functions have, those within others counted once."""
    ranges = {
        (code.co_filename, line)
        for code in codes
        for line in range(
            code.co_firstlineno, 1 + max(line for *_, line in code.co_lines() if line is not None)
        )
    }
    return len(ranges)


def _name(path):
    return path.relative_to(SOURCE).as_posix()


def _dotted(code):
    return f"{_name(_path(code)).removesuffix('.py').replace('/', '.')}.{code.co_qualname}"


def watched():
    """One question, watched."""
    watch = Watch()
    with tempfile.TemporaryDirectory() as scratch:
        database = Path(scratch) / "business.sqlite"
        write_business(database)
        sys.setprofile(watch)
        try:
            session = sqlwright.open(database, recipe=RECIPE, home=Path(scratch) / "home")
            first = next(iter(leaves(session.recipe.step)))
            watch.step = type(first).__call__.__code__
            with session:
                session.ask(QUESTION)
        finally:
            sys.setprofile(None)
    return watch


def main():
    """Print the spine and what it calls; True if it is within bounds."""
    watch = watched()
    ran = set(watch.callers)
    began = next(code for code in ran if code.co_qualname == "open" and "api" in code.co_filename)
    spine = {_path(code) for code in (began, *watch.stack)} - WRAPPERS
    recipe = Path(str(files("sqlwright").joinpath(RECIPES[RECIPE])))
    print(f"Spine: open, the recipe, and the stack when {_dotted(watch.step)} begins\n")
    print(f"{'file':28}{'lines':>6}{'ran':>6}  on the stack")
    whole = 0
    order = list(dict.fromkeys(_path(code) for code in (began, *watch.stack)))
    for path in (*[path for path in order if path in spine], recipe):
        length = len(path.read_text(encoding="utf-8").splitlines())
        whole += length
        mine = [code for code in ran if _path(code) == path]
        named = dict.fromkeys(c.co_qualname for c in (began, *watch.stack) if _path(c) == path)
        print(f"{_name(path):28}{length:6}{_lines(mine) or length:6}  {', '.join(named)}")
    print(f"{len(spine) + 1} files, {whole} lines (at most {FILES}, {LINES})")
    _print_called(watch, ran, spine)
    return len(spine) + 1 <= FILES and whole <= LINES


def _print_called(watch, ran, spine):
    print("\nCalled by the spine and returned\n")
    print(f"{'from':28}{'called':60}{'files':>6}{'lines':>6}")
    calls = [
        (_name(_path(caller)), line, callee)
        for (caller, callee), line in watch.lines_called.items()
        if _path(caller) in spine and _path(callee) not in spine and callee is not watch.step
    ]
    for name, line, callee in sorted(calls, key=lambda call: call[:2]):
        below = watch.below(callee, spine)
        count = len({_path(code) for code in below})
        print(f"{f'{name}:{line}':28}{_dotted(callee):60}{count:6}{_lines(below):6}")
    beside = {code for code in ran if _path(code) not in spine and code is not watch.step}
    print(f"in all {len({_path(c) for c in beside})} files, {_lines(beside)} lines of functions")


if __name__ == "__main__":
    sys.exit(not main())
