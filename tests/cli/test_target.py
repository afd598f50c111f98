from pathlib import Path

import pytest

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed.target import looks_like_database, read_target


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SQLWRIGHT_DATABASE", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").write_bytes(b"")


@pytest.mark.parametrize(
    "word",
    [
        "shop",  # a file that exists
        "missing.sqlite",
        "missing.db",
        "data/missing.sqlite3",
        "./missing",
        "/tmp/missing",
        "~/missing",
        "sqlite:///shop.db",
        "sqlite:shop.db",
        "postgresql+psycopg://u:p@h/db",
    ],
)
def test_databases(word: str) -> None:
    assert looks_like_database(word)


@pytest.mark.parametrize(
    "word",
    ["", "-", "orders", "How many orders?", "what is in orders.db and why", "a/b ratio?",
     "x" * 9999, "null\0byte", "Is 3/4 > 1/2?"],
)  # fmt: skip
def test_questions(word: str) -> None:
    assert not looks_like_database(word)


@pytest.mark.parametrize(
    ("words", "database", "text"),
    [
        (["a.db", "how many?"], "a.db", "how many?"),
        (["a.db", "how", "many", "orders?"], "a.db", "how many orders?"),
        (["how many?", "a.db"], "a.db", "how many?"),
        (["how", "many?", "shop"], "shop", "how many?"),
        (["missing", "how many orders?"], "missing", "how many orders?"),
        (["a.db", "b.db"], "a.db", "b.db"),
        (["u:p#h/db", "orders"], "u:p#h/db", "orders"),
        (["shop.sqlit", "x"], "shop.sqlit", "x"),  # no file of that name, nor another database
        (['"postgresql://u:p@h/db"', "how many?"], '"postgresql://u:p@h/db"', "how many?"),
        (["host=h user=u password=p", "how many?"], "host=h user=u password=p", "how many?"),
    ],
)
def test_arguments_in_any_order(words: list[str], database: str, text: str) -> None:
    target = read_target(words, None)
    assert (target.database, target.text) == (database, text)
    assert bool(target.note) == (words[0] != database)


def test_the_option_leaves_all_words_to_the_question() -> None:
    target = read_target(["shop", "and", "others"], "a.db")
    assert (target.database, target.text) == ("a.db", "shop and others")


def test_the_environment_and_the_project_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:///last.db")
    assert read_target(["how many?"], None).database == "sqlite:///last.db"
    (tmp_path / "sqlwright.toml").write_text('database = "data/x.db"\n')
    assert read_target(["how many?"], None).database == str(tmp_path / "data/x.db")
    monkeypatch.setenv("SQLWRIGHT_DATABASE", "first.db")
    assert read_target(["how many?"], None).database == "first.db"
    assert read_target(["a.db", "how many?"], None).database == "a.db"


def test_no_database_is_a_mistake_that_is_explained() -> None:
    with pytest.raises(UsageError, match="no database") as caught:
        read_target(["how many orders?"], None)
    assert "SQLWRIGHT_DATABASE" in caught.value.hint


def test_words_that_were_no_utf8_become_readable() -> None:
    word = b"caf\xe9?".decode("utf-8", "surrogateescape")
    assert read_target(["a.db", word], None).text == "caf\ufffd?"


def test_a_name_like_that_of_a_database_is_meant_as_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:///last.db")
    assert read_target(["nw.sqlit", "x"], None).database == "sqlite:///last.db"
    (tmp_path / "nw.sqlite").write_bytes(b"SQLite format 3\0")
    assert read_target(["nw.sqlit", "x"], None).database == "nw.sqlit"


@pytest.mark.parametrize("last", ["total>5", "a=5", "a;b", "x@y", "2:30"])
def test_the_last_word_of_a_question_is_no_database(
    monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:///last.db")
    assert read_target(["orders", "with", last], None).text == f"orders with {last}"
