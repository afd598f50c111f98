"""The reward of a generator's reply, by execution: the verdict of the evaluation, verified on
perturbed copies of the database.

A reply is read as the step reads it (`prompts.replies`), its query is run as any other (guarded,
confined, in a process that can be killed), and what it gives is judged by the data set's rule
(`lab.evaluation.scoring`). A query that is right on the one database may be so by luck: a filter
left out that filters nothing there. A model trained on rewards finds such luck and keeps to it, so
a right query must also agree with gold on the perturbed copies of its question
(`lab.evaluation.perturbing`); a query that doesn't is worth no more than any that runs.

The levels are those of Arctic-Text2SQL-R1 (Yao et al. 2025): 1 for a right query, 0.1 for one that
runs, else 0; without parts for form, length or likeness to gold, which a model can raise without
answering. Between the latter two stands a query that is compiled and then fails or takes too long:
0.05 is chosen, so that a group of replies without a query that runs still tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar
from unicodedata import category

from sqlwright.database import open_database
from sqlwright.errors import (
    DatabaseUnavailable,
    DatasetError,
    MalformedReply,
    UnsafeQuery,
    UserError,
)
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.evaluation.perturbing.suite import Suite, open_suite
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import GENEROUS, Scorer, Verdicts
from sqlwright.lab.finetuning.building.set_folder import SourceRecord
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.messages import LONGEST_REPLY
from sqlwright.prompts.replies import sql_from
from sqlwright.protocols import Limits
from sqlwright.sql.guard import check_query
from sqlwright.sql.pieces import holds_change
from sqlwright.sql.tokens import UnreadableQuery
from sqlwright.types import ExecutionResult


def read_gold(sources: Sequence[SourceRecord]) -> dict[str, list[Dataset]]:
    """The data sets by the names that examples have as `source`. Raises DatasetError for one that
    isn't there any more or has changed, and ConfigError."""
    found: dict[str, list[Dataset]] = {}
    for source in sources:
        kind, _, folder = source.data.partition(":")
        dataset = load_dataset(kind, Path(folder), Selection(split=source.split))
        changed = [
            path
            for path, digest in source.files.items()
            if dataset.files.get(path, digest) != digest
        ]
        if changed:
            raise DatasetError(
                f"{folder}: {changed[0]} isn't as it was when the set was built",
                hint="Build the set anew from the data as it is.",
            )
        found.setdefault(source.name, []).append(dataset)
    return found


NOTHING = 0.0
"""No query, one that is refused, or one that the database can't compile."""
COMPILES = 0.05
"""A query that fails as it runs, or takes more time or memory than it may."""
RUNS = 0.1
"""A query that gives another result than gold: here, or on a perturbed copy."""
RIGHT = 1.0
"""A query that agrees with gold everywhere."""

