"""A form as SQL of the database's dialect, with its joins restored and everything quoted."""

from __future__ import annotations

from sqlwright.errors import UnsupportedQuery
from sqlwright.form import nodes as f
from sqlwright.form.write.queries import QueryWriter
from sqlwright.form.write.strict import StrictWriter
from sqlwright.form.write.words import words_of
from sqlwright.schema import Schema
from sqlwright.sql.dialects import POSTGRES, Dialect, dialect_of
from sqlwright.sql.tree import node_text, query_tree


def write_sql(form: f.Query, schema: Schema) -> str:
    """The form as one line of SQL in the schema's dialect.

    Raises UnsupportedQuery when no keys join the tables it mentions, when it holds a text that no
    database can take, or what the dialect can't say. For a dialect that no words are written for
    it is PostgreSQL's SQL, as the parser translates it.
    """
    if schema.dialect == "sqlite":
        return QueryWriter(schema).query(form, None)
    dialect = dialect_of(schema)
    words = words_of(dialect.name)
    if words is not None:
        return StrictWriter(schema, dialect, words).query(form, None)
    return _translated(form, schema, dialect)


def _translated(form: f.Query, schema: Schema, dialect: Dialect) -> str:
    words = words_of("postgres")
    assert words is not None
    # Every name is quoted, so that it stays what it is whatever either engine folds.
    text = StrictWriter(schema, POSTGRES, words, all_quoted=True).query(form, None)
    tree = query_tree(text, "postgres")
    sql = "" if tree is None else node_text(tree, dialect.name)
    if not sql:
        raise UnsupportedQuery(f"the query can't be said in the dialect {dialect.name!r}")
    return sql
