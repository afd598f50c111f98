"""Preparing under other processes: killed at any moment, twice at once, on a full disk."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.errors import WorkspaceError
from sqlwright.indexes.text_vectors import open_file
from sqlwright.prepare import open_workspace, prepare, prepared_folder

WORK = (
    "import sys; from sqlwright.prepare import prepare\n"
    "print('ready', flush=True)\n"
    "made = prepare(sys.argv[1], progress=lambda event: print(event.stage, flush=True))\n"
    "print('read', len(made.read), flush=True)"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "many.db"
    connection = sqlite3.connect(path)
    for table in range(6):
        connection.execute(f"CREATE TABLE t{table} (id INTEGER PRIMARY KEY, a TEXT, b TEXT)")
        connection.executemany(
            f"INSERT INTO t{table} VALUES (?, ?, ?)",
            [(row, f"value {table} {row}", f"kind {row % 9}") for row in range(3_000)],
        )
    connection.commit()
    connection.close()
    return path


def started(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_killed_at_any_moment(database: Path) -> None:
    """After each kill the folder is whole: nothing prepared, or all of it."""
    drawn = random.Random(7)
    for _ in range(6):
        process = started(database)
        assert process.stdout is not None
        for _ in range(drawn.randrange(1, 25)):  # let it come so far
            if not process.stdout.readline():
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        workspace = open_workspace(str(database), seconds=60)
        assert workspace.values.search("value 3 77")[0].value == "value 3 77"
        workspace.database.close()
    made = prepare(str(database))
    assert made.values == 18_009
    left = {path.name for path in made.folder.iterdir()}
    assert len(left) == 6
    assert len(list((made.folder / "stages").iterdir())) == 6


def test_ctrl_c_resumes(database: Path) -> None:
    process = started(database)
    assert process.stdout is not None
    seen = 0
    while seen < 8 and process.stdout.readline():
        seen += 1
    process.send_signal(signal.SIGINT)
    process.communicate()
    made = prepare(str(database))
    assert made.values == 18_009


def test_two_at_once_keep_one_copy(database: Path) -> None:
    processes = [started(database), started(database)]
    outputs = [process.communicate()[0].splitlines() for process in processes]
    assert sorted(output[-1] for output in outputs) == ["read 0", "read 6"]
    assert {process.returncode for process in processes} == {0}
    folder = prepared_folder(str(database))
    assert len(list(folder.glob("values-*"))) == 1
    assert len(list(folder.glob("catalog-*"))) == 1
    assert sum("texts" in output for output in outputs) == 1
    assert open_file(folder / "texts.vectors") is not None
    assert not list(folder.glob("stages/texts-*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("a small disk can't be mounted here")
    yield place
    for _ in range(20):
        if subprocess.run(["umount", str(place)], capture_output=True, check=False).returncode == 0:
            break
        time.sleep(0.1)


def test_a_full_disk(database: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(small_disk))
    with pytest.raises(WorkspaceError, match="no room") as caught:
        prepare(str(database))
    assert caught.value.hint
    folder = prepared_folder(str(database))
    assert not (folder / "manifest.json").exists()
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]
    workspace = open_workspace(str(database), seconds=60)
    assert workspace.values.search("value 3 77")[0].value == "value 3 77"
    workspace.database.close()
