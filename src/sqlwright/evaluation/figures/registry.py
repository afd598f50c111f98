"""The families of figures of a run, in the order in which its report has them."""

from __future__ import annotations

from sqlwright.evaluation.figures.accuracy import Accuracy, Breakdowns
from sqlwright.evaluation.figures.candidates import Candidates
from sqlwright.evaluation.figures.confidence import Confidence
from sqlwright.evaluation.figures.errors import Errors
from sqlwright.evaluation.figures.family import Family
from sqlwright.evaluation.figures.linking import Linker, Views
from sqlwright.evaluation.figures.measures import Measures
from sqlwright.evaluation.figures.questions import Questions
from sqlwright.evaluation.figures.reliability import Reliability
from sqlwright.evaluation.figures.spending import Latency, Spending

FAMILIES: tuple[type[Family], ...] = (
    Questions,
    Accuracy,
    Measures,
    Candidates,
    Confidence,
    Reliability,
    Linker,
    Views,
    Errors,
    Breakdowns,
    Latency,
    Spending,
)
