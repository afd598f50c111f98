"""Checks before a recipe runs that its steps fit together.

`check_fit` refuses a recipe in which a step reads what nothing before it wrote, or in which
parallel branches write what can't be merged.
"""

from __future__ import annotations

from sqlwright.errors import ConfigError
from sqlwright.protocols import Step
from sqlwright.running.combinators import NamedStep, Sequence
from sqlwright.running.control_flow import ForEach, Parallel, RepeatUntil, Samples, When
from sqlwright.running.parallel import ADDITIVE

GIVEN = frozenset({"question", "view", "refusal", "warnings"})
"""Fields that can be read from the start."""


def check_fit(step: Step, written: frozenset[str] = GIVEN) -> frozenset[str]:
    """The fields that are written once `step` has run after something that wrote `written`.

    Raises ConfigError naming the step and the field when one reads what nothing wrote, when
    parallel branches write what can't be merged, or when for_each runs over a single value.
    """
    if isinstance(step, Sequence):
        for child in step.steps:
            written = check_fit(child, written)
        return written
    if isinstance(step, Parallel):
        for branch in step.branches:
            _check_mergeable(branch, branch.writes, "parallel")
        return written.union(*(check_fit(branch, written) for branch in step.branches))
    if isinstance(step, Samples):
        _check_mergeable(step.body, step.body.writes, "samples")
        check_fit(step.body, written - {"candidates"})
        return written | step.writes
    if isinstance(step, ForEach):
        if step.field not in ADDITIVE:
            known = ", ".join(sorted(ADDITIVE))
            raise ConfigError(f"for_each can't run over {step.field!r}", hint=f"It can: {known}.")
        _check_mergeable(step.body, step.body.writes, "for_each")
        _check_written("for_each", frozenset({step.field}), written)
        return check_fit(step.body, written)
    if isinstance(step, RepeatUntil | When):
        _check_written("the condition", step.condition.reads, written)
        if isinstance(step, RepeatUntil):
            return check_fit(step.body, written)
        after = check_fit(step.then, written)
        return after if step.otherwise is None else after | check_fit(step.otherwise, written)
    _check_written(_name(step), step.reads, written)
    return written | step.writes


def _check_written(name: str, needed: frozenset[str], written: frozenset[str]) -> None:
    missing = sorted(needed - written)
    if missing:
        raise ConfigError(
            f"{name} reads {' and '.join(map(repr, missing))}, which no step before it writes",
            hint="Put a step that writes it earlier in the recipe.",
        )


def _check_mergeable(step: Step, writes: frozenset[str], where: str) -> None:
    single = sorted(writes - ADDITIVE)
    if single:
        raise ConfigError(
            f"{_name(step)} writes {' and '.join(map(repr, single))} inside {where}, "
            "where only additions can be merged",
            hint=f"Put it after {where}.",
        )


def _name(step: Step) -> str:
    if isinstance(step, NamedStep):
        return step.name
    if isinstance(step, Sequence):
        return " + ".join(_name(child) for child in step.steps) or "an empty sequence"
    return type(step).__name__
