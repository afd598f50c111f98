"""A query's form as its author wrote it, and the form of any candidate."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.nodes import Query
from sqlwright.local.form.read.sql import read_sql
from sqlwright.schema import Schema
from sqlwright.sql.facts import QueryFacts
from sqlwright.types import Candidate
from sqlwright.types.candidates import Form


@dataclass(frozen=True)
class WrittenForm:
    """A `Form`: a query."""

    query: Query

    def facts(self, schema: Schema) -> QueryFacts:
        """The facts of the query. Raises UnsupportedQuery when no keys join its tables."""
        return form_facts(self.query, schema)


def query_in(form: Form | None) -> Query:
    """The query of an author's form. Raises UnsupportedQuery where there is none."""
    if isinstance(form, WrittenForm):
        return form.query
    raise UnsupportedQuery("its author built no form of it")


def form_of(candidate: Candidate, schema: Schema) -> Query:
    """The candidate's form: its author's, else read from its text. Raises UnsupportedQuery
    where the form can't express the query."""
    if isinstance(candidate.form, WrittenForm):
        return candidate.form.query
    return read_sql(candidate.sql, schema)
