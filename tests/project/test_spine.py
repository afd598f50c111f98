"""The spine stays short, and docs/architecture.md tells its length."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEAR = 40
"""Lines by which the page may be off: it needn't be edited with every line of the code."""


def test_a_question_is_followed_in_few_files_and_the_page_says_how_many() -> None:
    ended = subprocess.run(
        [sys.executable, "scripts/spine.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = re.search(r"^(\d+) files, (\d+) lines", ended.stdout, re.MULTILINE)
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    said = re.search(r"(\d+) files, (\d+) lines", page)
    assert found is not None
    assert said is not None
    assert said[1] == found[1]
    assert abs(int(said[2]) - int(found[2])) <= NEAR
