"""A server for tests that can't start says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.servers.starting import start_kept


def test_a_server_that_ends_at_once_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="sh: no room"):
        start_kept(["/bin/sh", "-c", "echo no room >&2"], os.getuid(), tmp_path, lambda: False)
