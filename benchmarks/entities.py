"""How many stored constants of gold queries the steps of retrieval find, and how much else.

    python benchmarks/entities.py DATA [--part valid] [--most 600] [--minhash] [--misses KIND]
    python benchmarks/entities.py DATA --fit [--most 1500]

`local`'s step (`retrieval.values`) stands beside `retrieval.entities`, over the same
questions of Spider's training databases, as they stand and with one stored value in them
misremembered as in `value_queries` (another case, one or two wrong letters, a word left out, and so
on). No language model is asked: keywords are the question's own words (`retrieval.question_words`).

A constant counts when the gold query compares a column with it as a whole (=, !=, IN) and the
column holds it; found means that value of that column. Where a value was misremembered, it alone
counts. Years are constants, too: whole numbers that the gold query compares an integer column with.
Junk is what was found and is no text or number of the gold query, in whatever column. Intervals are
95%: Wilson's for recall, and for differences of junk over 2,000 samples of the questions.

`--fit` prints the same of the databases trained on, for one threshold of meaning after another. The
threshold of an embedder (`steps/retrieval/phrases/near.py`) is the least at which it finds no
more junk than `local`'s step over the questions as asked and over all others.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from training.embedded.pairs import Pair, TrainingDatabase, load_databases, load_pairs
from training.embedded.split import load_split

from retrieval import WHOLE
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import linearize
from sqlwright.local.models import load
from sqlwright.local.parser.constants import compared_column
from sqlwright.prepare.opening import open_workspace
from sqlwright.protocols import Context, Embedder, FloatArray, Run, Step, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.retrieval.entities import RetrieveEntities
from sqlwright.steps.retrieval.question_words import QuestionWords
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Question, State, ValueMatch
from value_queries import KINDS, make_queries

PLAIN = "as asked"
LOCAL = "local"
PAPER = "paper"
SEED = 15
SAMPLES = 2_000


@dataclass(frozen=True)
class Gold:
    """A question and what of it is stored."""

    database: str
    question: Question
    constants: frozenset[tuple[ColumnRef, str]]
    """Stored constants of the gold query, in lower case."""
    years: frozenset[tuple[ColumnRef, str]]
    texts: frozenset[str]
    """All texts and numbers of the gold query, in lower case."""


@dataclass(frozen=True)
class Asked:
    """A question as it is put, and what should be found for it."""

    gold: Gold
    kind: str
    question: Question
    wanted: frozenset[tuple[ColumnRef, str]]


class Remembering:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, FloatArray] = {}

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> FloatArray:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def gold_of(pair: Pair, known: TrainingDatabase) -> Gold | None:
    """What of a question is stored; None where its gold query can't be read."""
    try:
        symbols = linearize(read_sql(pair.sql, known.schema))
    except UnsupportedQuery:
        return None
    constants, years, texts = set(), set(), set()
    for at, symbol in enumerate(symbols):
        if not isinstance(symbol, nodes.Literal):
            continue
        text = str(symbol.value).casefold()
        texts |= {text, text.strip("%")}
        column, operator = compared_column(symbols[:at])
        if column is None:
            continue
        if isinstance(symbol.value, str) and operator in WHOLE:
            stored = known.values.get(column, ())
            if any(text == value.casefold() for value, _ in stored):
                constants.add((column, text))
        elif re.fullmatch(r"(?:1[6-9]|20)\d\d", text):
            declared = known.schema.column(column)
            if declared is not None and "int" in declared.type.casefold():
                years.add((column, text))
    return Gold(
        pair.database, pair.question, frozenset(constants), frozenset(years), frozenset(texts)
    )


def put(gold: Gold, rng: random.Random) -> Iterator[Asked]:
    """The question as it stands, and with one value misremembered in each way."""
    yield Asked(gold, PLAIN, gold.question, gold.constants)
    text = gold.question.text
    for column, value in sorted(gold.constants):
        found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE)
        if not found:
            continue
        for query in make_queries([found[0]], 1, rng.randrange(1 << 30)):
            if query.kind == "exact" or (query.kind == "typo1" and len(value) < 5):
                continue
            changed = text[: found.start()] + query.text + text[found.end() :]
            yield Asked(
                gold,
                query.kind,
                replace(gold.question, text=changed),
                frozenset({(column, value)}),
            )
        return


@dataclass
class Outcome:
    """What one step found over the questions of one kind."""

    wanted: int = 0
    found: int = 0
    of_years: int = 0
    years: int = 0
    junk: list[int] = field(default_factory=list)
    """Values a question."""
    misses: list[str] = field(default_factory=list)

    def add(self, asked: Asked, values: Iterable[ValueMatch]) -> None:
        matches = list(values)
        found = {(match.column, match.value.casefold()) for match in matches}
        self.wanted += len(asked.wanted)
        self.found += len(asked.wanted & found)
        self.of_years += len(asked.gold.years)
        self.years += len(asked.gold.years & found)
        texts = asked.gold.texts | {value for _, value in asked.wanted}
        junk = [match for match in matches if match.value.casefold() not in texts]
        self.junk.append(len(junk))
        for column, value in sorted(asked.wanted - found):
            self.misses.append(
                f"MISS {asked.gold.database}: {column} = {value!r}: {asked.question.text}"
            )
        for match in junk:
            self.misses.append(
                f"JUNK {asked.gold.database}: {match.phrase!r} -> {match.column} = "
                f"{match.value!r} ({match.score}): {asked.question.text}"
            )


