"""Texts that repeat one piece of SQL within itself or in a row, to find what a parser takes
exponentially long to read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from sqlwright.sql.token_check import FUNCTIONS

_WORDS = """
    and or not case when then else is in like glob between exists cast as from select where order by
    group having limit offset union values with over partition rows range filter join left inner
    cross natural on using collate escape null asc desc nulls first last distinct all interval
    current row unbounded preceding following exclude window recursive materialized match regexp
    isnull notnull int text date array map struct nullable decimal varchar unnest lateral table
    tablesample pivot qualify at time zone timestamp primary key default index full outer right semi
    anti top fetch for update lock apply extract position set create
    ( ) , . + - * / || -> ->> = < ~ % & | << # => json( char( datetime( jsonb( sum(
"""
_BEFORE = ("SELECT ", "SELECT * FROM a ", "SELECT 1 WHERE 1 ", "SELECT * FROM ")
_PIECES = (
    ("{} ", ""),
    ("{} (", ")"),
    ("{} a ", ""),
    ("a {} ", ""),
    ("{} (a,", ")"),
    ("({} ", ")"),
    ("{} (select 1 from ", ")"),
    ("{} (select ", ")"),
    ("(select 1 {} ", ")"),
    ("a {} (", ")"),
    ("(a {} ", ")"),
    ("f({} ", ")"),
    ("date({} ", ")"),
    ("{} date(", ")"),
    ("{}(a ", ")"),
    ("case {} ", " end"),
    ("cast({} ", " as int)"),
    ("(a join {} ", ")"),
    ("a join {} ", ""),
    ("with x as (select {} ", ") select 1"),
    ("(select 1 from a join ", " {})"),
)
_CALLED = (("{}(", ")"), ("{}(1,", ")"), ("{}(a ", ")"), ("{}(distinct ", ")"), ("{}(select ", ")"))


class Shape(NamedTuple):
    """What is repeated around a core."""

    before: str
    opening: str
    core: str
    closing: str

    def text(self, times: int) -> str:
        """The text with that many repetitions."""
        return f"{self.before}{self.opening * times}{self.core}{self.closing * times}"


def all_shapes() -> Iterator[Shape]:
    """Every word of SQL (and of other dialects) in every place."""
    for before in _BEFORE:
        for core in ("1", "a"):
            for pieces, words in ((_PIECES, _WORDS.split()), (_CALLED, sorted(FUNCTIONS))):
                for opening, closing in pieces:
                    for word in words:
                        yield Shape(before, opening.format(word), core, closing.format(word))


_LONG = (
    ("SELECT ", "a", " + "),
    ("SELECT ", "a b", ", "),
    ("SELECT * FROM a WHERE ", "b = 'c'", " OR "),
    ("SELECT * FROM a WHERE b IN (", "1", ", "),
    ("SELECT * FROM ", "a AS b", ", "),
    ("SELECT * FROM a ", "JOIN b ON a.c = b.c", " "),
    ("SELECT ", "CASE a WHEN 1 THEN 'b' END", ", "),
    ("SELECT ", "date(a)", ", "),
    ("SELECT ", "date(date(date(date(a))))", " || "),
    ("SELECT ", "CAST(a AS decimal(1, 2))", " - "),
    ("SELECT ", "a.b.c", " < "),
    ("SELECT ", "(SELECT 1 LIMIT (SELECT 2))", ", "),
    ("SELECT ", "count(*) OVER (PARTITION BY a ORDER BY b)", ", "),
    ("SELECT * FROM ", "(a JOIN b JOIN c)", ", "),
    ("SELECT ", "a -> '$.b'", " -> "),
    ("SELECT ", "json_extract(a, '$.b[1].c')", " AND "),
    ("SELECT a BETWEEN ", "b", " AND c BETWEEN "),
    ("SELECT ", "a COLLATE nocase LIKE b ESCAPE 'c'", " IS NOT "),
    ("VALUES ", "(1, 'a', NULL)", ", "),
    ("WITH ", "x(a) AS (SELECT 1)", ", "),
    ("SELECT a FROM b ORDER BY ", "c DESC NULLS LAST", ", "),
)


def random_text(chosen: random.Random, tokens: int) -> str:
    """About that many tokens: pieces in a row, within each other, or words without order."""
    if chosen.random() < 0.4:
        before, piece, between = chosen.choice(_LONG)
        times = max(1, tokens // (len(piece.split()) + piece.count("(") * 3 + 2))
        pieces = [piece] * times
        if chosen.random() < 0.5:
            pieces[chosen.randrange(times)] = chosen.choice(chosen.choice(_LONG))
        return before + between.join(pieces)
    parts = ["SELECT"]
    words = _WORDS.split()
    while len(parts) < tokens:
        if chosen.random() < 0.3:
            parts += chosen.choices(words, k=chosen.randint(1, 5))
        else:
            opening, closing = chosen.choice(_PIECES)
            word, times = chosen.choice(words), chosen.choice((1, 2, 5, 20))
            repeated = Shape("", opening.format(word), "1", closing.format(word)).text(times)
            parts += [*repeated.split(), chosen.choice((",", "AND", "||", "UNION SELECT", "FROM"))]
    return " ".join(parts)
