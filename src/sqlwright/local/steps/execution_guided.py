"""Executes candidates, replaces texts that aren't stored, adds the warnings of machine checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import deduplicate, execute, is_empty_answer, stopped, valid
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Column, Comparison, InList, Like, Literal, Query
from sqlwright.local.form.walking import changed
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import WrittenForm, form_of
from sqlwright.local.left_out.amounts import machine_checks
from sqlwright.protocols import Context, Step, ValueIndex
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, Note, State, ValueMatch

SOURCE = "repair.execution_guided"

Choose = Callable[[ColumnRef, str], ValueMatch | None]


@dataclass(frozen=True)
class ExecutionGuidedRepair(Step):
    """Executes every candidate under the run's limits and keeps what came of it, errors included.

    A candidate that finds nothing is looked at again: where it compares a column with a text that
    the column doesn't hold, although it holds a similar one, that one takes its place. The new
    query is kept only if it finds something; the old one stays its parent. Queries that machine
    checks find fault with carry a warning.

    Does nothing without candidates. When time runs out, the rest stays unexecuted.
    """

    seconds: float = 4.0
    """Seconds for all candidates but the first together; the first has the limit of any query."""
    repaired: int = 4
    """Most candidates that are repaired, in their order."""
    similarity: float = 0.8
    """Least similarity, in [0, 1], of a stored value that may replace a literal."""
    penalty: float = 0.5
    """Loss of a repaired candidate's score (log probability) for each literal that was replaced."""

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        done = self._executed(state.candidates, context)
        left = self.repaired
        repaired = []
        for candidate in done:
            wanted = is_empty_answer(candidate) and state.looked_up and not stopped(context.run)
            if left and wanted:
                left -= 1
                repaired.append(self._repair(candidate, context))
            else:
                repaired.append(candidate)
        checked = (_checked(candidate, context) for candidate in repaired)
        return state.evolve(candidates=deduplicate(checked))

    def _executed(self, candidates: Sequence[Candidate], context: Context) -> tuple[Candidate, ...]:
        database, run = context.workspace.database, context.run
        first = execute(candidates[:1], database, run)
        return first + execute(candidates[1:], database, run, seconds=self.seconds)

    def _repair(self, candidate: Candidate, context: Context) -> Candidate:
        """The candidate with literals that are stored, if that makes it find something."""
        schema = context.workspace.schema
        try:
            form = form_of(candidate, schema)
            form, replacements = replace_literals(
                form, lambda column, text: self._stored(column, text, context.workspace.values)
            )
            if not replacements:
                return candidate
            sql = write_sql(form, schema)
        except UnsupportedQuery:
            return candidate
        new = Candidate(
            sql=sql,
            source=SOURCE,
            score=candidate.score - self.penalty * len(replacements),
            parent=candidate,
            goal=candidate.goal,
            columns=candidate.columns,
            values=_values(candidate.values, replacements),
            note="; ".join(map(_message, replacements)),
            form=WrittenForm(form),
            warnings=(*candidate.warnings, *(Note("replaced", _message(r)) for r in replacements)),
        )
        (new,) = execute([new], context.workspace.database, context.run, seconds=self.seconds)
        return new if valid(new) and not is_empty_answer(new) else candidate

    def _stored(self, column: ColumnRef, text: str, index: ValueIndex) -> ValueMatch | None:
        """The value of the column most similar to the text; None when it holds the text itself."""
        matches = [m for m in index.search(text, 60, per_column=4) if m.column == column]
        if not matches or any(match.value == text for match in matches):
            return None
        best = max(matches, key=lambda match: (match.score, match.row_count or 0))
        return best if best.score >= self.similarity else None


@dataclass(frozen=True, slots=True)
class Replacement:
    """A literal and the stored value that took its place."""

    text: str
    match: ValueMatch


def replace_literals(form: Query, choose: Choose) -> tuple[Query, tuple[Replacement, ...]]:
    """The form with every text that a column is asked to equal or contain replaced as chosen.

    `choose` is given the column and the text; None leaves the text. Negated conditions stay: they
    can't be why nothing was found.
    """
    found: dict[tuple[ColumnRef, str], ValueMatch] = {}

    def chosen(column: Column, literal: Literal) -> Literal:
        text = literal.value
        match = choose(column.ref, text) if isinstance(text, str) and text else None
        if match is None or not isinstance(text, str):
            return literal
        found[column.ref, text] = replace(match, phrase=text)
        return Literal(match.value)

    def replaced(node: object) -> object:
        match node:
            case Comparison("=", Column() as column, Literal() as text):
                return replace(node, right=chosen(column, text))
            case Comparison("=", Literal() as text, Column() as column):
                return replace(node, left=chosen(column, text))
            case InList(Column() as column, texts, negated=False):
                return replace(node, values=tuple(chosen(column, text) for text in texts))
            case Like(kind, Column() as column, text, negated=False) if kind != "matches":
                return replace(node, phrase=chosen(column, text))
        return node

    form = changed(form, replaced)
    return form, tuple(Replacement(text, match) for (_, text), match in found.items())


def _checked(candidate: Candidate, context: Context) -> Candidate:
    if not valid(candidate) or not math.isfinite(candidate.score):
        return candidate
    found = machine_checks(candidate, context.workspace)
    return replace(candidate, warnings=(*candidate.warnings, *found)) if found else candidate


def _values(
    values: tuple[ValueMatch, ...], replacements: Sequence[Replacement]
) -> tuple[ValueMatch, ...]:
    gone = {(r.match.column, r.text) for r in replacements}
    kept = tuple(match for match in values if (match.column, match.value) not in gone)
    return (*kept, *(replacement.match for replacement in replacements))


def _message(replacement: Replacement) -> str:
    match = replacement.match
    return f"{match.column} has no {replacement.text!r}; used {match.value!r}, which is similar"
