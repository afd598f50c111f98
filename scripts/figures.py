"""Write docs/figures.md from runs/figures.toml: `python scripts/figures.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = ROOT / "runs" / "figures.toml"
PAGE = ROOT / "docs" / "figures.md"

INTRODUCTION = """\
# Figures

Written by `scripts/figures.py` from `runs/figures.toml`; change that file, not this page.

Each figure was made by the command beside it, on two CPU cores (AMD EPYC, virtual). Intervals
are of 95 %, in per cent where the figure is a share (Wilson's). `runs/figures.sh` makes all but
the cold start, which needs an older version beside it; those of the development set only with
`DEV=1`. `DATA` is a folder with the public benchmark files. [Measuring](measuring.md) says what
each number means and doesn't.
"""
COLUMNS = ("what", "figure", "interval", "data", "command")


def page() -> str:
    """The text of docs/figures.md."""
    groups = tomllib.loads(DATA.read_text("utf-8"))["group"]
    return "\n".join([INTRODUCTION, *(line for group in groups for line in _group(group))])


def _group(group: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {group['title']}\n"
    if "text" in group:
        yield f"{group['text'].strip()}\n"
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for figure in group["figure"]:
        command = figure["command"]
        said = command if command == "the same" else f"`{command}`"
        cells = {**figure, "command": said}
        yield f"| {' | '.join(cells.get(column, '') for column in COLUMNS)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
