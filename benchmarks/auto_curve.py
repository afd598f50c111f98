"""`auto` beside `local`: right answers, calls and calibration, with simulated language models.

    python -m benchmarks.auto_curve [--data DATA] [--own 4] [--each 25]
        [--right 0.5 0.6 0.7 0.8 0.9 0.95] [--alike 0.5] [--seed 1]

Questions over databases of our own (those set apart are left out) and over the demo, and, with DATA
(a folder with `spider/`), over twenty databases of Spider's training part that no parser learnt
from, are asked by `local`. `escalate` then goes on from there with a simulated model of each kind,
whatever the threshold: what any threshold gives is read off the two. No prompt is written: what a
tier adds are as many queries, executed and read for faults.

The model knows the gold query of a question with a probability of its own, drawn so that their mean
is `--right` and most questions are either known or not, and draws each query by it. Else it writes
a wrong one: in the part `--alike` always the same, which is the wrong answer of `local` in three of
ten questions where that is wrong; or another of `local`'s wrong candidates, another question's gold
query, or one that fails. There are no unit tests: votes decide.

Calibrations are fitted to the questions of one half of the databases, as `calibrate -r auto` fits
them, and judged on the other half. What comes out says how the rules of `auto` behave at these
probabilities, and nothing of any real model. Intervals of calibration errors are by drawing
databases anew, of differences Newcombe's.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
from training.databases import build, names
from training.questions import FOLDER, load

from sqlwright import api
from sqlwright.candidates import execute, grounded, rank, same_result, valid
from sqlwright.confidence.figures import auroc, calibration_error, with_interval
from sqlwright.confidence.fitting import Sample, of_both, tuned
from sqlwright.confidence.measures import Seen, measured
from sqlwright.confidence.own import CalibrationReport, OwnCalibration
from sqlwright.demo.business import demo_questions, write_business
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.local.models import EmbeddedModels, first_calibration
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.running.grounds import basis_of
from sqlwright.running.trust import Trust
from sqlwright.session import Session
from sqlwright.steps.escalation import Escalation, Tier
from sqlwright.types import Candidate, State

APART = {"playhouse", "river_gauges"}
SURE = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)
AT = 0.8
"""The threshold that comes with the recipe, for which calibrations are fitted and judged."""
TIERS = (("one query", 1, 1), ("four candidates", 4, 5), ("twenty candidates", 16, 28))
"""Each with its queries and the calls that it takes."""
SPREAD = 1.5
"""Concentration of the probabilities of single questions: low is known or not."""
SAME = 0.3
"""Part of the questions that `local` gets wrong which the model gets wrong alike."""
FAILS = 0.1
"""Part of its wrong queries that don't run."""


@dataclass(frozen=True)
class Asked:
    """A question as `local` left it, and what a model may write of it."""

    example: Example
    workspace: Workspace
    state: State
    right: bool
    answered: bool
    gold: Candidate
    wrong: tuple[Candidate, ...]
    """`local`'s wrong candidates, its answer first, then golds of other questions."""
    fails: Candidate

    @property
    def sample(self) -> Sample:
        """The measures of the answer of `local`, as `calibrate` takes them."""
        return sample_of(self, self.state, self.right)


@dataclass(frozen=True)
class Writes(Step):
    """Stands for a tier's steps: so many queries of a simulated model."""

    asked: Asked
    right: float
    alike: float
    seed: str
    first: int
    count: int

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:  # noqa: ARG002 - as all steps
        asked, own = self.asked, random.Random(self.seed)
        known = own.betavariate(SPREAD * self.right, SPREAD * (1 - self.right))
        usual = own.choice(asked.wrong)
        if asked.answered and not asked.right:
            same = own.random() < SAME or len(asked.wrong) == 1
            usual = asked.wrong[0] if same else own.choice(asked.wrong[1:])
        written = []
        for number in range(self.first, self.first + self.count):
            draw = random.Random(f"{self.seed}/{number}")
            if draw.random() < known:
                one = asked.gold
            elif draw.random() < FAILS:
                one = asked.fails
            else:
                one = usual if draw.random() < self.alike else draw.choice(asked.wrong)
            written.append(replace(one, sample=number))
        return state.evolve(candidates=(*state.candidates, *written))


