"""Replaces texts that aren't stored by similar ones that are, in any SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import execute, grounded, is_empty_answer, valid
from sqlwright.protocols import Context, Step
from sqlwright.sql.dialects import dialect_named
from sqlwright.steps.repair.faults import UnknownText, unknown_texts
from sqlwright.types import Candidate, Note, State, ValueMatch

SOURCE = "repair.literals"
ALIKE = 0.8
"""Least similarity, in [0, 1], of a stored value that replaces a text without a call; chosen."""


@dataclass(frozen=True)
class LiteralRepair(Step):
    """Mends candidates that find nothing because a text isn't spelled as it is stored.

    The new query takes the old one's place, and keeps it as its parent, only if it finds
    something; nothing happens where the recipe looks up no stored values for the question. Costs no
    call; after the literal check of CHESS's first version, which left the mending to the model.
    Reads any SQL, unlike `repair.execution_guided`.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        executed = execute(state.candidates, context.workspace.database, context.run)
        mended = (
            mend(one, unknown_texts(one.sql, state, context, ALIKE), state, context)
            if is_empty_answer(one)
            else one
            for one in executed
        )
        return state.evolve(candidates=tuple(mended))


def mend(
    candidate: Candidate, unknown: Sequence[UnknownText], state: State, context: Context
) -> Candidate:
    """The executed candidate with similar texts that are stored for those that aren't, if it is
    an empty answer and finds something with them; else itself."""
    # A condition that excludes can't be why nothing was found.
    unknown = [one for one in unknown if one.similar is not None and not one.compared.negated]
    if not unknown or not is_empty_answer(candidate):
        return candidate
    messages = tuple(map(_message, unknown))
    new = Candidate(
        sql=with_texts(candidate.sql, unknown, context.workspace.schema.dialect),
        source=SOURCE,
        score=candidate.score,
        parent=candidate,
        goal=candidate.goal,
        plan=candidate.plan,
        sample=candidate.sample,
        note="; ".join(messages),
        warnings=(*candidate.warnings, *(Note("replaced", message) for message in messages)),
    )
    known = (*state.values, *candidate.values, *(match_of(one) for one in unknown))
    new = grounded(new, dict.fromkeys(known), context.workspace.schema)
    (new,) = execute([new], context.workspace.database, context.run)
    return new if valid(new) and not is_empty_answer(new) else candidate


def with_texts(sql: str, unknown: Sequence[UnknownText], dialect: str = "sqlite") -> str:
    """The query with each text replaced by its similar one, everything else as it was."""
    for one in sorted(unknown, key=lambda one: -one.compared.start):
        compared = one.compared
        text = match_of(one).value
        if compared.pattern:
            inner = compared.text.strip("%")
            text = compared.text.replace(inner, text)
        sql = sql[: compared.start] + dialect_named(dialect).text(text) + sql[compared.end :]
    return sql


def match_of(unknown: UnknownText) -> ValueMatch:
    """The value that takes a text's place, as found by that text."""
    assert unknown.similar is not None
    return replace(unknown.similar, phrase=unknown.compared.text.strip("%"))


def _message(unknown: UnknownText) -> str:
    compared, match = unknown.compared, match_of(unknown)
    return f"{compared.column} has no {compared.text!r}; used {match.value!r}, which is similar"
