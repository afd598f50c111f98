"""Examines a golden set: gold queries that fail, say nothing, contradict what is stored or each
other, and questions that can be read in two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Literal

from sqlwright.api import Session
from sqlwright.candidates import is_empty_answer, same_result
from sqlwright.caveats import Look, examined
from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation.error_classes.classify import from_results, gold_doubts, read_both
from sqlwright.lab.evaluation.rules.rule import Rule, find_rule
from sqlwright.lab.evaluation.scoring import GENEROUS, TOO_LARGE
from sqlwright.lab.evaluation.settings import in_order
from sqlwright.lab.evaluation.stored_cells import as_given
from sqlwright.presentation.cells import plain_text
from sqlwright.protocols import Context, Run
from sqlwright.running.trust import Trust
from sqlwright.sql.reading import has_order_by, varies_by_itself
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import Candidate, ExecutionResult
from sqlwright.types.plans import ScanLimit

Opener = Callable[[str], Session]
Progress = Callable[[int, int], None]


@dataclass
class Lint:
    """A set under examination."""

    dataset: Dataset
    open_session: Opener
    """Opens the database at a path, with the recipe `local`."""
    readings: bool = True
    """True if the embedded models are asked for other readings: a fraction of a second each."""
    scan: ScanLimit | None = None
    """The most that a gold query may read."""
    results: dict[str, ExecutionResult] = field(default_factory=dict)
    """The first usable gold result of each question, by id."""
    dialects: dict[str, str] = field(default_factory=dict)
    """The dialect of each question with such a result, by id."""

    def faults(self, progress: Progress | None = None) -> Iterator[Fault]:
        """Every fault, those of one question together; what several questions share comes last.
        Raises what opening and asking raise, but for a database that can't be opened."""
        done, whole = 0, len(self.dataset.examples)
        rule = find_rule(self.dataset.rule)
        for _, asked in groupby(in_order(self.dataset.examples), key=lambda one: one.database):
            listed = list(asked)
            try:
                session = self.open_session(listed[0].address)
                with session:
                    session.workspace  # noqa: B018  (opened, or told why it can't be)
                    for example in listed:
                        yield from _Examined(example, session, rule, self).faults()
                        done += 1
                        if progress is not None:
                            progress(done, whole)
            except DatabaseUnavailable as error:
                done += len(listed)
                yield from (_fault("database", one, str(error)) for one in listed)
        yield from self._repeated(rule)

    def _repeated(self, rule: Rule) -> Iterator[Fault]:
        """Questions that stand in the set twice. With other evidence it is another question."""
        first: dict[tuple[object, ...], Example] = {}
        for example in self.dataset.examples:
            words = [" ".join(t.split()).casefold() for t in (example.question, example.evidence)]
            earlier = first.setdefault((example.database, *words), example)
            if earlier is example:
                continue
            results = [self.results.get(one.id) for one in (earlier, example)]
            sql = [one.gold_sql for one in (earlier, example)]
            one, other = results
            dialect = self.dialects.get(example.id, "sqlite")
            if one is None or other is None or rule.agrees(other, one, sql[0], dialect):
                yield _fault("repeated", example, f"it stands there as {earlier.id}, too")
            else:
                yield _fault("contradicts", example, f"as {earlier.id} it has another result")


@dataclass(frozen=True)
class _Examined:
    """One question with its open database."""

    example: Example
    session: Session
    rule: Rule
    lint: Lint

    def faults(self) -> Iterator[Fault]:
        example = self.example
        if not any(letter.isalpha() for letter in example.question):
            yield _fault("blank", example, example.question or "it is empty")
        dialect = self.session.workspace.database.dialect
        golds = [
            Candidate(sql, "gold", result=self._run(sql), dialect=dialect) for sql in example.golds
        ]
        for gold in golds:
            yield from self._unusable(gold)
        usable = [gold for gold in golds if not _problem(gold)]
        if usable and usable[0].result is not None:
            self.lint.results[example.id] = usable[0].result
            self.lint.dialects[example.id] = dialect
        for gold in usable:
            yield from self._weak(gold)
        yield from self._against_stored(usable)
        yield from self._disagreeing(usable)
        telling = [gold for gold in usable if not is_empty_answer(gold)]
        if self.lint.readings and telling:
            said = second_reading(self.session, telling[0], example.question, example.evidence)
            if said:
                yield _fault("readings", example, said)

    def _run(self, sql: str) -> ExecutionResult:
        limits = replace(GENEROUS, scan=self.lint.scan)
        return self.session.workspace.database.execute(sql, Run(), limits=limits)

    def _unusable(self, gold: Candidate) -> Iterator[Fault]:
        problem = _problem(gold)
        error = gold.result.error if gold.result else None
        if error is not None and error.kind == "unsafe":
            yield _fault("unsafe", self.example, f"{problem}: {gold.sql}")
        elif problem:
            yield _fault("fails", self.example, f"{problem}: {gold.sql}")

    def _weak(self, gold: Candidate) -> Iterator[Fault]:
        """The reasons for which a query that runs can't tell right from wrong."""
        assert gold.result is not None
        if is_empty_answer(gold):
            rows = "no rows" if not gold.result.rows else "nothing but NULL or 0"
            yield _fault("nothing", self.example, f"it gives {rows}: {gold.sql}")
        said, _ = read_both(gold.sql, gold.sql, self.session.workspace.schema)
        doubts = [] if said is None else list(gold_doubts(said, gold.result, self._run))
        said_so = any("equal by its order" in doubt.evidence for doubt in doubts)
        for doubt in doubts:
            if gold.result.rows:
                yield _fault("chance", self.example, doubt.evidence)
        look = Look.at(self.session.workspace, Run())
        for note in examined(gold, look).told():
            if note.kind != "tied" or not said_so:
                yield _fault("data", self.example, f"{note.text}: {gold.sql}")
        if varies_by_itself(gold.sql, self.session.workspace.schema.dialect):
            told = "it gives other rows another day, or each time"
            yield _fault("chance", self.example, f"{told}: {gold.sql}")

    def _against_stored(self, golds: Sequence[Candidate]) -> Iterator[Fault]:
        stored = self.example.expected
        if stored is None or not golds:
            return
        expected = ExecutionResult(stored.columns, stored.rows)
        marked = "ORDER BY" if stored.ordered else ""  # as the scorer has it
        found = [gold.result for gold in golds if gold.result is not None]
        pairs = [(one, as_given(expected, one)) for one in found]
        if not any(self.rule.agrees(*pair, marked) for pair in pairs):
            one, given = pairs[0]
            yield _fault("expected", self.example, _difference(given, one))
        elif (
            stored.ordered
            and self.rule.ordered
            and not any(has_order_by(gold.sql, gold.dialect) for gold in golds)
        ):
            told = "the stored rows are ordered, and no gold query orders"
            yield _fault("chance", self.example, told)

    def _disagreeing(self, golds: Sequence[Candidate]) -> Iterator[Fault]:
        for one, other in combinations(golds, 2):
            assert one.result is not None
            assert other.result is not None
            if not self.rule.agrees(other.result, one.result, one.sql, one.dialect):
                told = _difference(one.result, other.result)
                yield _fault("disagree", self.example, f"{told}: {one.sql} and {other.sql}")
                return


