"""The measures that the shipped calibrations go by: a line for each, with the sign of its weight.

To add one: measure it in `confidence.measures` (or in the critic, `local.critic.measures`), collect
anew, and add its name here.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlwright.confidence.measures import AGREEMENT, SCORE
from sqlwright.confidence.wording import FAR, UNLIKE

EMBEDDED: Mapping[str, int] = {
    SCORE: 1,
    "score": 1,
    "link mean": 1,
    "no rows": -1,
    "only null": -1,
    "shown as asked": 1,
    "q missing": -1,
    UNLIKE: -1,
    FAR: -1,
}
"""Of queries of the embedded models."""

WRITTEN: Mapping[str, int] = {
    AGREEMENT: 1,
    "authors": 1,
    "tests": 1,
    "second opinion": 1,
    "faults": -1,
    "findings": -1,
    "unexplained": -1,
    "nothing found": -1,
    "selects": -1,
    "tables": -1,
}
"""Of queries of a language model."""
