"""Judges queries by executing them: against the gold queries of a set's data, by its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sqlwright.database import open_database
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.building.set_folder import SourceRecord
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.preferences.gold import read_gold


class ExecutionJudge:
    """The verdicts on queries for a set's questions. Data sets and databases are opened with the
    first question of each, and stay open; used from one thread."""

    def __init__(self, sources: Sequence[SourceRecord]) -> None:
        self._sources = sources
        self._examples: dict[str, dict[tuple[str, str], tuple[Example, str]]] = {}
        """By the name of the data set; by database and question, with the rule."""
        self._scorers: dict[tuple[Path, str], Scorer] = {}
        self._verdicts: dict[tuple[str, str, str], Callable[[str], bool] | None] = {}
        """By data set, database and question; None where no gold query runs."""

    def __call__(self, example: TrainingExample, sql: str) -> bool:
        """True if a query gives a result that is right. Raises DatasetError for data that isn't
        there any more, and DatabaseUnavailable."""
        key = (example.source, example.db_id, example.question_id)
        if key not in self._verdicts:
            asked, rule = self._asked(example)
            self._verdicts[key] = self._scorer(asked.database, rule).judge(asked)
        verdict = self._verdicts[key]
        return verdict is not None and verdict(sql)

    def close(self) -> None:
        """Close the databases."""
        for scorer in self._scorers.values():
            scorer.database.close()
        self._scorers.clear()
        self._verdicts.clear()

    def _asked(self, example: TrainingExample) -> tuple[Example, str]:
        if example.source not in self._examples:
            self._examples[example.source] = self._read(example.source)
        found = self._examples[example.source].get((example.db_id, example.question_id))
        if found is None:
            raise DatasetError(
                f"{example.source} has no question {example.question_id} of {example.db_id} any "
                "more, on which the training is to be evaluated",
                hint="Build the set anew from the data as it is, or evaluate on no questions.",
            )
        return found

    def _read(self, name: str) -> dict[tuple[str, str], tuple[Example, str]]:
        sources = [source for source in self._sources if source.name == name]
        return {
            (one.db_id, one.id): (one, dataset.rule)
            for dataset in read_gold(sources).get(name, ())
            for one in dataset.examples
        }

    def _scorer(self, database: Path, rule: str) -> Scorer:
        key = (database, rule)
        if key not in self._scorers:
            opened = open_database(str(database))
            self._scorers[key] = Scorer(opened, opened.schema(), find_rule(rule))
        return self._scorers[key]
