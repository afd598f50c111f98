"""The author of a chosen query, and the grounds for how sure it is, as a state holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwright.caveats import Look, cautioned
from sqlwright.protocols import Run, Workspace
from sqlwright.types import Author, Basis, Candidate, Sign, State

Caution = Callable[[State], State]
"""Adds to a state what the data does in its choice."""


def author_of(chosen: Candidate, state: State) -> Author:
    """The author of the query's first version, whatever repaired it."""
    first = chosen.first
    if first.by_model:
        return "language_model"
    if first.source != "generation.embedded":
        return "other"
    stood_in = any(note.kind == "stand_in" for note in state.warnings)
    return "stand_in" if stood_in else "embedded"


def basis_of(state: State, chosen: Candidate) -> Basis:
    """The grounds where nothing was fitted to say how probable the answer is."""
    ours = state.for_question
    known = state.basis or Basis("none", 0, len(ours) + len(state.declines))
    if any(note.kind == "mended" for note in chosen.warnings):
        mended = Sign("machine_check", "the query failed as it was written, and was mended", False)
        known = replace(known, signs=(*known.signs, mended))
    if author_of(chosen, state) == "stand_in":  # a beam's queries aren't samples: they don't vote
        known = replace(known, kind="none", agreeing=0)
    place = next((n for n, c in enumerate(state.candidates) if c.id == chosen.id), None)
    judged = [test.passed for test in state.tests if test.passed is not None]
    if not judged or place is None:
        return known
    passed = sum(place in ones for ones in judged)
    most = 2 * passed >= len(judged)
    sign = Sign("tests", f"it passes {passed} of {len(judged)} unit tests", most, grave=not most)
    return replace(known, signs=(sign, *known.signs))


def caution_in(workspace: Workspace, run: Run) -> Caution:
    """Each query is looked at once; an embedded model's is put right."""
    look = Look.at(workspace, run)

    def caution(state: State) -> State:
        chosen = state.selected
        mends = chosen is not None and author_of(chosen, state) in {"embedded", "stand_in"}
        return cautioned(state, look, mends=mends)

    return caution
