"""Conditions that recipes may use in `when` and `repeat_until`, by their names in the registry."""

from __future__ import annotations

from sqlwright.candidates import group_by_result, is_empty_answer, valid
from sqlwright.english.languages import foreign_language
from sqlwright.protocols import Context, context_tokens
from sqlwright.running.control_flow import Condition
from sqlwright.steps.repair.faults import FaultRule, settled
from sqlwright.steps.repair.refine import RULE
from sqlwright.steps.showing import named_tokens
from sqlwright.types import State

MANY = 150
"""Columns from which a schema counts as large."""
WHOLE_TOKENS = 16_000
"""Estimated tokens of names, types and descriptions up to which a schema is shown whole."""
WHOLE_SHARE = 0.25
"""Part of a model's context that these may take; examples and instructions come on top."""


def _has_candidates(state: State, context: Context) -> bool:
    return bool(state.candidates)


def _has_valid_candidate(state: State, context: Context) -> bool:
    return any(valid(candidate) for candidate in state.candidates)


def _has_rows(state: State, context: Context) -> bool:
    return any(
        valid(candidate) and not is_empty_answer(candidate) for candidate in state.candidates
    )


def _candidates_agree(state: State, context: Context) -> bool:
    """All that ran without an error give one result."""
    return len(group_by_result(state.candidates)) == 1


def _many_columns(state: State, context: Context) -> bool:
    return state.view.schema.column_count > MANY


def _large_schema(state: State, context: Context) -> bool:
    """True if the view is too large to be shown whole: by its columns, by the tokens their names
    and descriptions take, or by what the run's own language model can read.

    CHESS section 3.3: selecting from a schema costs recall, so it pays only where that is large.
    """
    schema = state.view.visible_schema()
    if schema.column_count > MANY:
        return True
    size = named_tokens(schema)
    most = WHOLE_TOKENS
    if "llm" in context.models:
        most = min(most, int(WHOLE_SHARE * context_tokens(context.llm(), context.run)))
    return size > most


def _can_be_read(state: State, context: Context) -> bool:
    """True if the embedded models can read the question, or nothing else could."""
    return "llm" not in context.models or foreign_language(state.question.text) is None


def _no_fault(state: State, context: Context) -> bool:
    """No candidate gives `repair.revise` a reason to look at it (again)."""
    rule = FaultRule()
    return all(
        settled(candidate) or not any(rule.faults(candidate, state, context))
        for candidate in state.candidates
    )


def _accepted(state: State, context: Context) -> bool:
    """No candidate for what is asked now gives `repair.refine` a reason to look at it (again)."""
    return all(
        settled(candidate) or not any(RULE.of_result(candidate, state.question))
        for candidate in state.candidates
        if candidate.goal == state.goal
    )


_CANDIDATES = frozenset({"candidates"})

ACCEPTED = Condition(_CANDIDATES, _accepted)
HAS_CANDIDATES = Condition(_CANDIDATES, _has_candidates)
HAS_VALID_CANDIDATE = Condition(_CANDIDATES, _has_valid_candidate)
HAS_ROWS = Condition(_CANDIDATES, _has_rows)
CAN_BE_READ = Condition(frozenset({"question"}), _can_be_read)
CANDIDATES_AGREE = Condition(_CANDIDATES, _candidates_agree)
MANY_COLUMNS = Condition(frozenset({"view"}), _many_columns)
LARGE_SCHEMA = Condition(frozenset({"view"}), _large_schema)
NO_FAULT = Condition(_CANDIDATES, _no_fault)
