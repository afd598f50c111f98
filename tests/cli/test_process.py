"""Whole processes: pipes, terminals, signals."""

import contextlib
import fcntl
import json
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

COMMAND = [sys.executable, "-m", "sqlwright"]
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


def typed(arguments: list[str], *lines: str) -> tuple[int, str]:
    """A command's exit code and what a terminal got, each line typed when a prompt is shown."""
    # A run in the background ignores Ctrl-C, and would hand that on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "dumb", "PYTHONPATH": PATH},
    )
    os.close(slave)
    received, waiting, seen = "", list(lines), 0
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        received += part.decode("utf-8").replace("\r\n", "\n")
        if waiting and re.search(r"(ask>|\[1\]) $", received[seen:]):
            seen, line = len(received), waiting.pop(0)
            if line == CTRL_C:  # this process isn't the terminal's own session
                interrupt(process)
            else:
                os.write(master, line.encode())
    os.close(master)
    return process.wait(30), received


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C as a person types it: again if one came between the prompt and the wait for a line,
    where it would only be noticed with the next line."""
    for _ in range(3):
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


CTRL_C, CTRL_D = "\x03", "\x04"
TWO_NAMES = "name and phone for Oslo"
ROOT = Path(__file__).parents[2]
PATH = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
READINGS = ["-r", str(ROOT / "tests/cases/asking_back/recipe.yaml"), "--allow-code"]


@pytest.mark.parametrize(
    ("line", "column"),
    [("\n", "customers.name"), ("2\n", "contacts.name"), ("the contact\n", "contacts.name")],
)
def test_a_question_is_asked_back_and_answered(office: Path, line: str, column: str) -> None:
    code, text = typed(["ask", str(office), TWO_NAMES, *READINGS], line)
    assert code == 0
    question, _, answer = text.partition("which? [1]")
    assert "By “name”, do you mean the customer's name or the contact's name?" in question
    assert "SELECT" not in question
    assert f"SELECT {column}, phone" in answer
    assert "assumed" not in answer


def test_a_line_that_chooses_nothing_is_asked_for_again(office: Path) -> None:
    code, text = typed(["ask", str(office), TWO_NAMES, *READINGS], "7\n", "name\n", "2\n")
    assert code == 0
    assert text.count("a number from 1 to 2, or words of one of them") == 2
    assert "SELECT contacts.name" in text


def test_ctrl_c_at_the_question_leaves(office: Path) -> None:
    code, text = typed(["ask", str(office), TWO_NAMES, *READINGS], CTRL_C)
    assert code == 130
    assert "SELECT" not in text
    assert "Traceback" not in text


def test_where_the_input_ends_the_likelier_reading_is_answered(office: Path) -> None:
    code, text = typed(["ask", str(office), TWO_NAMES, *READINGS], CTRL_D)
    assert code == 0
    asked, _, answer = text.partition("which? [1] ")
    assert "do you mean" in asked
    assert answer.startswith("\n\n")
    assert "SELECT customers.name" in answer
    assert "is taken as the customer's name" in " ".join(answer.split())


def test_without_questions_the_likelier_reading_is_answered(office: Path) -> None:
    code, text = typed(["ask", str(office), TWO_NAMES, *READINGS, "--no-questions"])
    assert code == 0
    assert "which?" not in text
    assert "SELECT customers.name" in text
    told = " ".join(text.split())
    assert "is taken as the customer's name; the contact's name gives 3 rows" in told


@pytest.mark.parametrize("form", ["--json", "--csv", "--sql-only"])
def test_what_programs_read_never_asks(office: Path, form: str) -> None:
    done = subprocess.run(
        [*COMMAND, "ask", str(office), TWO_NAMES, *READINGS, form],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": PATH},
        check=False,
    )
    assert done.returncode == 0
    if form == "--json":
        asked = json.loads(done.stdout)["question_back"]
        assert [one["text"] for one in asked["choices"]] == [
            "the customer's name",
            "the contact's name",
        ]
        assert asked["choices"][1]["sql"].startswith("SELECT contacts.name")
    else:
        assert "is taken as the customer's name" in done.stderr


def test_a_chat_asks_once_and_remembers(office: Path) -> None:
    lines = [f"{TWO_NAMES}\n", "2\n", "the name and the phone\n", ":quit\n"]
    code, text = typed(["chat", str(office), *READINGS, "--no-history"], *lines)
    assert code == 0
    assert text.count("do you mean") == 1
    assert "“name” is the contact's name, as before" in text
    assert text.count("SELECT contacts.name") == 2


def test_a_wrong_number_in_a_chat_is_asked_for_again(office: Path) -> None:
    lines = [f"{TWO_NAMES}\n", "7\n", "name\n", ":sql\n", "2\n", ":quit\n"]
    code, text = typed(["chat", str(office), *READINGS, "--no-history"], *lines)
    assert code == 0
    assert text.count("a number from 1 to 2, or words of one of them") == 2
    likelier, chosen = text.index("SELECT customers.name"), text.index("SELECT contacts.name")
    assert likelier < chosen


def test_a_new_question_in_a_chat_drops_the_one_asked_back(office: Path) -> None:
    lines = [f"{TWO_NAMES}\n", "How many customers are there?\n", ":quit\n"]
    code, text = typed(["chat", str(office), *READINGS, "--no-history"], *lines)
    assert code == 0
    assert text.count("do you mean") == 1
    assert "SELECT count(*)" in text
    assert "SELECT contacts.name" not in text


def test_a_question_loads_nothing_of_the_lab(shop: Path) -> None:
    look = (
        "import sys\n"
        "from sqlwright.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "print(code, *(name for name in sys.modules if name.startswith('sqlwright.lab')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look, "ask", str(shop), "How many orders are there?", "--sql-only"],
        capture_output=True,
        text=True,
        check=True,
    )
    code, *loaded = done.stdout.splitlines()[-1].split()
    assert code == "0"
    assert loaded == []
