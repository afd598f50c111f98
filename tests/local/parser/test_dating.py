"""Conditions on a part of a date become conditions on all that was said."""

from __future__ import annotations

from datetime import date

import pytest

from sqlwright.english.dates import moments
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.parser.dating import Dating
from sqlwright.local.parser.grouping import Grouping, unit_of
from sqlwright.local.question.retelling import Retelling, untold
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.types import Question, ValueMatch
from tests.form.notation import cases

TODAY = date(2024, 5, 15)
SALES = Schema(
    "sales",
    (Table("sale", (Column("sold", "date"), Column("made_in", "text"), Column("price", "int"))),),
)

DATED = "SELECT price FROM sale WHERE {}"
YEAR, MONTH, DAY = "STRFTIME('%Y', sold)", "STRFTIME('%Y-%m', sold)", "DATE(sold)"


@pytest.mark.parametrize(
    ("asked", "written", "meant"),
    [
        ("in May 1997", f"{YEAR} = '1997'", f"{MONTH} = '1997-05'"),
        ("in May 1997", "sold LIKE '1997%'", f"{MONTH} = '1997-05'"),
        ("not in May 1997", "sold NOT LIKE '%1997%'", f"{MONTH} != '1997-05'"),
        ("after May 1997", f"{YEAR} > '1997'", f"{MONTH} > '1997-05'"),
        ("after January 1, 1998", f"{YEAR} > '1998'", f"{DAY} > '1998-01-01'"),
        ("until Feb 3, 1998", "DATE(sold) <= '1998'", f"{DAY} <= '1998-02-03'"),
        ("in Q2 1997", f"{YEAR} = '1997'", f"{MONTH} BETWEEN '1997-04' AND '1997-06'"),
        ("since May 1997", f"{YEAR} = '1997'", f"{MONTH} >= '1997-05'"),
        ("in the last 30 days", f"{YEAR} > '2024'",
         f"{DAY} BETWEEN '2024-04-16' AND '2024-05-15'"),
        ("between 2024-03-01 and 2024-03-03", f"{YEAR} = '2024'",
         f"{DAY} BETWEEN '2024-03-01' AND '2024-03-03'"),
        ("between 2024-03-01 and 2024-03-03", f"{YEAR} BETWEEN '2024' AND '2024'",
         f"{DAY} BETWEEN '2024-03-01' AND '2024-03-03'"),
        ("not between 2024-03-01 and 2024-03-03", f"{YEAR} != '2024'",
         f"{DAY} NOT BETWEEN '2024-03-01' AND '2024-03-03'"),
        ("after 2024-03-01 and before 2024-03-05", f"{YEAR} > '2024'",
         f"{DAY} > '2024-03-01'"),
        ("after 2024-03-01 10:30", f"{YEAR} > '2024'",
         "DATETIME(sold) > '2024-03-01 10:30:00'"),
        ("last year", "sold LIKE '2023%'", f"{YEAR} = '2023'"),
        ("in May 1997 or June 1997", f"{YEAR} = '1997' OR {YEAR} = '1997'",
         f"{MONTH} = '1997-05' OR {MONTH} = '1997-06'"),
        ("after Q2 1997", f"{YEAR} > '1997'", f"{MONTH} > '1997-06'"),
        ("before Q2 1997", f"{YEAR} < '1997'", f"{MONTH} < '1997-04'"),
        ("from May 1997 to July 1997", f"{YEAR} BETWEEN '1997' AND '1997'",
         f"{MONTH} BETWEEN '1997-05' AND '1997-07'"),
        ("from May 1997 to July 1998", f"{YEAR} = '1997'",
         f"{MONTH} BETWEEN '1997-05' AND '1998-07'"),
        ("in May", "sold LIKE 'May%'", "STRFTIME('%m', sold) = '05'"),
        ("after 1997", "sold > '1997'", f"{YEAR} > '1997'"),
        ("until 1997", "sold <= '1997'", f"{YEAR} <= '1997'"),
        ("in 1997", "sold = '1997'", f"{YEAR} = '1997'"),
        ("not in 1997", "sold != '1997' AND price > 2", f"{YEAR} != '1997' AND price > 2"),
        ("after 1997", "DATE(sold) > '1997'", f"{YEAR} > '1997'"),
        ("after 1997-05", "sold > '1997-05'", f"{MONTH} > '1997-05'"),
        ("between 1990 and 1995", "sold BETWEEN '1990' AND '1995'",
         f"{YEAR} BETWEEN '1990' AND '1995'"),
        ("in 1990 or 1995", "sold IN ('1990', '1995')", f"{YEAR} IN ('1990', '1995')"),
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
        ("since 1997", "sold >= '1997'"),
        ("before 1997", "sold < '1997'"),
        ("in 1997", "sold LIKE '1997%'"),
        ("after 1997", "made_in > '1997'"),
        ("from 1997 to May 1998", "sold BETWEEN '1997' AND '1998-05'"),
        ("in May 1997", f"{YEAR} = '1998'"),
        ("in May 1997", "made_in = '1997'"),
        ("in May 1997", "price > 1997"),
        ("who may buy", "sold LIKE 'May%'"),
    ],
)
def test_other_conditions_stay(asked: str, written: str) -> None:
    assert dated(asked, DATED.format(written)) == DATED.format(written)


