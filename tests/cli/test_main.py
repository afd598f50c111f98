"""Command lines that need no model."""

import importlib.metadata
import io
import json
import re
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sqlwright as package
from sqlwright.doctor import confinement, room
from tests.cli.conftest import Outcome
from tests.cli.hostile import acting, texts

Command = Callable[..., Outcome]
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))


def test_help_and_version(sqlwright: Command) -> None:
    assert sqlwright("--version").out == f"sqlwright {package.__version__}\n"
    assert sqlwright().out == sqlwright("--help").out == sqlwright("-h").out
    assert sqlwright("ask", "--help").out.startswith("Usage: sqlwright ask [DATABASE] QUESTION")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["aks"], "Did you mean 'ask'?"),
        (["ask", "--nonsense"], "No such option: --nonsense"),
        (["ask", "a.db", "q", "--timeout", "soon"], "Invalid value for '--timeout'"),
        (["ask", "a.db", "q", "--timeout", "0.01"], "a number of seconds, 0.1 or more, not '0.01'"),
        (["ask", "a.db", "q", "--timeout", "soon"], "a number of seconds, 0.1 or more, not 'soon'"),
        (["ask", "a.db", "q", "--timeout", "nan"], "a number of seconds, 0.1 or more, not 'nan'"),
        (["ask", "a.db", "q", "--max-rows", "0"], "'--max-rows': it takes a whole number, 1 or"),
        (["ask", "a.db", "q", "--max-rows", "2.5"], "a whole number, 1 or more, not '2.5'"),
        (["evaluate", "--limit", "none"], "'-n': it takes a whole number, 1 or more, not 'none'"),
        (["trace", "--limit", "-3"], "it takes a whole number, 1 or more, not '-3'"),
        (["ask", "a.db", "q", "--json", "--csv"], "only one form of output"),
        (["ask", "how many orders?"], "no database was named"),
        (["prepare"], "no database was named"),
        (["evaluate"], "name one data set"),
        (["evaluate", "--data", "spider:.", "--resume"], "--resume needs the folder"),
        (["recipes", "explode"], "No such command 'explode'"),
        (["recipes", "explode"], "list, show"),
        (["recipes", "chase"], "sqlwright recipes show chase"),
        (["recipes", "mine.yaml"], "sqlwright recipes show mine.yaml"),
        (["recipes", "shw"], "list, show"),
        (["trace", "explode"], "trace can't 'explode'"),
    ],
)
def test_wrong_arguments_are_explained(
    sqlwright: Command, home: Path, arguments: list[str], message: str
) -> None:
    outcome = sqlwright(*arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert "hint" in outcome.err
    assert "Traceback" not in outcome.err
    assert not outcome.out


@pytest.mark.parametrize("command", ["ask", "sql", "chat", "prepare"])
@pytest.mark.parametrize(
    ("database", "message"),
    [
        ("missing.sqlite", "doesn't exist"),
        ("text.db", "not a SQLite database"),
        ("postgresql://u:secret@127.0.0.1:1/db", "refuse"),
    ],
)
def test_databases_that_cant_be_opened(
    sqlwright: Command,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    database: str,
    message: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select 1"))
    Path("text.db").write_text("id,name\n1,Ada\n" * 100)
    outcome = sqlwright(command, database)
    assert outcome.code == 3
    assert message in outcome.err
    assert "hint" in outcome.err
    assert "secret" not in outcome.err


def test_a_query_of_ones_own(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("sql", shop, "SELECT name, city FROM customers ORDER BY 1")
    assert outcome.code == 0
    assert outcome.out == (
        "  name  city\n  ────  ───────\n  Ada   München\n  Ben   Oslo\n  Cleo  NULL\n  3 rows\n"
    )
    assert not outcome.err


COMMENTED = "-- how many -- there are\nSELECT count(*) FROM orders -- all of them"


@pytest.mark.parametrize(
    "query",
    [
        COMMENTED,
        "--json\nSELECT count(*) FROM orders",
        "--no-option=1\nSELECT count(*) FROM orders",
        "--\nSELECT count(*) FROM orders",
        "/* how many */ SELECT count(*) FROM orders",
        "-- x\r\nSELECT count(*) FROM orders",
    ],
)
def test_a_query_that_begins_with_a_comment(
    sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    for words in (
        ("sql", shop, query, "--csv"),
        ("sql", "--csv", shop, query),
        ("sql", "-d", shop, query, "--csv"),
        ("sql", f"-d{shop}", "--csv", query),
        ("sql", "--csv", "--", shop, query),
    ):
        outcome = sqlwright(*words)
        assert (outcome.code, outcome.out.split()[-1:]) == (0, ["4"]), outcome.err
    for option in ("--check", "--explain"):
        assert sqlwright("sql", shop, option, query).code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(query))
    assert sqlwright("sql", shop, "--csv").out.split()[-1] == "4"


@pytest.mark.parametrize("query", ["-- only a comment", "/* only */", "-- a\n/* b */ -- c"])
def test_a_query_of_comments_only(
    sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    for words in ((query,), ("--check", query), ("--explain", query)):
        outcome = sqlwright("sql", shop, *words)
        assert outcome.code in {7, 12}
        assert "there is no query, only comments" in outcome.err
    monkeypatch.setattr("sys.stdin", io.StringIO(query))
    assert "there is no query, only comments" in sqlwright("sql", shop).err


def test_a_question_that_begins_with_a_dash_is_no_option(sqlwright: Command, home: Path) -> None:
    outcome = sqlwright("ask", "missing.sqlite", "- how many orders are open?")
    assert "doesn't exist" in outcome.err
    assert "No such option: --nonsense" in sqlwright("ask", "a.db", "q", "--nonsense").err


def test_a_query_from_standard_input(
    sqlwright: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1 AS one\n;\n"))
    assert sqlwright("sql", shop, "--csv").out == "one\n1\n"


def test_rows_as_json(sqlwright: Command, shop: Path) -> None:
    answer = json.loads(sqlwright("sql", shop, "SELECT total FROM orders", "--json").out)
    assert answer["rows"] == [[10.5], [20.25], [5.0], [None]]
    assert answer["columns"] == ["total"]


def test_max_rows(sqlwright: Command, shop: Path) -> None:
    outcome = sqlwright("sql", shop, "SELECT id FROM orders", "--max-rows", 2)
    assert "… 2 more of 4 rows: --max-rows" in outcome.out


def test_a_result_beyond_the_limit_is_marked(sqlwright: Command, shop: Path) -> None:
    query = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n"
    )
    assert "cut off here, there are more" in sqlwright("sql", shop, query).out
    assert "note cut off after 1,000 rows" in sqlwright("sql", shop, query, "--csv").err
    whole = sqlwright("sql", shop, query, "--csv", "--max-rows", 9000)
    assert len(whole.out.splitlines()) == 5001
    assert not whole.err


def test_a_check_says_what_is_read(sqlwright: Command, shop: Path) -> None:
    query = "SELECT name FROM customers JOIN orders ON customer_id = customers.id"
    outcome = sqlwright("sql", shop, "--check", query)
    assert outcome.code == 0
    assert "one query that only reads" in outcome.out
    assert "customers, orders" in outcome.out
    assert "plan" not in outcome.out
    assert "SCAN" in sqlwright("sql", shop, "--explain", query).out


@pytest.mark.parametrize("name", ["customers", "vault"])
def test_a_check_refuses_hidden_tables_as_a_run_does(
    sqlwright: Command, shop: Path, name: str
) -> None:
    query = f"SELECT * FROM {name}"
    for option in ((), ("--check",), ("--explain",)):
        outcome = sqlwright("sql", shop, "--tables", "orders", *option, query)
        assert (outcome.code, outcome.out) == (12, "")
        assert f"no such table: {name}" in outcome.err
    assert sqlwright("sql", shop, "--check", "SELECT * FROM customers").code == 0


@pytest.mark.parametrize("option", [(), ("--check",), ("--explain",), ("--json",)])
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("DELETE FROM orders", 7),
        ("SELECT 1; DROP TABLE orders", 7),
        ("ATTACH 'x.db' AS x", 7),
        ("SELECT nope FROM orders", 12),
    ],
)
def test_what_cant_be_run(
    sqlwright: Command, shop: Path, option: tuple[str, ...], query: str, code: int
) -> None:
    before = shop.read_bytes()
    outcome = sqlwright("sql", shop, query, *option)
    assert outcome.code == code
    assert outcome.err.startswith("error ")
    assert not outcome.out
    assert shop.read_bytes() == before
    assert sorted(path.name for path in shop.parent.iterdir()) == ["shop.sqlite"]


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("SELECT * FROM ordrs", "Did you mean orders?"),
        ("SELECT * FROM cust", "Did you mean customers?"),
        ("SELECT o.totl FROM orders o", "Did you mean orders.total?"),
        ("SELECT frobnicate FROM orders", "frobnicate"),
    ],
)
def test_names_that_arent_there_bring_the_nearest_to_mind(
    sqlwright: Command, shop: Path, query: str, meant: str
) -> None:
    for option in ((), ("--check",)):
        outcome = sqlwright("sql", shop, query, *option)
        assert outcome.code == 12
        assert meant in outcome.err


