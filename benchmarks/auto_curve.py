"""Accuracy against tokens of the recipe `auto`, with simulated language models.

    python -m benchmarks.auto_curve [--questions 60] [--right 0.5 0.7 0.85] [--seed 1]

Questions of our own (`training/data/questions`; the databases set apart are left out) are asked by
`local`, by `auto` at several thresholds, and by chess-ir-cg-ut. The language model is
simulated: it knows the gold query and writes it for a question with a probability of its own, drawn
so that their mean is `--right` and most questions are either known or not; else it writes another
question's gold query, in half of the cases always the same one. All else it replies by rules. Unit
tests would be judged by rules, so both recipes go without them and CHESS's vote decides; the tokens
of its tests aren't counted. What comes out says how the rule of `auto` behaves at these
probabilities, and nothing of any real model. Tokens are estimated from the text.

Last it prints what each tier of `auto` took wherever it was entered: calls, and the tokens of a
prompt besides the schema. The prompts are the real ones; replies are simulated, so their length and
how many a revision takes say nothing.
"""

from __future__ import annotations

import argparse
import random
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.answering import Prompt, Responder
from tests.llm.gates import gate
from training.databases import build, names
from training.questions import FOLDER, load

from sqlwright import api
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.llm.scripted import Asked, Script
from sqlwright.local.models import EmbeddedModels
from sqlwright.steps.showing import named_tokens

APART = {"playhouse", "river_gauges"}
SURE = ("0", "0.5", "0.7", "0.8", "0.9", "1")
SPREAD = 1.5
"""Concentration of the probabilities of single questions: low is known or not."""
NO_TESTS = ("selection.generate_tests.enabled=false",)


@dataclass
class Simulated:
    """A language model that knows the gold query of the question at hand, or doesn't."""

    right: float
    seed: int
    golds: Mapping[str, Sequence[str]]
    """All gold queries, by database."""
    row: Mapping[str, Any] = field(default_factory=dict)
    rules: Responder = field(default_factory=lambda: Responder(faulty=0.0))

    def reply(self, asked: Asked) -> str:
        """What it says to a prompt about the question at hand."""
        if Prompt(asked.prompt).kind not in {"sql", "revise"}:
            return self.rules.scripted(asked)
        own = random.Random(f"{self.seed}/{self.row['id']}")
        known = own.betavariate(SPREAD * self.right, SPREAD * (1 - self.right))
        others = [sql for sql in self.golds[self.row["database"]] if sql != self.row["sql"]]
        usual = own.choice(others)
        draw = random.Random(f"{self.seed}/{self.row['id']}/{asked.seed}/{asked.prompt}")
        if draw.random() < known:
            return f"```sql\n{self.row['sql']}\n```"
        return f"```sql\n{usual if draw.random() < 0.5 else draw.choice(others)}\n```"


@dataclass(frozen=True)
class Run:
    """What one recipe made of all questions."""

    name: str
    right: tuple[bool, ...]
    tokens: int
    calls: int
    tiers: tuple[tuple[str, int, int], ...] = ()
    """Each tier that was entered: its name, calls, and tokens of prompts besides the schema."""

    def line(self, full: Run) -> str:
        paired = list(zip(full.right, self.right, strict=True))
        against = PairedDifference(
            sum(a and b for a, b in paired),
            sum(b and not a for a, b in paired),
            sum(a and not b for a, b in paired),
            sum(not a and not b for a, b in paired),
        )
        low, high = against.interval
        many = len(self.right)
        return (
            f"| {self.name} | {Share(sum(self.right), many)} | {self.tokens / many:,.0f} | "
            f"{self.calls / many:.1f} | {100 * against.value:+.1f} [{100 * low:+.1f}, "
            f"{100 * high:+.1f}], p {against.p:.3f} |"
        )


