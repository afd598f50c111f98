"""Exact set match (Yu et al. 2018): the components of prediction and gold are the same sets,
values apart (`grading/components.py`). With several gold queries one is enough."""

from __future__ import annotations

from sqlwright.lab.evaluation.grading.components import components
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric


def exact_match(judged: Judged) -> float | None:
    """1.0 or 0.0; None where no gold query can be read."""
    parts = [components(sql, judged.schema) for sql in judged.gold_queries()]
    golds = [each for each in parts if each is not None]
    if not golds:
        return None
    own = components(judged.sql, judged.schema) if judged.sql is not None else None
    return float(own in golds)


METRIC = Metric(
    "exact_match",
    "Spider's exact set match, values apart; own implementation, not checked against the official "
    "script",
    exact_match,
)