def test_prepare_then_purge(sqlwright: Command, shop: Path, home: Path) -> None:
    first = sqlwright("prepare", shop)
    assert first.code == 0
    assert "2 tables (2 read, 0 unchanged)" in first.err
    assert not first.out
    assert "(0 read, 2 unchanged)" in sqlwright("prepare", shop).err
    assert sqlwright("purge", shop).err.startswith("removed ")
    assert sqlwright("purge", shop).err.startswith("nothing was prepared in ")
    assert not list((home / "databases").iterdir())


def test_the_project_file_names_the_database(sqlwright: Command, shop: Path) -> None:
    Path("sqlwright.toml").write_text('database = "shop.sqlite"\n')
    assert sqlwright("sql", "SELECT count(*) FROM orders").code == 0
    Path("sqlwright.toml").write_text('databse = "shop.sqlite"\n')
    outcome = sqlwright("sql", "SELECT 1")
    assert outcome.code == 4
    assert "'databse'" in outcome.err


def test_recipes_can_be_listed_shown_and_used(sqlwright: Command, home: Path) -> None:
    assert sqlwright("recipes").out.startswith("local\n")
    shown = sqlwright("recipes", "show", "local")
    assert "name: local" in shown.out
    assert "#   generation.embedded.beam=8" in shown.out
    Path("mine.yaml").write_text(shown.out)
    assert sqlwright("recipes", "show", "mine.yaml").out.startswith(shown.out)
    unknown = sqlwright("recipes", "show", "locale")
    assert unknown.code == 4
    assert "did you mean 'local'" in unknown.err


