"""The protocol of a rule.

None of them is the rule by which sqlwright itself compares results (`candidates.py`), which asks
less of numbers (a relative tolerance) and lets order count only where both queries order their
rows. Published rules stay as they are published, so that figures compare with those of others;
nothing but evaluation and training uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from sqlwright.boundary.named import loaded, unknown
from sqlwright.sql.reading import has_order_by
from sqlwright.types import Cell, ExecutionResult

Row = tuple[Cell, ...]


class Agrees(Protocol):
    """True if the first result, whole and without an error, is the second, given the gold query and
    its dialect."""

    def __call__(
        self,
        predicted: ExecutionResult,
        gold: ExecutionResult,
        gold_sql: str,
        dialect: str = "sqlite",
        /,
    ) -> bool: ...


class Orders(Protocol):
    """True if a gold query orders."""

    def __call__(self, gold_sql: str, dialect: str = "sqlite", /) -> bool: ...


class Rewrites(Protocol):
    """Gives the query that is run in the place of one."""

    def __call__(self, sql: str, dialect: str = "sqlite", /) -> str: ...


def as_written(sql: str, dialect: str = "sqlite") -> str:
    """The query itself."""
    del dialect
    return sql


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by which a result is the gold result."""

    name: str
    about: str
    """Its source and the peculiar in a few words, as reports show it."""
    agrees: Agrees
    ordered: bool = False
    """True if the order of rows counts where the gold query orders."""
    columns_in_order: bool = False
    repeats_count: bool = True
    """True if how often a row comes counts."""
    orders: Orders = has_order_by
    """True of the gold queries that order, by this rule."""
    rewrite: Rewrites = as_written
    """The query that is run in the place of one: of gold and prediction alike."""

    def counts_order(self, gold_sql: str, dialect: str = "sqlite") -> bool:
        """True if the order of rows counts against this gold query."""
        return self.ordered and self.orders(gold_sql, dialect)


RULES: Mapping[str, str] = {
    "spider": "sqlwright.lab.evaluation.rules.published:SPIDER",
    "spider-nodistinct": "sqlwright.lab.evaluation.rules.published:WITHOUT_DISTINCT",
    "bird": "sqlwright.lab.evaluation.rules.published:BIRD",
    "multiset": "sqlwright.lab.evaluation.rules.published:MULTISET",
    "defog": "sqlwright.lab.evaluation.rules.published:DEFOG",
    "spider2": "sqlwright.lab.evaluation.rules.published:SPIDER2",
}


def find_rule(name: str) -> Rule:
    """The rule of that name. Raises ConfigError."""
    if name not in RULES:
        raise unknown("rule", name, RULES)
    return cast("Rule", loaded(name, RULES[name]))


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the table."""
    return tuple(map(find_rule, RULES))
