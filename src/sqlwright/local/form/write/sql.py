"""A form as SQL of the database's dialect, with its joins restored and everything quoted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.write.queries import QueryWriter
from sqlwright.schema import Schema
from sqlwright.sql.dialects import POSTGRES, SQLITE, Dialect, dialect_of
from sqlwright.sql.tree import node_text, query_tree

if TYPE_CHECKING:
    from sqlglot import exp

_WIDER = {"clickhouse": {"DATE": "DATE32", "TIMESTAMP": "DATETIME64", "TIMESTAMPTZ": "DATETIME64"}}
"""Types of dates that hold every year, by dialect and by the usual type's name: ClickHouse's usual
ones begin with 1970."""
_CUT = "TRUNC({} / {})"
"""A whole quotient where integers are divided to fractions."""


def write_sql(form: f.Query, schema: Schema) -> str:
    """The form as one line of SQL in the schema's dialect.

    Raises UnsupportedQuery when no keys join the tables it mentions, when it holds a text that no
    database can take, or what the dialect can't say. For a dialect that no words are written for
    it is PostgreSQL's SQL, as the parser translates it.
    """
    if schema.dialect == SQLITE.name:
        return QueryWriter(schema).query(form, None)
    return _strictly(form, schema, dialect_of(schema))


def _strictly(form: f.Query, schema: Schema, dialect: Dialect) -> str:
    # A question of a SQLite file shouldn't wait for these.
    from sqlwright.local.form.write.strict import StrictWriter
    from sqlwright.local.form.write.words import words_of

    words = words_of(dialect.name)
    if words is not None:
        return StrictWriter(schema, dialect, words).query(form, None)
    words = words_of(POSTGRES.name)
    assert words is not None
    if not dialect.integer_division:
        words = replace(words, quotient=_CUT, whole_quotient=_CUT)
    # Every name is quoted, so that it stays what it is whatever either engine folds.
    text = StrictWriter(schema, POSTGRES, words, all_quoted=True).query(form, None)
    tree = query_tree(text, POSTGRES.name)
    sql = "" if tree is None else node_text(_widened(tree, dialect), dialect.name)
    if not sql:
        raise UnsupportedQuery(f"the query can't be said in the dialect {dialect.name!r}")
    return sql


def _widened(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """A tree whose constants of dates are of types that hold every year."""
    from sqlglot import exp

    wider = _WIDER.get(dialect.parser)
    if wider is None:
        return tree
    tree = tree.copy()
    for cast in tree.find_all(exp.Cast):
        name = str(getattr(cast.to.this, "name", ""))
        if name in wider and isinstance(cast.this, exp.Literal):
            cast.set("to", exp.DataType(this=exp.DataType.Type[wider[name]]))
    return tree
