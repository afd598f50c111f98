"""The table of metrics by name. Only strings live here; a metric is imported when it is asked
for. Packages of others add metrics through the entry point group `sqlwright.metrics`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlwright.boundary.named import installed, loaded, unknown
from sqlwright.errors import ConfigError
from sqlwright.lab.evaluation.metrics.metric import Metric

METRICS: Mapping[str, str] = {
    "exact_match": "sqlwright.lab.evaluation.metrics.exact_match:METRIC",
    "soft_f1": "sqlwright.lab.evaluation.metrics.soft_f1:METRIC",
    "tier:columns": "sqlwright.lab.evaluation.metrics.tiers:COLUMNS",
    "tier:order": "sqlwright.lab.evaluation.metrics.tiers:ORDER",
    "tier:rounding": "sqlwright.lab.evaluation.metrics.tiers:ROUNDING",
    "tier:any": "sqlwright.lab.evaluation.metrics.tiers:ANY",
    "ves": "sqlwright.lab.evaluation.metrics.efficiency:VES",
    "r_ves": "sqlwright.lab.evaluation.metrics.efficiency:R_VES",
    "test_suite": "sqlwright.lab.evaluation.metrics.test_suite:METRIC",
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
