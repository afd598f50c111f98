"""Conditions that recipes may use in `when` and `repeat_until`, by their names in the registry."""

from __future__ import annotations

from sqlwright.candidates import group_by_result, hollow, valid
from sqlwright.combinators import Condition
from sqlwright.protocols import Context
from sqlwright.types import State

MANY = 150
"""Columns from which a schema counts as large."""


def _has_candidates(state: State, context: Context) -> bool:
    return bool(state.candidates)


def _has_valid_candidate(state: State, context: Context) -> bool:
    return any(valid(candidate) for candidate in state.candidates)


def _has_rows(state: State, context: Context) -> bool:
    return any(valid(candidate) and not hollow(candidate) for candidate in state.candidates)


def _candidates_agree(state: State, context: Context) -> bool:
    """All that ran without an error give one result."""
    return len(group_by_result(state.candidates)) == 1


def _many_columns(state: State, context: Context) -> bool:
    return state.view.schema.column_count > MANY


def _no_values_found(state: State, context: Context) -> bool:
    return not state.values


_CANDIDATES = frozenset({"candidates"})

HAS_CANDIDATES = Condition(_CANDIDATES, _has_candidates)
HAS_VALID_CANDIDATE = Condition(_CANDIDATES, _has_valid_candidate)
HAS_ROWS = Condition(_CANDIDATES, _has_rows)
CANDIDATES_AGREE = Condition(_CANDIDATES, _candidates_agree)
MANY_COLUMNS = Condition(frozenset({"view"}), _many_columns)
NO_VALUES_FOUND = Condition(frozenset({"values"}), _no_values_found)
