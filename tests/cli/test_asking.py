"""Questions on the command line, answered by the embedded models."""

import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sqlwright.cli.commands.demo import demo_database
from sqlwright.errors import ModelUnavailable, WorkspaceError
from sqlwright.local.models import EmbeddedModels
from tests.cli.conftest import Outcome
from tests.cli.test_process import COMMAND

Command = Callable[..., Outcome]
RECIPE = ("--recipe", "local-unscored")
"""It never abstains, so that these tests don't depend on how sure the models are."""
QUESTION = "How many customers are there?"


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    models = EmbeddedModels()
    for role in ("linker", "parser"):
        try:
            models[role]
        except ModelUnavailable as error:
            pytest.skip(f"this checkout lacks an embedded model: {error}")


def test_an_answer_for_reading(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("ask", shop, QUESTION, *RECIPE)
    assert outcome.code == 0
    for part in ("SELECT ", "how sure", "recipe local-unscored"):
        assert part in outcome.out
    assert not outcome.err


def test_the_reasoning(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright(
        "ask", shop, "List the names of customers in the city oslo", "--explain", *RECIPE
    )
    assert outcome.code == 0
    assert "\"oslo\" → customers.city = 'Oslo'" in outcome.out
    for part in ("Tables and columns it may need", "Candidates", "Time", "writing queries"):
        assert part in outcome.out


def test_one_answer_in_every_form(sqlwright: Command, shop: Path) -> None:
    answer = json.loads(sqlwright("ask", shop, QUESTION, "--json", *RECIPE).out)
    assert answer["status"] == "answered"
    assert answer["confidence"] is None  # nothing is fitted for this recipe
    assert answer["basis"]["kind"] == "none"
    sql = sqlwright("ask", shop, QUESTION, "--sql-only", *RECIPE).out
    assert sql.strip() == answer["sql"]
    rows = list(csv.reader(io.StringIO(sqlwright("ask", shop, QUESTION, "--csv", *RECIPE).out)))
    assert rows[0] == answer["columns"]
    assert rows[1:] == [[str(cell) for cell in row] for row in answer["rows"]]
    again = json.loads(sqlwright("sql", shop, sql, "--json").out)
    assert again["rows"] == answer["rows"]


def test_a_question_from_standard_input_without_the_word_ask(
    sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{QUESTION}\n"))
    assert sqlwright(shop, "--sql-only", *RECIPE).out.startswith("SELECT ")


def test_swapped_arguments_are_understood_and_told(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("ask", QUESTION, shop, "--sql-only", *RECIPE)
    assert outcome.out.startswith("SELECT ")
    assert "for the database; it is usually written first" in outcome.err


def test_the_database_of_the_project(sqlwright: Command, shop: Path) -> None:
    Path("sqlwright.toml").write_text('database = "shop.sqlite"\nrecipe = "local-unscored"\n')
    outcome = sqlwright(QUESTION)
    assert outcome.code == 0
    assert "recipe local-unscored" in outcome.out


def test_settings_can_be_changed_and_wrong_ones_are_explained(
    sqlwright: Command, shop: Path
) -> None:
    few = sqlwright("ask", shop, QUESTION, "--json", "--set", "generation.embedded.beam=1", *RECIPE)
    assert json.loads(few.out)["alternatives"] == []
    wrong = sqlwright("ask", shop, QUESTION, "--set", "generation.embedded.beem=1")
    assert wrong.code == 4
    assert "did you mean 'beam'" in wrong.err


@pytest.mark.parametrize(
    ("question", "code"), [("Delete all customers", 10), ("", 10), ("  ", 10), ("x" * 20_000, 10)]
)
def test_refusals(sqlwright: Command, shop: Path, question: str, code: int) -> None:
    before = shop.read_bytes()
    outcome = sqlwright("ask", "--database", shop, question)
    assert outcome.code == code
    assert outcome.out.startswith("no answer")
    assert json.loads(sqlwright("ask", "-d", shop, question, "--json").out)["status"] == "refused"
    assert shop.read_bytes() == before


def test_what_was_asked_can_be_looked_up(sqlwright: Command, shop: Path) -> None:
    first = json.loads(sqlwright("ask", shop, QUESTION, "--json", *RECIPE).out)
    sqlwright("ask", shop, "Drop the table orders")
    listed = sqlwright("trace").out.splitlines()
    assert len(listed) == 2
    assert "refused" in listed[0]
    assert QUESTION in listed[1]
    shown = sqlwright("trace", "show", first["trace_id"]).out
    for part in (QUESTION, "writing queries", first["sql"], "answered"):
        assert part in " ".join(shown.split())
    events = json.loads(sqlwright("trace", "show", first["trace_id"], "--json").out)
    assert events["id"] == first["trace_id"]
    assert len(json.loads(sqlwright("trace", "list", "--json").out)) == 2


def test_a_piped_chat(sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [QUESTION, ":sql", "", "Delete all customers", ":quit", "never reached"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    outcome = sqlwright("chat", shop, *RECIPE)
    assert outcome.code == 10
    assert f"> {QUESTION}\n" in outcome.out
    assert "no answer" in outcome.out
    assert "never reached" not in outcome.out


def test_ctrl_c_while_a_question_is_answered(shop: Path) -> None:
    for moment in (0.3, 0.9):
        with subprocess.Popen(
            [*COMMAND, "ask", str(shop), QUESTION, *RECIPE],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert process.returncode != 130 or b"Traceback" not in errors


def test_a_query_for_a_question_is_pointed_to_its_command(sqlwright: Command, shop: Path) -> None:
    asked = sqlwright("ask", shop, "SELECT name FROM customers", *RECIPE)
    assert "sqlwright sql runs a query" in asked.err
    assert "sqlwright sql" not in sqlwright("ask", shop, QUESTION, *RECIPE).err


@pytest.mark.slow
def test_a_disk_without_room_for_the_demo_is_called_full(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no room left"):
        demo_database(tmp_path / "demo", room=1 << 62)
    assert demo_database(tmp_path / "demo").is_file()


def test_the_demo(sqlwright: Command, home: Path) -> None:
    outcome = sqlwright("demo", *RECIPE)
    assert outcome.code == 0
    assert outcome.out.count("how sure") == 5
    assert "of 30 questions right" in outcome.out
    assert "sqlwright ask your.sqlite" in outcome.out
    assert list((home / "demo").glob("*.sqlite"))


@pytest.mark.skipif(os.name != "posix", reason="needs a limit on file sizes")
def test_a_demo_database_that_cant_be_written_is_a_plain_error(tmp_path: Path) -> None:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "from sqlwright.cli.main import main; sys.exit(main(['demo']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SQLWRIGHT_HOME": str(tmp_path), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 5
    assert "can't be written" in " ".join(ended.stderr.split())
    assert "SQLWRIGHT_HOME" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list((tmp_path / "demo").iterdir())


@pytest.mark.parametrize(("rows", "told"), [(999, 0), (1000, 0), (1001, 1)])
@pytest.mark.parametrize("form", ["", "--csv"])
def test_a_cut_result_is_told_once_and_a_whole_one_never(
    sqlwright: Command, home: Path, rows: int, told: int, form: str
) -> None:
    with closing(sqlite3.connect("items.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)")
        names = [(f"item {number}",) for number in range(rows)]
        connection.executemany("INSERT INTO items (name) VALUES (?)", names)
    options = [form] if form else []
    outcome = sqlwright("ask", "items.sqlite", "Show the name of all items", *options, *RECIPE)
    assert "item 998" in outcome.out
    assert (outcome.out + outcome.err).count("there are more") == told


@pytest.mark.parametrize("command", ["ask", "chat", "prepare"])
def test_a_database_without_tables_says_so(sqlwright: Command, home: Path, command: str) -> None:
    with closing(sqlite3.connect("bare.sqlite")) as connection:
        connection.executescript("CREATE TABLE t (a); DROP TABLE t;")
    words = ["How many?"] if command == "ask" else []
    outcome = sqlwright(command, "bare.sqlite", *words)
    assert outcome.code == 3
    assert "has no tables, so there is nothing to ask about" in outcome.err
    assert "hint" in outcome.err


def test_the_demo_business_as_a_file(sqlwright: Command, home: Path) -> None:
    outcome = sqlwright("demo", "--save", "my shop.sqlite")
    assert outcome.code == 0
    assert "sqlwright chat 'my shop.sqlite'" in outcome.out
    assert sqlwright("sql", "my shop.sqlite", "SELECT count(*) FROM orders").code == 0
    assert not home.exists()
    before = Path("my shop.sqlite").read_bytes()
    again = sqlwright("demo", "--save", "my shop.sqlite")
    assert again.code == 2
    assert "my shop.sqlite is there already" in again.err
    assert Path("my shop.sqlite").read_bytes() == before
    assert "there is no folder nowhere" in sqlwright("demo", "--save", "nowhere/a.sqlite").err


def test_a_second_question_is_told(sqlwright: Command, shop: Path) -> None:
    asked = "How many customers are there? Who has the highest total?"
    told = "one query answers one question: ask “Who has the highest total?” on its own"
    for options in ((), ("--csv",), ("--json",)):
        outcome = sqlwright("ask", shop, asked, *RECIPE, *options)
        assert (outcome.out + outcome.err).count(told) == 1
    assert "on its own" not in sqlwright("ask", shop, QUESTION, *RECIPE).out
