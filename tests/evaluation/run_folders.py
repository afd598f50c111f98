"""Folders of runs as `evaluate` leaves them, made without asking anything."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, read_run
from sqlwright.lab.evaluation.records import Record

CASES = Path(__file__).parents[1] / "cases" / "reports"
RULE = "bird"
DESCRIBED: Mapping[str, Any] = {
    "format": 3,
    "dataset": "own:dev",
    "rule": RULE,
    "recipe": "chase",
    "overrides": ["generation.samples.count=3"],
    "prepare": True,
    "metrics": [],
    "version": "0.1.0",
    "model": "openai/gpt-4.1",
    "models": {"selector": {"model": "small", "reasoning": "low"}},
    "files": {"dev.json": "a" * 64},
    "jobs": 4,
}
DATABASES = ("shop", "office", "library", "zoo")
LEVELS = {"simple": 0.85, "moderate": 0.65, "challenging": 0.4}
SOURCES = ("generation.divide_and_conquer", "generation.query_plan", "generation.synthetic")
ASKED = json.loads((CASES / "wrong.json").read_text("utf-8"))
"""Questions with a gold query, a wrong one, and what is wrong with it."""


def record(number: int) -> Record:
    """One of many questions, right or wrong by its number alone."""
    chance = random.Random(number)
    asked, level = ASKED[number % len(ASKED)], [*LEVELS][number % 3]
    right = chance.random() < LEVELS[level]
    chosen = asked["origin"]["kind"] == "not_chosen"
    judged = [(source, chance.random() < (0.8 if right else 0.5 * chosen)) for source in SOURCES]
    made = Record(
        id=f"q{number:04d}",
        db_id=DATABASES[number % len(DATABASES)],
        question=asked["question"],
        gold_sql=asked["gold"],
        sql=asked["gold"],
        status="answered",
        verdicts={"spider": right, "bird": right},
        answered_by="language_model",
        oracle=right or any(is_right for _, is_right in judged),
        first=right and number % 9 != 0,
        candidates=len(judged),
        judged=judged,
        confidence=min(0.99, max(0.03, chance.gauss(0.78 if right else 0.5, 0.18))),
        needed_columns=3,
        found_columns=3 if number % 6 else 2,
        kept_columns=12,
        needed_tables=1,
        found_tables=1,
        views=_views(number),
        seconds=4 + chance.random() * 9,
        times={"generation.divide_and_conquer": 2 + chance.random(), "selection.pairwise": 1.5},
        usage={
            SOURCES[0]: _usage(3, 5_200, 0.011 * (1 + number % 3)),
            "selection.pairwise": _usage(2, 1_800, 0.004),
        },
        difficulty=level,
        evidence="open means that the status is 'open'" if number % 5 == 0 else "",
    )
    return made if right else wrong(made)


def wrong(made: Record) -> Record:
    """The same question with its wrong answer."""
    asked = ASKED[int(made.id[1:]) % len(ASKED)]
    results = {"gold": {"columns": ["name"], "rows": [["Ada"], ["Ben & Söhne"]], "count": 14}}
    if asked["wrong"]:
        rows = [["Ada", "Germany"], ["Ben & Söhne", None]]
        results["query"] = {"columns": ["name", "country"], "rows": rows, "count": 2}
    return replace(
        made,
        sql=asked["wrong"],
        status="answered" if asked["wrong"] else "failed",
        verdicts={"spider": False, "bird": False},
        errors=[{"class": asked["class"], "shown_by": asked["shown_by"]}],
        origin=asked["origin"],
        results=results,
    )


def right(made: Record) -> Record:
    """The same question with a right answer."""
    verdicts = {"spider": True, "bird": True}
    return replace(
        made, sql=made.gold_sql, status="answered", verdicts=verdicts, errors=None, origin={},
        results={}, oracle=True,
    )  # fmt: skip


def run_folder(
    folder: Path,
    answered: Sequence[Record],
    *,
    finished: bool = True,
    every_key: bool = False,
    **described: Any,
) -> Path:
    """A folder with these answers; with `every_key` its report has all that one may have."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({**DESCRIBED, **described}), "utf-8")
    lines = (json.dumps(asdict(one)) + "\n" for one in answered)
    (folder / records.PREDICTIONS).write_text("".join(lines), "utf-8")
    if finished:
        summary = summarize(answered, described.get("rule", RULE))
        more = json.loads((CASES / "every_key.json").read_text("utf-8")) if every_key else {}
        (folder / "report.json").write_text(json.dumps(summary | more), "utf-8")
    return folder


def measured(folder: Path, answered: Sequence[Record], **described: Any) -> MeasuredRun:
    """The same, read."""
    return read_run(run_folder(folder, answered, **described))


def questions(count: int) -> list[Record]:
    """So many answers."""
    return [record(number) for number in range(count)]


def _usage(calls: int, tokens: int, cost: float) -> dict[str, Any]:
    return {"calls": calls, "prompt_tokens": tokens, "reply_tokens": tokens // 10, "cost": cost}


def _views(number: int) -> dict[str, dict[str, int]]:
    wide = 60 + number % 4 * 80
    kept = {"whole schema": wide, "schema_linking.filter_columns": 24, "schema_linking.select": 6}
    return {
        step: {"columns": columns, "found_columns": 3, "tables": 4, "found_tables": 1}
        for step, columns in kept.items()
    }
