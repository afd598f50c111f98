"""Verdicts on queries that generators wrote, by the rule of the data set."""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.finetuning.roles.role import Asked
from sqlwright.types import ExecutionResult


def wrong_queries(asked: Asked, queries: Iterable[str]) -> list[str]:
    """Those whose result is no gold query's, each once, in order; one that fails is wrong. None
    where no gold result can be compared with."""
    rule, execute = asked.scorer.rule, asked.scorer.execute
    rights = [(execute(rule.rewrite(sql)), sql) for sql in asked.example.golds]
    rights += [(ExecutionResult(one.columns, one.rows), "") for one in asked.example.results]
    rights = [(result, sql) for result, sql in rights if result.whole]
    found = []
    for sql in dict.fromkeys(queries) if rights else ():
        result = execute(rule.rewrite(sql))
        agrees = result.whole and any(rule.agrees(result, right, gold) for right, gold in rights)
        if not agrees:
            found.append(sql)
    return found
