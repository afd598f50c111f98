"""The table of rules by name. Only strings live here; a rule is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlwright.boundary.named import loaded, unknown
from sqlwright.lab.evaluation.rules.rule import Rule

RULES: Mapping[str, str] = {
    "spider": "sqlwright.lab.evaluation.rules.spider:RULE",
    "spider-nodistinct": "sqlwright.lab.evaluation.rules.spider:WITHOUT_DISTINCT",
    "bird": "sqlwright.lab.evaluation.rules.bird:RULE",
    "multiset": "sqlwright.lab.evaluation.rules.multiset:RULE",
    "defog": "sqlwright.lab.evaluation.rules.defog:RULE",
    "spider2": "sqlwright.lab.evaluation.rules.spider2:RULE",
}


def find_rule(name: str) -> Rule:
    """The rule of that name. Raises ConfigError."""
    if name not in RULES:
        raise unknown("rule", name, RULES)
    return cast("Rule", loaded(name, RULES[name]))


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the table."""
    return tuple(map(find_rule, RULES))
