"""In each dialect the tree check alone refuses every attack and lets every harmless query pass."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import UnreadableQuery
from tests.sql.guards import CASES, WRITTEN, attacks, harmless, readable

DIALECTS = tuple(WRITTEN)
ATTACKS = {dialect: attacks(dialect) for dialect in DIALECTS}


def cases(found: dict[str, list[str]]) -> list[object]:
    return [
        pytest.param(dialect, sql, id=f"{dialect}-{number}")
        for dialect, texts in found.items()
        for number, sql in enumerate(texts, 1)
    ]


@pytest.mark.parametrize(("dialect", "sql"), cases(ATTACKS))
def test_an_attack_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        check_query(sql, dialect, readable=readable(dialect))


@pytest.mark.parametrize(("dialect", "sql"), cases({d: harmless(d) for d in DIALECTS}))
def test_a_harmless_query_passes(dialect: str, sql: str) -> None:
    check_query(sql, dialect, readable=readable(dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_are_enough(dialect: str) -> None:
    assert len(set(ATTACKS[dialect])) >= 270
    assert len(set(harmless(dialect))) >= 120


@pytest.mark.parametrize("dialect", sorted(set(WRITTEN.values())))
def test_each_attack_says_what_it_does_and_why_it_is_refused(dialect: str) -> None:
    text = (CASES / "attacks" / dialect / "attacks.yaml").read_text("utf-8")
    for group in yaml.safe_load(text):
        assert set(group) == {"kind", "why", "sql"}
        assert all(group.values())


SPACES = (
    " ",
    "\n",
    "\t",
    "\r\n",
    "/**/",
    "/* a ' b */",
    " -- x\n",
    "\f",
    "\u00a0",
    "\u2003",
    "(",
    ";",
)
BETWEEN = st.lists(st.sampled_from(SPACES), min_size=1, max_size=3).map("".join)
LETTERS = (("s", "\u017f"), ("k", "\u212a"), ("i", "\u0131"), ("e", "\u0435"), ("(", "\uff08"))
"""Letters and what some engines' or parsers' folding, or a reader, takes for them."""
CASED = re.compile(r'"[A-Z]\w+"|ORDERS|Secrets')
"""In attacks that are none in other letters."""
CALL = re.compile(r"\w(?=\()")


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, str]:
    """A dialect, and an attack with letters in another case, comments and odd blanks for spaces,
    the name of a function in quotes or letters that look alike."""
    dialect = draw(st.sampled_from(DIALECTS))
    sql = draw(st.sampled_from(ATTACKS[dialect]))
    if not CASED.search(sql) and draw(st.booleans()):
        sql = "".join(draw(st.sampled_from((c.lower(), c.upper()))) for c in sql)
    kind = draw(st.sampled_from(("space", "quotes", "letter")))
    if kind == "space":
        at = draw(st.integers(0, sql.count(" ")))
        sql = sql.replace(" ", "\0", at).replace(" ", draw(BETWEEN), 1).replace("\0", " ")
    elif kind == "quotes":
        mark = "`" if WRITTEN[dialect] == "mysql" else '"'
        sql = re.sub(r"\b([a-z]\w+)(?=\()", rf"{mark}\1{mark}", sql)
    elif CALL.search(sql):
        sql = sql.replace(*draw(st.sampled_from(LETTERS)))
    return dialect, sql


@given(spellings())
def test_no_other_spelling_of_an_attack_passes(attack: tuple[str, str]) -> None:
    dialect, sql = attack
    with pytest.raises(UnsafeQuery):
        check_query(sql, dialect, readable=readable(dialect))


@given(st.text(alphabet="abs()'\"`[]-/*;,. \n\t\x00\u00a0é12x+<>=|{}#$%\\@:?EUNnMm!&", max_size=60))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    for dialect in (*DIALECTS, "clickhouse", "tsql", "bigquery"):
        for sql in (text, "SELECT " + text):
            try:
                names = check_query(sql, dialect, readable=("a", "b"))
            except UnsafeQuery:
                continue
            assert names <= {"a", "b"}


def test_mistakes_are_told_from_attacks() -> None:
    for dialect, sql in (
        ("postgres", "SELEC 1"),
        ("postgres", "SELECT strftime('%Y', x) FROM orders"),
        ("duckdb", "SELECT * FROM order"),
        ("mysql", "SELECT string_agg(x, ',') FROM orders"),
    ):
        with pytest.raises(UnreadableQuery):
            check_query(sql, dialect, readable=readable(dialect))
    for dialect, sql in (
        ("postgres", "SELECT pg_sleep(1)"),
        ("duckdb", "SELECT * FROM read_csv('x')"),
        ("mysql", "SELECT @@version"),
    ):
        with pytest.raises(UnsafeQuery) as caught:
            check_query(sql, dialect)
        assert not isinstance(caught.value, UnreadableQuery)
