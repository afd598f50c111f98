"""What users type, and what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.database import check_address
from sqlwright.database.address import file_of, parse_address, shown_address
from sqlwright.errors import DatabaseUnavailable


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("shop.db", "{cwd}/shop.db"),
        ("  shop.db\n", "{cwd}/shop.db"),
        ("a folder/shop.db", "{cwd}/a folder/shop.db"),
        ("/data/shop.db", "/data/shop.db"),
        ("~/shop.db", "{home}/shop.db"),
        ("sqlite:///shop.db", "{cwd}/shop.db"),
        ("sqlite:///data/shop.db", "{cwd}/data/shop.db"),
        ("sqlite:////data/shop.db", "/data/shop.db"),
        ("SQLite:////data/shop.db", "/data/shop.db"),
        ("sqlite:///~/shop.db", "{home}/shop.db"),
        ("sqlite:////data/a%20b.db", "/data/a b.db"),
        ("sqlite:////data/shop.db?mode=rw&key=x", "/data/shop.db"),
        ("sqlite+pysqlite:////data/shop.db", "/data/shop.db"),
        ("file:/data/shop.db?mode=rwc", "/data/shop.db"),
        ("file:///data/shop.db", "/data/shop.db"),
        ("./data/../shop.db", "{cwd}/shop.db"),
        ('"/data/shop.db"', "/data/shop.db"),
        ("jdbc:sqlite:/data/shop.db", "/data/shop.db"),
        ("DATABASE_URL=sqlite:////data/shop.db", "/data/shop.db"),
        ("東京.db", "{cwd}/東京.db"),
    ],
)
def test_paths(text: str, path: str) -> None:
    expected = path.format(cwd=Path.cwd(), home=Path.home())
    assert str(file_of(parse_address(text))) == expected


def test_paths_with_characters_of_addresses(tmp_path: Path) -> None:
    path = tmp_path / "odd:name=a@b;c.db"
    with pytest.raises(DatabaseUnavailable, match="isn't repeated"):
        parse_address(str(path))
    path.write_bytes(b"")
    assert file_of(parse_address(str(path))) == path
    assert parse_address(str(tmp_path / "odd:*.db")).engine == "files"


def test_a_path_is_shown_without_detours(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    (tmp_path / "shop.db").write_bytes(b"")
    assert parse_address(f"{tmp_path}/far/../shop.db").text == f"{tmp_path}/shop.db"
    beyond = f"{tmp_path}/link/../shop.db"  # of another folder
    assert parse_address(beyond).text == beyond


def test_three_slashes_before_an_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "shop.db").write_bytes(b"")
    with pytest.raises(DatabaseUnavailable) as caught:
        parse_address(f"sqlite3://{tmp_path}/shop.db")
    assert caught.value.hint == f"Write sqlite3:///{tmp_path}/shop.db"


@pytest.mark.parametrize(
    ("url", "engine", "identity"),
    [
        (
            "postgresql://ann:s3cret@db.example/shop",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "postgres://ann:s3cret@db.example/shop",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "postgresql+psycopg://ann:s3cret@DB.example:5432/shop",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "postgresql:///?host=/run/pg&dbname=shop&user=ann&password=s3cret",
            "postgres",
            "postgres://ann@/run/pg:5432/shop",
        ),
        (
            "postgresql://ann:s3cret@A.example:5433,b.example,[::1]:5434/shop",
            "postgres",
            "postgres://ann@a.example:5433,b.example:5432,[::1]:5434/shop",
        ),
        (
            "postgresql://ann:x@s3cret@db.example/shop",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            '"postgresql:/ann:s3cret@db.example/shop"',
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "psql 'host=db.example user=ann password=s3cret dbname=shop'",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "jdbc:postgresql://db.example/shop?user=ann&password=s3cret&currentSchema=sales",
            "postgres",
            "postgres://ann@db.example:5432/shop?search_path=sales",
        ),
        (
            "jdbc:mysql://db.example/shop?user=ann&password=s3cret",
            "mysql",
            "mysql://ann@db.example:3306/shop",
        ),
        ("mysql://ann:s3cret@db.example/shop", "mysql", "mysql://ann@db.example:3306/shop"),
        (
            "mysql://ann:s3cret@/shop?unix_socket=/run/a.sock",
            "mysql",
            "mysql://ann@/run/a.sock/shop",
        ),
        ("mysql+pymysql://ann:s3cret@db.example/shop", "mysql", "mysql://ann@db.example:3306/shop"),
        ("mariadb://ann:s3cret@db.example/shop", "mysql", "mysql://ann@db.example:3306/shop"),
        (
            "postgresql://db.example/shop?user=ann&password=s3cret%3Aa%40b+c",
            "postgres",
            "postgres://ann@db.example:5432/shop",
        ),
        (
            "mssql+pymssql://ann:s3cret@db.example\\inst/shop",
            "generic",
            "mssql://ann@db.example\\inst/shop",
        ),
        ("oracle://ann:s3cret@db.example/shop", "generic", "oracle://ann@db.example/shop"),
        (
            "oracle+oracledb://ann:s3cret@db.example/?service_name=shop&password=s3cret",
            "generic",
            "oracle://ann@db.example/ann?service_name=shop",
        ),
        (
            "mssql+pyodbc:///?odbc_connect=Server%3Ddb%3BDatabase%3Dshop%3BUID%3Dann%3BPWD%3Ds3cret",
            "generic",
            "mssql://@localhost/mssql?database=shop&server=db&uid=ann",
        ),
        (
            "redshift+redshift_connector://ann:s3cret@db.example/shop",
            "generic",
            "redshift://ann@db.example/shop",
        ),
    ],
)
def test_servers_by_their_urls(
    url: str, engine: str, identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGSERVICE", raising=False)
    address = parse_address(url)
    assert (address.engine, address.identity) == (engine, identity)
    assert "s3cret" not in f"{address.url} {address.identity} {address.name} {address!r}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@[::1/shop",
        "oracle://",
        "postgresql://ann:x/s3cret@db.example/shop",
        "postgresql://ann:12/s3cret@db.example/shop",
        "postgresql://ann:x#s3cret@db.example/shop",
        "postgresql://ann:12?s3cret@db.example/shop",
        "mysql://ann:x@y/s3cret@db.example/shop",
        f"mysql://ann:x@db.example:{'9' * 5_000}/shop",
        "mysql://ann:x@db.example:99999/shop",
    ],
)
def test_urls_of_nothing(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        parse_address(url)
    assert caught.value.hint
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {shown_address(url)}"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("shop.db", "shop.db"),
        ("sqlite:///shop.db?mode=ro", "sqlite:///shop.db?mode=ro"),
        ("postgresql://ann:s3cret@db.example/shop?a=b", "postgresql://ann@db.example/shop"),
        ("postgresql://db.example/shop?user=ann&password=s3cret", "postgresql://db.example/shop"),
        ("postgresql://ann:s3cret@a:1,b:2/shop", "postgresql://ann@a:1,b:2/shop"),
        ("postgresql://ann:x/s3cret@db.example/shop", "postgresql://..."),
        ("host=db user=ann password=s3cret", "postgresql://ann@db/"),
        ("Server=db;UID=ann;Pwd=s3cret", "..."),
    ],
)
def test_what_is_shown(typed: str, shown: str) -> None:
    assert shown_address(typed) == shown


def test_what_a_driver_would_divide_elsewhere_is_escaped() -> None:
    assert parse_address("mysql://ann:a@b@h/shop").text == "mysql://ann:a%40b@h/shop"


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", ":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "a\x00b"),
        *("sqlite://ann:s3cret@host/shop.db", "sqlite://shop.db", "~nobody-of-that-name/shop.db"),
        *("Server=db;UID=ann;Pwd = s3cret", "ann:s3cret@db.example/shop"),
    ],
)
def test_addresses_of_nothing(text: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        parse_address(text)
    assert caught.value.hint
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(("scheme", "near"), [("mssqll", "mssql"), ("postgress", "postgres")])
def test_a_scheme_that_nobody_knows(scheme: str, near: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        check_address(parse_address(f"{scheme}://ann@db.example/shop"))
    assert caught.value.hint == f"Did you mean {near}://?"


def test_no_package_is_made_up() -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        check_address(parse_address("zzz://ann@db.example/shop"))
    assert "sqlalchemy-" not in caught.value.hint