def _problem(gold: Candidate) -> str:
    """The reason why nothing can be compared with a query's result; empty where it can."""
    result = gold.result
    if result is None or result.error is not None:
        return result.error.message if result and result.error else "it wasn't run"
    return TOO_LARGE if result.cut else ""


def _difference(one: ExecutionResult, other: ExecutionResult) -> str:
    """The difference of two results in a few words; the first is what it is set against."""
    found = from_results(one, other, in_order=True)
    if found is not None:
        return found.evidence
    if len(one.rows) != len(other.rows):
        return f"{len(one.rows):,} and {len(other.rows):,} rows"
    pairs = zip(one.rows, other.rows, strict=True)
    first = next(((a, b) for a, b in pairs if a != b), None)
    return "other rows" if first is None else f"{_row(first[0])} and {_row(first[1])}"


def _row(row: Sequence[object]) -> str:
    return f"({', '.join(plain_text(cell)[:40] for cell in row[:6])})"


def _fault(rule: str, example: Example, shown_by: str) -> Fault:
    return Fault(rule, example.id, example.question, shown_by)


Severity = Literal["error", "warning"]

RULES: Mapping[str, tuple[Severity, str]] = {
    "database": ("error", "its database can't be opened"),
    "blank": ("error", "the question has no word"),
    "unsafe": ("error", "a gold query isn't one query that only reads"),
    "fails": ("error", "a gold query fails, or its result is too large to be compared"),
    "expected": ("error", "no gold query gives the stored result"),
    "contradicts": ("error", "the question stands there twice, with other results"),
    "repeated": ("warning", "the question stands there twice"),
    "nothing": ("warning", "gold says nothing: any wrong query that finds nothing is right, too"),
    "chance": ("warning", "chance or the day decides what gold shows"),
    "data": (
        "warning",
        "NULL, equal rows or text among numbers decide what gold shows",
    ),
    "disagree": ("warning", "several gold queries, which give different results"),
    "readings": ("warning", "the question can be read in another way, with another result"),
}
"""Each rule with its severity and its meaning. An error makes the figures wrong; a warning says
that a question can't tell right from wrong as sharply as it seems."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one question of a golden set."""

    rule: str
    id: str
    question: str
    shown_by: str

    @property
    def severity(self) -> Severity:
        return RULES[self.rule][0]

    def as_dict(self) -> dict[str, str]:
        """The fault as plain data."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "id": self.id,
            "question": self.question,
            "shown_by": self.shown_by,
        }


def second_reading(session: Session, gold: Candidate, question: str, evidence: str = "") -> str:
    """The readings between which the question leaves the choice, as a sentence; empty where it
    leaves none. `gold` has its result; the session's recipe is `local`.

    The step that asks back when a question is answered (`steps/selection/ask_back.py`) is
    asked with gold in the place of the chosen query. It tells of readings that differ in one
    thing that can be said, give other rows, and between which neither the question, the
    evidence nor a description decides. Where the models didn't think of gold's reading nothing
    is told: then most often they are wrong, not the question. That columns of one name stand
    in several tables is no reading by itself: nearly every schema has them, and nearly every
    question says which it means.
    """
    _, state = session.run(question, evidence=evidence)
    weighed = Trust(session.models).weighed(state, session.workspace.schema)
    alike = [one for one in weighed.for_question if same_result(one, gold)]
    twin = max(alike, key=_weight, default=None)
    if twin is None:
        return ""
    chosen = replace(gold, confidence=_weight(twin), account=twin.account)
    asked = AskBack()(
        weighed.evolve(
            selected=chosen, confidence=chosen.confidence, refusal=None, question_back=None
        ),
        Context(session.workspace, Run()),
    ).question_back
    if asked is None:
        return ""
    taken, *others = asked.choices
    told = "; ".join(f"{one.text} gives {one.gives}" for one in others)
    return f"{asked.text} Gold takes {taken.text}; {told}"


def _weight(candidate: Candidate) -> float:
    return candidate.confidence or 0.0
