"""Months, quarters and days that a question names, and what becomes of conditions on them."""

from __future__ import annotations

import pytest

from sqlwright.local.lexical import tokens
from sqlwright.local.moments import Dating, moments
from sqlwright.local.reader import read_sql
from sqlwright.local.writer import write_sql
from sqlwright.schema import Column, Schema, Table

SALES = Schema(
    "sales",
    (Table("sale", (Column("sold", "date"), Column("made_in", "text"), Column("price", "int"))),),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sold in May 1997", ["1997-05"]),
        ("sold in may of 1997?", ["1997-05"]),
        ("sold in Sept. 1997", ["1997-09"]),
        ("on January 1, 1998", ["1998-01-01"]),
        ("on 1 January 1998", ["1998-01-01"]),
        ("on the 2nd of Jan 1998", ["1998-01-02"]),
        ("on Jan 3rd 1998", ["1998-01-03"]),
        ("since 1998-2-03", ["1998-02-03"]),
        ("since 1998/02/03.", ["1998-02-03"]),
        ("from May 1997 to August 1998", ["1997-05", "1998-08"]),
        ("in Q2 1997", ["1997-04..1997-06"]),
        ("in the last quarter of 1997", ["1997-10..1997-12"]),
        ("in 1997", []),
        ("in May", []),
        ("on 1998-13-01", []),
        ("version 1998-02-03.5", []),
    ],
)
def test_moments_are_read_as_people_write_them(text: str, expected: list[str]) -> None:
    found = [m.first if m.first == m.last else f"{m.first}..{m.last}" for m in moments(text)]
    assert found == expected


DATED = "SELECT price FROM sale WHERE {}"
YEAR, MONTH, DAY = "STRFTIME('%Y', sold)", "STRFTIME('%Y-%m', sold)", "DATE(sold)"


@pytest.mark.parametrize(
    ("asked", "written", "meant"),
    [
        ("in May 1997", f"{YEAR} = '1997'", f"{MONTH} = '1997-05'"),
        ("in May 1997", "sold LIKE '1997%'", f"{MONTH} = '1997-05'"),
        ("not in May 1997", "sold NOT LIKE '%1997%'", f"{MONTH} != '1997-05'"),
        ("in May 1997", "sold = 'May 1997'", f"{MONTH} = '1997-05'"),
        ("after May 1997", f"{YEAR} > '1997'", f"{MONTH} > '1997-05'"),
        ("after January 1, 1998", "sold > ', 1998'", f"{DAY} > '1998-01-01'"),
        ("until 1998-02-03", "DATE(sold) <= '1998-02-03'", f"{DAY} <= '1998-02-03'"),
        ("in Q2 1997", f"{YEAR} = '1997'", f"{MONTH} BETWEEN '1997-04' AND '1997-06'"),
        ("after Q2 1997", f"{YEAR} > '1997'", f"{MONTH} > '1997-06'"),
        ("before Q2 1997", f"{YEAR} < '1997'", f"{MONTH} < '1997-04'"),
        ("from May 1997 to July 1997", f"{YEAR} BETWEEN '1997' AND '1997'",
         f"{MONTH} BETWEEN '1997-05' AND '1997-07'"),
        ("from May 1997 to July 1998", f"{YEAR} BETWEEN '1997' AND '1998'",
         f"{MONTH} BETWEEN '1997-05' AND '1998-07'"),
        ("in May", "sold LIKE 'May%'", "STRFTIME('%m', sold) = '05'"),
        ("in May 1997 or in 1999", f"{YEAR} = '1997' OR {YEAR} = '1999'",
         f"{MONTH} = '1997-05' OR {YEAR} = '1999'"),
    ],
)  # fmt: skip
def test_a_condition_on_a_part_means_the_whole(asked: str, written: str, meant: str) -> None:
    assert dated(asked, DATED.format(written)) == DATED.format(meant)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("in 1997", f"{YEAR} = '1997'"),
        ("in May 1997", f"{YEAR} = '1998'"),
        ("in May 1997", "made_in = '1997'"),
        ("in May 1997", "price > 1997"),
        ("in May 1997 and in June 1997", f"{YEAR} = '1997'"),
        ("who may buy", "sold LIKE 'May%'"),
    ],
)
def test_other_conditions_stay(asked: str, written: str) -> None:
    assert dated(asked, DATED.format(written)) == DATED.format(written)


COUNTED = "SELECT {0}, COUNT(*) FROM sale GROUP BY {0} ORDER BY {0}"


@pytest.mark.parametrize(
    ("asked", "unit"),
    [
        ("sales per month", MONTH),
        ("monthly sales", MONTH),
        ("daily sales", DAY),
        ("sales per year", YEAR),
        ("sales per month and per year", YEAR),
    ],
)
def test_groups_are_of_the_unit_that_is_asked_for(asked: str, unit: str) -> None:
    assert dated(asked, COUNTED.format(YEAR)) == COUNTED.format(unit)


def test_queries_within_queries_are_dated() -> None:
    sql = "SELECT price FROM sale WHERE price IN (SELECT price FROM sale WHERE {})"
    found = dated("in May 1997", sql.format(f"{YEAR} = '1997'"))
    assert found == sql.format(f"{MONTH} = '1997-05'")


def dated(asked: str, sql: str) -> str:
    dating = Dating(asked, lambda column: column.ref.column == "sold")
    return write_sql(dating.query(read_sql(sql, SALES)), SALES)


def test_a_moment_covers_its_words() -> None:
    text = "sales in May 1997"
    (moment,) = moments(text)
    assert [token.text for token in tokens(text) if token.within(moment.span)] == ["may", "1997"]
