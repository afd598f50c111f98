"""Each feature of the form: how SQL is read as it, how it is written, and that the rows stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import pytest

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize, linearize
from sqlwright.local.form.write.sql import write_sql
from tests.form.notation import CASES, cases, schema_of, symbols_of
from tests.form.walks import SHOP, make_database

FEATURES = [
    case
    for part in ("expressions", "conditions", "clauses", "from", "borrowing", "sets", "operations")
    for case in cases(f"form/features_{part}.yaml")
]


@pytest.fixture(scope="module")
def shop() -> Iterator[apsw.Connection]:
    with closing(make_database(SHOP)) as connection:
        connection.execute((CASES / "form" / "shop.sql").read_text("utf-8"))
        yield connection


@pytest.mark.parametrize("case", FEATURES, ids=lambda case: case["name"])
def test_reads_as_symbols(case: dict[str, str]) -> None:
    form = read_sql(case["sql"], SHOP)
    assert " ".join(map(str, linearize(form))) == case["symbols"]
    assert delinearize(symbols_of(case["symbols"])) == form


@pytest.mark.parametrize("case", FEATURES, ids=lambda case: case["name"])
def test_writes_the_symbols(case: dict[str, str]) -> None:
    assert write_sql(delinearize(symbols_of(case["symbols"])), SHOP) == case["written"]


@pytest.mark.parametrize("case", FEATURES, ids=lambda case: case["name"])
def test_the_rows_stay(shop: apsw.Connection, case: dict[str, str]) -> None:
    before = shop.execute(case["sql"]).fetchall()
    assert sorted(shop.execute(case["written"]).fetchall(), key=repr) == sorted(before, key=repr)


@pytest.mark.parametrize("case", cases("form/refused_reasons.yaml"), ids=lambda case: case["sql"])
def test_says_why_it_refuses(case: dict[str, str]) -> None:
    with pytest.raises(UnsupportedQuery) as error:
        read_sql(case["sql"], SHOP)
    assert case["says"] in str(error.value)


@pytest.mark.parametrize("case", cases("form/joins.yaml"), ids=lambda case: case["name"])
def test_restores_joins(case: dict[str, Any]) -> None:
    schema = schema_of(case["tables"], case.get("keys", ()))
    form = delinearize(symbols_of(case["symbols"]))
    if "refused" in case:
        with pytest.raises(UnsupportedQuery) as error:
            write_sql(form, schema)
        assert case["refused"] in str(error.value)
    else:
        assert write_sql(form, schema) == case["written"]


@pytest.mark.parametrize("case", cases("form/canonical.yaml"), ids=lambda case: case["name"])
def test_spellings_of_one_query_are_one_form(case: dict[str, Any]) -> None:
    schema = schema_of(case["tables"], case.get("keys", ()))
    for sql in case["sql"]:
        assert " ".join(map(str, linearize(read_sql(sql, schema)))) == case["symbols"], sql


def test_a_query_of_very_many_joins_is_left_to_its_text() -> None:
    table = SHOP.tables[0].name
    joins = "".join(f" CROSS JOIN {table} t{number}" for number in range(60))
    with pytest.raises(UnsupportedQuery, match="so many joins"):
        read_sql(f"SELECT 1 FROM {table}{joins}", SHOP)
