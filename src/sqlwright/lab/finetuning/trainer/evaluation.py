"""A model in training measured on held-out examples: its reply to each prompt, read as the role's
step reads it, is compared with the right one, or executed and judged by the set's rule.

Replies are those of inference: greedy, by `llm/vendors/weights.py` over the model in memory.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlwright.database import open_database
from sqlwright.errors import ConfigError, DatasetError, MalformedReply
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.building.set_folder import SourceRecord
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.trainer.loading import Loaded
from sqlwright.lab.finetuning.trainer.rewards import read_gold
from sqlwright.llm.endpoint import Call, EndpointError
from sqlwright.llm.vendors.weights import Weights
from sqlwright.prompts.replies import json_from, sql_from
from sqlwright.steps.schema_linking.replies import TablesReply
from sqlwright.steps.selection.judging.verdicts import letter_from, number_from

LETTERS = ("A", "B")
MOST_QUERIES = 999
"""Queries that a critic may choose among, where an example doesn't say how many it shows."""
FURTHER_TOKENS = 32
"""Tokens that a reply may have beyond twice those of the longest right one; chosen."""

Complete = Callable[[TrainingExample], str]
"""The model's reply to an example's prompt; empty where it gave none."""
Judge = Callable[[TrainingExample, str], bool]
"""True if a query gives the right result for an example's question."""


class Measure(Protocol):
    """Figures of a model on examples of one role."""

    def __call__(
        self, examples: Sequence[TrainingExample], complete: Complete
    ) -> Mapping[str, Share]:
        """Shares by name; the first one is what the role is judged by."""
        ...


def measure_of(role: str, judge: Judge) -> Measure:
    """The measure of a role. Raises ConfigError for one that has none."""
    measures: Mapping[str, Measure] = {
        "linker": _tables,
        "generator": lambda examples, complete: _executed(examples, complete, judge),
        "critic": lambda examples, complete: _chosen(examples, complete, _number),
        "selector": lambda examples, complete: _chosen(examples, complete, _letter),
    }
    if role not in measures:
        raise ConfigError(
            f"there is no evaluation of the role {role}",
            hint=f"Train one of {', '.join(measures)}, or evaluate on no questions.",
        )
    return measures[role]


def drawn(examples: Sequence[TrainingExample], count: int, seed: int) -> list[TrainingExample]:
    """So many of the examples by the seed, in their order."""
    places = random.Random(seed).sample(  # noqa: S311 - seeded on purpose
        range(len(examples)), min(count, len(examples))
    )
    return [examples[place] for place in sorted(places)]


def completing(loaded: Loaded, *, context: int, limit: int) -> Complete:
    """Greedy replies of a model in memory, of at most `limit` tokens; none to a prompt that leaves
    no room for one."""
    model = loaded.model
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    weights = Weights.over(loaded.tokenizer, inner, folder=loaded.folder)

    def complete(example: TrainingExample) -> str:
        call = Call(example.plain, max_tokens=limit)
        try:
            with _as_in_inference(model):
                return weights.reply(call, threading.Event(), context=context).replies[0].text
        except EndpointError:
            return ""

    return complete


def share_told(measured: Mapping[str, Share]) -> dict[str, dict[str, float]]:
    """Shares as plain data, for the record."""
    return {name: share.as_dict() for name, share in measured.items()}


@contextmanager
def _as_in_inference(model: Any) -> Iterator[None]:
    """Without dropout; a training that goes on afterwards is as if there had been no reply."""
    import torch

    training = model.training
    model.eval()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        model.train(training)


def _tables(examples: Sequence[TrainingExample], complete: Complete) -> dict[str, Share]:
    """By question, then by table: those that are needed and those that are named."""
    kept = found = needed = named = 0
    for example in examples:
        right, said = _named_in(example.completion), _named_in(complete(example))
        kept += right <= said
        found += len(right & said)
        needed += len(right)
        named += len(said)
    return {
        "all needed tables kept": Share(kept, len(examples)),
        "needed tables kept": Share(found, needed),
        "kept tables needed": Share(found, named),
    }


def _executed(
    examples: Sequence[TrainingExample], complete: Complete, judge: Judge
) -> dict[str, Share]:
    right = 0
    for example in examples:
        try:
            sql = sql_from(complete(example))
        except MalformedReply:
            continue
        right += judge(example, sql)
    return {"right by execution": Share(right, len(examples))}


def _chosen(
    examples: Sequence[TrainingExample],
    complete: Complete,
    read: Callable[[TrainingExample, str], str | None],
) -> dict[str, Share]:
    """One that is rejected by no example is right, too: several queries may be."""
    right = 0
    for example in examples:
        said = read(example, complete(example))
        wrong = {read(example, text) for text in example.rejected}
        meant = read(example, example.completion)
        right += said is not None and (said not in wrong if example.rejected else said == meant)
    return {"right choices": Share(right, len(examples))}


def _named_in(reply: str) -> set[str]:
    try:
        names = json_from(reply, TablesReply).tables
    except MalformedReply:
        return set()
    return {name.strip("\"'`[] ").casefold() for name in names}


def _number(example: TrainingExample, reply: str) -> str | None:
    count = example.facts.get("candidates", MOST_QUERIES)
    try:
        return str(number_from(reply, int(count)))
    except MalformedReply:
        return None


def _letter(_example: TrainingExample, reply: str) -> str | None:
    try:
        return letter_from(reply, LETTERS)
    except MalformedReply:
        return None


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
