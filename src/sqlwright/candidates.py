"""Candidates and their results: execute, compare, group, deduplicate, rank.

One rule says when two results are the same, and everything that compares results uses it:

- rows are a multiset: a row that comes twice counts twice;
- the order of rows counts only when both queries end in a top-level ORDER BY;
- columns may stand in any order, and their names don't count;
- numbers are equal within a relative tolerance of about 1e-9, so 1 equals 1.0 and 0.1 + 0.2 equals
  0.3; text is equal exactly, and never equal to a number;
- what engines give for one thing in several types is equal: true and 1, a decimal and a number, a
  day and its text (2024-03-01), midnight and its day, a moment and its text, in UTC where it has a
  zone, a UUID and its text; an array equals an array of equal elements;
- a result that was cut short is only ever equal to another one that was cut short;
- an error equals nothing, not even the same error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import cast
from uuid import UUID

from sqlwright.errors import UnsupportedQuery
from sqlwright.events import QueryExecuted
from sqlwright.protocols import Database, Run
from sqlwright.schema import Schema
from sqlwright.sql.facts import QueryFacts
from sqlwright.sql.pieces import pieces
from sqlwright.sql.reading import columns_used, compared_texts, has_order_by, read_facts
from sqlwright.sql.shape.spelling import respelled
from sqlwright.types import Candidate, Cell, ExecutionResult, Note, ValueMatch

DIGITS = 9
"""Significant digits two numbers must share to be equal; chosen."""

VETOED = 0.5
"""Factor on the confidence in a candidate with a fault that was read in its form. Chosen: a half
orders candidates better than 0.35, at which rivals without a fault win with a confidence of 0.2."""

_EXACT = 2**53
"""Below this magnitude a float holds every integer without loss."""

Key = tuple[str, object]
Row = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Candidates whose results are the same, best first."""

    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def shortest(self) -> Candidate:
        """The one with the shortest query; of equally short ones the best."""
        return min(self.candidates, key=lambda one: len(normalized_sql(one.sql, one.dialect)))

    @property
    def result(self) -> ExecutionResult:
        """The result all of them share, as the best of them gives it."""
        result = self.best.result
        return result if result is not None else ExecutionResult()


def stopped(run: Run) -> bool:
    """True if the run was cancelled or is out of time. Unlike `Run.check`, it doesn't raise."""
    return run.cancelled.is_set() or run.remaining() <= 0


def execute(
    candidates: Sequence[Candidate],
    database: Database,
    run: Run,
    *,
    seconds: float = math.inf,
) -> tuple[Candidate, ...]:
    """The same candidates with their results, executed in order while time lasts.

    `seconds` is for all of them together, on top of the limit of each. Those that already have a
    result keep it; those for which no time was left stay without one.
    """
    deadline = run.clock() + min(seconds, run.remaining())
    done = []
    for candidate in candidates:
        left = deadline - run.clock()
        if candidate.result is not None or left <= 0 or stopped(run):
            done.append(candidate)
        else:
            limits = replace(run.limits, seconds=min(run.limits.seconds, left))
            result = database.execute(candidate.sql, run, limits=limits)
            run.events(QueryExecuted(candidate.sql, result))
            done.append(replace(candidate, result=result, dialect=database.dialect))
    return tuple(done)


def valid(candidate: Candidate) -> bool:
    """True if the candidate was executed without an error."""
    return candidate.result is not None and candidate.result.ok


def is_empty_answer(candidate: Candidate) -> bool:
    """True of a result that says nothing: no rows, only NULL, or one row of NULLs and zeros. False
    of a candidate that wasn't executed or ended in an error."""
    result = candidate.result
    if result is None or not result.ok:
        return False
    if result.empty:
        return True
    return len(result.rows) == 1 and all(cell is None or cell == 0 for cell in result.rows[0])


def held(candidate: Candidate, confidence: float) -> float:
    """The confidence, in [0, 1], times `VETOED` where the candidate has a fault."""
    return confidence * VETOED if candidate.vetoes else confidence


def same_result(first: Candidate, second: Candidate) -> bool:
    """True if two executed candidates give the same result, by the rule of this module."""
    return _same(_Rows(first), _Rows(second))