@dataclass(frozen=True)
class Outcome:
    """One question by `local` and by `auto`, asked whatever the threshold."""

    database: str
    sure: float
    """The calibrated confidence of `local`; 0 where it refused."""
    local: bool
    right: bool
    single: bool
    """True if the model's first query is right."""
    calls: int
    sample: Sample

    def at(self, sure: float) -> bool:
        """Right at a threshold."""
        return self.right if self.asks(sure) else self.local

    def asks(self, sure: float) -> bool:
        """True if a model is asked at a threshold."""
        return sure == 1.0 or self.sure < sure


def drawn(
    data: Path | None, folder: Path, own: int, each: int, seed: int
) -> dict[Path, list[Example]]:
    """At most so many questions of each database; `own` of one of our own."""
    found: defaultdict[Path, list[Example]] = defaultdict(list)
    for name in sorted(set(names()) - APART):
        path = build(name, folder)
        for row in load(FOLDER / f"{name}.jsonl"):
            one = Example(row["id"], name, row["question"], row["sql"], path, row["evidence"])
            found[path].append(one)
    path = folder / "demo.sqlite"
    write_business(path)
    for number, told in enumerate(demo_questions()):
        found[path].append(Example(f"demo-{number}", "demo", told.text, told.sql, path))
    for part in ("valid", "calib") if data is not None else ():
        assert data is not None
        for one in load_dataset("spider", data / "spider", Selection(split=part)).examples:
            if one.database.exists():
                found[one.database].append(one)
    for path, examples in found.items():
        random.Random(f"{seed}/{path.stem}").shuffle(examples)
        ours = path.parent == folder and path.stem != "demo"
        found[path] = examples[: own if ours else each]
    return dict(found)


def sample_of(asked: Asked, state: State, right: bool) -> Sample:
    """The measures of an answer, as `calibrate` takes them."""
    assert state.selected is not None
    seen = Seen(state, state.selected, asked.workspace.schema, basis_of(state, state.selected))
    example = asked.example
    return Sample(measured(seen), right, "own", example.database.stem, example.question)


def by_local(examples: Sequence[Example], models: EmbeddedModels) -> Iterator[Asked]:
    """What `local` makes of the questions of a database."""
    path = examples[0].database
    with api.open(path, recipe="local", models=models, record=False, environ={}) as session:
        for example in examples:
            others = [one.gold_sql for one in examples if one.gold_sql != example.gold_sql]
            yield asked_of(session, example, others[:3])


def asked_of(session: Session, example: Example, others: Sequence[str]) -> Asked:
    """One question, and the queries that a model may write of it."""
    workspace = session.workspace
    answer, state = session.run(example.question, evidence=example.evidence)
    ran = [one for one in rank(state.candidates) if valid(one)]
    taken = state.selected.id if answer.status == "answered" and state.selected else ""
    ran.sort(key=lambda one: one.id != taken)
    sqls = [example.gold_sql, "SELECT nothing FROM nowhere", *(one.sql for one in ran), *others]
    new = [Candidate(sql, "generation.direct", by_model=True) for sql in sqls]
    new = [grounded(one, state.values, workspace.schema) for one in new]
    side = state.evolve(candidates=execute(new, workspace.database, Run()), selected=None)
    context = Context(workspace, Run(), session.models)
    gold, fails, *rest = VetoRepair(mends=0)(side, context).candidates
    return Asked(
        example,
        workspace,
        state,
        bool(taken) and same_result(ran[0], gold),
        bool(taken),
        gold,
        tuple(one for one in rest if not same_result(one, gold)) or (fails,),
        fails,
    )


def by_auto(asked: Asked, right: float, alike: float, seed: int, trust: Trust) -> Outcome | None:
    """What `auto` makes of a question, asked whatever the threshold; None where it refuses."""
    drawn_by = f"{seed}/{asked.example.database.stem}/{asked.example.id}"
    tiers, first = [], 1
    for name, count, _ in TIERS:
        tiers.append(Tier((Writes(asked, right, alike, drawn_by, first, count),), name))
        first += count
    models = {"llm": ScriptedModel(Script([], ""))}
    context = Context(asked.workspace, Run(), models, trust.weighed)
    state = Escalation(tuple(tiers), sure=1.0)(asked.state, context)
    if state.refusal is not None or state.selected is None or not state.tiers:
        return None
    found = same_result(state.selected, asked.gold)
    one = next(one for one in state.candidates if one.by_model and one.sample == 1)
    calls = {name: calls for name, _, calls in TIERS}
    return Outcome(
        asked.example.database.stem,
        (state.tiers[0].before or 0.0) if asked.answered else 0.0,
        asked.right,
        found,
        same_result(one, asked.gold),
        sum(calls[tier.name] for tier in state.tiers),
        sample_of(asked, state, found),
    )


