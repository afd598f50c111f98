"""Questions of our own over databases that nothing learnt from: right, sure, refused, asked back.

    python -m training.export EXPORT
    python -m benchmarks.own_questions EXPORT DATA [--part set_apart] [--out FILE] [--against FILE]

EXPORT is what `training.export` wrote, DATA the folder with `spider/`. Every question of the part
is asked by `local` of a prepared database, with its evidence. Printed are execution accuracy by the
rule of `candidates` (rows as a multiset, columns in any order), how many of those shown at 80 % or
more are right, the calibration error, how many requests that can't be answered are refused or asked
back, and how many questions that can be. Intervals are Wilson's, of the calibration error by
drawing databases anew. `--out` keeps every answer, one JSON object a line; `--against` compares
with a file that was kept, question by question.

It doesn't show what other people would ask: writers and readers of these questions were language
models.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from training.embedded.confidence.collect import is_right
from training.embedded.confidence.families import Item

import sqlwright
from sqlwright.confidence.figures import calibration_error, with_interval
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.local.models import EmbeddedModels

SURE = 0.8
Row = Mapping[str, Any]


def rows_of(export: Path, part: str) -> list[Row]:
    """The questions of a part; those that can't be answered have no query."""
    found: list[Row] = []
    for name in ("pairs", "unanswerable"):
        lines = (export / f"{name}.jsonl").read_text("utf-8").splitlines()
        found += (row for row in map(json.loads, lines) if row["part"] == part)
    return sorted(found, key=lambda row: (row["database"], row["id"]))


def asked(path: Path, rows: Sequence[Row], models: EmbeddedModels) -> Iterator[dict[str, Any]]:
    """Each question of one database with its answer and whether that is right."""
    with (
        tempfile.TemporaryDirectory() as home,
        sqlwright.open(path, models=models, home=home, prepare=True, record=False) as session,
    ):
        scorer = Scorer(session.workspace.database, session.workspace.schema)
        for row in rows:
            evidence = row.get("evidence", "")
            answer = session.ask(row["question"], evidence=evidence)
            right = None
            if gold := row.get("sql"):
                name = row["database"]
                item = Item("own", name, row["question"], gold, path, "same", evidence)
                answered = answer.status == "answered" and answer.sql is not None
                right = answered and bool(is_right(item, str(answer.sql), scorer))
            yield {
                "id": row["id"],
                "database": row["database"],
                "kinds": row.get("kinds", []),
                "question": row["question"],
                "status": answer.status,
                "confidence": answer.confidence,
                "asked_back": answer.question_back is not None,
                "sql": answer.sql,
                "right": right,
            }


def told(answers: Sequence[Row]) -> Iterator[str]:
    """The figures, a line each."""
    pairs = [one for one in answers if one["right"] is not None]
    shown = [one for one in pairs if one["status"] == "answered"]
    yield f"right: {_share(one['right'] for one in pairs)}"
    high = [one for one in shown if one["confidence"] >= SURE]
    yield f"right of those shown at {SURE:.0%} or more: {_share(one['right'] for one in high)}"
    sure = np.array([one["confidence"] for one in shown])
    good = np.array([float(one["right"]) for one in shown])
    names = [one["database"] for one in shown]
    yield f"calibration error: {with_interval(calibration_error, sure, good, clusters=names)}"
    for name, some in (
        ("can't be answered", [one for one in answers if one["right"] is None]),
        ("can be answered", pairs),
    ):
        refused = _share(one["status"] != "answered" for one in some)
        either = _share(one["status"] != "answered" or one["asked_back"] for one in some)
        yield f"{name}: refused {refused}; refused or asked back {either}"


def _share(outcomes: Iterator[bool]) -> Share:
    listed = list(outcomes)
    return Share(sum(listed), len(listed))


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", default="set_apart")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    models = EmbeddedModels()
    answers: list[Row] = []
    for name, group in groupby(rows_of(options.export, options.part), lambda row: row["database"]):
        rows = list(group)
        place = options.data / "spider" / "database" / name / f"{name}.sqlite"
        path = place if rows[0]["spider"] else options.export / "databases" / f"{name}.sqlite"
        if path.exists():
            answers += asked(path, rows, models)
        else:
            print(f"{name} isn't there: {len(rows)} questions left out")
    if options.out:
        lines = (f"{json.dumps(one, ensure_ascii=False)}\n" for one in answers)
        options.out.write_text("".join(lines), "utf-8")
    print(*told(answers), sep="\n")
    if options.against:
        before = {
            one["id"]: one
            for one in map(json.loads, options.against.read_text("utf-8").splitlines())
        }
        pairs = [
            (bool(before[one["id"]]["right"]), bool(one["right"]))
            for one in answers
            if one["right"] is not None and one["id"] in before
        ]
        print(
            PairedDifference(
                pairs.count((True, True)),
                pairs.count((False, True)),
                pairs.count((True, False)),
                pairs.count((False, False)),
            )
        )


if __name__ == "__main__":
    main()