def wilson(found: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share."""
    if not of:
        return 0.0, 1.0
    share, z = found / of, 1.96
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def difference(ours: Sequence[int], theirs: Sequence[int]) -> tuple[float, float, float]:
    """The mean difference of paired counts with its 95% interval."""
    apart: npt.NDArray[np.float64] = np.array(ours, np.float64) - np.array(theirs, np.float64)
    rng = np.random.default_rng(SEED)
    means = [rng.choice(apart, len(apart)).mean() for _ in range(SAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(apart.mean()), float(low), float(high)


@dataclass(frozen=True)
class Bench:
    """Questions with the databases they are asked of."""

    asked: Sequence[Asked]
    workspaces: Mapping[str, Workspace]
    embedder: Embedder

    def values(self, step: Step, asked: Asked) -> tuple[ValueMatch, ...]:
        """What a step finds for the question's own words."""
        workspace = self.workspaces[asked.gold.database]
        context = Context(workspace, Run(), {"embedder": self.embedder})
        state = State(asked.question, SchemaView(workspace.schema))
        if "keywords" in step.reads:
            state = QuestionWords()(state, context)
        return step(state, context).values


def gather(data: Path, part: str, most: int) -> Bench:
    """Questions of one part of the split, at most so many, drawn by lot."""
    pairs = [p for p in load_pairs(data, load_split(data), (part,)) if p.source == "spider"]
    rng = random.Random(SEED)
    rng.shuffle(pairs)
    pairs = pairs[:most]
    names = sorted({pair.database for pair in pairs})
    known = load_databases(data, names)
    scratch = Path(tempfile.mkdtemp())
    workspaces = {
        name: open_workspace(str(known[name].path), folder=scratch / name, seconds=30)
        for name in names
        if known[name].path is not None
    }
    golds = [gold_of(pair, known[pair.database]) for pair in pairs if pair.database in workspaces]
    asked = [one for gold in golds if gold is not None for one in put(gold, rng)]
    return Bench(asked, workspaces, Remembering(cast("Embedder", load("embedder"))))


def measure(bench: Bench, steps: Mapping[str, Step]) -> dict[str, dict[str, Outcome]]:
    """Outcomes by kind and step."""
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(lambda: defaultdict(Outcome))
    for asked in bench.asked:
        for name, step in steps.items():
            outcomes[asked.kind][name].add(asked, bench.values(step, asked))
    return outcomes


def report(outcomes: Mapping[str, Mapping[str, Outcome]]) -> None:
    """Print a line for each kind and step."""
    print(f"{'kind':9} {'step':16} {'recall':>22}   {'junk a question':>15}  more than local's")
    for kind in (PLAIN, *KINDS):
        for name, outcome in outcomes.get(kind, {}).items():
            low, high = wilson(outcome.found, outcome.wanted)
            share = outcome.found / max(outcome.wanted, 1)
            line = (
                f"{kind:9} {name:16} {share:6.1%} ({low:.1%} to {high:.1%}) "
                f"{outcome.found:>5}/{outcome.wanted:<5} {np.mean(outcome.junk):6.2f}"
            )
            if name != LOCAL:
                apart = difference(outcome.junk, outcomes[kind][LOCAL].junk)
                line += "  {:+.2f} ({:+.2f} to {:+.2f})".format(*apart)
            if kind == PLAIN:
                line += f"  years {outcome.years}/{outcome.of_years}"
            print(line)


def fit(bench: Bench) -> None:
    """Print recall and junk by threshold, of questions as asked and of all others."""
    thresholds = (0.55, 0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.72, 0.75, 0.8, 0.9)
    steps: dict[str, Step] = {LOCAL: ValueRetrieval()}
    for least in thresholds:
        steps[f"{least}"] = RetrieveEntities(least_meaning=least)
    outcomes = measure(bench, steps)
    for name in steps:
        line = f"{name:10}"
        for kinds in ((PLAIN,), tuple(kind for kind in outcomes if kind != PLAIN)):
            every = [outcomes[kind][name] for kind in kinds]
            found, wanted = sum(one.found for one in every), sum(one.wanted for one in every)
            junk = [count for one in every for count in one.junk]
            line += f"  {found / wanted:6.1%} {np.mean(junk):5.3f}"
        print(line)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure as asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("fit", "valid", "calib"), default="valid")
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--minhash", action="store_true", help="the paper's index, too")
    parser.add_argument("--misses", metavar="KIND", help="list what a kind missed and its junk")
    parser.add_argument("--fit", action="store_true", help="print what thresholds would give")
    options = parser.parse_args(arguments)
    steps: dict[str, Step] = {LOCAL: ValueRetrieval(), PAPER: RetrieveEntities()}
    if options.minhash:
        steps["paper, minhash"] = RetrieveEntities(values="minhash", library="rensa")
    bench = gather(options.data, "fit" if options.fit else options.part, options.most)
    if options.fit:
        fit(bench)
        return
    outcomes = measure(bench, steps)
    print(f"{options.part}: {Counter(a.kind for a in bench.asked)[PLAIN]} questions")
    report(outcomes)
    if options.misses:
        for name, outcome in outcomes[options.misses].items():
            print("\n".join(f"{name}: {line}" for line in outcome.misses))


if __name__ == "__main__":
    main()
