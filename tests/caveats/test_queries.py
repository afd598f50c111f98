"""Queries that a person wrote: what the data does in them is told beside their rows, on every
engine, and nothing is told where it makes no difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.api import Session
from sqlwright.types import CAVEATS
from tests.caveats.engines import CASES, ENGINES, build
from tests.scripted import scripted_models

QUERIES: list[dict[str, Any]] = yaml.safe_load((CASES / "queries.yaml").read_text("utf-8"))


@pytest.fixture(scope="module", params=ENGINES)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Session]]:
    folder = tmp_path_factory.mktemp("caveats")
    address = build(request.param, request, folder)
    with api.open(address, models=scripted_models(), home=folder / "home") as opened:
        yield request.param, opened


@pytest.mark.parametrize("case", QUERIES, ids=lambda case: case["sql"])
def test_a_query_is_told_what_the_data_does(
    session: tuple[str, Session], case: dict[str, Any]
) -> None:
    engine, opened = session
    if engine not in case.get("engines", ENGINES):
        return
    answer = opened.sql(case["sql"])
    assert answer.status == "answered", answer.message
    wanted = case.get("kinds", {}).get(engine, []) or case.get("all", [])
    notes = [note for note in answer.warnings if note.kind in CAVEATS]
    assert [note.kind for note in notes] == wanted, notes
    if wanted and "gives" in case:
        assert any(case["gives"] in note.text for note in notes), notes
