"""A server for tests that can't start says why, at once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.servers.starting import START_SECONDS, start_kept


def test_a_server_that_ends_at_once_is_told_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="sh: no room"):
        start_kept(["/bin/sh", "-c", "echo no room >&2"], os.getuid(), tmp_path, lambda: False)
    assert time.monotonic() - began < START_SECONDS / 2
