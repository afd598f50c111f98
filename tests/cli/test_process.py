"""Whole processes: pipes, terminals, signals."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from sqlwright.cli.main import run; run()"]
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT i FROM n"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def in_terminal(arguments: list[str], width: int, **environment: str) -> tuple[int, str]:
    """A command's exit code and what a terminal of that width got."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    )
    os.close(slave)
    received = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not part:
            break
        received += part
    os.close(master)
    return process.wait(30), received.decode("utf-8").replace("\r\n", "\n")


def test_a_reader_that_leaves_early_is_no_error(shop: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "sql", str(shop), MANY], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(30) == 141
    assert errors == b""


def test_colours_and_width_of_a_terminal(shop: Path) -> None:
    query = "SELECT name, city, 'a rather long text that will not fit' AS remark FROM customers"
    code, text = in_terminal(["sql", str(shop), query], 40)
    assert code == 0
    assert "\x1b[1mname" in text
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert max(map(len, shown.splitlines()[-6:])) <= 40
    assert "…" in shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_none_are_wanted(shop: Path, environment: dict[str, str]) -> None:
    code, text = in_terminal(["sql", str(shop), "SELECT NULL AS empty"], 80, **environment)
    assert code == 0
    assert "empty" in text
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", text)


def test_ascii_terminals_get_ascii(shop: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "sql", str(shop), "SELECT name, city FROM customers", "--max-rows", "1"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"M\\xfcnchen" in done.stdout
    assert b"... 2 more of 3 rows" in done.stdout


def test_ctrl_c_ends_a_query_at_once_and_leaves_no_process(shop: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "sql", str(shop), ENDLESS, "--timeout", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not (workers := _children(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in errors
    deadline = time.monotonic() + 10
    while any(_alive(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_alive(worker) for worker in workers)


def _children(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
