"""What is read from the messages of drivers that nothing is written for."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")

from sqlalchemy.exc import ProgrammingError

from sqlwright.database.generic.engine import explain_failure


@pytest.mark.parametrize(
    ("message", "cause", "name"),
    [
        ('column "name" does not exist\nLINE 1: SELECT name\n  ^', "unknown_column", "name"),
        ('relation "visits" does not exist', "unknown_table", "visits"),
        ("(1146, \"Table 'shop.visits' doesn't exist\")", "unknown_table", "shop.visits"),
        ("(1054, \"Unknown column 'name' in 'SELECT'\")", "unknown_column", "name"),
        ("Unknown expression identifier `nothere` in scope", "unknown_column", "nothere"),
        ("Unknown table expression identifier 'visits' in scope", "unknown_table", "visits"),
        ("ORA-00942: table or view does not exist", "unknown_table", ""),
        ('ORA-00904: "NAME": invalid identifier', "unknown_column", "NAME"),
        ("[42S02] Invalid object name 'visits'. (208)", "unknown_table", "visits"),
        ("Column 'x' cannot be resolved", "unknown_column", "x"),
        ("division by zero", "", ""),
        ("function foo(integer) does not exist", "", ""),
    ],
)  # fmt: skip
def test_names_that_are_missing(message: str, cause: str, name: str) -> None:
    told = explain_failure(ProgrammingError("SELECT", None, Exception(message)))
    assert (told.kind, told.cause, told.name) == ("sql", cause, name)
    assert "\n" not in told.message