def test_a_column_that_is_called_a_year_holds_years() -> None:
    schema = Schema("cars", (Table("car", (Column("model_year", "date"), Column("id", "int"))),))
    form = read_sql("SELECT id FROM car WHERE model_year > '1997'", schema)
    assert Dating("after 1997", (), lambda column: True).query(form) == form


WEEK = "STRFTIME('%Y-%W', sold)"
COUNTED = "SELECT {0}, COUNT(*) FROM sale GROUP BY {0}"


@pytest.mark.parametrize(
    ("asked", "written", "unit"),
    [
        ("sales per month", YEAR, MONTH),
        ("sales each month", "sold", MONTH),
        ("monthly sales", YEAR, MONTH),
        ("weekly sales", YEAR, WEEK),
        ("daily sales", YEAR, DAY),
        ("sales by year", "sold", YEAR),
        ("sales per year", YEAR, YEAR),
        ("sales per month and per year", YEAR, YEAR),
        ("sales per month", "STRFTIME('%Y', made_in)", MONTH),
        ("sales per month", "STRFTIME('%Y', 'year')", MONTH),
    ],
)
def test_groups_are_of_the_unit_that_is_asked_for(asked: str, written: str, unit: str) -> None:
    """In the order of time; what is no part of a date isn't meant."""
    assert grouped(asked, COUNTED.format(written)) == f"{COUNTED.format(unit)} ORDER BY {unit}"


@pytest.mark.parametrize(
    ("asked", "sql"),
    [
        ("sales per month", COUNTED.format("made_in")),
        ("sales per month, sorted by price", COUNTED.format(MONTH)),
        ("sales per month", f"{COUNTED.format(MONTH)} ORDER BY COUNT(*) DESC"),
        ("sales", COUNTED.format("made_in")),
    ],
)
def test_other_groups_and_orders_stay(asked: str, sql: str) -> None:
    assert grouped(asked, sql) == sql


def test_the_newest_may_come_first() -> None:
    found = grouped("sales per month, latest month first", COUNTED.format(MONTH))
    assert found == f"{COUNTED.format(MONTH)} ORDER BY {MONTH} DESC"


def test_an_amount_of_all_rows_is_worked_out_for_each_unit() -> None:
    found = grouped("Average price per month", "SELECT AVG(price) FROM sale", added=True)
    assert found == f"SELECT {MONTH}, AVG(price) FROM sale GROUP BY {MONTH} ORDER BY {MONTH}"
    plain = "SELECT price FROM sale"
    assert grouped("price per month", plain, added=True) == plain


def grouped(asked: str, sql: str, *, added: bool = False) -> str:
    grouping = Grouping(
        asked, lambda column: column.ref.column == "sold", lambda tables: ColumnRef("sale", "sold")
    )
    return write_sql(grouping.query(read_sql(sql, SALES), added=added), SALES)


def test_what_is_not_grouped_stays() -> None:
    for sql in (DATED.format("sold IS NULL"), "SELECT sold FROM sale"):
        assert grouped("sales per month", sql) == sql


def test_queries_within_queries_are_dated() -> None:
    sql = "SELECT price FROM sale WHERE price IN (SELECT price FROM sale WHERE {})"
    found = dated("in May 1997", sql.format(f"{YEAR} = '1997'"))
    assert found == sql.format(f"{MONTH} = '1997-05'")