def test_a_recipe_cant_run_code_unless_allowed(sqlwright: Command, home: Path) -> None:
    Path("evil.yaml").write_text("name: evil\nsteps: ['os:system', selection.first_valid]\n")
    outcome = sqlwright("recipes", "show", "evil.yaml")
    assert outcome.code == 4
    assert "--allow-code" in outcome.err


def test_no_traces_yet(sqlwright: Command, home: Path) -> None:
    assert sqlwright("trace").out == "no traces yet: ask something first\n"
    assert sqlwright("trace", "show").code == 5


def test_doctor_tries_the_guard(sqlwright: Command, shop: Path) -> None:
    report = json.loads(sqlwright("doctor", shop, "--json").out)
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert states["guard"] == states["limits"] == states["database"] == states["folder"] == "good"
    assert states["prepared"] == "fair"
    assert report["healthy"] is (states["models"] == "good")


@pytest.mark.parametrize(
    ("holds", "system", "state", "said"),
    [
        (
            ("limits", "no_new_privs", "landlock", "seccomp"),
            "Linux",
            "good",
            "can't write files, gain",
        ),
        (("limits", "no_new_privs", "seccomp"), "Linux", "fair", "without landlock"),
        (("limits",), "Darwin", "fair", "can't write files; Darwin has no more to offer"),
        ((), "Windows", "fair", "can't grow beyond SQLite's own limit"),
    ],
)
def test_doctor_says_what_confines_queries(
    holds: tuple[str, ...], system: str, state: str, said: str
) -> None:
    check = confinement(holds, system)
    assert (check.name, check.state) == ("confinement", state)
    assert said in check.found


def test_doctor_says_what_holds_here(sqlwright: Command, home: Path) -> None:
    report = json.loads(sqlwright("doctor", "--json").out)
    (check,) = [check for check in report["checks"] if check["name"] == "confinement"]
    assert check["state"] in {"good", "fair"}
    assert "confinement" in sqlwright("doctor").out


def test_doctor_says_what_is_wrong(sqlwright: Command, home: Path) -> None:
    outcome = sqlwright("doctor", "missing.sqlite")
    assert outcome.code == 12
    assert "✗ " in outcome.out
    assert "doesn't exist" in outcome.out


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("", "nothing is sent: the recipe local asks embedded models only"),
        (
            '[llm]\nmodel = "ollama/m"\nbase_url = "http://127.0.0.1:9/v1"\n',
            "only what is asked of ollama/m at http://127.0.0.1:9/v1 is sent",
        ),
        (
            'recipe = "local"\n[llm]\nmodel = "ollama/m"\n',
            "nothing is sent: the recipe local asks embedded models only",
        ),
        (
            'recipe = "baseline"\n',
            "nothing is sent: the recipe baseline asks a language model, and none is named",
        ),
    ],
)
def test_doctor_says_what_is_sent(sqlwright: Command, home: Path, project: str, said: str) -> None:
    Path("sqlwright.toml").write_text(project)
    report = json.loads(sqlwright("doctor", "--json").out)
    (network,) = [check for check in report["checks"] if check["name"] == "network"]
    assert network["state"] == "good"
    assert network["found"] == f"{said}; onnxruntime's telemetry is off"
    assert said in sqlwright("doctor").out


