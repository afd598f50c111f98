"""A project file is obeyed only where its owner is somebody whom the user trusts anyway."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.settings.loading import load_settings
from sqlwright.settings.values import Settings
from tests.cli.conftest import Outcome

Command = Callable[..., Outcome]
STRANGER = 54_321
"""A user's number that is neither ours nor root's."""
OURS = '[llm]\nprivacy = "schema-only"\n'
THEIRS = '[llm]\nmodel = "openai-compatible/m"\nbase_url = "http://192.0.2.1:9/v1"\n'

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


def to_stranger(path: Path, *, link: bool = False) -> Path:
    os.chown(path, STRANGER, STRANGER, follow_symlinks=not link)
    return path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@as_root
@pytest.mark.parametrize("place", [".", "inner/most"], ids=["here", "above"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sqlwright.toml", THEIRS),
        ("sqlwright.toml", "not toml ["),
        ("pyproject.toml", THEIRS.replace("[llm]", "[tool.sqlwright.llm]")),
    ],
)
def test_another_user_s_file_is_left_alone(
    tmp_path: Path, place: str, name: str, text: str
) -> None:
    file = to_stranger(write(tmp_path / "theirs" / name, text))
    folder = file.parent / place
    folder.mkdir(parents=True, exist_ok=True)
    settings = load_settings(folder=folder)
    assert settings.llm == Settings().llm
    assert settings.file is None
    (note,) = settings.notes
    assert f"{file} was left alone" in note
    assert f"user {STRANGER}" in note
    assert f"SQLWRIGHT_PROJECT={file}" in note


@as_root
def test_a_file_further_up_still_holds(tmp_path: Path) -> None:
    """Who puts a file in between can't take the user's own away, such as its privacy."""
    write(tmp_path / "sqlwright.toml", OURS)
    to_stranger(write(tmp_path / "inner" / "sqlwright.toml", THEIRS))
    settings = load_settings(folder=tmp_path / "inner")
    assert settings.llm.privacy == "schema-only"
    assert settings.llm.base_url == ""
    assert len(settings.notes) == 1


@as_root
def test_a_pyproject_without_our_table_is_nobody_s_business(tmp_path: Path) -> None:
    to_stranger(write(tmp_path / "pyproject.toml", "[tool.other]\nx = 1\n"))
    assert load_settings(folder=tmp_path).notes == ()


@as_root
def test_who_runs_as_root_by_sudo_is_still_who_they_are(tmp_path: Path) -> None:
    to_stranger(write(tmp_path / "sqlwright.toml", OURS))
    mine = load_settings(folder=tmp_path, environ={"SUDO_UID": str(STRANGER)})
    assert mine.llm.privacy == "schema-only"
    assert load_settings(folder=tmp_path, environ={"SUDO_UID": "12"}).notes
    assert load_settings(folder=tmp_path, environ={"SUDO_UID": "me"}).notes


@as_root
def test_a_link_of_a_stranger_to_a_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    """Its paths would be relative to the stranger's folder."""
    mine = write(tmp_path / "mine" / "sqlwright.toml", OURS)
    (tmp_path / "theirs").mkdir()
    link = tmp_path / "theirs" / "sqlwright.toml"
    link.symlink_to(mine)
    assert load_settings(folder=link.parent).file == link
    to_stranger(link, link=True)
    assert load_settings(folder=link.parent).notes


@pytest.mark.parametrize(("mode", "obeyed"), [(0o644, True), (0o664, True), (0o646, False)])
def test_a_file_that_everybody_may_write_is_left_alone(
    tmp_path: Path, mode: int, obeyed: bool
) -> None:
    file = write(tmp_path / "sqlwright.toml", 'functions = ["net_price"]\n' + OURS)
    file.chmod(mode)
    settings = load_settings(folder=tmp_path)
    assert (settings.llm.privacy == "schema-only") == obeyed
    assert settings.functions == ("net_price",) * obeyed
    assert ["every user may write it" in note for note in settings.notes] == [True] * (not obeyed)


@as_root
def test_a_file_that_is_named_is_trusted(tmp_path: Path) -> None:
    file = to_stranger(write(tmp_path / "theirs" / "sqlwright.toml", THEIRS))
    settings = load_settings(folder=tmp_path, environ={"SQLWRIGHT_PROJECT": str(file)})
    assert settings.llm.base_url == "http://192.0.2.1:9/v1"
    assert (settings.file, settings.notes) == (file, ())


def test_a_file_that_is_named_comes_before_those_around(tmp_path: Path) -> None:
    write(tmp_path / "sqlwright.toml", OURS)
    named = write(tmp_path / "other" / "pyproject.toml", "[tool.sqlwright]\nseconds = 3\n")
    settings = load_settings(folder=tmp_path, environ={"SQLWRIGHT_PROJECT": str(named)})
    assert (settings.seconds, settings.llm.privacy) == (3, "full")
    for missing in (tmp_path / "no.toml", tmp_path):
        with pytest.raises(ConfigError, match="can't be read"):
            load_settings(folder=tmp_path, environ={"SQLWRIGHT_PROJECT": str(missing)})
    empty = write(tmp_path / "empty" / "pyproject.toml", "[tool.other]\n")
    with pytest.raises(ConfigError, match=r"has no table \[tool.sqlwright\]"):
        load_settings(folder=tmp_path, environ={"SQLWRIGHT_PROJECT": str(empty)})


@as_root
def test_the_commands_say_so_once(
    sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(":quit\n"))
    file = to_stranger(write(Path("sqlwright.toml"), 'tables = ["orders"]\n' + THEIRS))
    for words in (
        ("sql", shop, "SELECT count(*) FROM customers"),
        ("ask", shop, "How many customers are there?"),
        ("chat", shop),
        ("prepare", shop),
        ("trace",),
        ("doctor",),
        ("purge", shop),
    ):
        outcome = sqlwright(*words)
        assert outcome.code == 0, outcome.err
        assert outcome.err.count("was left alone") == 1, words
        assert f"SQLWRIGHT_PROJECT={Path.cwd() / file}" in outcome.err
    told = sqlwright("sql", "SELECT 1")
    assert told.code == 2
    assert "no database was named" in told.err
    assert "was left alone" in told.err
