"""Every benchmark database opens, and nothing is written for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sqlwright.prepare import open_workspace

pytestmark = [pytest.mark.data, pytest.mark.slow]


def data_folder() -> Path:
    named = os.environ.get("SQLWRIGHT_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("SQLWRIGHT_DATA doesn't name a folder with the benchmark data")
    return Path(named)


@pytest.mark.timeout(1_200)
def test_every_database_opens(tmp_path: Path) -> None:
    paths = sorted(
        path
        for part in ("spider/database", "bird_like", "samples", "geoquery", "restaurants")
        for path in (data_folder() / part).rglob("*.sqlite")
    )
    assert paths, "there are no databases in the data folder"
    for path in paths:
        workspace = open_workspace(str(path), folder=tmp_path / "absent")
        try:
            refs = set(workspace.schema.columns)
            assert refs, path
            assert set(workspace.catalog.columns) == refs, path
            for key in workspace.schema.foreign_keys:
                assert {ref for pair in key.pairs for ref in pair} <= refs, path
            assert not any("could not be read" in note for note in workspace.notes), path
        finally:
            workspace.database.close()
