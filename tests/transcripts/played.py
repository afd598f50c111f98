"""A transcript played: its recipe asked again, with the replies that are stored.

Replies are found by the prompt they were typed for. A model that takes over what changed gives the
reply of the prompt that is most alike instead, and remembers which.
"""

from __future__ import annotations

import difflib
import sqlite3
import threading
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from sqlwright.demo.business import rows_digest, write_business
from sqlwright.llm.models import Models
from sqlwright.local.models import EmbeddedModels
from sqlwright.messages import Capabilities, Request, Sample
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Run
from sqlwright.recipes.loading import load_recipe
from sqlwright.running.pipeline import Pipeline
from sqlwright.types import Answer, Question
from tests.transcripts.stored import FOLDER, UNTYPED, Exchange, Transcript, prompt_text

DATABASES = Path(__file__).parents[1] / "databases"
ALIKE = 0.9
"""Part of its lines that the prompt of a step with another name must share."""


@dataclass(frozen=True)
class Asked:
    """A reply that was asked for, with what it was given."""

    exchange: Exchange
    before: Exchange | None
    """The stored exchange whose reply it is; None where there was none."""

    @property
    def changed(self) -> bool:
        return self.before is None or self.before.prompt != self.exchange.prompt


@dataclass
class TranscriptModel:
    """A language model that replies as stored. With `lenient` to prompts that changed, too."""

    stored: Sequence[Exchange]
    capabilities: Capabilities
    lenient: bool = False
    name: str = "openai-compatible/typed"
    asked: list[Asked] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        run.check()
        return [
            tuple(
                self._reply(step, request.seed + number, prompt_text(request, self.capabilities))
                for number in range(request.n)
            )
            for request in requests
        ]

    def _reply(self, step: str, seed: int, prompt: str) -> Sample:
        with self._lock:
            key = (step, seed, prompt)
            before = next((each for each in self.stored if each.key == key), None)
            if before is None and self.lenient:
                before = self._nearest(step, seed, prompt)
            sample = before.sample if before else UNTYPED
            self.asked.append(Asked(Exchange(step, seed, prompt, sample), before))
            return sample

    def _nearest(self, step: str, seed: int, prompt: str) -> Exchange | None:
        """The stored exchange of this step and seed whose prompt is most alike; else of this step,
        else of any whose prompt is nearly the same. One that wasn't given yet comes first."""
        given = [asked.before for asked in self.asked]
        same_step = [each for each in self.stored if each.step == step]
        for among, least in (
            ([each for each in same_step if each.seed == seed], 0.0),
            ([each for each in same_step if each not in given], 0.0),
            (self.stored, ALIKE),
        ):
            scores = [(alike(each.prompt, prompt), each not in given) for each in among]
            if scores and max(scores)[0] >= least:
                return among[scores.index(max(scores))]
        return None


@dataclass(frozen=True)
class Played:
    """What came of playing a transcript."""

    transcript: Transcript
    answer: Answer
    right: bool
    """True if it gives the rows of the gold query; without one, what is stored."""
    asked: Sequence[Asked]

    @property
    def unmatched(self) -> list[Exchange]:
        """What was asked and has no stored reply."""
        return [asked.exchange for asked in self.asked if asked.before is None]

    @property
    def unasked(self) -> list[Exchange]:
        """What is stored and wasn't asked."""
        used = [asked.before for asked in self.asked]
        return [each for each in self.transcript.exchanges if each not in used]

    @property
    def outcome(self) -> tuple[str, str | None, bool]:
        return self.answer.status, self.answer.sql, self.right

    def taken_over(self) -> Transcript:
        """The transcript with the prompts of now and the replies that they were given."""
        order = {each.key: place for place, each in enumerate(self.transcript.exchanges)}
        last = len(order)
        found: dict[tuple[str, int, str], tuple[Any, Exchange]] = {}
        for asked in self.asked:
            place = order.get(asked.before.key, last) if asked.before else last
            found.setdefault(asked.exchange.key, ((place, *asked.exchange.key), asked.exchange))
        exchanges = [exchange for _, exchange in sorted(found.values(), key=lambda each: each[0])]
        return replace(self.transcript, exchanges=tuple(exchanges))


