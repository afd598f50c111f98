"""A prompt of a recipe's step with the reply that is right, as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.files import write_lines
from sqlwright.llm.endpoint import PlainMessage, Role


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One prompt and its right reply, with where they come from."""

    id: str
    """Of the example, in its set."""
    role: str
    """Name of the role that is trained: linker, generator, critic, selector."""
    step: str
    """Name of the step that asks it in inference."""
    question_id: str
    db_id: str
    source: str
    """Name of the data set."""
    messages: tuple[Turn, ...]
    completion: str
    """The reply, without the mark that ends it."""
    rejected: tuple[str, ...] = ()
    """Replies in the same form that are wrong, for training on preferences."""
    facts: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Further facts for statistics: which tables were added, how many candidates, by what hint."""

    @property
    def plain(self) -> tuple[PlainMessage, ...]:
        """The prompt as endpoints are sent it."""
        return tuple(PlainMessage(turn.role, turn.text) for turn in self.messages)


def write_examples(path: Path, examples: Iterable[TrainingExample]) -> None:
    """Write a file of examples; it has its name once all are there."""
    write_lines(path, (json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in examples))


def read_examples(path: Path) -> Iterator[TrainingExample]:
    """The examples of a file, in order. Raises DatasetError."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                yield _example(line, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None


def _example(line: str, where: str) -> TrainingExample:
    try:
        told: dict[str, Any] = json.loads(line)
        turns = tuple(Turn(**turn) for turn in told.pop("messages"))
        rejected = tuple(told.pop("rejected", ()))
        return TrainingExample(**told, messages=turns, rejected=rejected)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DatasetError(
            f"{where} is no training example: {error}",
            hint="`sqlwright lab finetune` writes such files.",
        ) from None
