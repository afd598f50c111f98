"""The critic sees whether a query does what single words of the question ask for, and whether it
uses the keys that the question names."""

from __future__ import annotations

import pytest

from sqlwright.local.critic.families.keys_and_order import References
from sqlwright.local.critic.families.single_words import Cues
from sqlwright.local.critic.parts import parts_of
from sqlwright.schema import Column, ForeignKey, Schema, Table
from sqlwright.sql.reading import read_facts


def table(name: str, *columns: str, key: tuple[str, ...] = ()) -> Table:
    """Columns are written `name type`."""
    return Table(name, tuple(Column(*column.split(" ", 1)) for column in columns), key)


DESK = Schema(
    "desk",
    (
        table("staff", "staff_id int", "fname text", "lname text", "birthday date", "age int",
              "city text", key=("staff_id",)),
        table("problem", "problem_id int", "reported_by_staff_id int", "closed_by_staff_id int",
              "product_code int", "note text", "severity int", key=("problem_id",)),
        table("product", "code int", "title text", "price real", key=("code",)),
        table("usage", "staff_id int", "product_code int", "amount int"),
    ),
    (
        ForeignKey("problem", ("reported_by_staff_id",), "staff", ("staff_id",)),
        ForeignKey("problem", ("closed_by_staff_id",), "staff", ("staff_id",)),
        ForeignKey("problem", ("product_code",), "product", ("code",)),
        ForeignKey("usage", ("staff_id",), "staff", ("staff_id",)),
        ForeignKey("usage", ("product_code",), "product", ("code",)),
    ),
)  # fmt: skip


def noticed(asked: str, sql: str) -> set[str]:
    facts = read_facts(sql, DESK)
    assert facts is not None
    parts = parts_of(facts)
    found = Cues(asked, DESK).features(parts) | References(asked, DESK).features(parts)
    return {name for name, value in found.items() if value}


