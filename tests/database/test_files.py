"""Files that can't be opened, and what is said about them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Run
from tests.database.conftest import Opener, folder_state, make_database


@contextmanager
def another_program(path: Path, script: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has run `script` on a connection `c` and holds it until the end."""
    code = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        f"{script}\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n    exec(line)\n    print('done', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def refusal(path: Path) -> DatabaseUnavailable:
    before = folder_state(path.parent) if path.parent.is_dir() else {}
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(str(path))
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert (folder_state(path.parent) if path.parent.is_dir() else {}) == before
    return caught.value


def test_missing_with_near_misses(tmp_path: Path) -> None:
    make_database(tmp_path / "customers.sqlite", "CREATE TABLE a (b)")
    assert "customers.sqlite" in refusal(tmp_path / "custmers.sqlite").hint
    assert not (tmp_path / "custmers.sqlite").exists()


@pytest.mark.parametrize("name", ["shopp.sqlite", "shop.sqlit", "shop", "shop.db", "SHOP.SQLITE"])
def test_only_databases_with_a_near_name_are_proposed(tmp_path: Path, name: str) -> None:
    make_database(tmp_path / "shop.sqlite", "CREATE TABLE a (b)")
    make_database(tmp_path / "warehouse.sqlite", "CREATE TABLE a (b)")
    (tmp_path / "shop.sqlite.md").write_text("notes")
    (tmp_path / "shops.db").write_text("no database")
    if (tmp_path / name).exists():
        pytest.skip("names are the same in either case here")
    assert refusal(tmp_path / name).hint == "Did you mean shop.sqlite?"


def test_nothing_is_proposed_where_nothing_is_near(tmp_path: Path) -> None:
    make_database(tmp_path / "warehouse.sqlite", "CREATE TABLE a (b)")
    (tmp_path / "shop.sqlite.md").write_text("notes")
    assert refusal(tmp_path / "shop.sqlite").hint == "Check the path's spelling."


def test_a_folder_proposes_databases_only(tmp_path: Path) -> None:
    for number in range(4):
        make_database(tmp_path / f"plain{number}", "CREATE TABLE a (b)")
    make_database(tmp_path / "shop.sqlite", "CREATE TABLE a (b)")
    (tmp_path / "fake.db").write_text("no database")
    (tmp_path / "nil.db").touch()
    (tmp_path / "readme.md").write_text("notes")
    with pytest.raises(DatabaseUnavailable, match="is a folder") as caught:
        open_database(str(tmp_path))
    assert caught.value.hint == "It holds shop.sqlite, plain0, plain1: name one."


def test_a_folder_without_databases_says_so(tmp_path: Path) -> None:
    (tmp_path / "fake.db").write_text("no database")
    with pytest.raises(DatabaseUnavailable, match="is a folder") as caught:
        open_database(str(tmp_path))
    assert caught.value.hint == (
        "There is no SQLite file in it, nor CSV, Parquet, JSON or workbooks: name another."
    )


def test_missing_without_any(tmp_path: Path) -> None:
    assert "doesn't exist" in str(refusal(tmp_path / "shop.db"))
    assert "folder" in str(refusal(tmp_path / "nowhere" / "shop.db"))


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "shop.db").touch()
    assert "empty" in str(refusal(tmp_path / "shop.db"))


def test_folder_names_the_databases_in_it(shop: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="is a folder") as caught:
        open_database(str(shop.parent))
    assert "shop.db" in caught.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_special_files_are_not_even_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    assert "regular file" in str(refusal(tmp_path / "pipe.db"))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"name,age\nAnn,31\n", "not a SQLite database"),
        (b"PK\x03\x04" + bytes(200), "ZIP"),
        (b"\x1f\x8b" + bytes(200), "gzip"),
        (bytes(8) + b"DUCK" + bytes(200), "can't be read"),
        (b"PAR1" + bytes(200), "Parquet"),
        (b"\x00\x01\x00\x00Standard Jet DB" + bytes(200), "Access"),
        (b"SQLite format 2", "not a SQLite database"),
        (random.Random(1).randbytes(8192), "encrypted"),
    ],
)
def test_other_formats(tmp_path: Path, content: bytes, word: str) -> None:
    (tmp_path / "shop.db").write_bytes(content)
    assert word in str(refusal(tmp_path / "shop.db"))


def test_damaged_schema(shop: Path) -> None:
    data = bytearray(shop.read_bytes())
    data[100:4096] = bytes(b ^ 0x55 for b in data[100:4096])
    shop.write_bytes(data)
    assert "damaged" in str(refusal(shop))


def test_header_only(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_bytes(b"SQLite format 3\x00")
    refusal(tmp_path / "shop.db")


def test_damage_behind_the_schema_is_an_error_of_the_query(shop: Path, opened: Opener) -> None:
    data = bytearray(shop.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    shop.write_bytes(data)
    result = opened(shop).execute("SELECT * FROM people", Run())
    assert result.error is not None
    assert result.error.kind == "unavailable"
    assert "damaged" in result.error.message


def test_locked_at_opening(shop: Path) -> None:
    with another_program(shop, "c.execute('BEGIN EXCLUSIVE')"):
        error = refusal(shop)
    assert "locked" in str(error)
    assert "again" in error.hint


def test_locked_later(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    with another_program(shop, "c.execute('BEGIN EXCLUSIVE')"):
        result = database.execute("SELECT 1 FROM people", Run())
        assert result.error is not None
        assert result.error.kind == "unavailable"
        assert "locked" in result.error.message
    assert database.execute("SELECT 1 FROM people", Run()).ok


def test_removed_later(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    shop.rename(shop.with_name("moved.db"))
    result = database.execute("SELECT 1 FROM people", Run())
    assert result.error is not None
    assert result.error.kind == "unavailable"
    assert "doesn't exist" in result.error.message
    with pytest.raises(DatabaseUnavailable):
        database.schema()


def test_replaced_later(shop: Path, opened: Opener, tmp_path: Path) -> None:
    database = opened(shop)
    before = database.fingerprint()
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
    make_database(tmp_path / "new.db", "CREATE TABLE people (id); CREATE TABLE more (x)").replace(
        shop
    )
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((0,),)
    assert database.execute("SELECT count(*) FROM more", Run()).rows == ((0,),)
    assert database.fingerprint() != before


def test_no_tables_at_all(tmp_path: Path, opened: Opener) -> None:
    path = make_database(tmp_path / "bare.db", "CREATE TABLE a (b); DROP TABLE a")
    database = opened(path)
    assert database.schema().tables == ()
    assert database.execute("SELECT 1", Run()).rows == ((1,),)


@pytest.mark.parametrize(
    "name", ["a b.db", "50%.db", "what?.db", "a#b.db", "é東.db", "a&mode=rw.db"]
)
def test_odd_file_names(tmp_path: Path, opened: Opener, name: str) -> None:
    database = opened(make_database(tmp_path / name, "CREATE TABLE a (b)"))
    assert database.execute("SELECT count(*) FROM a", Run()).rows == ((0,),)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_symbolic_link(shop: Path, tmp_path: Path, opened: Opener) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(shop)
    database = opened(link)
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
    assert database.url.endswith("link.db")
