"""Selectors on embedded models, over the same candidates of each question.

    python benchmarks/selection.py DATA FOLDER [--part valid] [--questions N]

Asks every question of a part of Spider's training databases with `local` and with `msc-local`, each
database prepared, and hands the candidates that `msc-local` wrote to one selector after another.
No language model is asked. Printed for each: EX by Spider's rule with Wilson's interval; the
difference to `local` over the same questions with Newcombe's interval, the questions gained and
lost, McNemar's exact p; and the share it closes of the gaps to the oracle, from `local` and from
chance. `local` and `msc-local` are whole recipes: what they refuse counts as wrong. The selectors
refuse nothing, so `local's critic` is there, too: the same critic over `local`'s own candidates.

FOLDER keeps the prepared databases and a line for each question (selection-PART.jsonl); what is in
there isn't asked again. Ends with 1 if `msc-local` is worse than `local` beyond chance.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlwright import api
from sqlwright.candidates import valid
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.spider import load_spider, load_split
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.local.models import EmbeddedModels
from sqlwright.local.steps.critic import CriticSelection
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.protocols import Context, Run, Step
from sqlwright.session import Session
from sqlwright.steps.selection.judges import Independent, MultiSample, Pairwise
from sqlwright.steps.selection.unjudged import ByChance, LargestCluster
from sqlwright.types import State

BASELINE, OURS, ORACLE, CHANCE = "local", "msc-local", "oracle", "by chance"
SELECTORS: Mapping[str, Step] = {
    "multi-sample critic, joint": MultiSample("joint", "critic"),
    "multi-sample critic, by pairs": MultiSample("pairs", "critic"),
    "CHASE-SQL's tournament": Pairwise("critic"),
    "independent critic": Independent("critic"),
    "self-consistency": LargestCluster(),
    CHANCE: ByChance(),
}


class Verdicts:
    """Which queries give the gold result."""

    def __init__(self, scorer: Scorer, example: Example) -> None:
        self._scorer, self._gold = scorer, scorer.execute(example.gold_sql)
        self._ordered = orders(example.gold_sql)
        self._known: dict[str, bool] = {}

    @property
    def comparable(self) -> bool:
        """False where the gold query gives nothing to compare with."""
        return self._gold.whole

    def right(self, sql: str | None) -> bool:
        """By Spider's rule."""
        if sql is None:
            return False
        if sql not in self._known:
            result = self._scorer.execute(sql)
            self._known[sql] = result.whole and spider_match(
                result.rows, self._gold.rows, ordered=self._ordered
            )
        return self._known[sql]


def asked(examples: Sequence[Example], home: Path, done: set[str]) -> Iterator[dict[str, Any]]:
    """A line for each question that isn't done, database by database."""
    models = EmbeddedModels()
    by_database = sorted(examples, key=lambda one: one.db_id)
    for database, listed in groupby(by_database, key=lambda one: one.database):
        left = [one for one in listed if one.id not in done]
        if not left or not database.exists():
            continue
        print(database.stem, len(left), file=sys.stderr, flush=True)
        url = str(database)
        prepare(url, folder=home / "databases" / prepared_folder(url).name)
        with ExitStack() as stack:
            local, ours = (
                stack.enter_context(
                    api.open(url, recipe=recipe, models=models, home=home, record=False)
                )
                for recipe in (BASELINE, OURS)
            )
            for example in left:
                row = _row(example, local, ours, models)
                if row is not None:
                    yield row