def test_doctor_blames_a_blocked_folder_once(sqlwright: Command, shop: Path, home: Path) -> None:
    home.write_text("not a folder")
    report = json.loads(sqlwright("doctor", shop, "--json").out)
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert (states["folder"], states["prepared"]) == ("bad", "fair")


@pytest.mark.parametrize(
    ("free", "state", "said"),
    [
        (8 << 30, "good", "writable, 8.0 GiB free"),
        (150 << 20, "fair", "the disk is nearly full, 150 MiB free"),
        (3 << 20, "bad", "the disk is full, 3 MiB free"),
    ],
)
def test_doctor_notices_a_full_disk(tmp_path: Path, free: int, state: str, said: str) -> None:
    check = room(tmp_path, free)
    assert (check.state, check.found.endswith(said)) == (state, True)
    assert ("SQLWRIGHT_HOME" in check.advice) is (state != "good")


def test_doctor_writes_its_advice_ready_to_copy(sqlwright: Command, shop: Path, home: Path) -> None:
    spaced = shop.rename(shop.with_name("my shop.sqlite"))
    assert f"sqlwright prepare '{spaced}'" in sqlwright("doctor", spaced).out


def test_an_unforeseen_error_is_short_and_debug_shows_it_all(
    sqlwright: Command, home: Path
) -> None:
    home.write_text("not a folder")
    Path("sub").mkdir()
    brief = sqlwright("evaluate", "--data", "spider:sub")
    assert brief.code == 6
    assert "Traceback" not in brief.err
    full = sqlwright("evaluate", "--data", "spider:sub", "--debug")
    assert full.code == 6
    assert "Traceback" in full.err


def test_hostile_values_and_names_of_a_real_database(sqlwright: Command, home: Path) -> None:
    stored = {
        name: text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")[:20_000]
        for name, text in texts().items()
    }
    names = list(dict.fromkeys(text[:80].casefold().replace('"', "") for text in stored.values()))
    columns = ", ".join(f'"{name}"' for name in names)
    path = Path.cwd() / "h.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f'CREATE TABLE "{names[0]}" ({columns})')
        for text in stored.values():
            row = ", ".join("?" * len(names))
            connection.execute(f'INSERT INTO "{names[0]}" VALUES ({row})', [text] * len(names))
        connection.commit()
    query = f'SELECT * FROM "{names[0]}"'
    for options in ((), ("--json",), ("--csv-safe",), ("--explain",), ("--check",)):
        outcome = sqlwright("sql", path, query, *options)
        assert outcome.code == 0
        assert acting(outcome.out + outcome.err) <= {"\n", "\t"}


@pytest.mark.parametrize("name", texts())
def test_hostile_arguments(sqlwright: Command, home: Path, name: str) -> None:
    # What a shell can hand on: no null bytes, and of surrogates those that stand for bytes.
    text = texts()[name].replace("\0", "").replace("\ud83d", "\udcf0")[:2_000]
    for arguments in (
        ["sql", f"{text[:100]}.db", "SELECT 1"],
        ["recipes", text],
        ["recipes", "show", f"{text[:100]}.yaml"],
        ["trace", "show", f"x{text}"],
        [f"x{text}"],
        ["ask", f"--{text}"],
        ["ask", text],
    ):
        outcome = sqlwright(*arguments)
        assert outcome.code not in (0, 1)
        assert acting(outcome.out + outcome.err) <= {"\n"}


def test_doctor_looks_for_every_library_that_the_package_needs(
    sqlwright: Command, home: Path
) -> None:
    needed = set(PROJECT["project"]["dependencies"])
    libraries = json.loads(sqlwright("doctor", "--json").out)["checks"]
    told = [check["found"] for check in libraries if check["name"] == "libraries"]
    names = {re.split(r"[<>=]", line)[0] for line in needed}
    assert [{word.split()[0] for word in found.split(", ")} for found in told] == [names]


def test_doctor_says_libraries_once_where_one_is_missing(
    sqlwright: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = importlib.metadata.version

    def lacking(name: str) -> str:
        if name == "rapidfuzz":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", lacking)
    checks = json.loads(sqlwright("doctor", "--json").out)["checks"]
    told = [(check["state"], check["found"]) for check in checks if check["name"] == "libraries"]
    assert told == [("bad", "missing: rapidfuzz")]
