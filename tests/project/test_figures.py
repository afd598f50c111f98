"""docs/figures.md is what its data say, and README's figures are among them."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "figures.py"))
FIGURES = [
    figure
    for group in tomllib.loads((ROOT / "runs" / "figures.toml").read_text("utf-8"))["group"]
    for figure in group["figure"]
]


def test_the_page_is_written_from_the_data() -> None:
    assert SCRIPT["PAGE"].read_text("utf-8") == SCRIPT["page"](), "run: python scripts/figures.py"


def test_every_figure_has_its_data_and_a_command() -> None:
    for figure in FIGURES:
        assert {"what", "figure", "data", "command"} <= set(figure), figure
        assert set(figure) <= {"what", "figure", "interval", "data", "command"}, figure
        script = re.search(r"benchmarks[./](\w+)", figure["command"])
        if script:
            place = ROOT / "benchmarks" / script[1]
            assert place.is_dir() or place.with_suffix(".py").is_file(), figure
        for path in re.findall(r"\b((?:tests|scripts)/[\w/.]+)", figure["command"]):
            assert (ROOT / path).exists(), figure


def test_the_figures_of_the_readme_are_among_them() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"\*\*([\d.]+) %\*\* \[([\d.]+), ([\d.]+)\]", text)
    assert len(shown) == 3
    known = {(figure["figure"], figure.get("interval")) for figure in FIGURES}
    for share, low, high in shown:
        assert any(f"{share} %" in f and i == f"{low} to {high}" for f, i in known), share
