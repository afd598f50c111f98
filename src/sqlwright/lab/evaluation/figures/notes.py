"""Notes of answers by their kinds: what the recipe did otherwise than it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.records import Record

NOTED: Mapping[str, str] = {
    "left_out": "what was left out",
    "budget": "the budget",
    "model": "the language model",
    "parameter": "parameters that the model refused",
    "prompt": "prompts cut to fit",
    "linking": "schema linking",
    "schema": "parts of the schema",
    "values": "stored values",
    "examples": "examples for the prompt",
    "judging": "judges of queries",
    "embedder": "the embedder",
    "critic": "the embedded critic",
}
"""Kinds that say what went otherwise than planned, in words; the others are of questions and their
data."""


class Notes(Family):
    """By kind, the number of questions whose answer has such a note, and the text of the first."""

    of_all = True

    def __init__(self) -> None:
        self._questions: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, record: Record, right: bool) -> None:
        del right
        for kind, text in record.notes:
            self._first.setdefault(kind, text)
        self._questions.update({kind for kind, _ in record.notes})

    def result(self) -> dict[str, object]:
        return {
            "notes": {
                kind: {"questions": count, "first": self._first[kind]}
                for kind, count in sorted(self._questions.items())
            }
        }


def otherwise(summary: Mapping[str, Any]) -> Iterator[str]:
    """A line for each kind of what went otherwise than planned."""
    for kind, told in (summary.get("notes") or {}).items():
        if kind in NOTED:
            questions = counted(told["questions"], "question")
            yield f"notes on {NOTED[kind]} at {questions}, the first: {told['first']}"