QUERY_SECONDS = 10.0
"""The time a query may take, that of a user's query by default."""
OPEN_DATABASES = 8
"""Databases kept open at most; each has processes of its own."""
OPEN_QUESTIONS = 8
"""Questions of a database whose gold results and copies are kept at most."""
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)
_MARKS = re.compile(r"```+\w*|~~~+\w*|</?\w{1,20}>")
"""Marks around a query."""
_STATEMENT = re.compile(
    r"(?>\s|;|--[^\n]*\n|/\*.*?\*/)*+(?:analyze|attach|begin|commit|create|detach|end|explain|pragma|"
    r"reindex|release|rollback|savepoint|select|vacuum|values|with)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of a statement, but for those that change rows."""
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
"""Categories of characters that nobody sees; some make what follows them unreadable as SQL."""
_RESULT_BYTES = 128 * 1024 * 1024
"""Bytes of a result at most: less than in evaluation, since several processes may judge."""

Finding = Literal[
    "no query", "refused", "does not compile", "does not run", "wrong", "right by luck",
    "right", "right, not verified",
]  # fmt: skip


class QuestionKey(NamedTuple):
    """A question among those of several data sets."""

    source: str
    """Name of its data set."""
    db_id: str
    question_id: str

    @staticmethod
    def of(example: TrainingExample) -> QuestionKey:
        """The question that an example was made of."""
        return QuestionKey(example.source, example.db_id, example.question_id)


@dataclass(frozen=True, slots=True)
class Reward:
    """The worth of a reply, and the reason."""

    value: float
    finding: Finding
    """“right, not verified”: no copy could be made on which gold's result isn't chance."""


class Rewards:
    """The rewards of replies to questions of some data sets. Used from one thread.

    A reply's reward depends on nothing but its query and the stored data, except where a query
    takes about as long as it may. The same query to the same question is judged once.
    """

    def __init__(
        self,
        datasets: Mapping[str, Sequence[Dataset]],
        *,
        seconds: float = QUERY_SECONDS,
        seed: int = 0,
    ) -> None:
        """`datasets` by the names that training examples have as `source`; `seed` is that of the
        perturbed copies, and `seconds` what a query may take."""
        self._examples = {
            QuestionKey(source, one.db_id, one.id): (one, dataset.rule)
            for source, parts in datasets.items()
            for dataset in parts
            for one in dataset.examples
        }
        limits = replace(GENEROUS, seconds=seconds, result_bytes=_RESULT_BYTES)
        self._limits, self._seed = limits, seed
        self._known: dict[tuple[QuestionKey, str], Reward] = {}
        self._opened: KeptOpen[tuple[Path, str], _OpenDatabase] = KeptOpen(OPEN_DATABASES)

    def of(self, key: QuestionKey, reply: str) -> Reward:
        """The reward of a reply. Raises DatasetError for a question that can't be judged, and
        DatabaseUnavailable."""
        try:
            sql = sql_from(reply)
        except MalformedReply:
            return Reward(NOTHING, "no query")
        return Reward(NOTHING, "refused") if _holds_more(reply) else self._of_query(key, sql)

    def problem(self, key: QuestionKey) -> str:
        """The reason why replies to a question can't be judged; empty if they can."""
        try:
            self._question(key)
        except UserError as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Close all databases. Safe to call twice."""
        self._opened.close()

    def __enter__(self) -> Rewards:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _of_query(self, key: QuestionKey, sql: str) -> Reward:
        if (key, sql) not in self._known:
            self._known[key, sql] = self._question(key).reward(sql)
        return self._known[key, sql]

    def _question(self, key: QuestionKey) -> _OpenQuestion:
        if key not in self._examples:
            raise DatasetError(
                f"{key.source} has no question {key.question_id} of {key.db_id}",
                hint="Name the data that the set of examples was built from.",
            )
        example, rule = self._examples[key]
        opened = self._opened.get(
            (example.database, rule),
            lambda: _OpenDatabase(example.database, rule, self._limits, self._seed),
        )
        return opened.question(example)


class _OpenDatabase:
    """A database with the questions about it that were judged last."""

    def __init__(self, path: Path, rule: str, limits: Limits, seed: int) -> None:
        """Raises DatabaseUnavailable."""
        self._database = open_database(str(path))
        self._seed = seed
        self._questions: KeptOpen[str, _OpenQuestion] = KeptOpen(OPEN_QUESTIONS)
        try:
            schema = self._database.schema()
        except BaseException:
            self._database.close()
            raise
        self._scorer = Scorer(self._database, schema, find_rule(rule), limits=limits)

    def question(self, example: Example) -> _OpenQuestion:
        """Raises DatasetError for one without a gold result."""
        return self._questions.get(
            example.id,
            lambda: _OpenQuestion(
                self._scorer, example, self._scorer.verdicts(example), self._seed
            ),
        )

    def close(self) -> None:
        self._questions.close()
        self._database.close()


@dataclass
class _OpenQuestion:
    """A question with its gold results, and its perturbed copies once they were needed."""

    scorer: Scorer
    example: Example
    verdicts: Verdicts
    seed: int
    suites: dict[str, Suite | None] = field(default_factory=dict)
    """By gold query; None where it has no copy."""
    opened: ExitStack = field(default_factory=ExitStack)

    def reward(self, sql: str) -> Reward:
        """Raises DatabaseUnavailable."""
        result = _executed(self.scorer, sql)
        if result.error is not None:
            if result.error.kind == "unsafe":
                return Reward(NOTHING, "refused")
            if result.error.phase == "prepare":
                return Reward(NOTHING, "does not compile")
            return Reward(COMPILES, "does not run")
        met = self.verdicts.met(sql, result)
        if not met:
            return Reward(RUNS, "wrong")
        verified = [self._accepts(gold, sql) for gold in met]
        if any(verified):
            return Reward(RIGHT, "right")
        if None in verified:
            return Reward(RIGHT, "right, not verified")
        return Reward(RUNS, "right by luck")

    def _accepts(self, gold: str, sql: str) -> bool | None:
        """True if a query agrees with gold on every copy; None where there is none."""
        if not gold:
            return None
        if gold not in self.suites:
            self.suites[gold] = self._suite(gold)
        suite = self.suites[gold]
        return None if suite is None else suite.accepts(sql)

    def _suite(self, gold: str) -> Suite | None:
        made = open_suite(self.example.database, gold, self.scorer.rule, seed=self.seed)
        try:
            suite = self.opened.enter_context(made)
        except DatabaseUnavailable:  # its schema needs more than plain tables
            return None
        return suite if suite.copies else None

    def close(self) -> None:
        self.opened.close()


def _holds_more(reply: str) -> bool:
    """True if a reply holds other statements than a query. The step passes over them, and takes the
    SELECT out of CREATE TABLE AS SELECT; a reward would teach a model to write them."""
    said = _THOUGHT_END.split(reply[-LONGEST_REPLY:])[-1]
    text = "".join(" " if one != "\n" and category(one) in _UNSEEN else one for one in said)
    return any(map(_is_more, (text, *_MARKS.split(text))))


def _is_more(part: str) -> bool:
    if holds_change(part):
        return True
    if not _STATEMENT.match(part):
        return False
    try:
        check_query(part.strip("; \n"))
    except UnreadableQuery:  # a mistake, or reasoning after the query
        return False
    except UnsafeQuery:
        return True
    return False


def _executed(scorer: Scorer, sql: str) -> ExecutionResult:
    """The result of a query. Raises DatabaseUnavailable if the database doesn't answer others
    either: that says nothing about the query."""
    result = scorer.execute(sql)
    if _is_unavailable(result):
        result = scorer.execute(sql)
    if _is_unavailable(result):
        other = scorer.execute("SELECT 1")
        if other.error is not None:
            raise DatabaseUnavailable(
                f"{scorer.schema.name}: {other.error.message}.",
                hint="Training goes on from its last checkpoint once the database can be read.",
            )
    return result


def _is_unavailable(result: ExecutionResult) -> bool:
    return result.error is not None and result.error.kind in {"unavailable", "cancelled"}


class Closable(Protocol):
    """Something that is open until it is closed."""

    def close(self) -> None:
        """Close it."""
        ...


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Closable)


class KeptOpen(Generic[K, V]):
    """Opens what is asked for; beyond so many, closes what wasn't asked for longest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[K, V] = {}
        """The last one asked for is last."""

    def get(self, key: K, opened: Callable[[], V]) -> V:
        """The one that is open under a key, or else the one that `opened` opens. Raises what that
        raises."""
        one = self._open.pop(key, None) or opened()
        self._open[key] = one
        while len(self._open) > self._most:
            self._open.pop(next(iter(self._open))).close()
        return one

    def close(self) -> None:
        """Close all. Safe to call twice."""
        while self._open:
            self._open.popitem()[1].close()