OLDEST = "SELECT fname FROM staff ORDER BY {} LIMIT 1"
CLOSED = "SELECT note FROM problem JOIN staff ON problem.closed_by_staff_id = staff.staff_id"
REPORTED = CLOSED.replace("closed_by", "reported_by")


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("Return their last names.", "SELECT lname FROM staff", "name part right"),
        ("Return their family names.", "SELECT fname, lname FROM staff", "name part extra"),
        ("Return their last names.", "SELECT fname FROM staff", "name part lost"),
        ("First and last names", "SELECT fname FROM staff", "name part lost"),
        ("Names sorted by their last names", "SELECT fname FROM staff ORDER BY lname",
         "name part ordered right"),
        ("Names sorted by their last names", "SELECT fname FROM staff ORDER BY fname",
         "name part ordered wrong"),
        ("Staff in Rome", "SELECT fname FROM staff WHERE city = 'Rome' ORDER BY age LIMIT 1",
         "limit made up"),
        ("From the cheapest to the most expensive",
         "SELECT title FROM product ORDER BY price LIMIT 1", "limit made up"),
        ("The oldest of each city", "SELECT fname FROM staff ORDER BY age DESC LIMIT 1",
         "limit in each"),
        ("Who is the oldest?", OLDEST.format("age DESC"), "extreme right"),
        ("Who is the oldest?", OLDEST.format("age"), "extreme wrong"),
        ("Who is the oldest?", OLDEST.format("birthday"), "extreme right"),
        ("Who is the youngest?", OLDEST.format("birthday"), "extreme wrong"),
        ("The 5 cheapest", "SELECT title FROM product ORDER BY price DESC LIMIT 5",
         "extreme wrong"),
        ("The maximum price", "SELECT MIN(price) FROM product", "extreme wrong"),
        ("Titles from high to low price", "SELECT title FROM product ORDER BY price DESC",
         "direction right"),
        ("Titles from the cheapest on, ascending", "SELECT title FROM product ORDER BY price DESC",
         "direction wrong"),
        ("Staff from old to young", "SELECT fname FROM staff ORDER BY age", "direction wrong"),
        ("Staff from old to young", "SELECT fname FROM staff ORDER BY birthday", "direction right"),
        ("Cities ordered by the number of staff",
         "SELECT city FROM staff GROUP BY city ORDER BY COUNT(*)", "order counted"),
    ],
)  # fmt: skip
def test_names_extremes_and_directions(asked: str, sql: str, feature: str) -> None:
    assert feature in noticed(asked, sql)


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("Average and highest age", "SELECT AVG(age) FROM staff", "aggregates lost"),
        ("Average and highest age", "SELECT AVG(age), MAX(age) FROM staff", "aggregates kept"),
        ("The age of the staff", "SELECT AVG(age) FROM staff", "function made up"),
        ("Which staff is there?", "SELECT COUNT(*) FROM staff", "counted alone"),
        ("The average age in each city", "SELECT AVG(age) FROM staff", "each in one"),
        ("Monthly usage", "SELECT SUM(amount) FROM usage", "each in one"),
        ("Titles from Z to A", "SELECT title FROM product ORDER BY title DESC",
         "direction right"),
        ("Highest age and city", "SELECT MAX(age), city FROM staff", "mixed ungrouped"),
        ("All information about products", "SELECT * FROM product", "star kept"),
        ("All information about products", "SELECT title FROM product", "star lost"),
        ("How many different cities are there?", "SELECT COUNT(city) FROM staff",
         "different uncounted"),
        ("Staff without problem 3",
         "SELECT fname FROM staff JOIN problem ON staff.staff_id = problem.reported_by_staff_id "
         "WHERE problem_id != 3", "unequal joined"),
        ("Staff without problems",
         "SELECT fname FROM staff WHERE staff_id NOT IN (SELECT staff_id FROM usage)", "excepted"),
        ("Cities with a total amount above 9",
         "SELECT city FROM staff GROUP BY city HAVING SUM(age) > 9", "having kept"),
        ("Note and number of problems", "SELECT problem_id, COUNT(*) FROM problem GROUP BY note",
         "shown key ungrouped"),
        ("Product 'pen'", "SELECT title FROM product WHERE title = 'pen'", "constant shown"),
        ("Notes on 12", "SELECT note FROM problem WHERE note > 12", "text against number"),
        ("Staff in Rome", "SELECT fname FROM staff WHERE city = 'Rome' OR lname = 'Rome'",
         "literal repeated"),
        ("Staff of no city", "SELECT fname FROM staff WHERE city = ''", "literal empty"),
    ],
)  # fmt: skip
def test_functions_negations_groups_and_literals(asked: str, sql: str, feature: str) -> None:
    assert feature in noticed(asked, sql)


@pytest.mark.parametrize(
    ("asked", "sql", "feature"),
    [
        ("Staff without any use",
         "SELECT staff_id FROM staff EXCEPT SELECT product_code FROM usage", "operands apart"),
        ("Notes with product code 2", "SELECT note FROM problem WHERE product_code = 2",
         "key as said"),
        ("Notes with product code 2", "SELECT note FROM problem WHERE problem_id = 2",
         "key of another"),
        ("Problems reported by Ann", CLOSED, "joined by another role"),
        ("Total amount for each staff member", "SELECT SUM(amount) FROM usage GROUP BY staff_id",
         "grouped by each"),
        ("Problems per product",
         "SELECT COUNT(*) FROM problem JOIN product ON problem.product_code = product.code "
         "GROUP BY product.price", "grouped by another"),
    ],
)  # fmt: skip
def test_keys_are_those_that_the_question_names(asked: str, sql: str, feature: str) -> None:
    assert feature in noticed(asked, sql)


@pytest.mark.parametrize(
    ("asked", "sql"),
    [
        ("First and last names", "SELECT fname, lname FROM staff"),
        ("How many different cities are there?", "SELECT COUNT(DISTINCT city) FROM staff"),
        ("Staff older than at least 30", "SELECT fname FROM staff WHERE age > 30"),
        ("Problems reported by Ann", REPORTED),
        ("Staff with use",
         "SELECT fname FROM staff WHERE staff_id IN (SELECT staff_id FROM usage)"),
        ("Problems of staff",
         "SELECT note FROM problem WHERE reported_by_staff_id IN (SELECT staff_id FROM staff)"),
    ],
)  # fmt: skip
def test_what_fits_counts_nothing(asked: str, sql: str) -> None:
    assert not noticed(asked, sql)
