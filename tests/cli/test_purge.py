"""Removing what was kept: about one database, the traces, or everything."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.catalog.descriptions import DescribedColumn
from sqlwright.cli.commands.demo import demo_database
from sqlwright.lab.datasets.describing import written_descriptions
from tests.cli.conftest import Outcome
from tests.llm.server import ModelServer

Command = Callable[..., Outcome]
QUESTION = "How many customers are there?"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def used(sqlwright: Command, shop: Path, home: Path, temporary: Path) -> Path:
    """The home after every command that keeps something."""
    assert sqlwright("prepare", shop).code == 0
    assert sqlwright("ask", shop, QUESTION).code == 0
    demo_database(home / "demo")
    with ModelServer(answer=lambda _: "```sql\nSELECT count(*) FROM customers\n```") as server:
        model = ["-r", "baseline", "-m", "openai-compatible/m", "--base-url", server.url]
        assert sqlwright("ask", shop, QUESTION, *model, "--record", "mine.jsonl").code == 0
    (home / "chat_history").write_text("How many?\n")
    written_descriptions({"customers": [DescribedColumn("name", "", "the name")]})
    kept = {path.name for path in home.iterdir()}
    assert kept == {"databases", "traces", "replies", "demo", "chat_history", "descriptions"}
    return home


def test_everything_goes(sqlwright: Command, used: Path, shop: Path) -> None:
    before = shop.read_bytes()
    size = sum(path.stat().st_size for path in used.rglob("*") if path.is_file())
    outcome = sqlwright("purge", "--all", "--yes")
    assert outcome.code == 0
    assert not used.exists()
    assert shop.read_bytes() == before
    assert Path("mine.jsonl").exists()
    assert "what was prepared for 1 database, " in outcome.err
    assert "the traces of 2 questions" in outcome.err
    assert "1 kept reply of language models, " in outcome.err
    assert "the lines typed in chats" in outcome.err
    assert "the demo database" in outcome.err
    assert "the descriptions of 1 measured database" in outcome.err
    assert any(
        f"{text} in all" in outcome.err
        for text in (f"{size / 1e6:,.1f} MB", f"{size / 1e3:,.1f} kB")
    )
    assert "--record" in outcome.err
    again = sqlwright("purge", "--all", "--yes")
    assert again.code == 0
    assert "nothing is kept in" in again.err


def test_what_isnt_ours_stays(sqlwright: Command, used: Path) -> None:
    others = [used / "notes.txt", used / "databases" / "mine" / "a.txt", used / "traces" / "b.txt"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    outcome = sqlwright("purge", "--all", "--yes")
    assert outcome.code == 0
    assert sorted(p for p in used.rglob("*") if p.is_file()) == sorted(others)
    assert "3 files stay that sqlwright didn't write" in outcome.err


def test_links_are_not_followed(sqlwright: Command, used: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "aa").mkdir(parents=True)
    (outside / "aa" / "x.json").write_text("mine")
    (outside / "y.jsonl").write_text("mine")
    (outside / "manifest.json").write_text("mine")
    (used / "replies" / "linked").symlink_to(outside)
    (used / "databases" / "linked").symlink_to(outside)
    (used / "traces" / "z.jsonl").symlink_to(outside / "y.jsonl")
    assert sqlwright("purge", "--all", "--yes").code == 0
    assert len([path for path in outside.rglob("*") if path.is_file()]) == 3


def test_only_traces_go(sqlwright: Command, used: Path) -> None:
    outcome = sqlwright("purge", "--traces")
    assert outcome.code == 0
    assert "removed the traces of 2 questions" in outcome.err
    kept = {path.name for path in used.iterdir() if any(path.iterdir() if path.is_dir() else "x")}
    assert kept == {"databases", "replies", "demo", "chat_history", "descriptions"}
    assert "no traces" in sqlwright("purge", "--traces").err


def test_it_asks_first_where_somebody_can_answer(
    sqlwright: Command, used: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = sqlwright("purge", "--all")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert (used / "traces").exists()
    for answer, gone in (("n\n", False), ("\n", False), ("y\n", True)):
        done = _on_a_terminal(answer)
        assert "would remove the traces of 2 questions" in done
        assert "Remove all this?" in done
        assert used.exists() != gone


def _on_a_terminal(answer: str) -> str:
    """What `purge --all` says where it is answered so."""
    here, there = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from sqlwright.cli.main import run; run()", "purge", "--all"],
        stdin=there, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    os.close(there)
    os.write(here, answer.encode())
    out, _ = process.communicate(timeout=60)
    os.close(here)
    return out


@pytest.mark.parametrize("words", [("--all", "shop.sqlite"), ("--traces", "shop.sqlite")])
def test_a_database_and_everything_dont_go_together(
    sqlwright: Command, shop: Path, words: tuple[str, ...]
) -> None:
    assert sqlwright("purge", *words).code == 2
    assert sqlwright("purge", "--all", "--traces").code == 2
    assert sqlwright("purge", shop, "--yes").code == 0


def test_copies_of_processes_that_ended_go(sqlwright: Command, home: Path, temporary: Path) -> None:
    """A private copy of a database outlives a process that was killed."""
    left, held, theirs = (temporary / f"sqlwright-{name}" for name in ("left", "held", "theirs"))
    for folder in (left, held, theirs):
        folder.mkdir(mode=0o700)
        (folder / "copy.db").write_bytes(b"SQLite format 3\0" + bytes(4096))
    (theirs / "novel.txt").write_text("mine")
    (temporary / "sqlwright-file").write_text("mine")
    with (held / "copy.db").open("rb") as open_file:
        fcntl.flock(open_file, fcntl.LOCK_SH)
        outcome = sqlwright("purge", "--all", "--yes")
        assert outcome.code == 0
        assert not left.exists()
        assert held.exists()
    assert theirs.exists()
    assert "1 temporary copy of a database" in outcome.err
