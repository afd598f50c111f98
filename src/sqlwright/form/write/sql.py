"""A form as SQL of the database's dialect, with its joins restored and everything quoted."""

from __future__ import annotations

from sqlwright.form import nodes as f
from sqlwright.form.write.queries import QueryWriter
from sqlwright.schema import Schema


def write_sql(form: f.Query, schema: Schema) -> str:
    """The form as one line of SQL in the schema's dialect.

    Raises UnsupportedQuery when no keys join the tables it mentions, when it holds a text that no
    database can take, or what the dialect can't say.
    """
    return QueryWriter(schema).query(form, None)
