"""Everything kept is the user's alone, from its topmost folder on, whatever the umask says."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from platformdirs import user_cache_path

import sqlwright
from sqlwright.boundary.home import home, make_private
from sqlwright.cli.commands.demo import demo_database
from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.main import main
from sqlwright.errors import ConfigError, WorkspaceError
from tests.llm.server import ModelServer

BELOW = user_cache_path("sqlwright").relative_to(Path.home())
"""Where the folder lies under a user's own."""
CALLS = (
    ("ask", "{shop}", "How many customers are there?"),
    ("prepare", "{shop}"),
    ("chat", "{shop}"),
)
PROGRAM = """
import os, sys
os.umask(int(sys.argv.pop(1), 8))
from sqlwright.cli.main import run
run()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(place: Path, umask: str, *words: str, stdin: str = "") -> None:
    environ = {name: value for name, value in os.environ.items() if name != "SQLWRIGHT_HOME"}
    environ |= {"HOME": str(place), "XDG_CACHE_HOME": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, umask, *words],
        cwd=place, env=environ, input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def open_to_others(top: Path) -> dict[str, str]:
    """What others could look into or read, with its mode."""
    found = [top, *top.rglob("*")]
    return {
        str(path.relative_to(top)): oct(mode(path))
        for path in found
        if mode(path) != (0o700 if path.is_dir() else 0o600)
    }


@pytest.mark.parametrize("umask", ["000", "022"])
def test_what_is_made_is_the_user_s_alone(
    tmp_path: Path, database_files: dict[str, Path], umask: str
) -> None:
    for words in CALLS:
        run(tmp_path, umask, *(word.format(shop=database_files["shop"]) for word in words))
    assert {"traces", "databases"} <= {path.name for path in (tmp_path / BELOW).iterdir()}
    assert open_to_others(tmp_path / BELOW) == {}


def test_the_demo_database_is_the_user_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        demo_database(tmp_path / "demo")
    finally:
        os.umask(before)
    assert open_to_others(tmp_path / "demo") == {}


def test_a_folder_that_was_open_is_closed(tmp_path: Path, database_files: dict[str, Path]) -> None:
    """Versions before made the topmost one as the umask says."""
    top = tmp_path / BELOW
    (top / "databases").mkdir(parents=True)
    (top / "traces").mkdir()
    for folder in (top, top / "databases", top / "traces"):
        folder.chmod(0o755)
    above = mode(top.parent)
    run(tmp_path, "022", "ask", str(database_files["shop"]), "How many customers are there?")
    assert mode(top) == mode(top / "traces") == 0o700
    assert mode(top.parent) == above


def test_replies_are_the_user_s_alone(tmp_path: Path, database_files: dict[str, Path]) -> None:
    words = ["ask", str(database_files["shop"]), "How many?", "-r", "baseline"]
    with ModelServer(answer=lambda _: "```sql\nSELECT count(*) FROM customers\n```") as server:
        words += ["-m", "openai-compatible/m", "--base-url", server.url]
        run(tmp_path, "000", *words)
    assert list((tmp_path / BELOW / "replies").rglob("*.json"))
    assert open_to_others(tmp_path / BELOW) == {}


def test_a_folder_that_the_user_named_keeps_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be one that others need, such as the folder for temporary files."""
    named = tmp_path / "shared"
    named.mkdir()
    named.chmod(0o755)
    monkeypatch.setenv("SQLWRIGHT_HOME", str(named))
    assert home() == named
    make_private(home() / "databases" / "shop")
    assert mode(named) == 0o755
    assert mode(named / "databases") == mode(named / "databases" / "shop") == 0o700


def test_a_named_folder_that_is_made_is_the_user_s_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b" / "c")
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == mode(tmp_path / "a" / "b" / "c")
    assert mode(tmp_path / "a") == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders to others")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 54_321, 54_321)
    with pytest.raises(PermissionError, match="belongs to another user"):
        make_private(theirs)
    from sqlwright.prepare.storage import paths as places

    with pytest.raises(WorkspaceError, match="belongs to another user"):
        places.make_private(theirs)


@pytest.mark.parametrize("wrong", ["written by all", "of another user", "with a link"])
def test_a_home_that_others_could_change_is_refused(
    tmp_path: Path,
    wrong: str,
    database_files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    place, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    place.mkdir(mode=0o700)
    elsewhere.mkdir()
    if wrong == "written by all":
        place.chmod(0o777)
    elif wrong == "with a link":
        (place / "traces").symlink_to(elsewhere)
    elif os.geteuid() == 0:
        os.chown(place, 65_534, -1)
    else:
        pytest.skip("only root can give a folder away")
    monkeypatch.setenv("SQLWRIGHT_HOME", str(place))
    shop = str(database_files["shop"])
    for words in (["ask", shop, "How many customers?"], ["prepare", shop], ["trace", "list"]):
        assert main(words) == ConfigError.exit_code
    monkeypatch.delenv("SQLWRIGHT_HOME")
    with pytest.raises(ConfigError, match="can't hold what sqlwright keeps"):
        sqlwright.open(shop, home=place)
    monkeypatch.setenv("SQLWRIGHT_HOME", str(place))
    assert main(["doctor", shop]) == UNHEALTHY
    captured = capfd.readouterr()
    assert captured.out.count("Name a folder of your own") == 1
    assert captured.err.count("Name a folder of your own") == len(CALLS)
    assert not [*elsewhere.iterdir(), *(path for path in place.iterdir() if not path.is_symlink())]


def test_a_link_to_a_home_and_links_within_it_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real" / "disk").mkdir(parents=True)
    (tmp_path / "real" / "traces").symlink_to("disk")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    assert home() == tmp_path / "home"


def test_a_prepared_folder_that_isn_t_used_is_told(
    tmp_path: Path,
    database_files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path))
    shop = str(database_files["shop"])
    assert main(["prepare", shop]) == 0
    (folder,) = (tmp_path / "databases").iterdir()
    folder.chmod(0o777)
    capfd.readouterr()
    assert main(["doctor", shop]) == UNHEALTHY
    assert main(["ask", shop, "How many customers are there?"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert f"{folder} isn't used: others may write there" in told
    assert f"{folder} was not used: others may write there" in told
