"""Files that come from anybody: nothing of them crashes, fills or hangs the caller, or changes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable, SqlwrightError
from sqlwright.protocols import Run
from tests.database.conftest import Opener, folder_state, make_database
from tests.database.hostile import SPECIAL, hostile_files, special_file
from tests.database.test_wal import with_hot_journal, without_shared_memory
from tests.database.test_worker import ended
from tests.waiting import comes

VISITED = """
import json, sys, time
from pathlib import Path
from sqlwright.errors import SqlwrightError
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Run

def most_memory():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024

def visit(path, home):
    try:
        workspace = open_workspace(str(path), folder=home, run=Run(seconds=2))
        for table in workspace.schema.tables[:5]:
            name = table.name.replace('"', '""')
            workspace.database.execute(f'SELECT * FROM "{name}" LIMIT 3', Run(seconds=2))
        workspace.database.close()
    except SqlwrightError as error:
        return str(error)
    return "opened"

for line in sys.stdin:
    path, home = json.loads(line)
    before = most_memory()
    started = time.monotonic()
    said = visit(path, Path(home))
    if len(sys.argv) > 1:
        try:
            prepare(path, folder=Path(home), run=Run(seconds=10))
        except SqlwrightError as error:
            said += "; prepare: " + str(error)
    print(json.dumps([said, time.monotonic() - started, most_memory() - before]), flush=True)
"""
"""Opens, asks and (with an argument) prepares what it is told of, and says how that went: what was
said, seconds, and by how many MiB its most memory grew."""


def visited(
    files: list[tuple[str, Path]], home: Path, *options: str
) -> list[tuple[str, float, int]]:
    """What came of opening, asking and preparing files, in one process for all of them."""

    asked = "".join(
        json.dumps([str(path), str(home / str(number))]) + "\n"
        for number, (_, path) in enumerate(files)
    )
    done = subprocess.run(
        [sys.executable, "-c", VISITED, *options],
        input=asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.timeout(300)
def test_hostile_files_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    files = list(hostile_files(folder, count=12, seed=7))
    before = {path: regular_state(path.parent) for _, path in files}
    results = visited(files, tmp_path / "home")
    assert len(results) == len(files)
    for (kind, path), (said, _, grown) in zip(files, results, strict=True):
        assert regular_state(path.parent) == before[path], kind
        assert grown < 200, (kind, said)


def regular_state(folder: Path) -> dict[str, tuple[int, str]]:
    """`folder_state` of what can be read, and the names of the rest."""
    aside = {p.name: (0, "") for p in folder.iterdir() if p.is_symlink() or not p.is_file()}
    if not aside:
        return folder_state(folder)
    plain = {p.name: (p.stat().st_size, p.read_bytes().hex()) for p in folder.iterdir()
             if p.name not in aside}  # fmt: skip
    return aside | plain


@pytest.mark.parametrize("kind", SPECIAL)
def test_what_lies_beside_a_file_is_no_trap(kind: str, tmp_path: Path) -> None:
    path = special_file(tmp_path, kind)
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(str(path))
    told = "names another file" if "names" in kind else "is not a regular file"
    assert told in str(caught.value)
    assert caught.value.hint
    victim = path.parent / "victim"
    assert not victim.exists() or victim.read_bytes() == b"keep"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no signals to kill with")
@pytest.mark.parametrize("make", [without_shared_memory, with_hot_journal])
def test_a_copy_does_not_outlive_a_killed_caller(make: object, tmp_path: Path) -> None:
    folder, temporary = tmp_path / "data", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    path = make(folder)  # type: ignore[operator]
    code = (
        "import os, sys\n"
        "from sqlwright.database import open_database\n"
        "database = open_database(sys.argv[1])\n"
        "print(len(os.listdir(os.environ['TMPDIR'])), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "1\n"
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert comes(lambda: not list(temporary.iterdir()))


def test_a_copy_left_behind_is_removed_by_the_next(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, temporary = tmp_path / "data", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    first = opened(without_shared_memory(folder))
    assert first.execute("SELECT 1", Run()).ok
    (living,) = temporary.iterdir()
    left = temporary / "sqlwright-copy-left"
    left.mkdir()
    (left / "copy.db").write_text("stored values")
    (left / "owner").touch()
    elsewhere = tmp_path / "more"
    elsewhere.mkdir()
    second = opened(without_shared_memory(elsewhere))
    assert second.execute("SELECT 1", Run()).ok
    assert not left.exists()
    assert living.exists()
    assert len(list(temporary.iterdir())) == 2


def test_a_file_overwritten_in_place_is_noticed(tmp_path: Path, opened: Opener) -> None:
    script = "CREATE TABLE t (a); INSERT INTO t VALUES ('{}')"
    old = make_database(tmp_path / "old.db", script.format("old"))
    new = make_database(tmp_path / "new.db", script.format("new"))
    assert old.read_bytes()[24:28] == new.read_bytes()[24:28]
    path = tmp_path / "shop.db"
    shutil.copyfile(old, path)
    database = opened(path)
    assert database.execute("SELECT a FROM t", Run()).rows == (("old",),)
    with path.open("r+b") as file:
        file.write(new.read_bytes())
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))
    assert database.execute("SELECT a FROM t", Run()).rows == (("new",),)


@pytest.mark.parametrize("address", ["file:/x%00y", "sqlite:////x%00y", "sqlite:///%00"])
def test_an_address_with_a_nul(address: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="NUL"):
        open_database(address)


def test_a_link_to_itself(tmp_path: Path) -> None:
    from sqlwright import api

    link = tmp_path / "loop.db"
    link.symlink_to(link)
    for use in (lambda: open_database(str(link)), lambda: api.open(str(link), home=tmp_path)):
        with pytest.raises(SqlwrightError, match="can't be reached"):
            use()


def test_reading_stops_at_the_deadline(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE t (a); CREATE VIEW v0 AS SELECT 1 AS a, 2 AS b;"
        + "".join(
            f"CREATE VIEW v{i} AS SELECT x.a, y.b FROM v{i - 1} x, v{i - 1} y WHERE x.a = y.b;"
            for i in range(1, 25)
        )
    )
    connection.close()
    with open_database(str(path)) as database:
        with pytest.raises(DatabaseUnavailable, match="takes too long"):
            database.schema(seconds=0.5)
        assert all(not ended(pid) for pid in database.worker_pids)


def test_reading_survives_killed_workers(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    for _ in range(5):
        assert database.execute("SELECT 1", Run()).ok
        for pid in database.worker_pids:
            os.kill(pid, signal.SIGKILL)
        assert len(database.schema().tables) == 6