def _row(example: Example, local: Session, ours: Session, models: Any) -> dict[str, Any] | None:
    """Which ways of choosing are right about a question; None where nothing can be compared."""
    first, written = local.run(example.question, evidence=example.evidence)
    answer, state = ours.run(example.question, evidence=example.evidence)
    workspace = ours.workspace
    verdicts = Verdicts(Scorer(workspace.database, workspace.schema), example)
    if not verdicts.comparable:
        return None
    context = Context(workspace, Run(seed=1), models)
    pool = state.evolve(selected=None, refusal=None, confidence=None)
    chosen = {name: step(pool, context) for name, step in SELECTORS.items()}
    unrefused = CriticSelection(refuse_below=0.0)(written.evolve(selected=None), context)
    ran = [one for one in state.candidates if valid(one)]
    right = {
        BASELINE: verdicts.right(first.sql if first.status == "answered" else None),
        OURS: verdicts.right(answer.sql if answer.status == "answered" else None),
        "local's critic": verdicts.right(_sql(unrefused)),
        **{name: verdicts.right(_sql(after)) for name, after in chosen.items()},
        "local's oracle": any(verdicts.right(one.sql) for one in written.candidates),
        ORACLE: any(verdicts.right(one.sql) for one in state.candidates),
        "adversary": bool(ran) and all(verdicts.right(one.sql) for one in ran),
    }
    return {
        "id": example.id,
        "db_id": example.db_id,
        "candidates": {BASELINE: len(written.candidates), OURS: len(state.candidates)},
        "refused": {BASELINE: first.status == "refused", OURS: answer.status == "refused"},
        "confidence": {BASELINE: first.confidence, OURS: answer.confidence},
        "right": right,
    }


def _sql(state: State) -> str | None:
    return None if state.selected is None else state.selected.sql


def paired(rows: Sequence[dict[str, Any]], name: str) -> PairedDifference:
    """A way of choosing against `local`."""
    pairs = [(row["right"][BASELINE], row["right"][name]) for row in rows]
    return PairedDifference(
        both=pairs.count((True, True)),
        gained=pairs.count((False, True)),
        lost=pairs.count((True, False)),
        neither=pairs.count((False, False)),
    )


def tell(rows: Sequence[dict[str, Any]]) -> None:
    """The table."""
    total = len(rows)
    right = {name: sum(row["right"][name] for row in rows) for name in rows[0]["right"]}
    mean = {
        recipe: sum(row["candidates"][recipe] for row in rows) / total
        for recipe in (BASELINE, OURS)
    }
    refused = {r: sum(row["refused"][r] for row in rows) for r in (BASELINE, OURS)}
    print(f"{total} questions; candidates a question: {mean}; refused: {refused}\n")
    print("| selector | EX | against `local` | gained, lost | p | of the gap | of chance's gap |")
    print("|---|---|---|---|---|---|---|")
    for name, hits in right.items():
        difference = paired(rows, name)
        low, high = (100 * end for end in difference.interval)
        gaps = [
            f"{(hits - right[start]) / (right[ORACLE] - right[start]):+.0%}"
            if right[ORACLE] > right[start]
            else "-"
            for start in (BASELINE, CHANCE)
        ]
        cells = [
            name,
            str(Share(hits, total)),
            f"{100 * difference.value:+.1f} [{low:+.1f}, {high:+.1f}]",
            f"{difference.gained}, {difference.lost}",
            f"{difference.p:.3f}" if difference.p >= 0.001 else "<0.001",
            *gaps,
        ]
        print(f"| {' | '.join(cells)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", default="valid", choices=["valid", "calib", "fit"])
    parser.add_argument("--questions", type=int, help="only the first so many of each database")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = getattr(load_split(options.data), options.part)
    examples = list(load_spider(options.data / "spider").only(names, options.part).examples)
    if options.questions:
        examples = [
            one
            for _, listed in groupby(sorted(examples, key=lambda e: e.db_id), lambda e: e.db_id)
            for one in list(listed)[: options.questions]
        ]
    path = options.folder / f"selection-{options.part}.jsonl"
    rows = []
    if path.exists():
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open("a", encoding="utf-8") as file:
        for row in asked(examples, options.folder / "home", {row["id"] for row in rows}):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            rows.append(row)
    tell(rows)
    ours = paired(rows, OURS)
    return int(ours.p < 0.05 and ours.lost > ours.gained)


if __name__ == "__main__":
    sys.exit(main())
