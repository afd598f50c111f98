"""Classes that people give wrong answers: one JSON object a line beside a run's records.

Nothing is ever changed in the file: a label that is taken back is a line of its own.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation import json_lines
from sqlwright.lab.evaluation.error_classes.classes import LABELS
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record

FILE = "labels.jsonl"


@dataclass(frozen=True, slots=True)
class Label:
    """One class given to one wrong answer by one person."""

    id: str
    """The question's."""
    label: str | None
    """One of `LABELS`; None takes back what the same person said before."""
    by: str
    at: str
    """When, in UTC, as ISO 8601 has it."""
    sql: str | None = None
    """The query it was given to: of another one it says nothing."""
    format: Literal[1] = 1


def label_now(record: Record, label: str | None, by: str) -> Label:
    """A label given at this moment."""
    return Label(record.id, label, by, datetime.now(UTC).isoformat(timespec="seconds"), record.sql)


def append_label(folder: Path, label: Label) -> None:
    """Add one label, on disk before this returns. Raises DatasetError where that can't be."""
    try:
        json_lines.append(folder / FILE, asdict(label))
    except OSError as error:
        raise DatasetError(f"{folder / FILE} can't be written: {error.strerror}") from None


def read_labels(folder: Path) -> list[Label]:
    """The labels of a run folder in the order in which they were given; none without a file. Raises
    DatasetError for a line that is no label."""
    from pydantic import TypeAdapter, ValidationError

    path, found = folder / FILE, []
    if not path.exists():
        return []
    reader = TypeAdapter(Label)
    for number, row in json_lines.rows(path, what="a label", remedy="Remove that line."):
        try:
            label = reader.validate_python(row)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise DatasetError(
                f"{path}, line {number} isn't a label: {where}: {first['msg']}",
                hint="It may be of a later version; else remove that line.",
            ) from None
        if label.label is not None and label.label not in LABELS:
            raise DatasetError(
                f"{path}, line {number} has an unknown label {label.label!r}",
                hint=f"There are {', '.join(LABELS)}.",
            )
        found.append(label)
    return found


def by_person(labels: Iterable[Label], records: Sequence[Record]) -> dict[str, dict[str, str]]:
    """The labels that each person gives wrong answers: by name, then by question. Those taken back
    and those of other queries are left out."""
    queries = {record.id: record.sql for record in records}
    said: dict[str, dict[str, str]] = {}
    for one in labels:
        if one.id not in queries or queries[one.id] != one.sql:
            continue
        own = said.setdefault(one.by, {})
        own.pop(one.id, None)
        if one.label is not None:
            own[one.id] = one.label
    return {name: own for name, own in said.items() if own}


def settled(labels: Iterable[Label], records: Sequence[Record]) -> dict[str, str]:
    """One label for each question that has some: what most people say, of a tie what was said
    last."""
    given = list(labels)
    people = by_person(given, records)
    last = {(one.by, one.id): number for number, one in enumerate(given)}
    votes: dict[str, list[tuple[int, str]]] = {}
    for name, own in people.items():
        for id_, label in own.items():
            votes.setdefault(id_, []).append((last[name, id_], label))
    found = {}
    for id_, cast in votes.items():
        counts = Counter(label for _, label in cast)
        found[id_] = max(sorted(cast), key=lambda vote: (counts[vote[1]], vote[0]))[1]
    return found


def to_label(
    records: Sequence[Record],
    rule: str,
    *,
    only: str = "",
    sample: int | None = None,
    seed: int = 0,
) -> list[Record]:
    """The wrong answers to look at, in the order of the run: those of a class, a sample of them.
    The same for everybody who names the same seed, whatever is labelled already."""
    wrong = [r for r in records if r.status != "gold" and not r.right(rule)]
    if only:
        wrong = [r for r in wrong if only in {one["class"] for one in r.errors or ()}]
    if sample is None or sample >= len(wrong):
        return wrong
    chosen = set(random.Random(seed).sample(range(len(wrong)), sample))  # noqa: S311 - repeatable
    return [record for number, record in enumerate(wrong) if number in chosen]


def label_figures(
    labels: Sequence[Label], records: Sequence[Record], code: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The number of labels, how often code says the same, and how far people agree; empty
    without labels. `code` has the classes that code gives, the main one first."""
    people = by_person(labels, records)
    one_each = {id_: label for id_, label in settled(labels, records).items() if id_ in code}
    if not one_each:
        return {}
    main = sum(code[id_][:1] == [label] for id_, label in one_each.items())
    among = sum(label in code[id_] for id_, label in one_each.items())
    return {
        "labelled": len(one_each),
        "labels": dict(Counter(one_each.values()).most_common()),
        "by": {name: len(own) for name, own in sorted(people.items())},
        "code_says_the_same": Share(main, len(one_each)).as_dict(),
        "code_says_it_among_others": Share(among, len(one_each)).as_dict(),
        "between": [
            {"first": first, "second": second, **_agreement(people[first], people[second])}
            for first, second in combinations(sorted(people), 2)
        ],
    }


def _agreement(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, Any]:
    common = sorted(set(first) & set(second))
    pairs = [(first[id_], second[id_]) for id_ in common]
    same = sum(one == other for one, other in pairs)
    return {"same": Share(same, len(pairs)).as_dict(), "kappa": kappa(pairs)}


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa (1960): agreement beyond what two people's habits alone would give. None where
    there is nothing to agree on, or both only ever say one and the same."""
    if not pairs:
        return None
    total = len(pairs)
    ours, theirs = (Counter(side) for side in zip(*pairs, strict=True))
    seen = sum(one == other for one, other in pairs) / total
    expected = sum(ours[label] * theirs[label] for label in ours) / total**2
    return None if expected == 1 else (seen - expected) / (1 - expected)
