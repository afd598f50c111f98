"""The bars of `benchmarks/entities.py`, over values of the demo business: what is found of values
with wrong letters, beside the step of `local`, and how much else."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sqlwright.demo.business import write_business
from sqlwright.local.models import load
from sqlwright.prepare.opening import open_workspace
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.entities import RetrieveEntities
from sqlwright.steps.retrieval.question_words import QuestionWords
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Question, State

QUESTIONS = (
    "How many orders were there for {}?",
    "What is the total amount of {} since 2023?",
    "Which customers and products belong to {}, by month?",
)
EACH = 40


@dataclass(frozen=True)
class Asked:
    text: str
    value: str


def misspelt(value: str, wrong: int, rng: random.Random) -> str:
    """A value with so many letters replaced, left out, added or swapped with the next."""
    written = list(value)
    for _ in range(wrong):
        at = rng.choice([n for n, char in enumerate(written[:-1]) if char.isalpha()])
        letter = rng.choice(string.ascii_lowercase)
        match rng.randrange(4):
            case 0:
                written[at] = letter
            case 1:
                del written[at]
            case 2:
                written.insert(at, letter)
            case _:
                written[at], written[at + 1] = written[at + 1], written[at]
    return "".join(written)


@pytest.fixture(scope="module")
def business(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("demo")
    write_business(folder / "demo.sqlite")
    workspace = open_workspace(
        str(folder / "demo.sqlite"), folder=folder / "prepared", prepare=True, seconds=60
    )
    yield workspace
    workspace.database.close()


def asked_of(workspace: Workspace, wrong: int) -> list[Asked]:
    index: Any = workspace.values
    texts = {text for column in index.column_values() for text, _ in column.values}
    least = 8 if wrong > 1 else 5
    named = sorted(
        text
        for text in texts
        if least <= len(text) <= 40
        and all(word.isalpha() and word[0].isupper() for word in text.split(" "))
    )
    rng = random.Random(wrong)
    return [
        Asked(rng.choice(QUESTIONS).format(misspelt(value, wrong, rng)), value)
        for value in rng.sample(named, min(EACH, len(named)))
    ]


def outcome(step: Step, workspace: Workspace, asked: list[Asked]) -> tuple[float, int]:
    """The share of values found, and how many others."""
    context = Context(workspace, Run(), {"embedder": load("embedder")})
    found = others = 0
    for one in asked:
        state = State(Question(one.text), SchemaView(workspace.schema))
        if "keywords" in step.reads:
            state = QuestionWords()(state, context)
        values = [match.value for match in step(state, context).values if match.value != "2023"]
        found += one.value in values
        others += len(values) - values.count(one.value)
    return found / len(asked), others


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_wrong_letters_lose_no_value_and_add_no_junk(business: Workspace, wrong: int) -> None:
    asked = asked_of(business, wrong)
    recall, junk = outcome(RetrieveEntities(), business, asked)
    beside, more = outcome(ValueRetrieval(), business, asked)
    assert recall >= max(beside, 0.95)
    assert junk <= more
