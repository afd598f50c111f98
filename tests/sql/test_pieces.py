"""Texts cut into the pieces of SQL, by dialect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.sql.dialects import DIALECTS
from sqlwright.sql.pieces import pieces

CUT = [
    ("sqlite", "SELECT [a;b], 'it''s'", ["SELECT", "[a;b]", ",", "'it''s'"]),
    ("postgres", "a[1] = $$;$$", ["a", "[", "1", "]", "=", "$$;$$"]),
    ("postgres", "$x$ $$;$$ $x$ a$b$c", ["$x$ $$;$$ $x$", "a$b$c"]),
    ("postgres", r"E'\';' '\' U&'a;'", [r"E'\';'", r"'\'", "U&'a;'"]),
    ("postgres", "/* a /* b; */ c; */ 1 -- d;\n;", ["/* a /* b; */ c; */", "1", "-- d;", ";"]),
    ("postgres", "x'6a' || b'01'", ["x'6a'", "||", "b'01'"]),
    ("postgres", "$5 or $$", ["$", "5", "or", "$$"]),
    ("mysql", r"""'\';' "it's; \" " `a;``b`""", [r"'\';'", r'''"it's; \" "''', "`a;``b`"]),
    ("mysql", "5--2 -- a;\n# b;\n;", ["5", "-", "-", "2", "-- a;", "# b;", ";"]),
    ("mysql", "/* a /* b; */ c", ["/* a /* b; */", "c"]),
    ("duckdb", "{'a': [1]} // $$;$$", ["{", "'a'", ":", "[", "1", "]", "}", "/", "/", "$$;$$"]),
    ("bigquery", 'r"\\" """a;"b""" `c;`', ['r"\\"', '"""a;"b"""', "`c;`"]),
    ("oracle", "q'[it's;]' 'a'", ["q'[it's;]'", "'a'"]),
]


@pytest.mark.parametrize(("dialect", "text", "cut"), CUT)
def test_a_text_is_cut_by_its_dialect(dialect: str, text: str, cut: list[str]) -> None:
    assert [piece.text for piece in pieces(text, dialect) if piece.kind != "space"] == cut


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", "clickhouse"])
def test_a_quote_that_nothing_closes_is_told(dialect: str) -> None:
    assert [p.text for p in pieces("it's 'a", dialect) if p.kind == "open"] == []
    assert [p.text for p in pieces("'a' it's", dialect) if p.kind == "open"] == ["'"]


LETTERS = st.text("ab1'\"`$[]()/*-#;\\\n eExX:.{}q&", max_size=40)


@given(text=st.text(max_size=30) | LETTERS)
@pytest.mark.parametrize("dialect", [*DIALECTS, "clickhouse", "snowflake", "oracle"])
def test_nothing_of_a_text_is_left_out(dialect: str, text: str) -> None:
    found = list(pieces(text, dialect))
    assert "".join(piece.text for piece in found) == text
    assert all(text.startswith(piece.text, piece.start) for piece in found)
