"""Under `schema-only` nothing of what is stored leaves this machine, whatever a model tries.

A database holds canaries wherever it can: cells of every type, defaults, checks, views, comments,
names of indexes, descriptions of values. A model elsewhere writes queries that would carry them
out: in errors, results, names of columns, counts. Every byte it is sent is searched for them.

SQLite's is asked by every recipe here, each other engine's by one; `python -m benchmarks.canaries`
asks each by all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from sqlwright.candidates import execute
from sqlwright.database import ENGINES, open_database
from sqlwright.prompts.cells import render_result
from sqlwright.protocols import Run
from sqlwright.steps.repair.faults import FaultRule
from sqlwright.types import Candidate, Question
from tests.llm.canaries import CASES, DATABASES, RECIPES, Place, canaries, sent

KINDS = [(engine, kind) for engine in ENGINES for kind in DATABASES.get(engine, {engine: None})]
"""All engines there are: the tests of one that is added fail until it has canaries."""
FIRST = {engine: (engine, kind) for engine, kind in reversed(KINDS)}


@pytest.fixture(scope="module")
def places(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[tuple[str, str]], Place]]:
    """Gives the database of an engine and a kind, made when it is first asked for."""
    with pytest.MonkeyPatch.context() as patch:

        @cache
        def place_of(wanted: tuple[str, str]) -> Place:
            engine, kind = wanted
            assert engine in DATABASES, f"no canaries for {engine} in tests/llm/canaries.py"
            folder = tmp_path_factory.mktemp(kind)
            url, queries = DATABASES[engine][kind](folder, request.getfixturevalue, patch)
            return Place(url, folder, queries)

        yield place_of


@pytest.fixture
def place(places: Callable[[tuple[str, str]], Place]) -> Place:
    return places(("sqlite", "sqlite"))


@pytest.fixture
def other(request: pytest.FixtureRequest, places: Callable[[tuple[str, str]], Place]) -> Place:
    return places(request.param)


@pytest.mark.parametrize("other", KINDS, indirect=True, ids=lambda kind: kind[1])
def test_no_engine_s_errors_and_results_tell_a_canary(other: Place) -> None:
    told: list[str] = []
    with open_database(other.url) as database:
        for sql in other.queries:
            (ran,) = execute([Candidate(sql, "test", by_model=True)], database, Run())
            assert ran.result is not None
            texts = [fault.told for fault in FaultRule().of_result(ran, Question("?"))]
            texts.append(render_result(ran.result))
            told += (f"{sql}\n{text.without('value')}" for text in texts)
    assert canaries(one.partition("\n")[2] for one in told) == {}


@pytest.mark.parametrize(
    ("other", "recipe"),
    [
        pytest.param(kind, RECIPES[-number], id=f"{kind[1]}-{RECIPES[-number]}")
        for number, kind in enumerate(FIRST.values(), 1)
        if kind[0] != "sqlite"
    ],
    indirect=["other"],
)
def test_no_canary_leaves_whatever_the_engine(other: Place, recipe: str) -> None:
    assert canaries(sent(other, recipe, other.queries, questions=1)) == {}


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_canary_leaves_this_machine(place: Place, recipe: str) -> None:
    questions = 1 if recipe == "auto" else 2
    assert canaries(sent(place, recipe, place.queries, questions=questions)) == {}


@pytest.mark.parametrize("recipe", ["chess-ir-ss-cg", "chess-ir-cg-ut"])
def test_none_leaves_with_queries_that_are_written_here(place: Place, recipe: str) -> None:
    assert canaries(sent(place, recipe, [])) == {}


def test_they_do_leave_where_values_may(place: Place) -> None:
    """Else nothing above would show anything."""
    found = canaries(sent(place, "chess-ir-cg-ut", place.queries, privacy="full"))
    assert len(found) >= 0.6 * len(CASES["canaries"])


def test_the_schema_and_the_models_own_words_are_still_told(place: Place) -> None:
    told = "\n".join(sent(place, "chess-ir-cg-ut", CASES["telling"]))
    for kept in CASES["kept"]:
        assert kept in told
