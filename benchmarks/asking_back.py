"""How often a question is asked back, and what answering it rightly wins.

    python -m benchmarks.asking_back DATA [--own FOLDER] [--count 300] [--seed 1]

DATA is a folder with spider/; its questions are those of `valid` and `calib` of the split.
`--own` is the folder that `training.export` writes: our own pairs and requests that can't be
answered, of the databases that no parser learns from (`probabilities`). Each sample is asked
once by the recipe `local`; then the rule is tried with several thresholds. Told are the share of
questions with one asked back, of these the share with a right reading among the choices, right
answers if nobody is asked and if every question back is answered rightly, and of the requests
that can't be answered the share refused or asked back.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import sqlwright
from sqlwright.candidates import same_result
from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Context, ModelsByRole, Run, Workspace
from sqlwright.running.trust import Trust
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import Candidate, QuestionBack, State

RULES = [
    AskBack(near=near, least=least, sure=sure)
    for near in (0.25, 0.6, 0.75)
    for least in (0.05, 0.15)
    for sure in (0.7, 0.85, 1.0)
]
"""The rules that are compared; the first told is the one that ships."""


@dataclass(frozen=True)
class Item:
    """A question with its gold query; without one it can't be answered."""

    family: str
    question: str
    evidence: str
    gold: str
    path: Path


@dataclass(frozen=True)
class Outcome:
    """What came of it: whether the answer is right, and the question back by each rule."""

    item: Item
    right: bool
    refused: bool
    asked: tuple[QuestionBack | None, ...]
    right_choice: tuple[bool, ...]
    """Whether a right reading is among the choices, by each rule."""


def items(data: Path, own: Path | None) -> Iterator[Item]:
    """All questions of the families."""
    for part in ("valid", "calib"):
        for one in load_spider(data / "spider", split=part).examples:
            yield Item("spider", one.question, one.evidence, one.gold_sql, one.database)
    for family in ("pairs", "unanswerable") if own is not None else ():
        for line in ((own or data) / f"{family}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["part"] != "probabilities":
                continue
            name, place = row["database"], data / "spider" / "database"
            path = (
                place / name / f"{name}.sqlite"
                if row["spider"]
                else (own or data) / "databases" / f"{name}.sqlite"
            )
            evidence = row.get("evidence") or ""
            yield Item(family, row["question"], evidence, row.get("sql", ""), path)


def asked_all(listed: Sequence[Item]) -> Iterator[Outcome]:
    """Each question asked; databases that aren't there are left out."""
    models = EmbeddedModels()
    ordered = sorted(listed, key=lambda one: (one.path, one.question))
    for path, group in groupby(ordered, key=lambda one: one.path):
        try:
            with sqlwright.open(path, models=models, record=False, prepare=False) as session:
                scorer = Scorer(session.workspace.database, session.workspace.schema)
                for item in group:
                    _, state = session.run(item.question, evidence=item.evidence)
                    outcome = judged(item, state, scorer, session.workspace, models)
                    if outcome is not None:
                        yield outcome
        except DatabaseUnavailable:
            continue


def judged(
    item: Item, state: State, scorer: Scorer, workspace: Workspace, models: ModelsByRole
) -> Outcome | None:
    """What came of one question; None where the gold query gives nothing to compare with."""
    gold = scorer.execute(item.gold) if item.gold else None
    if gold is not None and (not gold.ok or gold.truncated or not gold.rows):
        return None

    def is_right(candidate: Candidate | None) -> bool:
        if gold is None or candidate is None:
            return False
        found = scorer.execute(candidate.sql)
        if item.family == "spider":
            return found.ok and spider_match(found.rows, gold.rows, ordered=orders(item.gold))
        sides = (Candidate(candidate.sql, "", result=found), Candidate(item.gold, "", result=gold))
        return same_result(*sides)

    context = Context(workspace, Run(), models, Trust(models).weighed)
    plain = state.evolve(question_back=None)
    asked = tuple(rule(plain, context).question_back for rule in (AskBack(), *RULES))
    choices = [() if one is None else one.choices for one in asked]
    hits = tuple(any(is_right(one.candidate) for one in offered) for offered in choices)
    refused = state.refusal is not None
    return Outcome(item, not refused and is_right(state.selected), refused, asked, hits)


def report(family: str, outcomes: Sequence[Outcome]) -> None:
    """The figures of a family, for the rule that ships and for the others."""
    count = len(outcomes)
    print(
        f"\n{family}: {count} questions, refused {Share(sum(o.refused for o in outcomes), count)}"
    )
    for place, rule in enumerate((AskBack(), *RULES)):
        asked = [one for one in outcomes if one.asked[place] is not None]
        name = f"near {rule.near:g} least {rule.least:g} sure {rule.sure:g}"
        print(f"{name if place else f'ships: {name}'}\n  asked back {Share(len(asked), count)}")
        if family == "unanswerable":
            met = sum(one.refused or one.asked[place] is not None for one in outcomes)
            print(f"  refused or asked back {Share(met, count)}")
            continue
        among = sum(one.right_choice[place] for one in asked)
        before = sum(one.right for one in outcomes)
        after = sum(one.right or one.right_choice[place] for one in outcomes)
        print(f"  a right reading among the choices {Share(among, len(asked))}" if asked else "")
        print(f"  right: never asking {Share(before, count)}, asking {Share(after, count)}")


def sample(listed: Iterable[Item], count: int, seed: int) -> list[Item]:
    """At most `count` of each family, at random."""
    drawn, rng = [], random.Random(seed)
    by_family = sorted(listed, key=lambda one: (one.family, str(one.path), one.question))
    for _, group in groupby(by_family, key=lambda one: one.family):
        members = list(group)
        drawn += rng.sample(members, min(count, len(members)))
    return drawn


def main() -> None:
    """Ask and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--own", type=Path, help="the folder that training.export wrote")
    parser.add_argument("--count", type=int, default=300, help="questions of each family at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    drawn = sample(items(options.data, options.own), options.count, options.seed)
    outcomes = sorted(asked_all(drawn), key=lambda one: one.item.family)
    for family, group in groupby(outcomes, key=lambda one: one.item.family):
        report(family, list(group))


if __name__ == "__main__":
    main()
