"""Commands on every engine: `tests/cases/engines/commands.yaml`; logins that are accepted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from sqlwright import api
from sqlwright.cli.main import main
from tests.cli.rich import ENGINES, SCRIPTS, Rich, install_dialect, make_rich
from tests.servers.postgres import PostgresServer

CASES = yaml.safe_load((SCRIPTS / "commands.yaml").read_text("utf-8"))
ON_ENGINES = [
    pytest.param(case, engine, id=f"{case['name']} ({engine})")
    for case in CASES
    for engine in case.get("engines", ENGINES)
]


@pytest.fixture
def make(
    home: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Rich]]:
    """Makes the database on an engine; the one of `sqlalchemy` isn't accepted yet."""
    monkeypatch.syspath_prepend(str(install_dialect(tmp_path / "packages")))

    passwords: list[str] = []

    def made(engine: str) -> Rich:
        rich = make_rich(engine, request, tmp_path / "data")
        monkeypatch.setenv("SQLWRIGHT_DATABASE", rich.url)
        passwords.append(urlsplit(rich.url).password or "")
        return rich

    yield made
    for password in filter(None, passwords):
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or password.encode() not in path.read_bytes()


@pytest.mark.parametrize(("case", "engine"), ON_ENGINES)
def test_commands(
    case: dict[str, Any],
    engine: str,
    make: Callable[[str], Rich],
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rich = make(engine)
    if engine == "sqlalchemy":
        assert main(["sql", rich.url, "SELECT 1", "--accept-login"]) == 0
        capsys.readouterr()
    for step in case["steps"]:
        words = [rich.place(word.replace("{home}", str(home))) for word in step["run"]]
        monkeypatch.setattr("sys.stdin", io.StringIO(rich.place(step.get("input", ""))))
        code = main(words)
        told = capsys.readouterr()
        out, err = told.out, " ".join(told.err.split())
        assert code == step.get("code", 0), f"{words}: {out}{err}"
        assert "Traceback" not in err
        for part in step.get("out", ()):
            assert rich.place(part) in out, words
        for part in step.get("err", ()):
            assert part in err, words
        if "json" in step:
            found = json.loads(out)
            assert found["rows"][: len(step["json"]["rows"])] == step["json"]["rows"]


def test_a_login_is_accepted_once(
    make: Callable[[str], Rich], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rich = make("sqlalchemy")
    query = "SELECT count(*) FROM customers"
    for words in (["sql", rich.url, query], ["ask", rich.url, "How many customers are there?"]):
        assert main(words) == 4
        err = " ".join(capsys.readouterr().err.split())
        assert "nothing but the login itself is sure to keep this engine from writing" in err
        assert "--accept-login" in err
    assert main(["sql", rich.url, query, "--accept-login", "--csv"]) == 0
    assert main(["sql", rich.url, query, "--csv"]) == 0
    assert capsys.readouterr().out == "count\n3\n" * 2
    # Another login, and another database, aren't meant.
    user = urlsplit(rich.url).username or ""
    assert main(["sql", rich.url.replace(f"//{user}:", "//another:"), query]) == 4
    assert main(["sql", f"{rich.url}x", query]) == 4
    (kept,) = (home / "accepted_logins").read_text("utf-8").splitlines()
    assert kept.startswith(f"materialize://{user}@127.0.0.1:")


CHANGES = {
    "renamed": (
        "ALTER TABLE customers RENAME COLUMN name TO full_name",
        "List the names of all customers",
        "full_name",
        "customers.name is gone since the database was opened",
    ),
    "gone": (
        "ALTER TABLE visits RENAME TO visits_gone",
        "How many visits are there?",
        "visits_gone",
        "visits is gone since the database was opened",
    ),
}


@pytest.mark.parametrize(
    ("engine", "change"),
    [("postgres", "renamed"), ("postgres", "gone"), ("mariadb", "renamed"), ("files", "gone")],
)
def test_what_changes_between_two_questions(
    engine: str, change: str, make: Callable[[str], Rich], home: Path
) -> None:
    rich = make(engine)
    statement, question, name, told = CHANGES[change]
    with api.open(rich.url, home=home, prepare=False) as session:
        assert session.ask(question).status == "answered"
        rich.change(statement)
        answer = session.ask(question)
    assert answer.status == "answered", answer.message
    assert name in (answer.sql or "")
    assert any(told in note.text for note in answer.warnings)


OWN_FUNCTION = """
CREATE TABLE sales (id int PRIMARY KEY, total int);
CREATE TABLE wages (id int PRIMARY KEY);
INSERT INTO sales VALUES (1, 10), (2, 20);
CREATE FUNCTION net(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
"""
GOLDEN = """
- {id: net, question: "What is the net of all sales?", sql: "SELECT sum(net(total)) FROM sales"}
"""


def test_a_golden_set_calls_the_functions_and_reads_the_tables_that_are_named(
    home: Path,
    postgres_server: PostgresServer,
    postgres_database: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = postgres_server.url(postgres_database(OWN_FUNCTION))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SQLWRIGHT_DATABASE", url)
    Path("net.yaml").write_text(GOLDEN)
    lint = ["lab", "golden", "lint", "net.yaml", "--no-readings"]
    asked = ["evaluate", "net.yaml", "--json", "--out"]

    def unusable(*words: str) -> int:
        capsys.readouterr()
        main([*asked, *words])
        return int(json.loads(capsys.readouterr().out)["gold_does_not_run"])

    assert main(lint) == 12
    assert "net" in capsys.readouterr().out
    assert unusable("one") == 1
    monkeypatch.setenv("SQLWRIGHT_FUNCTIONS", "net")
    assert main(lint) == 0
    assert unusable("with") == 0
    assert main([*lint, "--tables", "wages"]) == 12
    assert unusable("hidden", "--tables", "wages") == 1
    capsys.readouterr()
    assert main(["evaluate", "net.yaml", "--out", "hidden", "--resume"]) != 0
    assert "another tables" in " ".join(capsys.readouterr().err.split())
    assert main(["ask", url, "How many sales are there?"]) == 0
    add = ["lab", "golden", "add", "more.yaml", "--last", "--with-result", "--sql"]
    assert main([*add, "SELECT net(4)"]) == 0
    monkeypatch.delenv("SQLWRIGHT_FUNCTIONS")
    assert main([*add, "SELECT net(6)"]) != 0
