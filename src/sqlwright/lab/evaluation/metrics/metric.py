"""The protocol of a metric of one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlwright.boundary.named import installed, loaded, unknown
from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.rules.rule import Rule
from sqlwright.schema import Schema
from sqlwright.types import ExecutionResult


@dataclass(frozen=True, slots=True)
class Reference:
    """A result that is right."""

    sql: str
    """Its query; where only the result is given, empty or a query that orders as it does."""
    result: ExecutionResult
    """Whole and without an error."""
    written: bool = True
    """True if the query is a gold query."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer and its gold, both executed."""

    example: Example
    sql: str | None
    """None where there is no query; then the answer is wrong by every metric that applies."""
    gold: ExecutionResult
    """Whole and without an error."""
    result: ExecutionResult
    """Of `sql`, perhaps an error or cut; without rows where there is no query."""
    right: bool
    """True if it is right by the data set's rule."""
    schema: Schema
    rule: Rule
    execute: Callable[[str], ExecutionResult]
    """Runs a query on the question's database, read-only and within limits."""
    references: tuple[Reference, ...] = ()
    """Everything that is right, `gold` first; an answer need agree with one alone."""

    @property
    def comparable(self) -> bool:
        """True if the answer has a whole result."""
        return self.sql is not None and self.result.whole

    def gold_queries(self) -> Iterator[str]:
        """The gold queries that run."""
        return (one.sql for one in self.references if one.written)


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of one answer; a run's is its mean over the questions that it applies to."""

    name: str
    about: str
    measure: Callable[[Judged], float | None]
    """The figure, or None where the metric doesn't apply to the question."""
    usual: bool = True
    """True if it is taken without being asked for; False where it costs time."""
    needs_files: bool = False
    """True if it is taken of questions over SQLite files alone."""
    top: float = 1.0
    """The figure of a perfect answer."""


METRICS: Mapping[str, str] = {
    "exact_match": "sqlwright.lab.evaluation.metrics.matching:EXACT_MATCH",
    "soft_f1": "sqlwright.lab.evaluation.metrics.matching:SOFT_F1",
    "tier:columns": "sqlwright.lab.evaluation.metrics.tiers:COLUMNS",
    "tier:order": "sqlwright.lab.evaluation.metrics.tiers:ORDER",
    "tier:rounding": "sqlwright.lab.evaluation.metrics.tiers:ROUNDING",
    "tier:any": "sqlwright.lab.evaluation.metrics.tiers:ANY",
    "ves": "sqlwright.lab.evaluation.metrics.efficiency:VES",
    "r_ves": "sqlwright.lab.evaluation.metrics.efficiency:R_VES",
    "test_suite": "sqlwright.lab.evaluation.metrics.matching:TEST_SUITE",
}

ENTRY_POINTS = "sqlwright.metrics"


def metric_names() -> tuple[str, ...]:
    """Our own metrics in the order of the table, then those of installed packages by name."""
    return (*METRICS, *sorted(set(installed(ENTRY_POINTS)) - set(METRICS)))


def find_metric(name: str) -> Metric:
    """The metric of that name, under that name. Raises ConfigError."""
    path = METRICS.get(name) or installed(ENTRY_POINTS).get(name)
    if path is None:
        raise unknown("metric", name, metric_names())
    found = loaded(name, path)
    if not isinstance(found, Metric):
        raise ConfigError(f"{name} is not a Metric ({path})")
    return replace(found, name=name)


def chosen_metrics(names: Iterable[str] = ()) -> tuple[Metric, ...]:
    """Our usual metrics and those named, in the order of the table, those of installed packages
    last. Raises ConfigError."""
    named = {find_metric(name).name for name in names}
    ours = [one for one in map(find_metric, METRICS) if one.usual or one.name in named]
    others = sorted(named - {find_metric(name).name for name in METRICS})
    return (*ours, *map(find_metric, others))
