"""Databases of our own for training: each builds, is the same everywhere, and is what its docstring
says."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from training.databases import build, names, script, story
from training.databases._size import size
from training.script import insert, literal

ROOT = Path(__file__).parents[2]
DIGESTS = """
import json, hashlib
from training.databases import names, script
print(json.dumps({name: hashlib.sha256(script(name).encode()).hexdigest() for name in names()}))
"""
DATABASES = pytest.mark.parametrize("name", names())


def digest(name: str) -> str:
    return sha256(script(name).encode()).hexdigest()


@pytest.fixture(scope="module")
def elsewhere() -> dict[str, str]:
    """Digests of all scripts as another process makes them, with another order of sets."""
    environment = {**os.environ, "PYTHONHASHSEED": "20240229", "TZ": "Pacific/Auckland"}
    ran = subprocess.run(
        [sys.executable, "-c", DIGESTS], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    return dict(json.loads(ran.stdout))


@DATABASES
def test_the_script_is_the_same_everywhere(name: str, elsewhere: dict[str, str]) -> None:
    assert digest(name) == digest(name) == elsewhere[name]


@DATABASES
def test_a_database_is_as_large_as_its_docstring_says(name: str, tmp_path: Path) -> None:
    found = size(build(name, tmp_path))
    said = re.search(r"Size: (\d+) tables, (\d+) columns, (\d+) rows\.", story(name))
    assert said, "its docstring has no line `Size: 8 tables, 62 columns, 3120 rows.`"
    assert (found.tables, found.columns, found.rows) == tuple(map(int, said.groups()))
    assert 5 <= found.tables <= 14
    assert 40 <= found.columns <= 160
    assert 300 <= found.rows <= 8000
    assert len(script(name).encode()) < 2 * 1024 * 1024


@DATABASES
def test_declared_keys_hold_but_for_those_the_docstring_names(name: str, tmp_path: Path) -> None:
    said = re.search(r"Broken keys: ([^.]*)\.", story(name))
    listed = re.findall(r"([^,(]+?)\s*\((\d+)\)", said[1]) if said else []
    assert size(build(name, tmp_path)).broken == {t.strip(): int(n) for t, n in listed}


@DATABASES
def test_every_table_has_rows_and_every_view_can_be_read(name: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(build(name, tmp_path))) as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table','view')")
        read = {n: connection.execute(f'SELECT * FROM "{n}" LIMIT 1').fetchone() for (n,) in listed}
    assert [n for n, row in read.items() if row is None] == []


def test_values_are_written_as_sqlite_reads_them() -> None:
    values = ("O'Neill; --", "", None, 1.5, -7, "é\nü", 1e-7)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "order" (a, b, c, d, e, f, g)')
        connection.executescript(insert("order", [values] * 401))
        assert connection.execute('SELECT * FROM "order"').fetchall() == [values] * 401


def test_flags_and_ragged_rows_are_refused() -> None:
    with pytest.raises(TypeError, match="not as a bool"):
        literal(True)
    with pytest.raises(ValueError, match="rows of t differ in length"):
        insert("t", [(1, 2), (1,)])
