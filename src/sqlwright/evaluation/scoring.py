"""Scores one answered question. Gold and an answer meet nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlwright.datasets.example import Example, Expected
from sqlwright.evaluation.error_classes.classify import WrongAnswer, classify
from sqlwright.evaluation.error_classes.origins import Asked, origin_of
from sqlwright.evaluation.error_classes.results import preview
from sqlwright.evaluation.metrics.metric import Judged, Metric
from sqlwright.evaluation.metrics.registry import chosen_metrics
from sqlwright.evaluation.records import Record
from sqlwright.evaluation.rules.registry import all_rules, find_rule
from sqlwright.evaluation.rules.rule import Rule
from sqlwright.evaluation.rules.spider import orders
from sqlwright.evaluation.views import Needed, ViewListener
from sqlwright.protocols import Database, Limits, Run
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.types import Answer, Candidate, ExecutionResult, State, StepTime

LINKER_KEEPS = 12
"""Number of best columns at which the linker's recall is taken; keys and other columns of a smaller
schema count as kept only when they are among them."""

GENEROUS = Limits(
    seconds=60.0, rows=1_000_000, result_bytes=512 * 1024 * 1024, cell_bytes=64 * 1024 * 1024
)
"""Limits for scoring: what a user is shown is cut much earlier, but whole results are compared."""


TOO_LARGE = "the gold result is too large"


@dataclass(frozen=True, slots=True)
class Scorer:
    """Runs gold and predictions on one database and compares them."""

    database: Database
    schema: Schema
    rule: Rule = field(default_factory=lambda: find_rule("spider"))
    """By which candidates are right; an answer is judged by every rule."""
    metrics: Sequence[Metric] = field(default_factory=chosen_metrics)

    def score(
        self,
        example: Example,
        answer: Answer,
        state: State,
        seconds: float,
        *,
        views: ViewListener | None = None,
    ) -> Record:
        """One record. A gold query that doesn't run gives status 'gold'. `views` has listened to
        the run."""
        record = Record(
            id=example.id,
            db_id=example.db_id,
            question=example.question,
            gold_sql=example.gold_sql,
            sql=answer.sql,
            status=answer.status,
            answered_by=answer.answered_by,
            confidence=answer.confidence,
            basis=asdict(answer.basis),
            candidates=len(state.candidates),
            seconds=seconds,
            times=_by_step(answer.times),
            usage={step: asdict(usage) for step, usage in answer.usage_by_step.items()},
            message=answer.message,
            difficulty=example.difficulty,
            evidence=example.evidence,
            tags=dict(example.tags),
        )
        golds = [self._gold(sql) for sql in example.golds]
        golds += map(_expected, example.results)
        usable = [gold for gold in golds if not gold.problem]
        if not usable:
            return replace(record, status="gold", message=golds[0].problem)
        verdicts, gold = _Verdicts(self, usable), usable[0].result
        answered = answer.sql if answer.status == "answered" else None
        found = verdicts.of(answered)
        needed = self._needed(example.gold_sql)
        judged = [(one.source, verdicts.by_rule(one.sql)) for one in state.candidates]
        scored = replace(
            record,
            verdicts=found,
            measures=self._measures(example, answered, gold, right=found[self.rule.name]),
            gold_empty=not gold.rows,
            first=verdicts.by_rule(_first(state.candidates)),
            oracle=found[self.rule.name] or any(right for _, right in judged),
            judged=judged,
            views={} if views is None else views.counts(self.schema, needed),
            **_linking(needed, state),
        )
        if scored.right(self.rule.name):
            return scored
        asked = Asked(
            example.gold_sql, scored.sql, state, self.schema, needed, views, verdicts.by_rule
        )
        return self._explained(scored, gold, asked)

    def _gold(self, sql: str) -> _Gold:
        result = self.execute(sql)
        if result.ok and not result.truncated and not result.shortened:
            return _Gold(sql, result)
        return _Gold(sql, result, result.error.message if result.error else TOO_LARGE)

    def _measures(
        self, example: Example, sql: str | None, gold: ExecutionResult, *, right: bool
    ) -> dict[str, float | None]:
        """The figures of the answer by every metric."""
        result = self.execute(sql) if sql is not None else ExecutionResult()
        judged = Judged(example, sql, gold, result, right, self.schema, self.rule, self.execute)
        return {metric.name: metric.measure(judged) for metric in self.metrics}

    def _explained(self, record: Record, gold: ExecutionResult, asked: Asked) -> Record:
        """A wrong answer's record with its classes of errors, what shows them, and both results."""
        answered = record.status == "answered" and record.sql is not None
        result = self.execute(record.sql) if answered and record.sql else ExecutionResult()
        findings = classify(
            WrongAnswer(
                record.gold_sql,
                gold,
                record.sql if answered else None,
                result,
                evidence=record.evidence,
                reason=record.message or record.status,
                ordered=self.rule.ordered and orders(record.gold_sql),
                columns_in_order=self.rule.columns_in_order,
                repeats_count=self.rule.repeats_count,
            ),
            self.schema,
            self.execute,
        )
        origin = origin_of(asked, findings)
        return replace(
            record,
            errors=[{"class": one.error, "shown_by": one.evidence} for one in findings],
            origin={"kind": origin.kind, "step": origin.step, "shown_by": origin.evidence},
            results={"gold": preview(gold)} | ({"query": preview(result)} if answered else {}),
        )

    def execute(self, sql: str) -> ExecutionResult:
        """Run a query for comparison: under the same guard, with room for whole results."""
        return self.database.execute(sql, Run(), limits=GENEROUS)

    def _needed(self, gold_sql: str) -> Needed:
        tables = (self._stored(name) for name in tables_used(gold_sql))
        return Needed(
            frozenset(columns_used(gold_sql, self.schema)),
            frozenset(name for name in tables if name is not None),
        )

    def _stored(self, name: str) -> str | None:
        table = self.schema.table(name)
        return table.name if table else None


