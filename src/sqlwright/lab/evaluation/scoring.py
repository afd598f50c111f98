"""Scores one answered question. Gold and an answer meet nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Example, Expected
from sqlwright.lab.evaluation.error_classes.classify import WrongAnswer, classify, preview
from sqlwright.lab.evaluation.error_classes.origins import Asked, origin_of
from sqlwright.lab.evaluation.figures.parts import parts_of
from sqlwright.lab.evaluation.grading import hardness
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric, Reference, chosen_metrics
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import Rule, all_rules, find_rule
from sqlwright.lab.evaluation.stored_cells import as_given
from sqlwright.lab.evaluation.views import Needed, ViewListener
from sqlwright.protocols import Database, Limits, Run
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import QueryFacts
from sqlwright.sql.features import features
from sqlwright.sql.reading import read_facts, tables_used
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
    limits: Limits = GENEROUS
    """Of a query that is judged; gold queries have generous ones, with the same limit on what they
    read."""

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
        gold_sql = next(iter(example.golds), "")
        facts = read_facts(gold_sql, self.schema)
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
            saved_seconds=answer.saved_seconds,
            times=_by_step(answer.times),
            usage={step: asdict(usage) for step, usage in answer.usage_by_step.items()},
            message=answer.message,
            notes=[(note.kind, note.text) for note in answer.warnings],
            difficulty=example.difficulty or hardness(facts),
            features=features(gold_sql, self.schema.dialect),
            evidence=example.evidence,
            tags=dict(example.tags),
            dialect=self.schema.dialect,
        )
        golds = self._golds(example)
        usable = _usable(golds)
        if not usable:
            return replace(record, status="gold", message=golds[0].problem)
        verdicts = Verdicts(self, usable)
        answered = answer.sql if answer.status == "answered" else None
        result = ExecutionResult() if answered is None else self.execute(answered)
        found = verdicts.of(answered, result)
        usable = [one.beside(result) for one in usable]
        gold = usable[0].result
        needed = self._needed(gold_sql, facts)
        judged = [(one.writer, verdicts.by_rule(one.sql)) for one in state.candidates]
        right = found[self.rule.name]
        scored = replace(
            record,
            verdicts=found,
            measures=self._measures(example, answered, result, usable, right=right),
            gold_empty=not gold.rows,
            first=verdicts.by_rule(_first(state.candidates)),
            oracle=right or any(each for _, each in judged),
            judged=judged,
            judgements=_judgements(state),
            parts=parts_of(state, gold_sql, self.schema, verdicts.by_rule),
            sub_questions=len(state.sub_questions),
            views={} if views is None else views.counts(self.schema, needed),
            **_linking(needed, state),
        )
        if right:
            return scored
        asked = Asked(gold_sql, scored.sql, state, self.schema, needed, views, verdicts.by_rule)
        return self._explained(scored, gold, result, asked)

    def verdicts(self, example: Example) -> Verdicts:
        """Judges queries for a question, as `score` judges candidates. Raises DatasetError for one
        without a gold result to compare with."""
        golds = self._golds(example)
        usable = _usable(golds)
        if not usable:
            told = golds[0].problem if golds else "it has neither a gold query nor a gold result"
            raise DatasetError(f"answers to question {example.id} can't be judged: {told}")
        return Verdicts(self, usable)

    def judge(self, example: Example) -> Callable[[str], bool] | None:
        """Says by the data set's rule of a query whether it is right; None where no gold query
        runs."""
        usable = _usable(self._golds(example))
        return Verdicts(self, usable).by_rule if usable else None

    def _golds(self, example: Example) -> list[_Gold]:
        return [*map(self._gold, example.golds), *map(_expected, example.results)]

    def _gold(self, sql: str) -> _Gold:
        result = self.execute_gold(sql)
        if result.whole:
            return _Gold(sql, result)
        return _Gold(sql, result, result.error.message if result.error else TOO_LARGE)

    def _measures(
        self,
        example: Example,
        sql: str | None,
        result: ExecutionResult,
        golds: Sequence[_Gold],
        *,
        right: bool,
    ) -> dict[str, float | None]:
        """The figures of the answer by every metric."""
        judged = Judged(
            example, sql, golds[0].result, result, right, self.schema, self.rule, self.execute,
            tuple(Reference(one.sql, one.result, one.written) for one in golds),
        )  # fmt: skip
        return {metric.name: metric.measure(judged) for metric in self.metrics}

    def _explained(
        self, record: Record, gold: ExecutionResult, result: ExecutionResult, asked: Asked
    ) -> Record:
        """A wrong answer's record with its classes of errors, what shows them, and both results."""
        answered = record.status == "answered" and record.sql is not None
        findings = classify(
            WrongAnswer(
                asked.gold_sql,
                gold,
                record.sql if answered else None,
                result,
                evidence=record.evidence,
                reason=record.message or record.status,
                ordered=self.rule.counts_order(asked.gold_sql, self.schema.dialect),
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
        return self.database.execute(sql, Run(), limits=self.limits)

    def execute_gold(self, sql: str) -> ExecutionResult:
        """Run a gold query, as the rule has it run."""
        return self.database.execute(sql, Run(), limits=replace(GENEROUS, scan=self.limits.scan))

    def _needed(self, gold_sql: str, facts: QueryFacts | None) -> Needed:
        tables = (self._stored(name) for name in tables_used(gold_sql, self.schema.dialect))
        return Needed(
            frozenset(() if facts is None else facts.columns),
            frozenset(name for name in tables if name is not None),
        )

    def _stored(self, name: str) -> str | None:
        table = self.schema.table(name)
        return table.name if table else None


@dataclass(frozen=True, slots=True)
class _Gold:
    """A result that is right."""

    sql: str
    """Empty, or a query that orders, where only the result is given."""
    result: ExecutionResult
    problem: str = ""
    """The reason why nothing can be compared with it."""
    written: bool = True
    """True if the query is the data set's."""

    def beside(self, found: ExecutionResult) -> _Gold:
        """The same, to be compared with an engine's result."""
        return self if self.written else replace(self, result=as_given(self.result, found))


def _expected(expected: Expected) -> _Gold:
    """A result that was given, with a query in place of its own that orders where its rows do."""
    result = ExecutionResult(expected.columns, expected.rows)
    return _Gold("SELECT 1 ORDER BY 1" if expected.ordered else "", result, written=False)


def _usable(golds: Sequence[_Gold]) -> list[_Gold]:
    return [gold for gold in golds if not gold.problem]


class Verdicts:
    """Verdicts on queries against the results that are right. Candidates are judged by the data
    set's rule alone, equal text once."""

    def __init__(self, scorer: Scorer, golds: Sequence[_Gold]) -> None:
        self._scorer, self._golds = scorer, golds
        self._known: dict[str, bool] = {}
        self._rewritten: dict[str, ExecutionResult] = {}
        """Results of gold queries as rules rewrite them."""

    def of(self, sql: str | None, result: ExecutionResult) -> dict[str, bool]:
        """By the name of each rule, true if the answer's query gives a result that is right."""
        found = {rule.name: self._agrees(rule, sql, result) for rule in all_rules()}
        if sql is not None:
            self._known[sql] = found[self._scorer.rule.name]
        return found

    def by_rule(self, sql: str | None) -> bool:
        """The verdict by the data set's rule."""
        if sql is None:
            return False
        if sql not in self._known:
            rule = self._scorer.rule
            run = rule.rewrite(sql, self._scorer.schema.dialect)
            self._known[sql] = self._agrees(rule, run, self._scorer.execute(run))
        return self._known[sql]

    def met(self, sql: str, result: ExecutionResult) -> tuple[str, ...]:
        """The gold queries whose result a query gives, by the data set's rule; an empty text where
        only the result is known. None are met by a wrong query. `result` is the query's own."""
        rule = self._scorer.rule
        return tuple(gold.sql if gold.written else "" for gold in self._met(rule, sql, result))

    def _agrees(self, rule: Rule, sql: str | None, result: ExecutionResult) -> bool:
        return sql is not None and any(True for _ in self._met(rule, sql, result))

    def _met(self, rule: Rule, sql: str, result: ExecutionResult) -> Iterator[_Gold]:
        dialect = self._scorer.schema.dialect
        run = rule.rewrite(sql, dialect)
        found = result if run == sql else self._scorer.execute(run)
        for gold in self._golds if found.whole else ():
            right = self._right(rule, gold.beside(found))
            if right.whole and rule.agrees(found, right, gold.sql, dialect):
                yield gold

    def _right(self, rule: Rule, gold: _Gold) -> ExecutionResult:
        """The right result for a rule, which may be that of the gold query rewritten."""
        dialect = self._scorer.schema.dialect
        run = rule.rewrite(gold.sql, dialect) if gold.written else gold.sql
        if run == gold.sql:
            return gold.result
        if run not in self._rewritten:
            self._rewritten[run] = self._scorer.execute_gold(run)
        return self._rewritten[run]


def _linking(needed: Needed, state: State) -> dict[str, Any]:
    """The needed among the linker's best, apart from what the view shows."""
    kept: set[ColumnRef] = {link.column for link in state.columns[:LINKER_KEEPS]}
    found = needed.counts(kept)
    return {
        "needed_columns": len(needed.columns),
        "found_columns": found["found_columns"],
        "kept_columns": len(kept),
        "kept_tables": found["tables"],
        "needed_tables": len(needed.tables),
        "found_tables": found["found_tables"],
    }


def _judgements(state: State) -> list[tuple[str, list[int], tuple[float, ...]]]:
    """Those of candidates that are still there."""
    places = {one.id: place for place, one in enumerate(state.candidates)}
    return [
        (one.step, [places[id_] for id_ in one.shown], one.votes)
        for one in state.judgements
        if all(id_ in places for id_ in one.shown)
    ]


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