def dated(asked: str, sql: str) -> str:
    dating = Dating(asked, moments(asked, TODAY), lambda column: column.ref.column == "sold")
    return write_sql(dating.query(read_sql(sql, SALES)), SALES)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Sales in May 1997?", "Sales in 1997?"),
        ("Sales on May 3, 1997 by item", "Sales in 1997 by item"),
        ("What was sold last month?", "What was sold in 2024?"),
        ("Sales in the last 30 days", "Sales in 2024"),
        ("Sales no later than May 3, 1997", "Sales until 1997"),
        ("Sales from May 3, 1997 onwards", "Sales since 1997"),
        ("Sales between May 3, 1997 and Feb 1, 1998", "Sales in 1997"),
        ("Sales in 1997", "Sales in 1997"),
        ("Items sorted from Z to A", "Items sorted in descending alphabetical order"),
        ("Items A-Z", "Items in alphabetical order"),
        ("Sales by item, highest first", "Sales by item, in descending order"),
        (
            "Items sorted by price from lowest to highest",
            "Items sorted by price in ascending order",
        ),
        ("The largest first orders", "The largest first orders"),
        ("Sales per month in May 1997", "Sales per year in 1997"),
        ("Monthly sales in Rome?", "sales in Rome in each year?"),
        ("Sales daily", "Sales  in each year"),
        ("Items from the cheapest to the most expensive", "Items in ascending order of price"),
        ("From May 1997, from Z to A", "From 1997, in descending alphabetical order"),
    ],
)
def test_the_parser_is_asked_with_years(asked: str, told: str) -> None:
    assert Retelling(Question(asked), moments(asked, TODAY), ()).question.text == told


def test_values_are_where_their_phrases_are() -> None:
    asked = "Sales on May 3, 1997 in Rome"
    rome = ValueMatch("Rome", ColumnRef("sale", "made_in"), "Rome", 1.0, 1, (24, 28))
    may = ValueMatch("May", ColumnRef("sale", "made_in"), "Mayen", 0.9, 1, (9, 12))
    retold = Retelling(Question(asked), moments(asked, TODAY), (may, rome))
    (moved,) = retold.values
    assert moved.span is not None
    assert retold.question.text[slice(*moved.span)] == "Rome"
    assert retold.original(moved) == rome


def test_what_is_stored_in_these_words_is_no_moment() -> None:
    asked = "Sales of the May 1997 issue"
    stored = ValueMatch("May 1997", ColumnRef("sale", "made_in"), "May 1997", 1.0, 1, (13, 21))
    assert moments(asked, TODAY)
    assert not untold(moments(asked, TODAY), (stored,))


def test_nor_is_it_an_order() -> None:
    asked = "Sales of A to Z Rentals"
    stored = ValueMatch("A to Z", ColumnRef("sale", "made_in"), "A to Z", 1.0, 1, (9, 15))
    assert Retelling(Question(asked), (), (stored,)).question.text == asked
    assert Retelling(Question(asked), (), ()).question.text != asked


PARTS = {"YEAR": YEAR, "MONTH": MONTH, "DAY": DAY}


def spelled(condition: str) -> str:
    for name, part in PARTS.items():
        condition = condition.replace(name, part)
    return DATED.format(condition)


@pytest.mark.parametrize(
    "case", cases("local/dated.yaml"), ids=lambda case: f"{case['asked']}: {case['written']}"
)
def test_a_part_of_a_date_means_what_was_said(case: dict[str, str]) -> None:
    meant = case.get("meant", case["written"]).replace("upper", "UPPER")
    assert dated(case["asked"], spelled(case["written"])) == spelled(meant)


@pytest.mark.parametrize("case", cases("local/units.yaml"), ids=lambda case: case["asked"])
def test_units_of_time_are_heard(case: dict[str, str]) -> None:
    assert unit_of(case["asked"]) == case["unit"]


def test_both_sides_of_a_set_operation_and_derived_tables_are_dated() -> None:
    sql = "SELECT price FROM sale WHERE {} UNION SELECT made_in FROM sale WHERE {}"
    found = dated("in May 1997", sql.format(f"{YEAR} = '1997'", f"{YEAR} = '1997'"))
    assert found == sql.format(f"{MONTH} = '1997-05'", f"{MONTH} = '1997-05'")
    found = dated(
        "in May 1997", f"SELECT max(p) FROM (SELECT price AS p FROM sale WHERE {YEAR} = '1997')"
    )
    assert f"{MONTH} = '1997-05'" in found
