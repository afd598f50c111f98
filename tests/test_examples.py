"""examples/: each program is run as a user would run it, in a process and a home of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = {
    "ask": ([], [r"^answered \(\(2,\),\)", r"Café Lumière.* in customers\.name", r"delivered,290"]),
    "compare_recipes": (["3"], [r"^local +\d+\.\d % \[.*/3\)$", r"\d won and \d lost against"]),
    "own_evaluation": ([], [r"^right: [1-5] of 5 \[\d+%, \d+%\]$"]),
    "own_step": ([], [r"^local  refused", r"^house  answered  \(\(50,\),\)  SELECT"]),
}


def test_every_example_is_run_and_short() -> None:
    programs = {path.stem: path.read_text("utf-8") for path in EXAMPLES.glob("*.py")}
    assert set(programs) == set(RUNS)
    lengths = {name: len(text.splitlines()) for name, text in programs.items()}
    assert {name: lines for name, lines in lengths.items() if lines >= 60} == {}


@pytest.mark.parametrize("name", RUNS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    arguments, expected = RUNS[name]
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        cwd=tmp_path,
        env=os.environ | {"SQLWRIGHT_HOME": str(tmp_path / "home"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [shape for shape in expected if not re.search(shape, ran.stdout, re.MULTILINE)] == []
    assert list(tmp_path.iterdir()) == []  # what it made is gone, and no home was needed
