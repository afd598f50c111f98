"""Division of a run's questions between machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Example


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a run, counted from 1."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> Shard:
        """A shard written as `2/8`. Raises ConfigError."""
        number, _, count = text.strip().partition("/")
        if not (
            number.isascii() and number.isdecimal() and count.isascii() and count.isdecimal()
        ) or not 1 <= int(number) <= int(count):
            raise ConfigError(f"{text!r} isn't a shard", hint="The second of eight is 2/8.")
        return Shard(int(number), int(count))

    def of(self, examples: Sequence[Example]) -> list[Example]:
        """Its questions: a stretch of them in the order in which they are asked.

        All shards together are all questions, none twice; their sizes differ by one at most, and
        of each shard only the first and the last database may be another one's, too.
        """
        ordered = in_order(examples)
        first, last = (len(ordered) * n // self.count for n in (self.number - 1, self.number))
        return ordered[first:last]

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def in_order(examples: Sequence[Example]) -> list[Example]:
    """The questions in the order in which they are asked and recorded: database by database."""
    return sorted(examples, key=lambda example: example.db_id)
