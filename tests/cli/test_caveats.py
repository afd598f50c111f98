"""`sqlwright sql`: what the data does to a query is told beside its rows, and by `--check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.caveats.engines import build
from tests.cli.conftest import Outcome

Command = Callable[..., Outcome]

QUERIES = {
    "SELECT name FROM tools ORDER BY price NULLS FIRST LIMIT 1": (
        "tools.price is NULL in 2 rows",
        "the query gives Chisel",
    ),
    "SELECT MAX(watts) FROM lamps": ("its numbers are stored as text", "the query gives 100"),
    "SELECT MAX(reading) FROM probes": ("holds text among its numbers", "the query gives 20"),
}


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_notes_stand_beside_the_rows(
    sqlwright: Command, engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address = build(engine, request, tmp_path)
    for query, (known, given) in QUERIES.items():
        outcome = sqlwright("sql", address, query)
        text = " ".join((outcome.out + outcome.err).split())
        assert outcome.code == 0
        assert known in text
        assert given in text
        check = " ".join(sqlwright("sql", address, "--check", query).out.split())
        assert known in check
        assert "the query gives" not in check
    plain = sqlwright("sql", address, "SELECT COUNT(*), MIN(name) FROM lamps")
    assert "note" not in plain.out + plain.err
