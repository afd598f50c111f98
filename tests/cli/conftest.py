import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlwright.cli.main import main

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), status TEXT, total REAL
);
INSERT INTO customers VALUES (1, 'Ada', 'München'), (2, 'Ben', 'Oslo'), (3, 'Cleo', NULL);
INSERT INTO orders VALUES
    (1, 1, 'SHIPPED', 10.5), (2, 1, 'OPEN', 20.25), (3, 2, 'SHIPPED', 5), (4, 3, 'SHIPPED', NULL);
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in, with a place of its own for prepared data."""
    for name in ("SQLWRIGHT_DATABASE", "SQLWRIGHT_PROJECT", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(place)
    return tmp_path / "home"


@pytest.fixture
def shop(home: Path) -> Path:
    """A little database in the working folder."""
    path = Path.cwd() / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
    return path


@pytest.fixture
def office(home: Path) -> Path:
    """A database in which customers and contacts have names, in the working folder."""
    script = Path(__file__).parents[1] / "cases" / "asking_back" / "office.sql"
    path = Path.cwd() / "office.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script.read_text("utf-8"))
    return path


class Outcome:
    """What a command line gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = " ".join(err.split())
        """In one line, so that tests don't depend on where it wraps."""


@pytest.fixture
def sqlwright(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command line in this process."""

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
