"""Journals and write-ahead logs: fresh answers, and no byte of the folder changed."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.protocols import Run
from tests.database.conftest import SHOP, Opener, folder_state
from tests.database.test_files import another_program

COUNT = "SELECT count(*) FROM people"
WAL = "c.execute('PRAGMA journal_mode=WAL')"
INSERT = "c.execute('INSERT INTO people (name) VALUES (1)')"
CASES = Path(__file__).parents[1] / "cases" / "attacks"


def count(database: SqliteDatabase) -> object:
    result = database.execute(COUNT, Run())
    assert result.ok, result.error
    return result.rows[0][0]


def make(path: Path, *, mode: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.executescript(SHOP)
    connection.close()
    return path


def left_by_a_crash(folder: Path, script: str) -> Path:
    """A shop whose writer was killed in the middle of `script`."""
    path = make(folder / "shop.db", mode="DELETE")
    with another_program(path, script) as writer:
        writer.kill()
        writer.wait()
    return path


def with_log(folder: Path) -> Path:
    return left_by_a_crash(folder, f"{WAL}; {INSERT}")


def without_shared_memory(folder: Path) -> Path:
    path = with_log(folder)
    (folder / "shop.db-shm").unlink()
    return path


def with_hot_journal(folder: Path) -> Path:
    return left_by_a_crash(
        folder,
        "c.execute('PRAGMA cache_size=2'); c.execute('BEGIN')\n"
        "for i in range(3000): c.execute('INSERT INTO people (name) VALUES (?)', ('x' * 99,))",
    )


def with_empty_log(folder: Path) -> Path:
    path = make(folder / "shop.db", mode="WAL")
    (folder / "shop.db-wal").touch()
    return path


SITUATIONS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "rollback": (lambda folder: make(folder / "shop.db", mode="DELETE"), 3),
    "rollback, persistent journal": (lambda folder: make(folder / "shop.db", mode="PERSIST"), 3),
    "wal, closed": (lambda folder: make(folder / "shop.db", mode="WAL"), 3),
    "wal, empty log": (with_empty_log, 3),
    "wal, log left by a crash": (with_log, 4),
    "wal, log without shared memory": (without_shared_memory, 4),
    "hot journal left by a crash": (with_hot_journal, 3),
}


@pytest.mark.parametrize("read_only", [False, True], ids=["writable", "read-only"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_nothing_in_the_folder_changes(
    tmp_path: Path, opened: Opener, situation: str, read_only: bool
) -> None:
    make_one, expected = SITUATIONS[situation]
    folder = tmp_path / "data"
    folder.mkdir()
    path = make_one(folder)
    if read_only:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
    before = folder_state(folder)
    database = opened(path)
    assert count(database) == expected
    names = [table.name for table in database.schema().tables]
    assert names == ["people", "orders", "adults", "one", "notes", "boxes"]
    with database.reader() as connection:
        assert list(connection.rows(COUNT)) == [(expected,)]
    database.fingerprint()
    for file in sorted(CASES.glob("*writes.yaml")):
        for sql in yaml.safe_load(file.read_text(encoding="utf-8")):
            assert not database.execute(sql, Run()).ok
    database.close()
    after = folder_state(folder)
    folder.chmod(0o755)
    assert after == before


def test_answers_follow_a_live_writer(tmp_path: Path, opened: Opener) -> None:
    path = make(tmp_path / "shop.db", mode="DELETE")
    database = opened(path)
    seen = [count(database)]
    prints = [database.fingerprint()]

    def after(line: str) -> None:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(f"exec({line!r})\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "done\n"
        before = folder_state(tmp_path)
        seen.append(count(database))
        prints.append(database.fingerprint())
        assert folder_state(tmp_path) == before

    with another_program(path, "pass") as writer:
        after(INSERT)
        after(WAL)
        after(INSERT)
        after(INSERT)
        after("c.execute('PRAGMA wal_checkpoint(TRUNCATE)')")
        after(INSERT)
        # Refused at once while anybody reads; an idle reader soon lets go.
        after(
            "import time\n"
            "while c.execute('PRAGMA journal_mode').fetchone() != ('delete',):\n"
            "    time.sleep(0.05)\n"
            "    try: c.execute('PRAGMA journal_mode=DELETE')\n"
            "    except sqlite3.OperationalError: pass"
        )
        after(INSERT)
        after("c.execute('BEGIN'); " + INSERT)
        after("c.execute('COMMIT')")
    assert seen == [3, 4, 4, 5, 6, 6, 7, 7, 8, 8, 9]
    changed = [i for i in range(1, len(seen)) if seen[i] != seen[i - 1]]
    assert all(prints[i] != prints[i - 1] for i in changed)


def test_readers_see_whole_transactions_only(tmp_path: Path, opened: Opener) -> None:
    """A writer moves amounts about; their sum must never change."""
    path = tmp_path / "bank.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount INT)")
    connection.executemany("INSERT INTO accounts (amount) VALUES (?)", [(10,)] * 2000)
    connection.commit()
    connection.close()
    writer = (
        "import random, sqlite3, sys\n"
        "while True:\n"
        "    c = sqlite3.connect(sys.argv[1], timeout=60)\n"
        "    for _ in range(20):\n"
        "        a, b = random.sample(range(1, 2001), 2)\n"
        "        c.execute('UPDATE accounts SET amount = amount - 1 WHERE id = ?', (a,))\n"
        "        c.execute('UPDATE accounts SET amount = amount + 1 WHERE id = ?', (b,))\n"
        "        c.commit()\n"
        "    c.close()\n"  # checkpoints and removes the log when nobody else reads
    )
    database = opened(path)
    with subprocess.Popen([sys.executable, "-c", writer, str(path)]) as process:
        totals = [database.execute("SELECT sum(amount) FROM accounts", Run()) for _ in range(150)]
        process.kill()
    answers = {r.rows[0][0] if r.ok else (r.error and r.error.kind) for r in totals}
    assert 20_000 in answers
    assert answers <= {20_000, "unavailable"}


def test_private_copies_are_private_and_removed(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    folder = tmp_path / "data"
    folder.mkdir()
    database = opened(without_shared_memory(folder))
    assert count(database) == 4
    (copy,) = temporary.iterdir()
    assert copy.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in copy.iterdir())
    database.close()
    assert not list(temporary.iterdir())


def test_a_full_temporary_folder_is_explained(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    folder = tmp_path / "data"
    folder.mkdir()
    path = without_shared_memory(folder)
    with pytest.raises(Exception, match="can't be copied") as caught:
        opened(path)
    assert "temporary folder" in getattr(caught.value, "hint", "")


def test_copying_aside_leaves_the_original_usable(tmp_path: Path, opened: Opener) -> None:
    path = with_hot_journal(tmp_path)
    assert count(opened(path)) == 3
    fresh = tmp_path / "elsewhere"
    fresh.mkdir()
    for file in ("shop.db", "shop.db-journal"):
        shutil.copy(tmp_path / file, fresh / file)
    connection = sqlite3.connect(fresh / "shop.db")
    assert connection.execute(COUNT).fetchone() == (3,)
    connection.close()
