"""What `--csv` and `--json` hold: every value as it is stored, whatever it is."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sqlwright as package
from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.views.ask import show
from tests.cli import hostile
from tests.cli.answers import ANSWER, REFUSED
from tests.cli.conftest import Outcome
from tests.cli.rendering import screen

Command = Callable[..., Outcome]
LONG = "long " * 1_000
TEXTS = (
    "plain", "", " padded ", "=1+1", "-1", "+49 89 123", "@SUM(A1)", "\t=1", "'quoted'", 'a "b" c',
    "a,b", "one\ntwo", "one\r\ntwo", "one\rtwo", "\x1b[31mred", "\u202eback", "null\0inside",
    "Ødegård 山田", "2024-03-03", "0012", "1e5", "base64:AA==", LONG,
)  # fmt: skip
OTHERS = (None, 0, -5, 2**63 - 1, -(2**63), 0.1, -0.5, 1e300, 1 / 3, math.inf, b"", b"\x00\xff")


@pytest.fixture
def stored(home: Path) -> Path:
    """One table `t (n, v)` with a row for each value."""
    assert not home.exists()
    path = Path.cwd() / "values.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (n INTEGER, v)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate((*TEXTS, *OTHERS)))
        connection.commit()
    return path


def fields(text: str) -> list[tuple[str, bool]]:
    """The second field of each record and whether it stands in quotes, read as RFC 4180 says."""
    header, _, body = text.partition("\n")
    assert header == "n,v"
    found = []
    while body:
        _, _, body = body.partition(",")
        if body.startswith('"'):
            end, value = 1, ""
            while True:
                closing_quote = body.index('"', end)
                value += body[end:closing_quote]
                end = closing_quote + 1
                if body[end : end + 1] != '"':
                    break
                value += '"'
                end += 1
            assert body[end] == "\n"
            found.append((value, True))
            body = body[end + 1 :]
        else:
            value, _, body = body.partition("\n")
            assert not set(value) & set('",\r\n')
            found.append((value, False))
    return found


def test_csv_is_exact(sqlwright: Command, stored: Path) -> None:
    found = fields(sqlwright("sql", stored, "SELECT * FROM t ORDER BY n", "--csv").out)
    assert [value for value, _ in found[: len(TEXTS)]] == list(TEXTS)
    others = found[len(TEXTS) :]
    assert others[0] == ("", False)  # NULL
    assert found[TEXTS.index("")] == ("", True)
    assert [int(value) for value, _ in others[1:5]] == list(OTHERS[1:5])
    assert [float(value) for value, _ in others[5:10]] == list(OTHERS[5:10])
    assert others[10:] == [("base64:", False), ("base64:AP8=", False)]


def test_csv_read_by_others_is_what_is_stored(sqlwright: Command, stored: Path) -> None:
    out = sqlwright("sql", stored, "SELECT v FROM t WHERE n < 20 ORDER BY n", "--csv").out
    assert [row[0] for row in csv.reader(io.StringIO(out, newline=""))][1:] == list(TEXTS[:20])


def test_csv_for_spreadsheets_holds_no_formula(sqlwright: Command, stored: Path) -> None:
    out = sqlwright("sql", stored, "SELECT * FROM t ORDER BY n", "--csv-safe").out
    assert not hostile.acting(out) - {"\n", "\t"}
    values = [value for value, _ in fields(out)]
    for text in ("=1+1", "-1", "+49 89 123", "@SUM(A1)", "\t=1"):
        assert values[TEXTS.index(text)] == f"'{text}"
    assert values[TEXTS.index("plain")] == "plain"
    assert values[len(TEXTS) + 2] == "-5"


def test_csv_on_a_terminal_acts_on_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    answer = replace(ANSWER, columns=("v",), rows=(("\x1b[31m=1",), ("=2",)))
    show(screen(80), AnswerAndState(answer), "csv")
    shown = capsys.readouterr().out
    assert not hostile.acting(shown) - {"\n"}
    assert shown == "v\n␛[31m=1\n=2\n"


def test_json_is_exact(sqlwright: Command, stored: Path) -> None:
    answer = json.loads(
        sqlwright("sql", stored, "SELECT v, v, n AS v FROM t ORDER BY n", "--json").out
    )
    assert answer["columns"] == ["v", "v", "v"]
    assert [row[0] for row in answer["rows"][: len(TEXTS)]] == list(TEXTS)
    kept = [in_python(row[0]) for row in answer["rows"][len(TEXTS) :]]
    assert kept == list(OTHERS)
    assert [type(value) for value in kept] == [type(value) for value in OTHERS]


def in_python(value: Any) -> Any:
    """A value of a JSON answer that isn't text, as the database has it."""
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return math.inf if value == "Infinity" else value


