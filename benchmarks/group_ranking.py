"""Which database of many merged ones a question is about: how often the right one is found, and the
weights by which it is.

    python -m benchmarks.group_ranking DATA FOLDER [--fit 1200] [--questions 300] [--part valid]

The databases are merged as in `merged_schema.py`, rows and all. Questions of `fit`, half of them
rewordings, fit what each point of evidence counts (`AT_FIRST` and `ALONE` of the linker); those
asked of `valid` and `calib` tell how well the groups are ranked with these weights, and how many
needed columns and tables are among the linker's best forty with the weights that it has. The
development databases take part only where they are asked (`--part dev`, a reading of them).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.merged_schema import COLUMNS, KEPT, make_merged, needed, open_prepared, sample

from sqlwright import api
from sqlwright.lab.datasets.example import Example
from sqlwright.local.linker.linker import TELLING, TRIED, GroupWeights, Linker, evidence, mass
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Context, Run
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.session import Session
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Question, State

POINTS = tuple(field.name for field in fields(GroupWeights))


@dataclass(frozen=True, eq=False)
class Asked:
    """One question of G groups."""

    db_id: str
    points: np.ndarray
    """(G, len(POINTS)), in all groups at once."""
    alone: Mapping[int, float]
    """What is linked in groups that were looked at alone."""
    right: frozenset[int]
    columns: tuple[int, int]
    """Needed columns, and those among the best forty."""
    tables: tuple[int, int]


def ask(
    example: Example,
    session: Session,
    linker: Linker,
    columns: set[ColumnRef],
    tables: set[str],
) -> Asked:
    """What speaks for each group, and what the linker makes of it."""
    space = session.workspace
    schema: Schema = space.schema
    question = Question(example.question, example.evidence or "")
    context = Context(space, Run(), {})
    state = ValueRetrieval()(State(question, SchemaView(schema)), context)
    arrays = linker.encode(schema, space.texts)
    given = linker.describe(question, arrays, state.values)
    scores, _ = linker.score(given)
    held = arrays.members
    found = evidence(given.asked, arrays, given.matches, given.rows, state.values)
    linked = mass(scores, held.of_column, len(held.leaders))
    alone = {}
    place = {leader: number for number, leader in enumerate(held.leaders)}
    links = linker.link_by_group(question, schema, state.values, space.texts)
    for group in links.groups[:TRIED]:
        part = schema.by_group[group.leader]
        own = linker.link(question, part, state.values, space.texts).columns
        alone[place[group.leader]] = sum(link.score for link in own[:TELLING])
    best = [link.column for link in links.columns[:KEPT]]
    return Asked(
        example.db_id,
        np.stack([linked, found.explained, found.named, found.asked], axis=1),
        alone,
        frozenset(place[schema.group_of[table]] for table in tables),
        (len(columns), len(columns & set(best))),
        (len(tables), len(tables & {ref.table for ref in best})),
    )


def asked_of(
    examples: Sequence[Example],
    session: Session,
    names: Mapping[str, Mapping[str, str]],
    models: Any,
    home: Path,
) -> Iterator[Asked]:
    """Every question, in order."""
    linker = models["linker"]
    for database, group in groupby(examples, key=lambda example: example.database):
        with api.open(database, home=home, record=False, models=models) as own:
            for example in group:
                columns, tables = needed(example, own.workspace.schema)
                merged = names[example.db_id]
                yield ask(
                    example,
                    session,
                    linker,
                    {ColumnRef(merged[ref.table], ref.column) for ref in columns},
                    {merged[table] for table in tables},
                )


def among_tried(asked: Sequence[Asked]) -> list[Asked]:
    """Only the groups that were looked at alone, where the right one is among them."""
    kept = []
    for one in asked:
        tried = sorted(one.alone)
        right = frozenset(place for place, group in enumerate(tried) if group in one.right)
        if right:
            points = one.points[tried].copy()
            points[:, 0] = [one.alone[group] for group in tried]
            kept.append(Asked(one.db_id, points, one.alone, right, one.columns, one.tables))
    return kept


def fit(asked: Sequence[Asked], *, decay: float = 3e-3, steps: int = 400) -> np.ndarray:
    """Weights by which the right group is most probable: a softmax over groups."""
    points = np.concatenate([one.points for one in asked])
    scale = points.std(axis=0) + 1e-6
    weights = np.zeros(points.shape[1])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        slope = decay * weights
        for one in asked:
            rows = one.points / scale
            logits = rows @ weights
            share = np.exp(logits - logits.max())
            share /= share.sum()
            wanted = np.zeros(len(share))
            wanted[list(one.right)] = share[list(one.right)] + 1e-9
            slope += (share - wanted / wanted.sum()) @ rows / len(asked)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        rate = 0.05 * (1 - step / steps)
        weights -= rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return np.asarray(weights / scale)


def found_among(asked: Sequence[Asked], weights: np.ndarray) -> dict[int, float]:
    """The share of questions whose right group is among the first so many."""
    places = []
    for one in asked:
        logits = one.points @ weights
        best = max(logits[group] for group in one.right)
        places.append(int((logits > best).sum()))
    return {count: float(np.mean([p < count for p in places])) for count in (1, 2, 3, 4, TRIED)}


def report(title: str, asked: Sequence[Asked], first: np.ndarray, alone: np.ndarray) -> None:
    """How well groups are ranked, and the recall of the linker as it is."""
    columns, linked = (sum(one.columns[place] for one in asked) for place in (0, 1))
    tables, seen = (sum(one.tables[place] for one in asked) for place in (0, 1))
    tried = among_tried(asked)
    among = ", ".join(f"{n}: {share:.1%}" for n, share in found_among(asked, first).items())
    later = ", ".join(f"{n}: {share:.1%}" for n, share in found_among(tried, alone).items())
    print(f"{title}, {len(asked)} questions: the right group among the first {among}")
    print(f"  looked at alone, of {len(tried)}: {later}")
    print(f"  among {KEPT} columns: columns {linked / columns:.1%}, tables {seen / tables:.1%}",
          flush=True)  # fmt: skip


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path, help="for the merged database; kept")
    parser.add_argument("--fit", type=int, default=1200, help="questions of `fit`; 0 fits nothing")
    parser.add_argument("--part", action="append", choices=("valid", "calib", "dev"))
    parser.add_argument("--questions", type=int, default=300, help="of each part and kind")
    options = parser.parse_args(None if arguments is None else list(arguments))
    parts = options.part or ["valid", "calib"]
    path, names = make_merged(options.data, options.folder, COLUMNS, 0, dev="dev" in parts)
    models = EmbeddedModels()
    weights = []
    with open_prepared(path, options.folder, models=models) as session:

        def questions(part: str, count: int, *, reworded: bool) -> list[Asked]:
            drawn = sample(options.data, part, count, 0, reworded=reworded)
            return list(asked_of(drawn, session, names, models, options.folder))

        if options.fit:
            learn = questions("fit", options.fit // 2, reworded=False)
            learn += questions("fit", options.fit // 2, reworded=True)
            weights = [fit(learn), fit(among_tried(learn))]
            for name, found in zip(("AT_FIRST", "ALONE"), weights, strict=True):
                print(name, json.dumps(dict(zip(POINTS, found.round(2).tolist(), strict=True))))
            report("fit", learn, *weights)
        else:
            from sqlwright.local.linker.linker import ALONE, AT_FIRST

            weights = [np.array([getattr(w, n) for n in POINTS]) for w in (AT_FIRST, ALONE)]
        for part in parts:
            for reworded in (False, True):
                asked = questions(part, options.questions, reworded=reworded)
                report(f"{part}{', reworded' if reworded else ''}", asked, *weights)


if __name__ == "__main__":
    main()
