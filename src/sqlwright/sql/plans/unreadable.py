"""Plans that can't be told in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlwright.errors import SqlwrightError
from sqlwright.sql.plans.steps import PlanStep
from sqlwright.sql.plans.values import UNKNOWN, Value
from sqlwright.types.plans import EnginePlan


class UnreadablePlan(SqlwrightError):
    """A plan has a part that nothing can be said of for certain; the message names it."""


_FORMS = {
    r"MULTI-INDEX OR": "an OR by several indexes",
    r"RECURSIVE STEP": "a recursive query",
    r"RIGHT-JOIN .+": "a RIGHT or FULL JOIN",
    r"SCAN .+ VIRTUAL TABLE INDEX .*": "a virtual table",
    r"SCAN \d+-ROW VALUES CLAUSE": "VALUES of several rows",
}
"""Lines of EXPLAIN QUERY PLAN whose bytecode `reading` doesn't follow."""


def check_bytecode(plan: EnginePlan) -> None:
    """Raises UnreadablePlan for a plan whose bytecode `reading` doesn't follow."""
    for node in plan.outline:
        for form, what in _FORMS.items():
            if re.fullmatch(form, node.detail, re.DOTALL):
                raise UnreadablePlan(f"the bytecode of {what} can't be told in words")
    if sum(node.detail.startswith("MERGE (") for node in plan.outline) > 1:
        raise UnreadablePlan("the bytecode of several merged queries can't be told in words")


def check_steps(steps: Sequence[PlanStep]) -> None:
    """Raises UnreadablePlan for steps that leave open what is done, or with what."""
    for step in steps:
        if step.kind == "other":
            raise UnreadablePlan(f"the bytecode's {step.text} can't be told in words")
        if step.kind == "jump":
            raise UnreadablePlan("a condition of the bytecode can't be told in words")
        nameless = step.kind in _OF_TABLES and not step.table
        if (
            nameless
            or (step.kind in _OF_VALUES and not step.values)
            or any(map(_open, step.values))
        ):
            raise UnreadablePlan("the bytecode doesn't tell what one of its values is")


def _open(value: Value) -> bool:
    """True for a value that is made of one that isn't known."""
    text = value.text
    for constant in value.constants:
        text = text.replace(constant, "")
    return re.search(rf"\b{UNKNOWN.text}\b", text) is not None


_OF_TABLES = frozenset({"open", "scan", "search", "look_up", "unmatched", "fill", "count"})
_OF_VALUES = frozenset({"keep", "match", "distinct", "together", "sort", "deliver", "result"})
