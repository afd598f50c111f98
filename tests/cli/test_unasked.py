"""Small databases are prepared by `ask` and `chat`, unless told not to."""

import io
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome

Command = Callable[..., Outcome]
QUESTION = "How many customers are there?"
LINE = r"prepared shop\.sqlite in [\d.]+ m?s \(kept in (\S+); 'sqlwright purge' removes it\)"


@pytest.fixture(autouse=True)
def allowed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del home
    monkeypatch.delenv("SQLWRIGHT_PREPARE")


def kept(home: Path) -> list[Path]:
    return [path for path in (home / "databases").glob("*/*") if path.name == "manifest.json"]


def test_the_first_question_says_so_in_one_line_and_the_next_none(
    sqlwright: Command, shop: Path, home: Path
) -> None:
    first = sqlwright("ask", shop, QUESTION, "--json")
    json.loads(first.out)
    found = re.fullmatch(LINE, first.err)
    assert found
    assert found[1] == str(home)
    assert kept(home)
    assert sqlwright("ask", shop, QUESTION).err == ""
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("INSERT INTO customers VALUES (4, 'Dora', 'Quito')")
        connection.commit()
    changed = sqlwright("ask", shop, "List the names of customers in the city quito")
    assert changed.err == ""
    assert "customers.city = 'Quito'" in changed.out
    assert "changed since" not in changed.out


def test_a_home_below_the_users_own_is_told_short(
    sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home.parent))
    assert f"(kept in ~/{home.name}; " in sqlwright("ask", shop, QUESTION).err


@pytest.mark.parametrize("how", ["file", "variable"])
def test_it_can_be_switched_off(
    how: str, sqlwright: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "file":
        Path("sqlwright.toml").write_text("prepare = false\n")
    if how == "variable":
        monkeypatch.setenv("SQLWRIGHT_PREPARE", "no")
    outcome = sqlwright("ask", shop, QUESTION)
    assert outcome.code == 0
    assert outcome.err == ""
    assert not kept(home)


@pytest.mark.parametrize("prepares", [True, False])
def test_a_chat_does_it_when_it_opens(
    prepares: bool,
    sqlwright: Command,
    shop: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SQLWRIGHT_PREPARE", str(prepares))
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n"))
    outcome = sqlwright("chat", shop)
    assert outcome.code == 0
    assert bool(re.search(LINE, outcome.err)) == prepares
    assert bool(kept(home)) == prepares


@pytest.mark.parametrize("command", [("sql", "SELECT 1"), ("doctor",)])
def test_other_commands_do_not(
    command: tuple[str, ...], sqlwright: Command, shop: Path, home: Path
) -> None:
    name, *rest = command
    assert sqlwright(name, shop, *rest).code == 0
    assert not kept(home)


def test_the_project_files_descriptions_are_used_as_prepare_does(
    sqlwright: Command, shop: Path, home: Path
) -> None:
    Path("described").mkdir()
    Path("described/customers.csv").write_text(
        "original_column_name,column_description\ncity,where they live\n"
    )
    Path("sqlwright.toml").write_text('database = "shop.sqlite"\ndescriptions = "described"\n')
    assert re.fullmatch(LINE, sqlwright("ask", QUESTION).err)
    (manifest,) = kept(home)
    before = manifest.read_bytes()
    assert sqlwright("prepare").code == 0
    assert manifest.read_bytes() == before
