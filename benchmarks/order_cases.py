"""Questions whose answer the data's NULLs, equal rows and texts decide, asked of the recipe `local`
on each engine.

    PYTHONPATH=. python -m benchmarks.order_cases [--engines sqlite duckdb csv] [--rows]

An answer is right, or else told: a note or the confidence says what the data does. Wrong and shown
at 50 % or more is what may not happen. Exits with 1 where it does.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

import sqlwright
from sqlwright.types import CAVEATS, Answer

CASES = Path(__file__).parents[1] / "tests" / "cases" / "caveats"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="*", default=["sqlite", "duckdb", "csv"])
    parser.add_argument("--rows", action="store_true", help="show each answer")
    options = parser.parse_args()
    questions = yaml.safe_load((CASES / "questions.yaml").read_text("utf-8"))
    worst = 0
    for engine in options.engines:
        found: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            address = _address(engine, Path(folder), stack)
            session = stack.enter_context(sqlwright.open(address, prepare=False, record=False))
            for case in questions:
                answer = session.ask(case["ask"])
                verdict = judged(answer, case)
                found[verdict] += 1
                if options.rows or verdict == "wrong, sure":
                    sure = answer.confidence
                    print(f"  {verdict:12} {sure and round(sure, 2)} {case['ask']} {answer.sql}")
                    print(f"               {answer.rows[:4]} {answer.doubt}")
        worst += found["wrong, sure"]
        print(engine, ", ".join(f"{name}: {count}" for name, count in sorted(found.items())))
    return 1 if worst else 0


def _address(engine: str, folder: Path, stack: contextlib.ExitStack) -> str:
    from tests.caveats.engines import build, script

    if engine == "postgres":
        from tests.servers.postgres import find_programs, start_server
        from tests.servers.starting import running

        server = stack.enter_context(running(start_server, find_programs(), "pg"))
        return str(server.url(server.create(script("postgres"))))
    return build(engine, None, folder)  # type: ignore[arg-type]


def judged(answer: Answer, case: dict[str, Any]) -> str:
    """Right, told, wrong though doubted, or wrong and sure."""
    wanted = [tuple(map(_plain, row)) for row in case["rows"]]
    given = [tuple(map(_plain, row)) for row in answer.rows]
    shown = [row[:1] if len(row) > 1 and len(wanted[0]) == 1 else row for row in given]
    if case.get("ordered"):
        if shown == wanted:
            return "right"
    elif sorted(map(str, shown)) == sorted(map(str, wanted)):
        return "right"
    if any(note.kind in CAVEATS for note in answer.warnings) or answer.doubt in {
        note.text for note in answer.warnings
    }:
        return "told"
    if "equal" in answer.doubt or answer.status != "answered":
        return "told"
    return "wrong, doubted" if (answer.confidence or 0.0) < 0.5 else "wrong, sure"


def _plain(cell: object) -> object:
    try:
        return round(float(str(cell)), 4)
    except ValueError:
        return cell


if __name__ == "__main__":
    raise SystemExit(main())
