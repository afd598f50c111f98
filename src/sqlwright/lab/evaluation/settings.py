"""Settings of a run: all that makes two runs comparable, or not, and how it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.datasets.example import Example
from sqlwright.llm.options import LlmOptions
from sqlwright.protocols import ModelsByRole
from sqlwright.settings.values import Allowed
from sqlwright.types.plans import ScanLimit

ExecutorName = Literal["", "threads", "processes", "ray", "batches"]

BATCHED = 100
"""Questions side by side whose requests go in batches, where no number is given; chosen."""

QUESTION_SECONDS = 1800.0
"""Seconds after which a worker that is still at one question counts as hanging; chosen far above
what any answer took, retries of language models included."""


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Settings of a run."""

    recipe: str = "local"
    overrides: Sequence[str] = ()
    allow_code: bool = False
    limit: int | None = None
    models: ModelsByRole | None = None
    """Stand-ins for the embedded models; in this process alone."""
    llm: LlmOptions = field(default_factory=LlmOptions)
    """The language model, and the budget of a question."""
    stand_in: bool = True
    """False where a question fails that the language model wrote no query for, instead of being
    answered by embedded models."""
    seed: int = 0
    """Seed of each question; another one draws other samples and orders."""
    home: Path | None = None
    """The folder for replies and for what is prepared, if not the usual one."""
    prepare: bool = False
    """True if each database is prepared before it is asked; else each is taken as it is, and of one
    that nobody prepared is known what can be read in seconds, which differs with the machine."""
    jobs: int = 1
    """Questions side by side in this process. Answers don't depend on it; times do."""
    metrics: Sequence[str] = ()
    """Metrics to take besides the usual ones."""
    ablation: str = ""
    """The name under which recipe and overrides are known, for `run.json`."""
    workers: int = 0
    """Processes that ask questions side by side; 0 is this one."""
    executor: ExecutorName = ""
    """Empty is `processes` where there are workers, else `threads`; `batches` are threads whose
    language models are asked by batches of their vendors."""
    question_seconds: float = QUESTION_SECONDS
    """Seconds that a worker may be at one question before it is killed."""
    pace: float = 1.0
    """Factor on the seconds that batches wait for further requests, and between two looks."""
    shard: Shard | None = None
    """The part of the questions that is asked; None is all of them."""
    traces: bool = False
    """True keeps the trace of each question in the run's folder."""
    databases: str = ""
    """A folder or URL with the databases, in place of the data set's own."""
    scan: ScanLimit | None = None
    """The most that a query may read, gold queries too; None is no limit."""
    allowed: Allowed = field(default_factory=Allowed)
    """Tables that may be read and functions that may be called, by gold queries too."""

    def checked(self) -> EvaluationSettings:
        """The same, with the executor named. Raises ConfigError, and
        DatasetError, where settings don't go together."""
        named: ExecutorName = self.executor or ("processes" if self.workers else "threads")
        if self.jobs < 1:
            raise DatasetError(f"jobs must be at least 1, not {self.jobs}")
        if self.workers < 0:
            raise ConfigError(f"workers must be at least 0, not {self.workers}")
        here = named in {"threads", "batches"}
        if here and self.workers:
            raise ConfigError(
                "workers are processes, and threads have none",
                hint="Give --jobs for questions side by side in one process.",
            )
        if not here and self.jobs > 1:
            raise ConfigError(
                "a worker asks one question at a time",
                hint="Leave out --jobs, or --workers and --executor.",
            )
        if not here and self.llm.run_budget.limited:
            raise ConfigError(
                "processes can't share a budget of the run",
                hint="Give --jobs in place of --workers, or a budget of each question (--budget).",
            )
        if not here and self.models is not None:
            raise ConfigError(
                "models given as objects stay in this process; workers load their own",
                hint="Use the executor threads, or name models by LlmOptions.",
            )
        jobs = BATCHED if named == "batches" and self.jobs == 1 else self.jobs
        return replace(self, executor=named, jobs=jobs)


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
