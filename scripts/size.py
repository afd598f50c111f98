"""How large the package is: lines, code and modules of each wing, and what one question loads.

    python scripts/size.py [--question]

Lines are all lines of `.py` files; code is without blank lines, comments and docstrings. With
`--question` the demo business is asked one question with the recipe `local` in a process of its
own: how many modules of sqlwright that loads, and, warm, how many Python functions it calls.

Exits with 1 if a wing has over 1.05 times the lines or modules in LIMITS.
"""

import ast
import cProfile
import io
import pstats
import sys
import tempfile
import tokenize
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "sqlwright"
WINGS = ("core", "local", "lab")
LIMITS = {"core": (75_500, 432), "local": (18_300, 93), "lab": (19_900, 134)}
"""Lines and modules of each wing; they only ever fall."""
ROOM = 1.05
QUESTION = "How many support tickets are still open?"


def main():
    """Print the table; the exit status."""
    found = {wing: [0, 0, 0] for wing in WINGS}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        row = found[wing_of(path)]
        row[0] += 1
        row[1] += len(text.splitlines())
        row[2] += code_lines(text)
    print(f"{'':8}{'modules':>9}{'lines':>9}{'code':>9}")
    for wing, (modules, lines, code) in found.items():
        print(f"{wing:8}{modules:>9,}{lines:>9,}{code:>9,}")
    print(f"{'all':8}" + "".join(f"{sum(row[i] for row in found.values()):>9,}" for i in range(3)))
    if "--question" in sys.argv:
        question()
    over = [
        wing
        for wing, (lines, modules) in LIMITS.items()
        if found[wing][1] > ROOM * lines or found[wing][0] > ROOM * modules
    ]
    for wing in over:
        print(f"{wing} is over its limit: {LIMITS[wing][0]:,} lines, {LIMITS[wing][1]} modules")
    return 1 if over else 0


def wing_of(path):
    """The wing that a module belongs to."""
    top = path.relative_to(SOURCE).parts[0]
    return top if top in WINGS else "core"


def code_lines(text):
    """The lines of a module that aren't blank, comment or docstring."""
    docs = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                docs.update(range(child.lineno, (child.end_lineno or 0) + 1))
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docs)


def question():
    """What one question loads, and the calls of a second one."""
    import sqlwright
    from sqlwright.demo.business import write_business

    with tempfile.TemporaryDirectory() as folder:
        write_business(path := Path(folder) / "business.sqlite")
        with sqlwright.open(f"sqlite:///{path}", recipe="local") as session:
            session.ask(QUESTION)
            loaded = [name for name in sys.modules if name.split(".")[0] == "sqlwright"]
            profile = cProfile.Profile()
            profile.runcall(session.ask, QUESTION)
    calls = pstats.Stats(profile).total_calls
    print(f"one question of the recipe local: {len(loaded)} modules loaded, {calls:,} calls warm")


if __name__ == "__main__":
    sys.exit(main())
