"""The questions of a data set that are asked: a file of them, databases, a sample by seed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example

SUBSETS: Mapping[str, tuple[str, str]] = {"sds": ("10%", "database")}
"""Named subsets: how much, and of each stratum of what. `sds` is the rule of CHESS's subsampled
development set: a tenth of each database. Rounded down it gives the paper's 147 of BIRD's 1,534
questions; which ones its authors drew isn't said by the rule, their own file is (`questions`)."""

_AMOUNT = re.compile(r"(\d{1,9})(?:\.(\d{1,6}))?(%?)")


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of questions, and of what comes with them."""

    questions: Path | None = None
    """Another question file than the usual one."""
    split: str | None = None
    """A part of the data set, by the name that its own files give it."""
    evidence: bool = True
    """False where questions are asked without the evidence that comes with them."""
    sample: str = ""
    """A number of questions ("200"), a share ("10%") or a named subset ("sds"); empty for all."""
    by: str = ""
    """The stratum that the sample is divided by: "database", "difficulty" or a tag."""
    seed: int = 0
    databases: tuple[str, ...] = ()
    """The databases whose questions are asked; all where empty."""
    database: str | Path | None = None
    """The database of questions that name none, for a golden set: a file, or a server's URL."""


def chosen(dataset: Dataset, selection: Selection) -> Dataset:
    """The selected questions of what a loader read, under a name that says so. Raises
    DatasetError."""
    examples, name = dataset.examples, dataset.name
    if selection.databases:
        examples = _of_databases(dataset, selection.databases)
        name += f", {'+'.join(selection.databases)}"
    if not selection.evidence:
        examples = tuple(replace(example, evidence="") for example in examples)
        name += ", no evidence"
    if selection.sample:
        examples = sampled(examples, selection)
        by = f" by {selection.by}" if selection.by else ""
        name += f", {selection.sample}{by}, seed {selection.seed}"
    elif selection.by:
        raise DatasetError(
            f"strata of {selection.by} are for a sample", hint="Say how large with --sample."
        )
    return replace(dataset, examples=examples, name=name)


def _of_databases(dataset: Dataset, names: Sequence[str]) -> tuple[Example, ...]:
    known = dataset.db_ids
    if unknown := [name for name in names if name not in known]:
        raise DatasetError(
            f"{dataset.name} asks nothing of {', '.join(unknown)}",
            hint=f"There are {', '.join(known)}.",
        )
    return tuple(example for example in dataset.examples if example.db_id in names)


def sampled(examples: Sequence[Example], selection: Selection) -> tuple[Example, ...]:
    """A sample in the questions' own order. Each stratum is drawn by itself, and a larger sample
    has all questions of a smaller one. Raises DatasetError."""
    wanted, by = SUBSETS.get(selection.sample, (selection.sample, selection.by))
    amount = _amount(wanted)
    strata: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        strata.setdefault(_stratum(example, by, examples), []).append(place)
    sizes = {name: len(places) for name, places in strata.items()}
    counts = (
        {name: int(size * amount) for name, size in sizes.items()}
        if isinstance(amount, Fraction)
        else _divided(amount, sizes)
    )
    taken: set[int] = set()
    for name, places in strata.items():
        random.Random(f"{selection.seed}/{name}").shuffle(places)  # noqa: S311 - to be repeatable
        taken.update(places[: counts[name]])
    if not taken:
        raise DatasetError(f"a sample of {selection.sample} has no questions", hint="Take more.")
    return tuple(example for place, example in enumerate(examples) if place in taken)


def _amount(text: str) -> int | Fraction:
    """A count, or a share as a fraction of one. Raises DatasetError."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is not None and match[3]:
        share = Fraction(f"{match[1]}.{match[2] or 0}") / 100
        if 0 < share <= 1:
            return share
    elif match is not None and match[2] is None and int(match[1]) > 0:
        return int(match[1])
    raise DatasetError(
        f"{text!r} is no sample",
        hint=f"It takes a number such as 200, a share such as 10%, or {', '.join(SUBSETS)}.",
    )


def _divided(count: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """A count divided among strata as they are large, what is left by the largest remainders."""
    whole = sum(sizes.values())
    if count >= whole:
        return dict(sizes)
    exact = {name: Fraction(size * count, whole) for name, size in sizes.items()}
    counts = {name: int(share) for name, share in exact.items()}
    left = sorted(sizes, key=lambda name: (counts[name] - exact[name], name))
    for name in left[: count - sum(counts.values())]:
        counts[name] += 1
    return counts


def _stratum(example: Example, by: str, examples: Sequence[Example]) -> str:
    if not by:
        return ""
    if by == "database":
        return example.db_id
    if by == "difficulty" and any(one.difficulty for one in examples):
        return example.difficulty
    if by in example.tags:
        return example.tags[by]
    tags = dict.fromkeys(tag for one in examples for tag in one.tags)
    if by in tags:
        return ""
    known = ["database"]
    known += ["difficulty"] if any(one.difficulty for one in examples) else []
    raise DatasetError(
        f"these questions have no {by!r}", hint=f"They have {', '.join([*known, *tags])}."
    )
