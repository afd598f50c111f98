"""What users type, and what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.database.address import file_address, parse_address
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
        ("odd:name.db", "{cwd}/odd:name.db"),
        ("東京.db", "{cwd}/東京.db"),
    ],
)
def test_paths(text: str, path: str) -> None:
    expected = path.format(cwd=Path.cwd(), home=Path.home())
    assert str(file_address(text)) == expected


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://ann:s3cret@db.example/shop", "PostgreSQL"),
        ("postgres://ann:s3cret@db.example/shop", "PostgreSQL"),
        ("postgresql+psycopg://ann:s3cret@db.example/shop", "PostgreSQL"),
        ("mysql://ann:s3cret@db.example/shop", "MySQL"),
        ("mysql+pymysql://ann:s3cret@db.example/shop", "MySQL"),
        ("mariadb://ann:s3cret@db.example/shop", "MariaDB"),
        ("duckdb:///shop.duckdb?password=s3cret", "DuckDB"),
        ("oracle://ann:s3cret@db.example/shop", "oracle"),
        ("https://ann:s3cret@example.org/shop.db", "https"),
    ],
)
def test_other_databases_are_refused_without_their_secrets(url: str, name: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="not supported yet; SQLite files are") as caught:
        parse_address(url)
    assert name in str(caught.value)
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"
    assert "SQLite" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", ":memory:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "a\x00b"),
        *("sqlite://ann:s3cret@host/shop.db", "sqlite://shop.db", "~nobody-of-that-name/shop.db"),
    ],
)
def test_addresses_of_nothing(text: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        parse_address(text)
    assert caught.value.hint
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"
