"""Asks golden questions, and says which answers are right, so that a calibration can be fitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from sqlwright.candidates import same_result
from sqlwright.confidence.calibration import Calibration
from sqlwright.confidence.fitting import Sample
from sqlwright.confidence.measures import Seen, measured
from sqlwright.confidence.own import OwnCalibration
from sqlwright.confidence.refitting import Asked, GoldenQuestion, Whose, refitted
from sqlwright.protocols import Database, Limits, Run, Workspace
from sqlwright.protocols.embedded import first_calibration
from sqlwright.running.grounds import author_of, basis_of
from sqlwright.schema import Schema
from sqlwright.types import Answer, Candidate, ExecutionResult, State

ROOMY = Limits(seconds=60.0, rows=100_000, result_bytes=128 * 1024 * 1024)
"""Limits of a query whose result is compared; what a user is shown is cut earlier."""

Progress = Callable[[int, int], None]
"""Given how many questions were asked, and of how many."""
Ask = Callable[[GoldenQuestion], tuple[Answer, State]]


@dataclass(frozen=True, slots=True)
class Asker:
    """The recipe and the model that answer."""

    recipe: str
    model: str


def calibrated(
    questions: Sequence[GoldenQuestion],
    ask: Callable[..., tuple[Answer, State]],
    workspace: Workspace,
    asker: Asker,
    progress: Progress | None,
) -> OwnCalibration:
    """A calibration fitted to golden questions. Raises UserError where too few are answered."""

    def answered(golden: GoldenQuestion) -> tuple[Answer, State]:
        return ask(golden.question, evidence=golden.evidence)

    outcome, embedded = asked(questions, answered, workspace.database, workspace.schema, progress)
    whose = Whose(asker.recipe, embedded, asker.model)
    return refitted(cast("Calibration", first_calibration(embedded=embedded)), outcome, whose)


def asked(
    questions: Sequence[GoldenQuestion],
    ask: Ask,
    database: Database,
    schema: Schema,
    progress: Progress | None = None,
) -> tuple[Asked, bool]:
    """The outcome of the questions, and whether embedded models answered them.

    An answer is right where its result is that of the golden query, by the rule of `candidates`.
    What embedded models wrote in a language model's place isn't counted as its answer.
    """
    found: list[tuple[Sample, float | None, bool]] = []
    unusable: list[str] = []
    refused = 0
    for number, golden in enumerate(questions):
        if progress is not None:
            progress(number, len(questions))
        gold = _result(golden.sql, database)
        if not gold.ok:
            unusable.append(f"{golden.question}: {gold.error.message if gold.error else ''}")
            continue
        answer, state = ask(golden)
        chosen = state.selected
        if answer.status != "answered" or chosen is None:
            refused += 1
            continue
        if author_of(chosen, state) == "stand_in":
            refused += 1
            continue
        seen = Seen(state, chosen, schema, basis_of(state, chosen))
        right = _right(chosen, golden, gold, database)
        sample = Sample(measured(seen), right, "own", str(number), golden.question)
        found.append((sample, answer.confidence, state.confidence is not None))
    if progress is not None:
        progress(len(questions), len(questions))
    embedded = Counter(judged for _, _, judged in found).most_common(1)
    by_embedded = bool(embedded and embedded[0][0])
    kept = [(sample, shown) for sample, shown, judged in found if judged is by_embedded]
    return (
        Asked(
            tuple(sample for sample, _ in kept),
            tuple(shown for _, shown in kept),
            refused + len(found) - len(kept),
            tuple(unusable),
        ),
        by_embedded,
    )


def _right(
    chosen: Candidate, golden: GoldenQuestion, gold: ExecutionResult, database: Database
) -> bool:
    result = chosen.result
    if result is None or result.cut:
        result = _result(chosen.sql, database)
    return same_result(
        Candidate(chosen.sql, "", result=result), Candidate(golden.sql, "", result=gold)
    )


def _result(sql: str, database: Database) -> ExecutionResult:
    return database.execute(sql, Run(), limits=ROOMY)
