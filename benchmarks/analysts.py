"""Questions as analysts ask them, with a query that answers each: right, sure and refused.

    python -m benchmarks.analysts QUESTIONS DATA [--unprepared] [--out FILE]

QUESTIONS is a JSON list of {"db", "q", "gold"}; the databases are looked up in DATA by the names
of `benchmarks.refusal.SAMPLES`. An answer is right when some choice of its columns, in any order,
has the gold query's rows: further columns are allowed, and the order of rows counts only where
the gold query orders. Prints how many are right, how many of those shown at 80% or more are, and
how many are refused; `--out` keeps every answer, one JSON object a line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from benchmarks.refusal import SAMPLES

import sqlwright
from sqlwright.candidates import cell_key
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import orders
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.types import Answer, Cell

SURE = 0.8
ARRANGEMENTS = 5_000
"""Choices of columns that are tried at most."""


def covers(
    rows: Sequence[Sequence[Cell]], gold: Sequence[Sequence[Cell]], *, ordered: bool
) -> bool:
    """Whether some of the columns, in some order, hold the gold rows."""
    if len(rows) != len(gold):
        return False
    if not gold:
        return True
    mine = [[cell_key(cell) for cell in column] for column in zip(*rows, strict=True)]
    wanted = [[cell_key(cell) for cell in column] for column in zip(*gold, strict=True)]
    options = [
        [i for i, column in enumerate(mine) if Counter(column) == Counter(target)]
        for target in wanted
    ]
    goal = list(zip(*wanted, strict=True))
    for choice in islice(choices(options, ()), ARRANGEMENTS):
        found = list(zip(*(mine[i] for i in choice), strict=True))
        if found == goal or (not ordered and Counter(found) == Counter(goal)):
            return True
    return False


def choices(options: Sequence[Sequence[int]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to give each gold column a column of its own."""
    if len(chosen) == len(options):
        yield chosen
        return
    for index in options[len(chosen)]:
        if index not in chosen:
            yield from choices(options, (*chosen, index))


def asked(
    path: Path, questions: Sequence[dict[str, str]], *, prepared: bool
) -> Iterator[dict[str, Any]]:
    """Each question of one database with its answer and verdict."""
    with tempfile.TemporaryDirectory() as home:
        if prepared:
            folder = Path(home) / "databases" / prepared_folder(str(path)).name
            prepare(str(path), folder=folder)
        with sqlwright.open(str(path), home=home, record=False) as session:
            for question in questions:
                answer = session.ask(question["q"])
                gold = session.run_sql(question["gold"])
                right = answer.status == "answered" and covers(
                    answer.rows, gold.rows, ordered=orders(question["gold"])
                )
                yield described(question, answer) | {"right": right}


def described(question: dict[str, str], answer: Answer) -> dict[str, Any]:
    """What is kept of an answer."""
    return {
        "db": question["db"],
        "question": question["q"],
        "gold": question["gold"],
        "status": answer.status,
        "sql": answer.sql,
        "confidence": answer.confidence,
        "message": answer.message,
        "suggestion": answer.suggestion,
        "warnings": [note.text for note in answer.warnings],
        "values": [f"{m.phrase} -> {m.column} {m.value!r} {m.score:.2f}" for m in answer.values],
        "alternatives": [candidate.sql for candidate in answer.alternatives],
    }


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--unprepared", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    questions = json.loads(options.questions.read_text(encoding="utf-8"))
    answers = []
    for name, group in groupby(sorted(questions, key=lambda one: one["db"]), lambda one: one["db"]):
        path = options.data / SAMPLES[name]
        answers += asked(path, list(group), prepared=not options.unprepared)
    if options.out:
        lines = (json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers)
        options.out.write_text("".join(lines), encoding="utf-8")
    given = [answer for answer in answers if answer["status"] == "answered"]
    sure = [answer for answer in given if (answer["confidence"] or 0.0) >= SURE]
    print(f"right: {Share(sum(one['right'] for one in answers), len(answers))}")
    print(
        f"shown at {SURE:.0%} or more, right: {Share(sum(one['right'] for one in sure), len(sure))}"
    )
    print(f"refused or failed: {len(answers) - len(given)} of {len(answers)}")


if __name__ == "__main__":
    main()
