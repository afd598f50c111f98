"""The families of figures of a run, in the order in which its report has them."""

from __future__ import annotations

from sqlwright.lab.evaluation.figures.accuracy import Accuracy, Breakdowns
from sqlwright.lab.evaluation.figures.candidates import Candidates
from sqlwright.lab.evaluation.figures.confidence import Confidence
from sqlwright.lab.evaluation.figures.errors import Errors
from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.figures.linking import Linker, Views
from sqlwright.lab.evaluation.figures.measures import Measures
from sqlwright.lab.evaluation.figures.questions import Questions
from sqlwright.lab.evaluation.figures.reliability import Reliability
from sqlwright.lab.evaluation.figures.spending import Latency, Spending

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
