"""Pairs to packed passes: each pass holds every pair once, differently augmented.

Run as a module it builds the passes one after the other beside the training that reads them:

    python -m training.embedded.parser.data DATA OUT --passes 8
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.process
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer
from training.embedded.bird_pairs import load_bird_pairs, load_bird_schemas, with_named_values
from training.embedded.minilm import bundled_minilm
from training.embedded.own_pairs import load_own_databases, load_own_pairs, own_fold
from training.embedded.pairs import (
    Pair,
    TrainingDatabase,
    check_trainable,
    load_databases,
    load_pairs,
)
from training.embedded.parser.packing import TargetSteps, make_target, pack
from training.embedded.questions.augment import (
    Rates,
    plain_schema,
    shown_question,
    shown_schema,
    shown_values,
)
from training.embedded.questions.growth import grown
from training.embedded.questions.renaming import NamedExample, NamePool, rename
from training.embedded.questions.synthetic import Synthesizer, synthetic_pairs
from training.embedded.split import SEED, Split, load_split

from sqlwright.errors import UnsupportedQuery
from sqlwright.indexes.values.index import ColumnValues, DiskValueIndex, memory_value_index
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import Symbol, linearize
from sqlwright.local.parser.dressing.moments import as_meant
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.nodes import Budget, Encoded, WordPieces
from sqlwright.local.parser.pointers import to_tokens
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.retrieval.values import retrieve_values
from sqlwright.types import ValueMatch

BUDGET = Budget(pieces=352, nodes=176)
MAX_STEPS = 96
LINKED, LINKED_TOO = 0.96, 0.3
"""Parts of the columns that a query needs, and of the others, that the linker leaves; chosen."""


class Builder:
    """Reads each gold query and finds each question's values once, then encodes at will."""

    def __init__(self, known: dict[str, TrainingDatabase], pieces: WordPieces) -> None:
        self.known = known
        self.pieces = pieces
        self.names = NamePool.collect(one.schema for one in known.values())
        self.failures: Counter[str] = Counter()
        self._symbols: dict[tuple[str, str], tuple[Symbol, ...] | None] = {}
        self._values: dict[tuple[str, str], tuple[ValueMatch, ...]] = {}
        self._indexes: dict[str, DiskValueIndex] = {}

    def symbols(self, pair: Pair) -> tuple[Symbol, ...] | None:
        """The gold query's symbols, without what its columns' formats need; None when the form
        can't hold it."""
        key = (pair.database, pair.sql)
        if key not in self._symbols:
            try:
                known = self.known[pair.database]
                form = read_sql(pair.sql, known.schema)
                self._symbols[key] = linearize(undress(form, known.formats))
            except UnsupportedQuery:
                self._symbols[key] = None
        return self._symbols[key]

    def values(self, pair: Pair) -> tuple[ValueMatch, ...]:
        """The question's value matches."""
        key = (pair.database, pair.question.text)
        if key not in self._values:
            if pair.database not in self._indexes:
                stored = self.known[pair.database].values
                self._indexes[pair.database] = memory_value_index(
                    ColumnValues(column, values) for column, values in stored.items()
                )
            self._values[key] = retrieve_values(pair.question, self._indexes[pair.database])
        return self._values[key]

    def example(
        self, pair: Pair, rates: Rates | None, rng: random.Random, budget: Budget = BUDGET
    ) -> tuple[Encoded, TargetSteps] | None:
        """One example; None (counted in `failures`) when its input can't say its gold."""
        symbols = self.symbols(pair)
        if symbols is None:
            self.failures["form"] += 1
            return None
        known, found = self.known[pair.database], self.values(pair)
        stated = as_meant(known.schema, known.formats, {})
        for rate in (rates, None):
            # Dropping a hit can take away the only way to say a literal; then nothing is dropped.
            question, schema, values = pair.question, plain_schema(stated), list(found)
            if rates is not None:
                question = shown_question(question, rates, rng)
                schema = shown_schema(stated, rates, rng)
                if rng.random() < rates.renamed:
                    shown = rename(NamedExample(question, schema, values), self.names, rng)
                    question, schema, values = shown.question, shown.schema, list(shown.values)
            if rate is not None:
                values = shown_values(values, question.text, rate, rng)
            encoded = encode(
                question,
                schema,
                values,
                known.enumerations,
                self.pieces,
                budget=budget,
                priority=promised(symbols, schema, rng),
                described=rates is None or rng.random() >= rates.undescribed,
                further=True,
            )
            tokens = to_tokens(symbols, encoded, question)
            if tokens is not None:
                break
        else:
            self.failures["literal or budget"] += 1
            return None
        if sum(map(len, tokens)) > MAX_STEPS:
            self.failures["length"] += 1
            return None
        return encoded, make_target(symbols, tokens)


def promised(
    symbols: Sequence[Symbol], schema: Schema, rng: random.Random
) -> dict[ColumnRef, float]:
    """Columns as a linker would promise them: nearly all that the gold query needs, and others."""
    needed = {symbol for symbol in symbols if isinstance(symbol, ColumnRef)}
    return {
        ref: 1.0
        for ref in schema.columns
        if rng.random() < (LINKED if ref in needed else LINKED_TOO)
    }


