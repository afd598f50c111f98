"""Databases with canaries wherever an engine can hold them, and a model elsewhere that tries to
carry them out: in errors, results, names of columns, counts."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.answering import Prompt, Responder

from sqlwright import api
from sqlwright.boundary.accepted import accept_login
from sqlwright.database.address import parse_address
from sqlwright.llm.options import LlmOptions
from sqlwright.messages import Privacy
from sqlwright.prepare import prepare
from sqlwright.types import Turn
from tests.database.files.workbooks import workbook
from tests.llm.server import Asked, ModelServer

_FOLDER = Path(__file__).parents[1] / "cases" / "llm"
CASES: dict[str, Any] = yaml.safe_load((_FOLDER / "canaries.yaml").read_text("utf-8"))
ENGINES: dict[str, Any] = yaml.safe_load((_FOLDER / "canaries_of_engines.yaml").read_text("utf-8"))
RECIPES = (
    "baseline", "chess-ir-ss-cg", "chess-ir-cg-ut", "chess-agents", "chase", "mag", "msc", "auto",
)  # fmt: skip
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
_DIALECT = """
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

class Dialect(PGDialect_psycopg):
    pass
"""
ServerOf = Callable[[str], Any]
"""The running server of a fixture's name; may skip."""
Made = tuple[str, tuple[str, ...]]
"""A database's URL or path, and the queries of one who would carry its values out."""
Make = Callable[[Path, ServerOf, pytest.MonkeyPatch], Made]
"""Makes a database in an empty folder. What it changes of this process is undone afterwards."""


def _sqlite(folder: Path, _server: ServerOf, _patch: pytest.MonkeyPatch) -> Made:
    with sqlite3.connect(folder / "people.sqlite") as connection:
        connection.executescript(CASES["database"])
    connection.close()
    described = folder / "database_description"
    described.mkdir()
    for table, text in CASES["descriptions"].items():
        (described / f"{table}.csv").write_text(text, encoding="utf-8")
    return str(folder / "people.sqlite"), tuple(CASES["queries"])


def _duckdb(folder: Path, _server: ServerOf, _patch: pytest.MonkeyPatch) -> Made:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB isn't installed")
    case = ENGINES["duckdb"]
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.execute(case["database"])
    return str(folder / "people.duckdb"), (*case["only_stored"], *case["queries"])


def _files(written: str) -> Make:
    """Of files that DuckDB writes, by the options of its COPY."""

    def make(folder: Path, server: ServerOf, patch: pytest.MonkeyPatch) -> Made:
        stored, _ = _duckdb(folder, server, patch)
        import duckdb

        (folder / "files").mkdir()
        ending = written.partition(",")[0]
        with duckdb.connect(stored, read_only=True) as connection:
            for table in ("people", "visits"):
                target = folder / "files" / f"{table}.{ending}"
                connection.execute(f"COPY {table} TO '{target}' (FORMAT {written})")
        return str(folder / "files"), tuple(ENGINES["duckdb"]["queries"])

    return make


def _excel(folder: Path, server: ServerOf, patch: pytest.MonkeyPatch) -> Made:
    pytest.importorskip("python_calamine", reason="python-calamine isn't installed")
    stored, _ = _duckdb(folder, server, patch)
    import duckdb

    sheets: dict[str, list[list[Any]]] = {}
    with duckdb.connect(stored, read_only=True) as connection:
        for table in ("people", "visits"):
            shown = "* EXCLUDE (photo)" if table == "people" else "*"
            found = connection.execute(f"SELECT {shown} FROM {table}")
            names = [column[0] for column in found.description]
            sheets[table] = [names, *map(list, found.fetchall())]
    (folder / "people.xlsx").write_bytes(workbook(sheets))
    return str(folder / "people.xlsx"), tuple(ENGINES["duckdb"]["queries"])


def _postgres(_folder: Path, server: ServerOf, _patch: pytest.MonkeyPatch) -> Made:
    running, case = server("postgres_server"), ENGINES["postgres"]
    name = running.create(case["database"])
    return running.reader(name, "SELECT ON ALL TABLES IN SCHEMA public"), tuple(case["queries"])


def _mysql(_folder: Path, server: ServerOf, _patch: pytest.MonkeyPatch) -> Made:
    running, case = server("mariadb_server"), ENGINES["mysql"]
    return running.reader(running.create(case["database"])), tuple(case["queries"])


def _generic(folder: Path, server: ServerOf, patch: pytest.MonkeyPatch) -> Made:
    """PostgreSQL by a dialect of another name, so that it is asked as any engine is for which
    nothing was written."""
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
    url, queries = _postgres(folder, server, patch)
    told = folder / "sqlalchemy_materialize-1.dist-info"
    for place, name, text in [
        (folder / "canary_dialect", "__init__.py", _DIALECT),
        (told, "entry_points.txt", "[sqlalchemy.dialects]\nmaterialize=canary_dialect:Dialect"),
        (told, "METADATA", "Name: sqlalchemy-materialize\nVersion: 1"),
    ]:
        place.mkdir(exist_ok=True)
        (place / name).write_text(text, "utf-8")
    patch.syspath_prepend(str(folder))
    patch.setenv("SQLWRIGHT_HOME", str(folder / "accepted"))
    url = f"materialize://{url.partition('://')[2]}"
    accept_login(parse_address(url).identity, folder=folder / "accepted")
    return url, queries


DATABASES: dict[str, dict[str, Make]] = {
    "sqlite": {"sqlite": _sqlite},
    "duckdb": {"duckdb": _duckdb},
    "files": {
        "csv": _files("csv, HEADER"),
        "parquet": _files("parquet"),
        "json": _files("json, ARRAY true"),
        "excel": _excel,
    },
    "postgres": {"postgres": _postgres},
    "mysql": {"mariadb": _mysql},
    "generic": {"generic": _generic},
}
"""Kinds of databases by the engine's name."""


class Hostile(Responder):
    """Writes each query of a list in turn; otherwise does what it is asked for. Mute, it writes no
    query at all, so that the embedded parser does. First queries (14: seven samples of each of
    two questions) and revisions are counted apart: how they alternate depends on threads."""

    def __init__(self, queries: Sequence[str]) -> None:
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


@dataclass(frozen=True)
class Place:
    """A database with canaries, and the folder for what is kept of it."""

    url: str
    home: Path
    queries: tuple[str, ...] = ()


def sent(
    place: Place,
    recipe: str,
    queries: Sequence[str],
    *,
    privacy: Privacy = "schema-only",
    overrides: tuple[str, ...] = (),
    prepared: bool = False,
    questions: int = 2,
) -> Iterator[str]:
    """Every request's path, headers and body, as they left."""
    folder = place.home / ("prepared" if prepared else f"home-{recipe}-{privacy}-{bool(queries)}")
    if prepared:
        prepare(place.url, folder=folder / "databases")
    history = [Turn("Who was it last time?", sql) for sql in CASES["history"]]
    with (
        ModelServer(answer=Hostile(queries)) as server,
        api.open(
            place.url,
            recipe=recipe,
            overrides=(*SMALL.get(recipe, ()), *overrides),
            home=folder,
            # No step is too dear for `auto`.
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
        for question in CASES["questions"][:questions]:
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
