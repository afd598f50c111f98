"""Databases built once from their SQL text, and sessions over them with scripted models."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sqlwright import api
from sqlwright.api import Session
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Workspace
from tests.scripted import scripted_models

pytest_plugins = [
    "tests.passed", "tests.servers.mariadb", "tests.servers.postgres", "tests.servers.pooler",
]  # fmt: skip

# A busy machine is no defect. CI tries the same examples each time, everybody else new ones.
settings.register_profile("new", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same" if os.environ.get("CI") else "new")

# Preparing by the way has tests of its own; elsewhere it would take time and change what is tested.
os.environ["SQLWRIGHT_PREPARE"] = "false"

DATABASES = Path(__file__).parent / "databases"


def build_database(script: Path, path: Path) -> Path:
    """A SQLite file from a script."""
    connection = sqlite3.connect(path)
    try:
        connection.executescript(script.read_text(encoding="utf-8"))
    finally:
        connection.close()
    return path


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, as tests send it: what a shell starts with `&` ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def database_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every database under tests/databases, by name. Not to be written to."""
    folder = tmp_path_factory.mktemp("databases")
    return {
        script.stem: build_database(script, folder / f"{script.stem}.sqlite")
        for script in sorted(DATABASES.glob("*.sql"))
    }


@pytest.fixture(scope="session")
def shop_workspace(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    """The shop, opened unprepared."""
    absent = tmp_path_factory.mktemp("prepared") / "absent"
    workspace = open_workspace(str(database_files["shop"]), folder=absent)
    yield workspace
    workspace.database.close()


@pytest.fixture
def open_scripted(
    database_files: dict[str, Path], tmp_path: Path
) -> Iterator[Callable[..., Session]]:
    """Opens a session over a test database whose parser gives the named queries."""
    sessions: list[Session] = []

    def opened(*sql: str, database: str = "shop", **options: Any) -> Session:
        options.setdefault("models", scripted_models(*sql))
        options.setdefault("home", tmp_path / "home")
        session = api.open(database_files[database], **options)
        sessions.append(session)
        return session

    yield opened
    for session in sessions:
        session.close()
