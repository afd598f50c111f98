"""The package doesn't grow: each wing has its limit of lines and modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_wing_is_over_its_limit_by_more_than_a_twentieth() -> None:
    ended = subprocess.run(
        [sys.executable, "scripts/size.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
