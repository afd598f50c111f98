"""Scores one answered question. Gold and an answer meet nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlwright.datasets.example import Example, Rule
from sqlwright.evaluation.error_classes.classify import WrongAnswer, classify
from sqlwright.evaluation.error_classes.origins import Asked, origin_of
from sqlwright.evaluation.error_classes.results import preview
from sqlwright.evaluation.metrics import bird_match, orders, spider_match
from sqlwright.evaluation.records import Record
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


@dataclass(frozen=True, slots=True)
class Scorer:
    """Runs gold and predictions on one database and compares them."""

    database: Database
    schema: Schema
    rule: Rule = "spider"
    """By which candidates are right; an answer is judged by both."""

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
        )
        gold = self.execute(example.gold_sql)
        if not gold.ok or gold.truncated or gold.shortened:
            problem = gold.error.message if gold.error else "the gold result is too large"
            return replace(record, status="gold", message=problem)
        ordered = orders(example.gold_sql)
        verdicts = _Verdicts(self, gold, ordered)
        verdict = verdicts.of(answer.sql if answer.status == "answered" else None)
        proposed = [candidate.sql for candidate in state.candidates]
        needed = self._needed(example.gold_sql)
        scored = replace(
            record,
            spider=verdict.spider,
            bird=verdict.bird,
            gold_empty=not gold.rows,
            first=verdicts.of(_first(state.candidates)).by(self.rule),
            oracle=any(one.by(self.rule) for one in (verdict, *map(verdicts.of, proposed))),
            views={} if views is None else views.counts(self.schema, needed),
            **_linking(needed, state),
        )
        if scored.right(self.rule):
            return scored
        asked = Asked(
            example.gold_sql, scored.sql, state, self.schema, needed, views,
            lambda sql: verdicts.of(sql).by(self.rule),
        )  # fmt: skip
        return self._explained(scored, gold, ordered, asked)

    def _explained(
        self, record: Record, gold: ExecutionResult, ordered: bool, asked: Asked
    ) -> Record:
        """A wrong answer's record with its classes of errors, what shows them, and both results."""
        answered = record.status == "answered" and record.sql is not None
        result = self.execute(record.sql) if answered and record.sql else ExecutionResult()
        by_spider = self.rule == "spider"
        findings = classify(
            WrongAnswer(
                record.gold_sql,
                gold,
                record.sql if answered else None,
                result,
                evidence=record.evidence,
                reason=record.message or record.status,
                ordered=by_spider and ordered,
                columns_in_order=not by_spider,
                repeats_count=by_spider,
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
class Verdict:
    """True by each rule that says a query gives the gold result."""

    spider: bool = False
    bird: bool = False

    def by(self, rule: Rule) -> bool:
        return self.spider if rule == "spider" else self.bird


class _Verdicts:
    """Verdicts on queries against one gold result; equal text is judged once."""

    def __init__(self, scorer: Scorer, gold: ExecutionResult, ordered: bool) -> None:
        self._scorer, self._gold, self._ordered = scorer, gold, ordered
        self._known: dict[str, Verdict] = {}

    def of(self, sql: str | None) -> Verdict:
        if sql is None:
            return Verdict()
        if sql not in self._known:
            self._known[sql] = self._judge(self._scorer.execute(sql))
        return self._known[sql]

    def _judge(self, result: ExecutionResult) -> Verdict:
        if not result.ok or result.truncated or result.shortened:
            return Verdict()
        return Verdict(
            spider_match(result.rows, self._gold.rows, ordered=self._ordered),
            bird_match(result.rows, self._gold.rows),
        )


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
