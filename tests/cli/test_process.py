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


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no device here that is always full")
@pytest.mark.parametrize(
    "arguments",
    [
        ["sql", "shop.sqlite", "SELECT 1"],
        ["sql", "shop.sqlite", "SELECT 1", "--json"],
        ["sql", "shop.sqlite", MANY, "--csv"],
        ["sql", "shop.sqlite", "SELECT 1", "--check"],
        ["recipes"],
        ["recipes", "show", "local"],
        ["trace"],
        ["--help"],
        ["--version"],
        ["ask", "shop.sqlite", "How many customers are there?"],
        ["ask", "shop.sqlite", "How many customers are there?", "--json"],
        ["ask", "shop.sqlite", "How many customers are there?", "--csv"],
        ["ask", "shop.sqlite", "How many customers are there?", "--sql-only"],
        ["ask", "shop.sqlite", "How many customers are there?", "--explain"],
        ["chat", "shop.sqlite"],
    ],
    ids=" ".join,
)
def test_output_that_cant_be_written(shop: Path, arguments: list[str]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            input="How many customers are there?\n",
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    told = ("note", "local reads each question")  # where a chat stands
    errors = [line for line in done.stderr.splitlines() if not line.startswith(told)]
    assert done.returncode == 13
    assert errors[0] == "error       the output can't be written: No space left on device"
    assert errors[1].startswith("hint")
    assert len(errors) == 2


@pytest.mark.skipif(not FULL.exists(), reason="no device here that is always full")
def test_messages_that_cant_be_written_change_nothing(shop: Path) -> None:
    query = "SELECT count(*) FROM orders"
    for arguments, code, said in (
        (["sql", "shop.sqlite", query, "--csv"], 0, "count(*)\n4\n"),
        (["sql", "shop.sqlite", MANY, "--csv", "-d", "missing.sqlite"], 3, ""),
        (["ask", "--nonsense"], 2, ""),
    ):
        with FULL.open("w") as full:
            done = subprocess.run(
                [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=full, text=True, check=False
            )
        assert (done.returncode, done.stdout) == (code, said)


@pytest.mark.parametrize("closed", ["1", "2", "1 2", "0 1 2"])
def test_closed_streams_are_no_error(shop: Path, closed: str) -> None:
    close = "; ".join(f"os.close({number})" for number in closed.split())
    done = subprocess.run(
        [sys.executable, "-c", f"import os, sys; {close}; os.execv(sys.argv[1], sys.argv[1:])",
         *COMMAND, "sql", str(shop), "SELECT 1 AS one", "--csv"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == ("" if "1" in closed else "one\n1\n")


BROKEN = """
import sys, threading
{break_it}
from sqlwright.cli.main import run
run()
"""
STARTS = {
    "missing": "sys.executable = '/missing/python'",
    "nameless": "sys.executable = ''",
    "unknown": "sys.executable = None",
    "no program": "sys.executable = '/etc/hostname'",
}


@pytest.mark.parametrize("how", STARTS)
def test_a_process_that_cant_be_started(shop: Path, how: str) -> None:
    program = BROKEN.format(break_it=STARTS[how])
    for arguments, code in (
        (["sql", str(shop), "SELECT 1"], 3),
        (["ask", str(shop), "How many customers are there?", "--json"], 3),
        (["doctor", "--json"], 12),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "COLUMNS": "500"},
        )  # fmt: skip
        assert done.returncode == code
        said = " ".join((done.stdout + done.stderr).split())
        assert "the query's process can't be started" in said
        assert "interpreter" in said
        assert "Traceback" not in done.stderr


def test_a_thread_that_cant_be_started(shop: Path) -> None:
    program = BROKEN.format(break_it="threading.stack_size(1 << 47)")
    done = subprocess.run(
        [sys.executable, "-c", program, "sql", str(shop), "SELECT 1"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no further thread" in done.stderr
    assert "Traceback" not in done.stderr


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