def drawn(count: int, seed: int) -> list[dict[str, Any]]:
    """Questions over databases of our own, without those set apart."""
    own = set(names()) - APART
    rows = [
        row for path in sorted(FOLDER.rglob("*.jsonl")) for row in load(path)
        if row["database"] in own
    ]  # fmt: skip
    random.Random(seed).shuffle(rows)
    return sorted(rows[:count], key=lambda row: str(row["database"]))


def run(
    name: str, recipe: str, model: Simulated, rows: Sequence[Any], folder: Path, sure: str = ""
) -> Run:
    """Ask all questions by one recipe, `auto` with its threshold."""
    right, tokens, calls = [], 0, 0
    tiers: list[tuple[str, int, int]] = []
    embedded = EmbeddedModels()
    for row in rows:
        model.row = row
        path = folder / f"{row['database']}.sqlite"
        with gate(Script(otherwise=model.reply), price=None) as (gated, _):
            models: Any = embedded if recipe == "local" else ChainMap({"llm": gated}, embedded)  # type: ignore[dict-item, arg-type]
            overrides = () if recipe == "local" else NO_TESTS
            overrides += (f"escalate.sure={sure}",) if sure else ()
            with api.open(
                path, recipe=recipe, overrides=overrides, models=models, record=False,
                stand_in=False,
            ) as session:  # fmt: skip
                answer, state = session.run(row["question"], evidence=row["evidence"])
                scorer = Scorer(session.workspace.database, session.workspace.schema)
                example = Example(row["id"], "", row["question"], row["sql"], path)
                right.append(scorer.score(example, answer, state, 0.0).right("spider"))
                schema = named_tokens(state.view.visible_schema())
        took = answer.usage.prompt_tokens + answer.usage.reply_tokens
        tokens, calls = tokens + took, calls + answer.usage.calls
        tiers += [
            (one.name, one.usage.calls, one.usage.prompt_tokens - one.usage.calls * schema)
            for one in answer.tiers
            if one.usage.calls
        ]
    return Run(name, tuple(right), tokens, calls, tuple(tiers))


def tier_lines(tiers: Iterable[tuple[str, int, int]]) -> list[str]:
    """What each tier took on average."""
    by_name: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, calls, prompt in tiers:
        by_name[name].append((calls, prompt))
    lines = [
        "",
        "| tier | entered | calls each | tokens of a prompt, schema aside |",
        "|---|---|---|---|",
    ]
    for name, taken in by_name.items():
        calls, prompt = map(sum, zip(*taken, strict=True))
        lines.append(
            f"| {name} | {len(taken)} | {calls / len(taken):.1f} | {prompt / calls:,.0f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--right", type=float, nargs="+", default=[0.5, 0.7, 0.85])
    parser.add_argument("--sure", nargs="+", default=list(SURE))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = drawn(given.questions, given.seed)
    golds: dict[str, list[str]] = {}
    for row in rows:
        golds.setdefault(row["database"], []).append(row["sql"])
    rows = [row for row in rows if len(set(golds[row["database"]])) > 1]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for database in {row["database"] for row in rows}:
            build(database, folder)
        local = run("local", "local", Simulated(0.0, given.seed, golds), rows, folder)
        tiers: list[tuple[str, int, int]] = []
        for right in given.right:
            model = Simulated(right, given.seed, golds)
            full = run("chess-ir-cg-ut", "chess-ir-cg-ut", model, rows, folder)
            print(
                f"\nSimulated model, right in {right:.0%} of single replies; {len(rows)} questions"
            )
            print("| recipe | right | tokens a question | calls | against chess-ir-cg-ut, points |")
            print("|---|---|---|---|---|")
            print(local.line(full), flush=True)
            for sure in given.sure:
                made = run(f"auto, sure {sure}", "auto", model, rows, folder, sure)
                tiers += made.tiers
                print(made.line(full), flush=True)
            print(full.line(full), flush=True)
        print("\n".join(tier_lines(tiers)))


if __name__ == "__main__":
    main()