def group_by_result(candidates: Iterable[Candidate]) -> tuple[ResultGroup, ...]:
    """Valid candidates by their results, groups and members in the order they came in.

    A candidate joins the first group whose first member it equals, so a query without ORDER BY
    joins the best ordered one with the same rows, and the outcome depends only on the order given.
    """
    pool = tuple(candidates)
    groups: dict[int, list[Candidate]] = {}
    for candidate, place in zip(pool, result_places(pool), strict=True):
        if valid(candidate):
            groups.setdefault(place, []).append(candidate)
    return tuple(ResultGroup(tuple(members)) for members in groups.values())


def result_places(candidates: Sequence[Candidate]) -> list[int]:
    """For each candidate the index, from 0, of the first one with the same result; its own index
    for one that ended in an error or wasn't executed."""
    firsts: list[tuple[int, _Rows]] = []
    places: list[int] = []
    for number, candidate in enumerate(candidates):
        rows = _Rows(candidate)
        place = next((place for place, first in firsts if _same(first, rows)), None)
        if place is None:
            firsts.append((number, rows))
        places.append(number if place is None else place)
    return places


def deduplicate(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One candidate per query: the first with that text, blanks outside quotes not counting."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for candidate in candidates:
        key = (candidate.goal, normalized_sql(candidate.sql, candidate.dialect))
        if key not in seen:
            seen.add(key)
            kept.append(candidate)
    return tuple(kept)


def rank(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Best first without a model: with rows, then empty, then not executed, then in error.

    Inside each of these by the author's score, then in the order given.
    """
    return tuple(sorted(candidates, key=lambda c: (result_rank(c), -c.score)))


def shares(candidates: Sequence[Candidate]) -> list[float]:
    """The softmax of the candidates' scores, which are log probabilities.

    One share per candidate, in their order. Sums to 1; empty for no candidates.
    """
    return softmax([candidate.score for candidate in candidates])


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities that sum to 1, from logits or log probabilities."""
    if not logits:
        return []
    top = max(logits)
    weights = [math.exp(max(logit - top, -700.0)) for logit in logits]
    total = sum(weights)
    return [weight / total for weight in weights]


def grounded(candidate: Candidate, values: Iterable[ValueMatch], schema: Schema) -> Candidate:
    """The candidate with the stored columns its query names and those of the values it compares
    them with, its names spelt as the schema spells them; for authors that give only a query."""
    spelt = respelled(candidate.sql, schema)
    told = ", ".join(f"{stored} for {written}" for written, stored in spelt.names)
    note = (Note("converted", f"names were written as the database has them: {told}"),)
    warnings = (*candidate.warnings, *(note if told else ()))
    candidate = replace(candidate, sql=spelt.sql, warnings=warnings)
    compared = {(one.column, one.text.strip("%")) for one in compared_texts(candidate.sql, schema)}
    return replace(
        candidate,
        columns=columns_used(candidate.sql, schema),
        dialect=schema.dialect,
        values=tuple(match for match in values if (match.column, match.value) in compared),
    )


def facts_of(candidate: Candidate, schema: Schema) -> QueryFacts | None:
    """The facts of the candidate's query: from its author's form, else from its text; None when the
    text is no query."""
    if candidate.form is not None:
        try:
            return candidate.form.facts(schema)
        except UnsupportedQuery:
            pass  # over another schema than the author's no keys may join its tables
    return read_facts(candidate.sql, schema)


def history(candidate: Candidate) -> Iterator[Candidate]:
    """The candidate, then each version it was repaired from, back to the first."""
    current: Candidate | None = candidate
    while current is not None:
        yield current
        current = current.parent


def result_rank(candidate: Candidate) -> int:
    """Rank of a candidate by its result, the lowest best: 0 has rows, 1 is empty, 2 wasn't
    executed, 3 ended in an error."""
    if candidate.result is None:
        return 2
    if not candidate.result.ok:
        return 3
    return 1 if candidate.result.empty else 0


@lru_cache(maxsize=256)
def normalized_sql(sql: str, dialect: str = "sqlite") -> str:
    """The query with each run of blanks outside of quotes as one blank, and without a semicolon at
    its end. Letters keep their case."""
    parts, line_comment = [], False
    for piece in pieces(sql, dialect):
        # The end of the line ends such a comment.
        blank = "\n" if line_comment else " "
        parts.append(blank if piece.kind == "space" else piece.text)
        line_comment = piece.kind == "comment" and not piece.text.startswith("/*")
    return "".join(parts).strip().rstrip(";").rstrip()


def cell_key(cell: Cell) -> Key:
    """A hashable pair of type and value, equal for two cells that count as equal."""
    if cell is None:
        return ("null", None)
    if isinstance(cell, int):
        return ("number", int(cell))
    if isinstance(cell, float):
        return ("number", _number(cell))
    if isinstance(cell, str):
        return ("text", cell)
    if isinstance(cell, bytes):
        return ("bytes", cell)
    if isinstance(cell, tuple):
        return ("array", tuple(map(cell_key, cast("tuple[Cell, ...]", cell))))
    return _typed_key(cell)


def _typed_key(cell: Decimal | date | time | timedelta | UUID) -> Key:
    """The key of what SQLite has no type for."""
    if isinstance(cell, Decimal):
        whole = cell.is_finite() and cell == cell.to_integral_value()
        return ("number", int(cell) if whole else _number(float(cell)))
    if isinstance(cell, timedelta):
        return ("duration", _number(cell.total_seconds()))
    if isinstance(cell, datetime):
        moment = cell if cell.tzinfo is None else cell.astimezone(UTC).replace(tzinfo=None)
        cell = moment.date() if moment.time() == time() else moment
    text = str(cell)
    return ("text", text.rstrip("0") if "." in text else text)


def _number(value: float) -> object:
    if not math.isfinite(value):
        return str(value)
    nearest = round(value)
    if abs(nearest) < _EXACT and abs(value - nearest) <= 1e-9 * max(1.0, abs(value)):
        return nearest
    return float(f"{value:.{DIGITS}g}")


class _Rows:
    """A result made comparable; keys and bags are made when a comparison first needs them."""

    def __init__(self, candidate: Candidate) -> None:
        result = candidate.result
        self.sql, self.dialect = candidate.sql, candidate.dialect
        self.ok = result is not None and result.ok
        self.stored = result.rows if result is not None else ()
        width = len(result.columns) if result is not None else 0
        cut = result is not None and result.cut
        self.shape = (len(self.stored), width, cut)

    @cached_property
    def keys(self) -> tuple[Row, ...]:
        return tuple(tuple(cell_key(cell) for cell in row) for row in self.stored)

    @cached_property
    def bags(self) -> Counter[frozenset[tuple[Key, int]]]:
        """Rows as multisets of cells, counted. Results whose bags differ are different; those whose
        bags are equal are nearly always equal."""
        return Counter(frozenset(Counter(row).items()) for row in self.keys)


def _same(first: _Rows, second: _Rows) -> bool:
    if not (first.ok and second.ok) or first.shape != second.shape:
        return False
    if first.stored == second.stored or first.keys == second.keys:
        return True
    if first.bags != second.bags:
        return False
    if not _equal_up_to_columns(first.keys, second.keys, ordered=False):
        return False
    if not all(has_order_by(one.sql, one.dialect) for one in (first, second)):
        return True
    return _equal_up_to_columns(first.keys, second.keys, ordered=True)


def _equal_up_to_columns(
    first: Sequence[Row], second: Sequence[Row], *, ordered: bool, tries: int = 200
) -> bool:
    """True if some order of the second's columns makes the rows equal, in order if `ordered`.

    A column can only stand for one that holds the same values. At most `tries` orders are tried;
    there are several only for results with columns of identical content.
    """
    width = len(first[0]) if first else 0
    near = [_column(first, index, ordered) for index in range(width)]
    far = [_column(second, index, ordered) for index in range(width)]
    options = [[j for j in range(width) if far[j] == near[i]] for i in range(width)]
    if any(len(options[i]) != near.count(near[i]) for i in range(width)):
        return False
    goal = list(first) if ordered else Counter(first)
    for order in _assignments(options):
        moved = [tuple(row[j] for j in order) for row in second]
        if (moved if ordered else Counter(moved)) == goal:
            return True
        tries -= 1
        if tries <= 0:
            return False
    return False


def _column(rows: Sequence[Row], index: int, ordered: bool) -> object:
    cells = [row[index] for row in rows]
    return cells if ordered else Counter(cells)


def _assignments(options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each index one of its options, each option used once."""
    if not options:
        yield ()
        return

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(options):
            yield chosen
            return
        for option in options[len(chosen)]:
            if option not in chosen:
                yield from extend((*chosen, option))

    yield from extend(())
