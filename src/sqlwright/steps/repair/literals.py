"""Replaces texts that aren't stored by similar ones that are, in the form and in any SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar

from sqlwright.candidates import execute, grounded, is_empty_answer, valid
from sqlwright.local.form.nodes import Column, Comparison, InList, Like, Literal, Query
from sqlwright.protocols import Context, Step
from sqlwright.schema import ColumnRef
from sqlwright.sql.dialects import dialect_named
from sqlwright.steps.repair.faults import UnknownText, unknown_texts
from sqlwright.types import Candidate, Note, State, ValueMatch

SOURCE = "repair.literals"
ALIKE = 0.8
"""Least similarity, in [0, 1], of a stored value that replaces a text without a call; chosen."""

Choose = Callable[[ColumnRef, str], ValueMatch | None]


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

    changed: Query = _changed(form, chosen)
    return changed, tuple(Replacement(text, match) for (_, text), match in found.items())


def _changed(node: Any, chosen: Callable[[Column, Literal], Literal]) -> Any:
    if isinstance(node, tuple) and not isinstance(node, ColumnRef):
        return tuple(_changed(item, chosen) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if isinstance(node, Comparison) and node.operator == "=":
        if isinstance(node.left, Column) and isinstance(node.right, Literal):
            return replace(node, right=chosen(node.left, node.right))
        if isinstance(node.left, Literal) and isinstance(node.right, Column):
            return replace(node, left=chosen(node.right, node.left))
    if isinstance(node, InList) and isinstance(node.operand, Column) and not node.negated:
        column = node.operand
        return replace(node, values=tuple(chosen(column, value) for value in node.values))
    if isinstance(node, Like) and isinstance(node.operand, Column) and not node.negated:
        return node if node.kind == "matches" else replace(
            node, phrase=chosen(node.operand, node.phrase)
        )  # fmt: skip
    changes = {
        f.name: _changed(getattr(node, f.name), chosen)
        for f in fields(node)
        if isinstance(getattr(node, f.name), tuple) or is_dataclass(getattr(node, f.name))
    }
    return replace(node, **changes) if changes else node


@dataclass(frozen=True)
class LiteralRepair(Step):
    """Mends candidates that find nothing because a text isn't spelled as it is stored.

    The new query takes the old one's place, and keeps it as its parent, only if it finds
    something. Costs no call; after the literal check of CHESS's first version, which left the
    mending to the model. Reads any SQL, unlike `repair.execution_guided`.
    """

    similarity: float = ALIKE
    """Least similarity of the stored value to the text, in [0, 1]."""

    reads: ClassVar[frozenset[str]] = frozenset({"candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __post_init__(self) -> None:
        if not 0 < self.similarity <= 1:
            raise ValueError(f"similarity must be above 0 and at most 1, not {self.similarity}")

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        executed = execute(state.candidates, context.workspace.database, context.run)
        mended = (
            mend(one, unknown_texts(one.sql, state, context, self.similarity), state, context)
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
