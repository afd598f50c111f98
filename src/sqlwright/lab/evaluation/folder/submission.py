"""A run's predictions as the official evaluators of Spider and BIRD read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlwright.lab.evaluation.files import write_lines
from sqlwright.lab.evaluation.folder.described import read_questions
from sqlwright.lab.evaluation.records import KeptRecords, Record
from sqlwright.sql.rewriting import one_line

FOLDER = "submission"
NO_QUERY = "SELECT NULL"
"""Stands where there is no query: both evaluators go by lines or places, and take no empty one."""
BIRD_MARK = "\t----- bird -----\t"

Question = tuple[int, str, str]


def write_submission(folder: Path, rule: str) -> None:
    """Write the files of a run's folder: BIRD's where its rule is scored by, else Spider's.

    Spider: `predict.txt`, a query a line in the data set's order, beside `gold.txt` with the
    database after a tab; questions without a record or a gold query are in neither. BIRD:
    `predict_dev.json`, by the question's place in the data set.
    """
    questions, kept = read_questions(folder), KeptRecords(folder)
    place = folder / FOLDER
    place.mkdir(exist_ok=True)

    def each(line: Callable[[Question, Record | None], str]) -> Iterator[str]:
        found = kept.at(question for _, question, _ in questions)
        return (line(one, record) for one, record in zip(questions, found, strict=True))

    if rule == "bird":
        entries = each(_bird)
        write_lines(place / "predict_dev.json", _object(entries))
        return
    write_lines(place / "predict.txt", each(_predicted))
    write_lines(place / "gold.txt", each(_gold))


def _answer(record: Record | None) -> str:
    if record is None or record.status != "answered":
        return NO_QUERY
    return one_line(record.sql or "", record.dialect) or NO_QUERY


def _predicted(_: Question, record: Record | None) -> str:
    return f"{_answer(record)}\n" if record is not None and record.gold_sql else ""


def _gold(one: Question, record: Record | None) -> str:
    if record is None or not record.gold_sql:
        return ""
    return f"{one_line(record.gold_sql, record.dialect)}\t{one[2]}\n"


def _bird(one: Question, record: Record | None) -> str:
    number, _, db_id = one
    text = f"{_answer(record)}{BIRD_MARK}{db_id}"
    return f"{json.dumps(str(number))}: {json.dumps(text, ensure_ascii=False)}"


def _object(entries: Iterator[str]) -> Iterator[str]:
    yield "{"
    for number, entry in enumerate(entries):
        yield f"{',' * bool(number)}\n  {entry}"
    yield "\n}\n"