def add_bird(builder: Builder, folder: Path, most_steps: int = 64) -> list[Pair]:
    """BIRD's training pairs whose gold takes few steps; their databases become known."""
    pairs = load_bird_pairs(folder)
    schemas = load_bird_schemas(folder)
    builder.known.update(schemas)
    read = [
        (pair, symbols)
        for pair in pairs
        if pair.database in schemas
        and (symbols := builder.symbols(pair)) is not None
        and len(symbols) <= most_steps
    ]
    for name, known in schemas.items():
        queries = [symbols for pair, symbols in read if pair.database == name]
        builder.known[name] = with_named_values(known, queries)
    return [pair for pair, _ in read]


def add_grown(builder: Builder, split: Split) -> tuple[Synthesizer, list[str]]:
    """The synthesizer of questions and the databases to ask about; grown ones become known and come
    in twice, because they are there for the questions that are asked too seldom. Raises ValueError
    when a known database is held back for measuring."""
    for name in builder.known:
        split.check_trainable(name)
    more = grown(builder.known, random.Random(SEED))
    names = [*builder.known, *more, *more]
    builder.known.update(more)
    return Synthesizer(builder.known), names


def add_own(builder: Builder, folder: Path, split: Split, without: str | None) -> list[Pair]:
    """The pairs of our own that may be learnt from; their databases become known. `without` is a
    fold of their databases to leave out."""
    pairs = load_own_pairs(folder, "fit", split)
    if without:
        held = own_fold(folder, without)
        pairs = [pair for pair in pairs if pair.database not in held]
    builder.known.update(load_own_databases(folder))
    check_trainable(pairs, split)
    return pairs


def build_pass(builder: Builder, pairs: Sequence[Pair], number: int, out: Path) -> int:
    """Write one pass; the same number gives the same pass. Returns how many examples it holds."""
    rng = random.Random(f"{SEED}/{number}")
    examples = [
        example for pair in pairs if (example := builder.example(pair, Rates(), rng)) is not None
    ]
    pack(examples).save(out / f"pass_{number:02d}.npz")
    return len(examples)


def main(arguments: Iterable[str] | None = None) -> None:
    """Build passes that aren't there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--passes", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="number of the first pass")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--bird", type=int, default=3, help="passes over which BIRD is spread")
    parser.add_argument("--synthetic", type=int, default=0, help="made-up pairs in each pass")
    parser.add_argument("--own", type=Path, help="folder written by `python -m training.export`")
    parser.add_argument("--own-times", type=int, default=3, help="times that each is in a pass")
    parser.add_argument("--share", type=float, default=1.0, help="part of Spider's in each pass")
    parser.add_argument("--without", help="a fold of `fit` to leave out, such as 0/2")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(None if arguments is None else list(arguments))
    options.out.mkdir(parents=True, exist_ok=True)
    split = load_split(options.data)
    if options.without:
        split = split.without(options.without)
    pairs = load_pairs(options.data, split)
    check_trainable(pairs, split)
    if options.limit:
        pairs = random.Random(SEED).sample(pairs, options.limit)
    known = load_databases(options.data, {pair.database for pair in pairs})
    pieces = WordPieces(Tokenizer.from_file(str(bundled_minilm() / "tokenizer.json")))
    builder = Builder(known, pieces)
    bird = add_bird(builder, options.data) if options.bird else []
    random.Random(SEED).shuffle(bird)
    check_trainable(bird, split)
    made_up = add_grown(builder, split) if options.synthetic else None
    ours = add_own(builder, options.own, split, options.without) if options.own else []

    def one(number: int) -> None:
        started = time.monotonic()
        builder.failures.clear()
        own = bird[number % options.bird :: options.bird] if bird else []
        if made_up is not None:
            rng = random.Random(f"{SEED}/synthetic/{number}")
            own = [*own, *synthetic_pairs(*made_up, options.synthetic, rng)]
        own = [*own, *ours * options.own_times]
        plain = random.Random(f"{SEED}/share/{number}").sample(
            pairs, round(len(pairs) * options.share)
        )
        count = build_pass(builder, [*plain, *own], number, options.out)
        spent = time.monotonic() - started
        print(
            f"pass {number}: {count} of {len(plain) + len(own)} pairs in {spent:.0f} s, "
            f"left out {dict(builder.failures)}",
            flush=True,
        )

    wanted = range(options.first, options.first + options.passes)
    left = [n for n in wanted if not (options.out / f"pass_{n:02d}.npz").exists()]
    in_processes(one, left, options.jobs)


def in_processes(one: Callable[[int], None], numbers: Sequence[int], jobs: int) -> None:
    """Call `one` for every number, in at most `jobs` processes that know all that is known here.
    Raises CalledProcessError where a call failed."""
    if jobs < 2:
        for number in numbers:
            one(number)
        return
    forked = multiprocessing.get_context("fork")
    running: list[multiprocessing.process.BaseProcess] = []
    for number in numbers:
        while sum(process.is_alive() for process in running) >= jobs:
            time.sleep(0.1)
        running.append(forked.Process(target=one, args=(number,)))
        running[-1].start()
    for process in running:
        process.join()
        if process.exitcode:
            raise subprocess.CalledProcessError(process.exitcode, "pass")


if __name__ == "__main__":
    main()
