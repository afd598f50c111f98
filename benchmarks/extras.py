"""What each engine's extra costs: megabytes on the disk and seconds of importing it.

    python -m benchmarks.extras [--update docs/engines.md]

Installs sqlwright and then, in a copy of that environment each, one extra; pip has to reach a
package index. The size is the difference, bytecode left out; the time is the median of nine fresh
processes, that of an empty one taken off. `--update` writes the table between the page's marks.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.marked import write_between

ROOT = Path(__file__).parents[1]
EXTRAS = {
    "postgres": "psycopg",
    "duckdb": "duckdb",
    "excel": "duckdb, python_calamine",
    "mysql": "pymysql",
    "sqlalchemy": "sqlalchemy",
}
"""The packages that a worker imports, by the extra that brings them."""
RUNS = 9
BEGINS, ENDS = "<!-- extras: begin -->", "<!-- extras: end -->"


def made(folder: Path, wanted: str) -> Path:
    """A new environment with a requirement; its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "-q", "--no-compile", wanted]
    subprocess.run(command, check=True, cwd=ROOT)
    return python


def size(folder: Path) -> int:
    """Bytes of an environment's packages, without bytecode."""
    files = (path for path in (folder / "lib").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc")


def seconds(python: Path, code: str) -> float:
    """The median time of a fresh process that runs some code."""
    taken = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([str(python), "-c", code], check=True)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def main() -> None:
    """Measure and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--update", type=Path, help="The page that gets the table.")
    chosen = options.parse_args()
    lines = ["| extra | megabytes | milliseconds to import |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as aside:
        base = Path(aside) / "base"
        made(base, str(ROOT))
        own = size(base)
        lines.append(f"| none | {own / 1e6:,.0f} | |")
        for extra, package in EXTRAS.items():
            folder = Path(aside) / extra
            python = made(folder, f"{ROOT}[{extra}]")
            took = seconds(python, f"import {package}") - seconds(python, "pass")
            more = (size(folder) - own) / 1e6
            lines.append(f"| `{extra}` | {more:,.1f} more | {1000 * took:,.0f} |")
    table = "\n".join(lines)
    print(table)
    if chosen.update is not None:
        write_between(chosen.update, BEGINS, ENDS, table)


if __name__ == "__main__":
    main()
