"""What is kept is private, and what may not be read or written is told: as no superuser."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.prepare import prepare
from tests.conftest import DATABASES, build_database
from tests.database.conftest import folder_state
from tests.database.test_wal import SITUATIONS
from tests.ordinary import open_to_others, run_obeying

COMMAND = "import sys; from sqlwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
QUERY = ("sql", "--csv")
COUNT = "SELECT count(*) AS n FROM customers"
PEOPLE = "SELECT count(*) AS n FROM people"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that anybody may enter: pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="sqlwright-rights-"))
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def shop(place: Path) -> Path:
    folder = place / "data"
    folder.mkdir()
    return build_database(DATABASES / "shop.sql", folder / "shop.sqlite")


def test_powers_are_given_up(place: Path) -> None:
    secret = place / "secret"
    secret.write_text("x")
    secret.chmod(0)
    ended = run_obeying("import sys; open(sys.argv[1])", secret)
    assert "PermissionError" in ended.stderr
    assert open_to_others([place, secret]) in ([place], [])


def test_what_is_prepared_is_closed_to_others(
    place: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = place / "home"
    monkeypatch.setenv("SQLWRIGHT_HOME", str(home))
    folder = prepare(str(shop)).folder
    assert len(list(folder.rglob("*"))) > 3
    inside = [folder, *folder.rglob("*")]
    assert open_to_others(inside) == []
    # Nor by the modes of each alone, were the folders above it opened.
    assert not [path for path in inside if path.stat().st_mode & 0o077]


def test_a_place_for_prepared_data_that_cant_be_written(place: Path, shop: Path) -> None:
    closed = place / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    ended = run_obeying(COMMAND, "prepare", shop, home=closed / "home")
    assert ended.returncode == 5
    assert "can't be used: Permission denied" in " ".join(ended.stderr.split())
    assert "SQLWRIGHT_HOME" in ended.stderr
    assert not list(closed.iterdir())
    asked = run_obeying(COMMAND, *QUERY, shop, COUNT, home=closed / "home")
    assert (asked.returncode, asked.stdout.split()[0]) == (0, "n")


def test_doctor_blames_a_place_that_cant_be_written(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    ended = run_obeying(COMMAND, "doctor", home=closed / "home")
    assert ended.returncode == 12
    assert "can't be used: Permission denied" in " ".join(ended.stdout.split())


def test_a_database_in_a_folder_that_cant_be_written(place: Path, shop: Path) -> None:
    shop.chmod(0o444)
    shop.parent.chmod(0o555)
    before = shop.read_bytes()
    ended = run_obeying(COMMAND, *QUERY, shop, COUNT, home=place / "home")
    assert (ended.returncode, ended.stdout.split()[0]) == (0, "n")
    prepared = run_obeying(COMMAND, "prepare", shop, home=place / "home")
    assert prepared.returncode == 0, prepared.stderr
    assert [path.name for path in shop.parent.iterdir()] == ["shop.sqlite"]
    assert shop.read_bytes() == before


@pytest.mark.parametrize("situation", SITUATIONS)
def test_journals_and_logs_in_a_folder_that_cant_be_written(place: Path, situation: str) -> None:
    make_one, expected = SITUATIONS[situation]
    folder = place / "left"
    folder.mkdir()
    path = make_one(folder)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    before = folder_state(folder)
    ended = run_obeying(COMMAND, *QUERY, path, PEOPLE, home=place / "home")
    assert (ended.stdout, ended.returncode) == (f"n\n{expected}\n", 0), ended.stderr
    assert folder_state(folder) == before


@pytest.mark.parametrize("mode", [0o000, 0o200])
def test_a_database_that_cant_be_read(place: Path, shop: Path, mode: int) -> None:
    shop.chmod(mode)
    ended = run_obeying(COMMAND, *QUERY, shop, COUNT, home=place / "home")
    assert ended.returncode == 3
    assert "hint" in ended.stderr
    assert "read" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_folder_that_cant_be_entered(place: Path, shop: Path) -> None:
    shop.parent.chmod(0o600)
    ended = run_obeying(COMMAND, *QUERY, shop, COUNT, home=place / "home")
    assert ended.returncode == 3
    assert "hint" in ended.stderr