def trusted(samples: Sequence[Sample], models: EmbeddedModels) -> Trust:
    """The calibration of the embedded models' answers, fitted to these."""
    report = CalibrationReport("auto", True, "", len(samples), 0, None, (0.0, 0.0, 0.0), "")
    own = OwnCalibration(report, tuned(first_calibration(embedded=True), samples))
    return Trust(models, (own,))


def paired(first: Sequence[bool], second: Sequence[bool]) -> str:
    """The second against the first, in points."""
    pairs = list(zip(first, second, strict=True))
    kinds = ((True, True), (False, True), (True, False), (False, False))
    found = PairedDifference(*map(pairs.count, kinds))
    low, high = found.interval
    return (
        f"{100 * found.value:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}], "
        f"{pairs.count(kinds[1])} won, {pairs.count(kinds[2])} lost, p {found.p:.3f}"
    )


def curve(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Right answers at each threshold, against `local`."""
    local, many = [one.local for one in outcomes], len(outcomes)
    yield "| sure | asked | right | calls a question | against local, points |"
    yield "|---|---|---|---|---|"
    for sure in SURE:
        right = [one.at(sure) for one in outcomes]
        asked = [one for one in outcomes if one.asks(sure)]
        calls = sum(one.calls for one in asked) / many
        yield (
            f"| {sure:g} | {len(asked) / many:.0%} | {Share(sum(right), many)} | {calls:.1f} | "
            f"{paired(local, right)} |"
        )


def calibrated(fits: Sequence[Outcome], rest: Sequence[Outcome]) -> str:
    """The calibration error on the half that nothing was fitted to."""
    by = of_both([one.sample for one in fits if one.asks(AT)])
    sure = np.array([
        by.judge(one.sample.measures, one.sample.question).value if one.asks(AT) else one.sure
        for one in rest
    ])  # fmt: skip
    good = np.array([float(one.at(AT)) for one in rest])
    among = np.array([one.asks(AT) for one in rest])
    clusters = np.array([one.database for one in rest])
    whole = with_interval(calibration_error, sure, good, clusters=clusters.tolist())
    part = with_interval(
        calibration_error, sure[among], good[among], clusters=clusters[among].tolist()
    )
    weights = dict(zip(("constant", *by.names), by.weights.round(2).tolist(), strict=True))
    return (
        f"calibration error of {len(rest)} others {whole}, of the {int(among.sum())} asked of them "
        f"{part}, AUROC {auroc(sure, good):.3f}, highest of those {sure[among].max():.3f}; "
        f"weights {weights}"
    )


def told(
    halves: Mapping[bool, Sequence[Asked]], right: float, alike: float, seed: int, trust: Trust
) -> Iterator[str]:
    """The curve and the calibration of one simulated model."""
    fits, rest = (
        [found for one in halves[half] if (found := by_auto(one, right, alike, seed, trust))]
        for half in (True, False)
    )
    outcomes = [*fits, *rest]
    single = Share(sum(one.single for one in outcomes), len(outcomes))
    yield f"\nA model right in {right:.0%} of queries (its first: {single})"
    yield from curve(outcomes)
    yield calibrated(fits, rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--own", type=int, default=4)
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--right", type=float, nargs="+", default=[0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
    parser.add_argument("--alike", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        questions = drawn(given.data, Path(name), given.own, given.each, given.seed)
        order, models = sorted(questions), EmbeddedModels()
        random.Random(given.seed).shuffle(order)
        halves: dict[bool, list[Asked]] = {True: [], False: []}
        for number, path in enumerate(order):
            halves[number % 2 == 0] += by_local(questions[path], models)
        fitted = [one.sample for one in halves[True] if one.answered]
        trust = trusted(fitted, models)
        for right in given.right:
            print("\n".join(told(halves, right, given.alike, given.seed, trust)), flush=True)


if __name__ == "__main__":
    main()
