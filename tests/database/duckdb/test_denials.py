"""Queries that would take any time or memory end at the limit, and leave nothing that works on."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import yaml

from sqlwright.protocols import Limits
from tests.database.duckdb.conftest import Opener, ask
from tests.waiting import PATIENCE_SECONDS, comes

CASES = Path(__file__).parents[2] / "cases" / "duckdb"
DENIALS = yaml.safe_load((CASES / "denials.yaml").read_text(encoding="utf-8"))
LIMITS = Limits(seconds=0.4, memory_bytes=300 * 2**20)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def used_seconds(pid: int) -> float:
    """Processor time that a process has used, in ticks; 0 when it is gone."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0
    return int(parts[11]) + int(parts[12])


@pytest.mark.parametrize("sql", DENIALS)
def test_it_is_stopped(sql: str, shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert ask(database, "SELECT 1").ok
    result = ask(database, sql, LIMITS)
    assert result.error is not None
    assert result.error.kind in {"timeout", "memory"}, result.error

    def idle() -> bool:
        before = {pid: used_seconds(pid) for pid in database.worker_pids}
        time.sleep(0.1)
        return all(used_seconds(pid) - ticks <= 3 for pid, ticks in before.items())

    assert comes(idle), "a worker goes on"
    assert ask(database, "SELECT 42").rows == ((42,),)


def test_a_large_query_gets_its_memory(shop: Path, opened: Opener) -> None:
    limits = Limits(seconds=PATIENCE_SECONDS, memory_bytes=2**30)
    sql = "SELECT count(DISTINCT hash(i)) FROM range(6000000) t(i)"
    result = ask(opened(shop), sql, limits)
    assert result.error is None
    assert result.rows == ((6_000_000,),)
