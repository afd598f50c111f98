"""The table of metrics by name. Only strings live here; a metric is imported when it is asked
for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from sqlwright.boundary.named import loaded, unknown
from sqlwright.evaluation.metrics.metric import Metric

METRICS: Mapping[str, str] = {
    "test_suite": "sqlwright.evaluation.metrics.test_suite:METRIC",
}


def find_metric(name: str) -> Metric:
    """The metric of that name. Raises ConfigError."""
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    return cast("Metric", loaded(name, METRICS[name]))


def chosen_metrics(names: Iterable[str] = ()) -> tuple[Metric, ...]:
    """The usual metrics and those named, in the order of the table. Raises ConfigError."""
    named = {find_metric(name).name for name in names}
    return tuple(one for one in map(find_metric, METRICS) if one.usual or one.name in named)
