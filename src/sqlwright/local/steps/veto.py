"""Mends candidates with a fault that a machine can read in their form, or marks them as wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

from sqlwright.candidates import deduplicate, execute, grounded, is_empty_answer, stopped, valid
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Query
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import WrittenForm, form_of
from sqlwright.local.left_out.account import accounted, vetoed
from sqlwright.local.left_out.reading import Finding, Reading, joined
from sqlwright.local.left_out.rules import findings
from sqlwright.local.left_out.times import beyond
from sqlwright.protocols import Context, Step
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import dialect_of, written_table
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Candidate, State, Veto

SOURCE = "repair.veto"


@dataclass(frozen=True)
class VetoRepair(Step):
    """Reads each executed candidate for faults that no right query has (`left_out/rules.py`).

    Where a rule can write the query without the fault, that one is executed and takes the
    candidate's place, unless it finds nothing where the candidate found something; the candidate
    stays its parent. Faults that remain are the candidate's `vetoes`: selection holds it to be
    wrong, and the answer says what is wrong with it. In queries that the form can't say only the
    phrases of the question are looked for that nothing in them answers (`left_out/account.py`).
    """

    mends: int = 4
    """Faults of one candidate that are mended at most."""
    seconds: float = 2.0
    """Seconds for all queries that are written here together."""
    unanswered: bool = True
    """False leaves the account of the question's phrases out: nothing is vetoed for a phrase that
    it doesn't answer, and the answer names none."""

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        read = Reading(state, context.workspace, context.run.today)
        deadline = context.run.clock() + self.seconds
        share = cache(partial(_share, context))
        done = [self._accounted(one, read) for one in state.candidates]
        done = [self._examined(one, read, context, deadline) for one in done]
        done = [vetoed(_with_joins(one, read, share)) for one in done]
        told = [tuple(beyond(one, read, context)) if valid(one) else () for one in done]
        done = [
            replace(one, warnings=(*one.warnings, *notes)) if notes else one
            for one, notes in zip(done, told, strict=True)
        ]
        return state.evolve(candidates=deduplicate(done))

    def _accounted(self, candidate: Candidate, read: Reading) -> Candidate:
        return accounted(candidate, read) if self.unanswered and valid(candidate) else candidate

    def _examined(
        self, candidate: Candidate, read: Reading, context: Context, deadline: float
    ) -> Candidate:
        if not valid(candidate) or not math.isfinite(candidate.score) or stopped(context.run):
            return candidate
        try:
            form = form_of(candidate, read.schema)
        except UnsupportedQuery:
            return candidate
        found = findings(form, read)
        kept: dict[Veto, None] = {}
        for _ in range(self.mends):
            finding = next((f for f in found if f.mended is not None and f.veto not in kept), None)
            if finding is None:
                break
            mended = self._mended(candidate, finding, read, context, deadline)
            if mended is None:
                kept[finding.veto] = None
                continue
            candidate, form = mended, form_of(mended, read.schema)
            found = findings(form, read)
        vetoes = [finding.veto for finding in found]
        return replace(candidate, vetoes=tuple(dict.fromkeys(vetoes))) if vetoes else candidate

    def _mended(
        self,
        candidate: Candidate,
        finding: Finding,
        read: Reading,
        context: Context,
        deadline: float,
    ) -> Candidate | None:
        """The candidate without the fault; None when it can't be written or finds less."""
        assert finding.mended is not None
        mended = (*candidate.mended, finding.veto)
        left = deadline - context.run.clock()
        try:
            sql = write_sql(finding.mended, read.schema)
            form = _settled(finding.mended, read.schema, sql)
        except UnsupportedQuery:
            return None
        if left <= 0 or sql == candidate.sql:
            return None
        new = Candidate(
            sql=sql,
            source=SOURCE,
            score=candidate.score,
            parent=candidate,
            goal=candidate.goal,
            sample=candidate.sample,
            note="; ".join(veto.done for veto in mended),
            warnings=candidate.warnings,
            mended=mended,
            form=WrittenForm(form),
        )
        new = grounded(new, (*candidate.values, *read.state.values), read.schema)
        (new,) = execute([new], context.workspace.database, context.run, seconds=left)
        if not valid(new) or (is_empty_answer(new) and not is_empty_answer(candidate)):
            return None
        return self._accounted(new, read)


def _settled(form: Query, schema: Schema, sql: str) -> Query:
    """A mended form as reading its SQLite gives it, whatever dialect it is written in."""
    plain = schema.in_sqlite
    return read_sql(sql if plain is schema else write_sql(form, plain), plain)


def _with_joins(
    candidate: Candidate, read: Reading, share: Callable[[ColumnRef, ColumnRef], bool]
) -> Candidate:
    """A candidate that found nothing, with its joins over two columns that share no value."""
    if not is_empty_answer(candidate):
        return candidate
    try:
        pairs = dict.fromkeys(joined(form_of(candidate, read.schema), read.schema))
    except UnsupportedQuery:
        return candidate
    apart = [
        Veto("join", f"{near} and {far} are joined and share no value")
        for near, far in pairs
        if not share(near, far)
    ]
    return replace(candidate, vetoes=(*candidate.vetoes, *apart)) if apart else candidate


def _share(context: Context, near: ColumnRef, far: ColumnRef) -> bool:
    """True if some value stands in both columns, or if that can't be found out within a second."""
    schema = context.workspace.schema
    tables, columns = (near.table, far.table), (near.column, far.column)
    if schema.dialect == "sqlite":
        one, other, left, right = map(quote_name, (*columns, *tables))
    else:
        one, other = map(dialect_of(schema).quoted, columns)
        left, right = (written_table(schema, name) for name in tables)
    query = Candidate(
        f"SELECT 1 FROM {left} AS a JOIN {right} AS b ON a.{one} = b.{other} LIMIT 1", SOURCE
    )
    (query,) = execute([query], context.workspace.database, context.run, seconds=1.0)
    return not valid(query) or bool(query.result and query.result.rows)
