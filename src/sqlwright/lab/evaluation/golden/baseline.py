"""The answers that an earlier run had right, kept in a small file beside a golden set.

One line a question, in the order of their ids, so that a changed answer is a changed line: whether
it was right, and a digest of the query. A run folder serves, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, StrictBool, ValidationError

from sqlwright.candidates import normalized_sql
from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.files import write_whole
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import run_rule

FORMAT = "sqlwright-baseline"
VERSION = 1
"""Version of the file; grows when a reader has to tell old files from new ones."""
DIGITS = 12
"""Hexadecimal digits of a query's digest; chosen: of ten thousand no two are alike by chance."""
REMEDY = "'sqlwright evaluate --write-baseline FILE' makes one; a run's folder serves, too."


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The part of an answer that a baseline keeps."""

    right: bool
    query: str
    """Digest of the query; empty without one."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Answers of an earlier run by the ids of their questions, judged by a rule."""

    rule: str
    answers: Mapping[str, KeptAnswer]


@dataclass(frozen=True, slots=True)
class Changes:
    """The ids of questions by what became of their answers since a baseline."""

    lost: tuple[str, ...]
    """Right before, not right now: wrong, or not asked."""
    mended: tuple[str, ...]
    rewritten: tuple[str, ...]
    """As right or wrong as before, by another query."""
    added: tuple[str, ...]
    """Questions that the baseline doesn't have."""
    removed: tuple[str, ...]
    """Questions of the baseline that aren't asked any more."""


def taken(found: Iterable[Record], rule: str) -> Baseline:
    """The baseline of a run's records."""
    return Baseline(rule, {one.id: _kept(one, rule) for one in found})


def changes(baseline: Baseline, ids: Sequence[str], now: Baseline) -> Changes:
    """The answers that differ from the baseline. `ids` are the questions of the set: of those that
    `now` lacks the answer is lost."""
    before, after = baseline.answers, now.answers
    both = [id_ for id_ in ids if id_ in before]
    right = {id_: id_ in after and after[id_].right for id_ in both}
    return Changes(
        lost=tuple(id_ for id_ in both if before[id_].right and not right[id_]),
        mended=tuple(id_ for id_ in both if right[id_] and not before[id_].right),
        rewritten=tuple(
            id_
            for id_ in both
            if id_ in after
            and right[id_] == before[id_].right
            and after[id_].query != before[id_].query
        ),
        added=tuple(id_ for id_ in ids if id_ not in before),
        removed=tuple(id_ for id_ in before if id_ not in set(ids)),
    )


def read_baseline(path: Path, rule: str) -> Baseline:
    """The baseline in a file, or of the run in a folder, by that rule. Raises DatasetError."""
    if path.is_dir() or path.name == records.PREDICTIONS:
        return _of_run(path if path.is_dir() else path.parent, rule)
    try:
        read = _File.model_validate_json(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing", hint=REMEDY) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise DatasetError(f"{path} is no baseline: {place}: {first['msg']}", hint=REMEDY) from None
    if read.rule != rule:
        raise DatasetError(
            f"{path} was judged by the rule {read.rule!r}, this run by {rule!r}",
            hint="Write it anew with --write-baseline.",
        )
    kept = {id_: KeptAnswer(one.right, one.query) for id_, one in read.questions.items()}
    return Baseline(read.rule, kept)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file. Raises DatasetError."""
    head = {"format": FORMAT, "version": VERSION, "rule": baseline.rule}
    lines = [f'"{key}": {json.dumps(value)},' for key, value in head.items()]
    told = [
        f"{json.dumps(id_)}: {json.dumps({'right': one.right, 'query': one.query})}"
        for id_, one in sorted(baseline.answers.items())
    ]
    text = "\n".join(["{", *lines, '"questions": {', ",\n".join(told), "}", "}", ""])
    write_whole(path, text)


def _of_run(folder: Path, rule: str) -> Baseline:
    run_rule(folder)  # says it where the folder holds no run
    found = records.read(folder)
    if any(one.verdicts and rule not in one.verdicts for one in found):
        raise DatasetError(f"{folder} wasn't judged by the rule {rule!r}", hint=REMEDY)
    return taken(found, rule)


def _kept(record: Record, rule: str) -> KeptAnswer:
    sql = record.sql if record.status == "answered" else None
    digest = "" if sql is None else hashlib.sha256(normalized_sql(sql).encode()).hexdigest()
    return KeptAnswer(record.right(rule), digest[:DIGITS])


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    right: StrictBool
    query: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")
    format: Literal["sqlwright-baseline"]
    version: Literal[1]
    rule: str
    questions: dict[str, _Answer]
