"""A comparison as one page of HTML, by the template `comparison.html`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlwright
from sqlwright.lab.comparison import words
from sqlwright.lab.comparison.names import STAGES
from sqlwright.presentation.answer import doubt_words
from sqlwright.presentation.html.page import page_of
from sqlwright.sql.pieces import cutting

if TYPE_CHECKING:
    from sqlwright.lab.comparison.records import Comparison

VALUES = 12
"""Values, descriptions and tables shown at once; the rest opens. Chosen, as all of these."""
SCORES = 6
"""The same of names by their scores."""
CANDIDATES = 40
"""Results of candidates, and repairs, shown of a recipe."""
OPEN = 1
"""Results of candidates up to which their queries are open at once."""


def comparison_page(comparison: Comparison) -> str:
    """The page as text."""
    costs = [
        (one, cost)
        for stage in STAGES
        for one in comparison.recipes
        for cost in one.stages
        if cost.stage == stage
    ]
    return page_of(
        "comparison.html",
        comparison.question.text,
        comparison=comparison,
        words=words,
        doubt_words=doubt_words,
        cutting=cutting,
        stage_costs=costs,
        longest=max((cost.seconds for _, cost in costs), default=0.0),
        footer=f"sqlwright {sqlwright.__version__} · {comparison.dialect}",
        VALUES=VALUES,
        SCORES=SCORES,
        CANDIDATES=CANDIDATES,
        OPEN=OPEN,
    )
