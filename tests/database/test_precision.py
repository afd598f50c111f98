"""Values keep all their digits on the way from each engine to JSON, CSV, tables and traces."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.boundary.text import to_json
from sqlwright.caveats import Look
from sqlwright.database import open_database
from sqlwright.presentation.answer import answer_to_json, result_to_dict
from sqlwright.presentation.as_csv import answer_to_csv
from sqlwright.protocols import Run
from sqlwright.running.answering import query_answer

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "precision.yaml").read_text("utf-8"))
ENGINES = ("sqlite", "duckdb", "postgres", "mariadb")


def _url(engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    if engine == "sqlite":
        sqlite3.connect(folder / "a.sqlite").executescript("CREATE TABLE t (a)").close()
    elif engine == "duckdb":
        pytest.importorskip("duckdb").connect(folder / "a.duckdb").execute("CREATE TABLE t (a INT)")
    else:
        server = request.getfixturevalue(f"{engine}_server")
        made = server.create("CREATE TABLE t (a INT, f FLOAT)")
        return str(server.reader(made) if engine == "mariadb" else server.url(made))
    return str(folder / f"a.{engine}")


@pytest.fixture(scope="module", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Any]]:
    url = _url(request.param, tmp_path_factory.mktemp("precision"), request)
    with open_database(url) as database:
        yield request.param, database


def _strict(text: str) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} isn't JSON")

    return json.loads(text, parse_constant=refuse)


def test_every_digit_is_kept(engine: tuple[str, Any]) -> None:
    name, database = engine
    cases = [case for case in CASES if name in case.get("engines", ENGINES)]
    schema = database.schema()
    for case in cases:
        result = database.execute(f"SELECT {case['sql']} AS c", Run())
        assert result.error is None, (case, result.error)
        written = to_json(result_to_dict(result)["rows"])  # as traces have it
        assert written == f"[[{case['json']}]]"
        answer = query_answer(case["sql"], result, Look(database, schema, lambda _: {}))
        assert _strict(answer_to_json(answer))["rows"] == [[_strict(case["json"])]]
        assert answer_to_csv(answer) == f"c\n{case.get('csv', case['json'])}\n"


def test_whole_numbers_of_json_files(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    told = '{"id": 18446744073709551616, "mixed": 12345678901234567890123, "fits": 1.5, "no": null}'
    (tmp_path / "n.jsonl").write_text(f'{told}\n{{"id": -3, "mixed": 0.5, "fits": 2, "no": 1}}\n')
    with open_database(str(tmp_path / "n.jsonl")) as database:
        result = database.execute("SELECT id, fits FROM n ORDER BY id DESC", Run())
        assert result.rows == ((18446744073709551616, 1.5), (-3, 2.0))
        (note,) = database.noticed(["n"])
    assert "mixed: whole numbers of more than 15 digits are rounded" in note