def play(transcript: Transcript, folder: Path, *, lenient: bool = False) -> Played:
    """Ask the question again, over a database that is made and prepared in `folder`."""
    file = database_file(transcript.database, folder)
    prepared = folder / f"{file.stem}-prepared"
    prepare(str(file), folder=prepared)
    for kept in prepared.rglob("summaries-*.json"):
        kept.unlink()  # what another transcript's model wrote
    recipe = load_recipe(transcript.recipe, transcript.overrides)
    model = TranscriptModel(transcript.exchanges, transcript.capabilities, lenient)
    workspace = open_workspace(str(file), folder=prepared)
    try:
        models = Models(
            ChainMap({name or "llm": model for name in recipe.asks}, EmbeddedModels())  # type: ignore[arg-type]
        )
        run = Run(today=date.fromisoformat(transcript.today))
        question = Question(transcript.question, transcript.evidence)
        answer, _ = Pipeline(recipe.name, recipe.step).run(question, workspace, models, run)
        models.close()
        right = transcript.right
        if transcript.gold is not None:
            gold = workspace.database.execute(transcript.gold, Run())
            assert gold.error is None, f"the gold query fails: {gold.error}"
            right = answer.status == "answered" and rows_digest(answer.rows) == rows_digest(
                gold.rows
            )
    finally:
        workspace.database.close()
    return Played(transcript, answer, right, model.asked)


def database_file(name: str, folder: Path) -> Path:
    """The named database, made in `folder` unless it is there: DuckDB's of a script that ends so,
    else SQLite's."""
    script = FOLDER / f"{Path(name).stem}.duckdb.sql"
    if script.exists():
        return _duckdb_file(script, folder)
    path = folder / f"{Path(name).stem}.sqlite"
    if path.exists():
        return path
    if name == "demo":
        write_business(path)
        return path
    scripts = [room / f"{Path(name).stem}.sql" for room in (DATABASES, FOLDER)]
    script = next(script for script in scripts if script.exists())
    connection = sqlite3.connect(path)
    try:
        connection.executescript(script.read_text("utf-8"))
    finally:
        connection.close()
    return path


def _duckdb_file(script: Path, folder: Path) -> Path:
    import duckdb

    path = folder / script.name.removesuffix(".sql")
    if not path.exists():
        with duckdb.connect(str(path)) as connection:
            connection.execute(script.read_text("utf-8"))
    return path


def alike(one: str, other: str) -> float:
    """The part of two prompts' lines that they share, from 0 to 1."""
    lines, others = Counter(one.split("\n")), Counter(other.split("\n"))
    return 2 * (lines & others).total() / (lines.total() + others.total())


def difference(before: str, after: str, context: int = 2) -> list[str]:
    """A unified difference of two prompts, without its head."""
    told = difflib.unified_diff(before.split("\n"), after.split("\n"), n=context, lineterm="")
    return list(told)[2:]


def differences(played: Iterable[Played]) -> Iterator[str]:
    """Every change of a prompt in words; one that many prompts share is told once."""
    seen: dict[tuple[str, ...], list[str]] = {}
    told: dict[tuple[str, ...], list[str]] = {}
    for each in played:
        for asked in each.asked:
            if asked.before is None or not asked.changed:
                continue
            lines = difference(asked.before.prompt, asked.exchange.prompt)
            key = tuple(line for line in lines if line[0] in "+-")
            where = f"{each.transcript.name}: {asked.exchange.step}, seed {asked.exchange.seed}"
            seen.setdefault(key, []).append(where)
            told.setdefault(key, lines)
    for key, lines in told.items():
        first, *more = seen[key]
        yield f"=== {first}{f' and {len(more)} more' if more else ''}"
        yield from lines
        yield ""
