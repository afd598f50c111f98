"""Under `schema-only` nothing of what is stored leaves this machine, whatever a model tries.

A database holds canaries wherever it can: cells of every type, defaults, checks, views, comments,
names of indexes, descriptions of values. A model elsewhere writes queries that would carry them
out: in errors, results, names of columns, counts. Every byte it is sent is searched for them.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.answering import Prompt, Responder

from sqlwright import api
from sqlwright.llm.options import LlmOptions
from sqlwright.messages import Privacy
from sqlwright.prepare import prepare
from sqlwright.types import Turn
from tests.llm.server import Asked, ModelServer

CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "llm" / "canaries.yaml").read_text("utf-8")
)
RECIPES = ("baseline", "chess-ir-ss-cg", "chess-ir-cg-ut", "chess-agents", "chase", "mag", "msc")
SMALL = {
    "chess-ir-cg-ut": ("samples.count=7", "selection.generate_tests.tests=2"),
    "chess-agents": ("samples.count=7", "selection.generate_tests.tests=2"),
    "chess-ir-ss-cg": ("samples.count=7",),
    "chase": ("samples[1].count=3", "samples[2].count=2", "samples[3].count=2"),
    # No schema is so small that nothing is linked.
    "mag": (
        "samples.count=7",
        "schema_linking.entities.columns=0",
        "schema_linking.summarise_tables.columns=0",
    ),
    "msc": ("samples[1].count=3", "samples[2].count=2", "samples[3].count=2"),
    "baseline": ("samples.count=14",),
}


class Hostile(Responder):
    """Writes each query of a list in turn; otherwise does what it is asked for. Mute, it writes no
    query at all, so that the embedded parser does. First queries (14: seven samples of each of
    two questions) and revisions are counted apart: how they alternate depends on threads."""

    def __init__(self, queries: list[str]) -> None:
        super().__init__()
        self._queries = queries
        self._next = {"sql": 0, "revise": 14}
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> list[str]:
        text = "\n\n".join(str(message["content"]) for message in asked.body["messages"])
        kind = Prompt(text).kind
        if kind == "keywords":
            return [json.dumps({"keywords": CASES["keywords"]})]
        if kind not in {"sql", "revise"}:
            return list(super().__call__(asked))
        if not self._queries:
            return ["I would rather not."] * asked.n
        with self._lock:
            first = self._next[kind]
            self._next[kind] += asked.n
        chosen = (self._queries[n % len(self._queries)] for n in range(first, first + asked.n))
        return [f"```sql\n{query}\n```" for query in chosen]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canaries")
    with sqlite3.connect(folder / "people.sqlite") as connection:
        connection.executescript(CASES["database"])
    connection.close()
    described = folder / "database_description"
    described.mkdir()
    for table, text in CASES["descriptions"].items():
        (described / f"{table}.csv").write_text(text, encoding="utf-8")
    return folder


def sent(
    place: Path,
    recipe: str,
    queries: list[str],
    *,
    privacy: Privacy = "schema-only",
    overrides: tuple[str, ...] = (),
    prepared: bool = False,
) -> Iterator[str]:
    """Every request's path, headers and body, as they left."""
    folder = place / ("prepared" if prepared else f"home-{recipe}-{privacy}-{bool(queries)}")
    if prepared:
        target = folder / "databases"
        prepare(str(place / "people.sqlite"), folder=target)
    history = [Turn("Who was it last time?", sql) for sql in CASES["history"]]
    with (
        ModelServer(answer=Hostile(queries)) as server,
        api.open(
            place / "people.sqlite",
            recipe=recipe,
            overrides=(*SMALL.get(recipe, ()), *overrides),
            home=folder,
            llm=LlmOptions(
                "openai-compatible/m",
                server.url,
                privacy=privacy,
                remote=True,
                cache=False,
                retrying=0.2,
            ),
            environ={},
        ) as session,
    ):
        for question in CASES["questions"]:
            session.ask(question, evidence="The notes of a person are free text.", history=history)
        assert server.seen
        for asked in server.seen:
            yield f"{asked.path} {dict(asked.headers)} " + json.dumps(
                asked.body, ensure_ascii=False
            )


def canaries(requests: Iterator[str]) -> dict[str, str]:
    """The canaries found, with what stands around the first of each."""
    found: dict[str, str] = {}
    for request in requests:
        folded = request.casefold()
        for canary in map(str, CASES["canaries"]):
            at = folded.find(canary.casefold())
            if at >= 0:
                found.setdefault(canary, request[max(at - 200, 0) : at + 80])
    return found


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_canary_leaves_this_machine(place: Path, recipe: str) -> None:
    assert canaries(sent(place, recipe, CASES["queries"])) == {}


@pytest.mark.parametrize(
    ("recipe", "steps"),
    [
        ("chess-ir-cg-ut", ("retrieval.entities", "retrieval.context")),
        ("msc", ("retrieval.nearest_values",)),
    ],
)
def test_none_leaves_where_everything_is_prepared_and_an_endpoint_embeds(
    place: Path, recipe: str, steps: tuple[str, ...]
) -> None:
    overrides = tuple(f"{step}.embedder=openai-compatible/embedder" for step in steps)
    asked = list(sent(place, recipe, CASES["queries"], overrides=overrides, prepared=True))
    assert canaries(iter(asked)) == {}
    embeds = any(request.startswith("/v1/embeddings") for request in asked)
    assert embeds is (recipe != "msc")  # where nothing but stored values would be compared


@pytest.mark.parametrize("recipe", ["chess-ir-ss-cg", "chess-ir-cg-ut"])
def test_none_leaves_with_queries_that_are_written_here(place: Path, recipe: str) -> None:
    assert canaries(sent(place, recipe, [])) == {}


def test_they_do_leave_where_values_may(place: Path) -> None:
    """Else nothing above would show anything."""
    found = canaries(sent(place, "chess-ir-cg-ut", CASES["queries"], privacy="full"))
    assert len(found) >= 0.6 * len(CASES["canaries"])


def test_the_schema_and_the_models_own_words_are_still_told(place: Path) -> None:
    told = "\n".join(sent(place, "chess-ir-cg-ut", CASES["telling"]))
    for kept in CASES["kept"]:
        assert kept in told