@dataclass(frozen=True, slots=True)
class _Gold:
    """A result that is right."""

    sql: str
    """Empty where only the result is given."""
    result: ExecutionResult
    problem: str = ""
    """The reason why nothing can be compared with it."""


def _expected(expected: Expected) -> _Gold:
    """A result that was given, with a text in place of a query that orders where its rows do."""
    result = ExecutionResult(expected.columns, expected.rows)
    return _Gold("ORDER BY" if expected.ordered else "", result)


class _Verdicts:
    """Verdicts on queries against the results that are right; equal text is judged once."""

    def __init__(self, scorer: Scorer, golds: Sequence[_Gold]) -> None:
        self._scorer, self._golds = scorer, golds
        self._rules = all_rules()
        self._known: dict[str, dict[str, bool]] = {}

    def of(self, sql: str | None) -> dict[str, bool]:
        """By the name of each rule, true if the query gives a result that is right."""
        if sql is None:
            return dict.fromkeys((rule.name for rule in self._rules), False)
        if sql not in self._known:
            result = self._scorer.execute(sql)
            whole = result.ok and not result.truncated and not result.shortened
            self._known[sql] = {
                rule.name: whole
                and any(rule.agrees(result, gold.result, gold.sql) for gold in self._golds)
                for rule in self._rules
            }
        return self._known[sql]

    def by_rule(self, sql: str | None) -> bool:
        """The verdict by the data set's rule."""
        return self.of(sql)[self._scorer.rule.name]


def _linking(needed: Needed, state: State) -> dict[str, Any]:
    """The needed among the linker's best, apart from what the view shows."""
    kept: set[ColumnRef] = {link.column for link in state.columns[:LINKER_KEEPS]}
    found = needed.counts(kept)
    return {
        "needed_columns": len(needed.columns),
        "found_columns": found["found_columns"],
        "kept_columns": len(kept),
        "needed_tables": len(needed.tables),
        "found_tables": found["found_tables"],
    }


def _by_step(times: Sequence[StepTime]) -> dict[str, float]:
    """Seconds of each step, all its rounds and branches together."""
    total: dict[str, float] = {}
    for time in times:
        total[time.step] = total.get(time.step, 0.0) + time.seconds
    return total


def _first(candidates: Sequence[Candidate]) -> str | None:
    """The SQL that the generator itself put first: the root of the best-scored candidate's
    chain."""
    roots = []
    for candidate in candidates:
        root = candidate
        while root.parent is not None:
            root = root.parent
        roots.append(root)
    return max(roots, key=lambda c: c.score).sql if roots else None
