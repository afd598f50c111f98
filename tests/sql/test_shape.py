"""Texts of all kinds, attacks included: reading them in any dialect ends without an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.sql.in_words.query import read_query
from sqlwright.sql.reading import compared_texts, computes_within, read_facts, varies_by_itself
from tests.sql.test_dialects import shop

CASES = Path(__file__).parents[1] / "cases"


def texts(case: object) -> Iterator[str]:
    if isinstance(case, str) and "select" in case.casefold() and len(case) < 1_000:
        yield case
    for part in case.values() if isinstance(case, dict) else case if isinstance(case, list) else ():
        yield from texts(part)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql"])
@pytest.mark.parametrize("folder", ["attacks", "dialects", "facts", "guard"])
def test_whatever_is_written_is_read_or_not_read(folder: str, dialect: str) -> None:
    schema = shop(dialect)
    found = {
        text
        for path in (CASES / folder).rglob("*.yaml")
        for text in texts(yaml.safe_load(path.read_text("utf-8")))
    }
    assert len(found) > 10
    for sql in sorted(found):
        read_facts(sql, schema)
        compared_texts(sql, schema)
        read_query(sql, schema)
        varies_by_itself(sql, dialect)
        computes_within(sql, dialect)
        try:
            read_sql(sql, schema)
        except UnsupportedQuery:
            continue
