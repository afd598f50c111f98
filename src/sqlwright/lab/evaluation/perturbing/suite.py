"""The test suite of one gold query: perturbed copies of its database that tell it from its
neighbours.

The idea is that of distilled test suites (Zhong et al. 2020, "Semantic Evaluation for Text-to-SQL
with Distilled Test Suites"). Copies are drawn by seed and written one after the other; one is kept
if it tells gold from a neighbour that no copy before did, and dropped if gold's result on it is
chance: where rows that are equal by its order, or the order in which rows are stored, decide it.
No prediction is looked at. The copies live in a temporary folder for as long as the suite is
open: they are made anew from the seed in a moment, so keeping them would only fill the disk.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from sqlwright.database.sqlite.copies import Opener, write_copy, write_turned
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.lab.evaluation.perturbing.hints import Hints, read_hints
from sqlwright.lab.evaluation.perturbing.rows import StoredDatabase, draw_copy, read_database
from sqlwright.lab.evaluation.rules.rule import Rule
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.neighbours import neighbours
from sqlwright.sql.reading import read_facts
from sqlwright.sql.tied import settled_groups, settled_order
from sqlwright.types import ExecutionResult

_SMALL = Limits(seconds=5.0, rows=50_000, result_bytes=64 * 1024 * 1024, cell_bytes=4 * 1024 * 1024)
"""Limits of a query on a copy, which is small."""


@dataclass(frozen=True)
class Effort:
    """The work that goes into a suite."""

    copies: int = 16
    """Copies that a suite keeps at most."""
    drawn: int = 40
    """Copies that are drawn at most to find them."""
    plain: int = 10
    """Copies that are kept without telling anything that those before didn't."""
    idle: int = 12
    """Copies in a row that tell nothing new, after which no more are drawn."""
    neighbours: int = 120
    """Neighbours of a gold query that are tried."""


@dataclass(frozen=True)
class KeptCopy:
    """A perturbed copy, and what gold gives on it."""

    database: SqliteDatabase
    gold: ExecutionResult

    def agrees(self, sql: str, gold_sql: str, rule: Rule) -> bool:
        """True if a query gives gold's result here."""
        result = _run(self.database, sql)
        return result.whole and rule.agrees(result, self.gold, gold_sql)


@dataclass(frozen=True)
class Suite:
    """A gold query and the copies on which it is compared."""

    gold_sql: str
    """As the rule has it run."""
    rule: Rule
    copies: Sequence[KeptCopy] = ()

    def accepts(self, sql: str) -> bool:
        """True if a query agrees with gold on every copy."""
        run = self.rule.rewrite(sql)
        return all(copy.agrees(run, self.gold_sql, self.rule) for copy in self.copies)


@contextmanager
def open_suite(
    path: Path, gold_sql: str, rule: Rule, *, seed: int = 0, effort: Effort | None = None
) -> Iterator[Suite]:
    """The suite of a gold query over a database; without a copy where there is none on which gold
    gives a result that isn't chance. Raises DatabaseUnavailable."""
    gold_sql = rule.rewrite(gold_sql)
    key = sha256(f"{path.name}\0{gold_sql}\0{seed}".encode()).digest()
    rng = random.Random(key)  # noqa: S311 - to be repeatable, not secret
    with SqliteDatabase(path) as database:
        schema = database.schema()
        stored = read_database(database, schema, rng)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sqlwright-suite-")))
        opener = stack.enter_context(Opener())
        work = _Work(stored, gold_sql, rule, folder, opener)
        yield Suite(gold_sql, rule, work.choose(rng, effort or Effort()))


@dataclass
class _Work:
    """A suite while it is made."""

    stored: StoredDatabase
    gold_sql: str
    rule: Rule
    folder: Path
    opener: Opener
    written: int = 0
    drawn: int = 0

    def choose(self, rng: random.Random, effort: Effort) -> list[KeptCopy]:
        """The copies that are kept."""
        schema = self.stored.schema
        facts = read_facts(self.gold_sql, schema)
        hints = read_hints(facts, schema) if facts is not None else _everything(schema)
        left = list(neighbours(self.gold_sql, schema)[: effort.neighbours])
        kept: list[KeptCopy] = []
        plain, idle = 0, 0
        for _ in range(effort.drawn):
            copy = self._draw(hints, rng)
            alike = [one for one in left if self._alike(copy, one)] if copy is not None else left
            told = len(alike) < len(left)
            left, idle = alike, 0 if told else idle + 1
            if copy is not None and (told or (plain < effort.plain and copy.gold.rows)):
                plain += not told
                kept.append(copy)
            elif copy is not None:
                self.opener.let_go(copy.database)
            if len(kept) >= effort.copies or idle > effort.idle:
                break
        return kept

    def _draw(self, hints: Hints, rng: random.Random) -> KeptCopy | None:
        """A copy; None where gold's result on it is chance."""
        self.drawn += 1
        filled = draw_copy(self.stored, hints, rng, self.drawn)
        path = self._next()
        write_copy(path, self.stored.definitions, filled, self.stored.schema.foreign_keys)
        database = self.opener.open(path)
        copy = KeptCopy(database, _run(database, self.gold_sql))
        if copy.gold.whole and not _says_none(copy.gold) and self._is_settled(copy, path):
            return copy
        self.opener.let_go(database)
        return None

    def _is_settled(self, copy: KeptCopy, path: Path) -> bool:
        """True if nothing decides what gold gives but the rows: not which of those that are equal
        by its order come first, not which of a group shows its columns, not how they are stored."""
        columns = len(copy.gold.columns)
        for turn in (False, True):
            for settled in (
                settled_order(self.gold_sql, columns, descending=turn),
                settled_groups(self.gold_sql, highest=turn),
            ):
                if settled is not None and not copy.agrees(settled, self.gold_sql, self.rule):
                    return False
        target = self._next()
        write_turned(path, target)
        turned = self.opener.open(target)
        agrees = replace(copy, database=turned).agrees(self.gold_sql, self.gold_sql, self.rule)
        self.opener.let_go(turned)
        return agrees

    def _alike(self, copy: KeptCopy, neighbour: str) -> bool:
        """True if a neighbour runs and can't be told from gold."""
        result = _run(copy.database, self.rule.rewrite(neighbour))
        failed = not result.whole
        return not failed and self.rule.agrees(result, copy.gold, self.gold_sql)

    def _next(self) -> Path:
        self.written += 1
        return self.folder / f"{self.written}.sqlite"


def _everything(schema: Schema) -> Hints:
    """The hints of a query that can't be read: every table may matter."""
    return Hints(tables=frozenset(table.name for table in schema.tables))


def _says_none(result: ExecutionResult) -> bool:
    """True of one row of NULL alone: gold found nothing, and another query may say that by giving
    no row."""
    return len(result.rows) == 1 and all(cell is None for cell in result.rows[0])


def _run(database: SqliteDatabase, sql: str) -> ExecutionResult:
    return database.execute(sql, Run(), limits=_SMALL)
