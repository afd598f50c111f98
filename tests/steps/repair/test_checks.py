"""Machine checks: each finds its fault, and leaves its look-alike alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.local.left_out.amounts import machine_checks
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Workspace
from sqlwright.types import FINDINGS, Candidate

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "checks" / "findings.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def workspaces(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Workspace]]:
    absent = tmp_path_factory.mktemp("prepared") / "absent"
    opened = {
        name: open_workspace(str(path), folder=absent) for name, path in database_files.items()
    }
    yield opened
    for workspace in opened.values():
        workspace.database.close()


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_findings(workspaces: dict[str, Workspace], case: dict[str, Any]) -> None:
    found = machine_checks(Candidate(case["sql"], "test"), workspaces[case.get("database", "shop")])
    assert len(found) == len(case.get("finds", []))
    for finding, words in zip(found, case.get("finds", []), strict=True):
        assert words in finding.text
        assert finding.kind in FINDINGS