@pytest.mark.parametrize(("form", "rows"), [("--csv", 2), ("--csv-safe", 2), ("--json", 2)])
def test_fewer_rows_on_request(sqlwright: Command, stored: Path, form: str, rows: int) -> None:
    query = "SELECT n FROM t ORDER BY n"
    outcome = sqlwright("sql", stored, query, form, "--max-rows", rows)
    if form == "--json":
        answer = json.loads(outcome.out)
        assert answer["rows"] == [[0], [1]]
        assert answer["row_count"] == len(TEXTS) + len(OTHERS)
        assert answer["truncated"] is False
    else:
        assert outcome.out == "n\n0\n1\n"
        assert f"{len(TEXTS) + len(OTHERS) - 2} more of {len(TEXTS) + len(OTHERS)} rows" in (
            outcome.err
        )


def test_nobody_is_sure_of_a_query_of_ones_own(sqlwright: Command, stored: Path) -> None:
    outcome = sqlwright("sql", stored, "SELECT 1", "--json")
    assert json.loads(outcome.out)["confidence"] is None
    assert "sure" not in sqlwright("sql", stored, "SELECT 1").out


def test_json_of_a_refusal_names_its_kind(sqlwright: Command, stored: Path) -> None:
    outcome = sqlwright("ask", stored, "Delete all rows of t", "--json")
    answer = json.loads(outcome.out)
    assert (answer["status"], answer["refusal"]) == ("refused", "write")
    assert answer["message"]
    assert json.loads(sqlwright("sql", stored, "SELECT 1", "--json").out)["refusal"] is None


def test_a_refusal_has_no_rows_in_any_form(capsys: pytest.CaptureFixture[str]) -> None:
    show(screen(), AnswerAndState(REFUSED), "csv-safe")
    assert not capsys.readouterr().out


def test_a_value_beyond_the_limit_is_told_as_cut_and_no_row_as_missing(
    sqlwright: Command, stored: Path
) -> None:
    query = "SELECT 7 AS n, printf('%.*c', 1500000, 'x') AS big"
    told = "cut after 1,048,576 bytes: big in row 1"
    whole = json.loads(sqlwright("sql", stored, query, "--json").out)
    assert whole["truncated"] is False
    assert whole["shortened"] == [[0, 1]]
    assert len(whole["rows"][0][1]) == 1 << 20
    assert sum(told in warning["text"] for warning in whole["warnings"]) == 1
    for options in ((), ("--csv",)):
        outcome = sqlwright("sql", stored, query, *options)
        assert (outcome.out + outcome.err).count(told) == 1
        assert "there are more" not in outcome.out + outcome.err
    with package.open(stored) as session:
        answer = session.sql(query)
    assert not answer.truncated
    shown = (answer._repr_html_(), str(answer))
    assert all(one.count(told) == 1 and "cut short" not in one for one in shown)


def test_a_value_shortened_for_reading_is_no_missing_row(sqlwright: Command, stored: Path) -> None:
    outcome = sqlwright("sql", stored, "SELECT v FROM t WHERE n = 22")
    assert "(+4,000 characters)" in outcome.out
    assert "there are more" not in outcome.out
    assert LONG in sqlwright("sql", stored, "SELECT v FROM t WHERE n = 22", "--csv").out


def test_doubt_is_told_beside_rows_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    shown = screen()
    show(shown, AnswerAndState(replace(ANSWER, confidence=0.31, doubt="it may be another")), "csv")
    assert isinstance(shown.err.file, io.StringIO)
    assert "Not sure (31%): it may be another" in shown.err.file.getvalue()
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(ANSWER.rows)


def test_no_rows_is_told_once(sqlwright: Command, stored: Path) -> None:
    for options in ((), ("--csv",)):
        outcome = sqlwright("sql", stored, "SELECT n FROM t WHERE n < 0", *options)
        assert (outcome.out + outcome.err).count("no rows") == 1
