"""Beams of the parser over databases it never saw, with their executions, one JSON line each.

    python -m training.embedded.critic.data --data DATA --weights WEIGHTS --out beams.jsonl

    python -m training.embedded.critic.data --data DATA --weights FOLD --out fold.jsonl \
        --within 0/2

Runs the recipe's own steps up to selection, so that the critic learns from what it will judge:
questions of `valid` and `calib` with the verdict of Spider's rule on every candidate, and made-up
questions that those databases can't answer. With `--within` the databases of one fold of `fit`
instead, by a parser that was trained without them: it errs there as it will on any other, so which
candidate is right can be learnt from five times as many databases.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cache
from functools import partial as partial_function
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from training.embedded.critic.refusal import Impossible, impossible, without_columns
from training.embedded.own_pairs import load_own_pairs, own_fold
from training.embedded.pairs import Pair, load_pairs
from training.embedded.split import load_split

from sqlwright.candidates import valid
from sqlwright.catalog.encoding import schema_from_data, schema_to_data
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.local.critic.critic import Critic
from sqlwright.local.embedder.onnx import OnnxEmbedder, WordTable
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.linker.linker import Linker
from sqlwright.local.parser.parser import Parser
from sqlwright.local.question.schema import SchemaCache
from sqlwright.local.question.support import support
from sqlwright.local.steps.execution_guided import ExecutionGuidedRepair
from sqlwright.local.steps.generation import EmbeddedGeneration
from sqlwright.local.steps.linking import EmbeddedLinking
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Limits, ModelsByRole, Run, Workspace
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import (
    Candidate,
    Cell,
    ColumnLink,
    ExecutionError,
    ExecutionResult,
    Note,
    Question,
    State,
    TableLink,
    ValueMatch,
)

STEPS = (ValueRetrieval(), EmbeddedLinking(), EmbeddedGeneration(), ExecutionGuidedRepair())
"""The recipe `local` between screening and selection."""


@dataclass(frozen=True)
class Beam:
    """One question as selection meets it, and the truth about it."""

    state: State
    """With the candidates that ran without an error."""
    right: tuple[bool, ...]
    """Per candidate; all false where the question can't be answered."""
    first: bool
    """True if the parser's own first candidate is right."""
    answerable: bool
    part: str
    """valid or calib; fit where the parser was trained on other folds."""
    database: str
    kind: str
    """Source of the question."""


def build(folder: Path, weights: Path, out: Path, *, each: int, seed: int) -> None:
    """Write one line per database with its schema and one per question."""
    split = load_split(folder)
    models = load_models(weights)
    draw = random.Random(seed)
    started = time.perf_counter()
    partial = out.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for part in ("valid", "calib"):
            pairs = [
                pair
                for pair in load_pairs(folder, split, (part,))
                if _path(folder, pair.database).exists()
            ]
            spaces = {
                name: _workspace(folder, name) for name in sorted({pair.database for pair in pairs})
            }
            schemas = {name: space.schema for name, space in spaces.items()}
            for name, schema in schemas.items():
                _write(file, {"schema": name, "data": schema_to_data(schema)})
            asked: list[Pair | Impossible] = list(_sample(pairs, each, draw))
            plain = [pair for pair in pairs if pair.source == "spider"]
            explaining = explains(weights)
            asked += impossible(plain, schemas, explaining, each=each // 2, seed=seed)
            for index, one in enumerate(asked):
                _write(file, _beam(one, spaces[one.database], models, part))
                if index % 100 == 0:
                    print(
                        f"{part} {index}/{len(asked)} {time.perf_counter() - started:.0f} s",
                        flush=True,
                    )
            for space in spaces.values():
                space.database.close()
    partial.replace(out)


def build_crossed(
    folder: Path,
    weights: Path,
    out: Path,
    *,
    each: int,
    seed: int,
    within: str,
    ours: Path | None = None,
    jobs: int = 1,
) -> None:
    """The same of the databases of one fold of `fit`, and with `ours` of the questions of our own
    over them and over the same fold of our databases, in `jobs` processes. Broken off, it goes on
    after the last whole database."""
    split = load_split(folder).within(within)
    pairs = [p for p in load_pairs(folder, split) if _path(folder, p.database).exists()]
    paths = {pair.database: _path(folder, pair.database) for pair in pairs}
    if ours is not None:
        fold = own_fold(ours, within)
        paths |= {name: ours / "databases" / f"{name}.sqlite" for name in fold}
        pairs += [p for p in load_own_pairs(ours, "fit", split) if p.database in paths]
    names = sorted({pair.database for pair in pairs})
    partial = out.with_suffix(".partial")
    done = whole_databases(partial)
    left = [
        (paths[name], list(_sample(own, each, random.Random(f"{seed}/{name}"))))
        for name in names
        if name not in done and (own := [pair for pair in pairs if pair.database == name])
    ]
    left.sort(key=lambda one: -len(one[1]))
    asking = partial_function(_database_beams, weights)
    with ExitStack() as stack:
        found: Iterator[list[str]] = map(asking, left)
        if jobs > 1:
            pool = stack.enter_context(ProcessPoolExecutor(jobs, get_context("spawn")))
            found = (task.result() for task in as_completed([pool.submit(asking, o) for o in left]))
        for index, lines in enumerate(found):
            with partial.open("a", encoding="utf-8") as file:
                file.writelines(lines)
            print(f"{len(done) + index + 1} of {len(names)} databases", flush=True)
    partial.replace(out)


def _database_beams(weights: Path, task: tuple[Path, Sequence[Pair]]) -> list[str]:
    """The lines of a database of `fit` and of questions about it, and one that says that it is
    whole."""
    path, asked = task
    space = open_workspace(str(path), seconds=30.0)
    lines: list[dict[str, Any]] = [{"schema": path.stem, "data": schema_to_data(space.schema)}]
    lines += [_beam(pair, space, _models(weights), "fit") for pair in asked]
    space.database.close()
    return [_line(line) for line in [*lines, {"whole": path.stem}] if line]


def whole_databases(partial: Path) -> set[str]:
    """Databases that are all there; what follows the last of them is cut off."""
    if not partial.exists():
        return set()
    done, end, kept = set(), 0, 0
    with partial.open("rb") as file:
        for line in file:
            end += len(line)
            if line.startswith(b'{"whole"'):
                done.add(str(json.loads(line)["whole"]))
                kept = end
    os.truncate(partial, kept)
    return done


@cache
def _models(weights: Path) -> dict[str, Any]:
    return load_models(weights)


def load_models(weights: Path) -> dict[str, Any]:
    """Linker and parser, which share a word table."""
    words = WordTable.load(weights)
    embedder = OnnxEmbedder.load(weights, words=words)
    return {
        "linker": Linker.load(weights, embedder=embedder, words=words),
        "parser": Parser.load(weights, words=words),
    }


def _workspace(folder: Path, name: str) -> Workspace:
    return open_workspace(str(_path(folder, name)), seconds=30.0)


def _path(folder: Path, name: str) -> Path:
    return folder / "spider" / "database" / name / f"{name}.sqlite"


def _sample(pairs: Sequence[Pair], each: int, draw: random.Random) -> Iterator[Pair]:
    """At most `each` questions of a database; rewordings are at most a third of them, and all of
    our own come besides."""
    for name in sorted({pair.database for pair in pairs}):
        yield from (p for p in pairs if p.database == name and p.source == "own")
        plain = [p for p in pairs if p.database == name and p.source not in ("spider-syn", "own")]
        reworded = [p for p in pairs if p.database == name and p.source == "spider-syn"]
        draw.shuffle(plain)
        draw.shuffle(reworded)
        yield from plain[:each]
        yield from reworded[: each // 2]


def explains(weights: Path) -> Any:
    """A function: how well a schema's names explain the content words of a phrase, in [0, 1]."""
    static = StaticEmbedder.load(weights)
    cache = SchemaCache(static, static)

    def share(schema: Schema, phrase: str) -> float:
        best = support(Question(phrase), cache.encode(schema), (), static).best
        return float(best.mean()) if len(best) else 1.0

    return share


def _beam(
    one: Pair | Impossible, space: Workspace, models: ModelsByRole, part: str
) -> dict[str, Any]:
    removed = one.removed if isinstance(one, Impossible) else frozenset[ColumnRef]()
    if removed:
        space = replace(space, schema=without_columns(space.schema, removed))
    run = Run(seconds=60.0, limits=Limits(seconds=5.0, rows=5_000))
    context = Context(space, run, models)
    state = State(one.question, SchemaView(space.schema))
    for step in STEPS:
        state = step(state, context)
        kept = tuple(match for match in state.values if match.column not in removed)
        state = state.evolve(values=kept)
    ran = [candidate for candidate in state.candidates if valid(candidate)]
    verdicts, first = [False] * len(ran), False
    if isinstance(one, Pair):
        gold = space.database.execute(one.sql, run)
        if not gold.ok:
            return {}
        ordered = orders(one.sql)
        verdicts = [
            spider_match(c.result.rows if c.result else (), gold.rows, ordered=ordered) for c in ran
        ]
        top = max(state.candidates, key=lambda c: c.score, default=None)
        first = any(v for c, v in zip(ran, verdicts, strict=True) if c is top and v)
    return {
        "part": part,
        "database": one.database,
        "kind": one.source if isinstance(one, Pair) else one.kind,
        "answerable": isinstance(one, Pair),
        "removed": sorted(removed),
        "question": one.question.text,
        "evidence": one.question.evidence,
        "values": [asdict(match) for match in state.values],
        "columns": [(*link.column, link.score) for link in state.columns[:60]],
        "tables": [(link.table, link.score) for link in state.tables],
        "candidates": [_candidate_data(candidate) for candidate in ran],
        "right": verdicts,
        "first": first,
    }


def _candidate_data(candidate: Candidate) -> dict[str, Any]:
    result = candidate.result or ExecutionResult()
    return {
        "sql": candidate.sql,
        "source": candidate.source,
        "score": candidate.score,
        "columns": [tuple(ref) for ref in candidate.columns],
        "values": [asdict(match) for match in candidate.values],
        "repaired": candidate.parent is not None,
        "warnings": [(note.kind, note.text) for note in candidate.warnings],
        "names": list(result.columns),
        "rows": [[_plain(cell) for cell in row] for row in result.rows[:1000]],
        "truncated": result.truncated or len(result.rows) > 1000,
        "error": result.error.kind if result.error else None,
    }


def _plain(cell: Cell) -> Cell:
    return cell.hex() if isinstance(cell, bytes) else cell


def _write(file: Any, data: Mapping[str, Any]) -> None:
    if data:
        file.write(_line(data))


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, default=_number) + "\n"


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"not JSON: {value!r}")


def read_beams(path: Path) -> list[Beam]:
    """The beams that `build` wrote."""
    schemas: dict[str, Schema] = {}
    beams = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            data = json.loads(line)
            if "whole" in data:
                continue
            if "schema" in data:
                schemas[data["schema"]] = schema_from_data(data["data"])
            else:
                beams.append(_read_beam(data, schemas[data["database"]]))
    return beams


def _read_beam(data: Mapping[str, Any], schema: Schema) -> Beam:
    removed = frozenset(ColumnRef(*ref) for ref in data["removed"])
    if removed:
        schema = without_columns(schema, removed)
    candidates = tuple(_read_candidate(one) for one in data["candidates"])
    state = State(
        Question(data["question"], data["evidence"]),
        SchemaView(schema),
        values=tuple(map(_read_match, data["values"])),
        columns=tuple(ColumnLink(ColumnRef(t, c), score) for t, c, score in data["columns"]),
        tables=tuple(TableLink(table, score) for table, score in data["tables"]),
        candidates=candidates,
    )
    return Beam(
        state,
        tuple(data["right"]),
        data["first"],
        data["answerable"],
        data["part"],
        data["database"],
        data["kind"],
    )


def _read_candidate(data: Mapping[str, Any]) -> Candidate:
    error = ExecutionError(data["error"], "") if data["error"] else None
    rows = tuple(tuple(row) for row in data["rows"])
    result = ExecutionResult(tuple(data["names"]), rows, error, truncated=data["truncated"])
    parent = Candidate("", data["source"]) if data["repaired"] else None
    return Candidate(
        data["sql"],
        data["source"],
        score=data["score"],
        result=result,
        parent=parent,
        columns=tuple(ColumnRef(*ref) for ref in data["columns"]),
        values=tuple(map(_read_match, data["values"])),
        warnings=tuple(map(_read_note, data["warnings"])),
    )


def _read_note(data: str | Sequence[Any]) -> Note:
    # Beams written before notes had kinds hold texts, each of them of a machine check.
    return Note("replaced", data) if isinstance(data, str) else Note(*data)


def _read_match(data: Mapping[str, Any]) -> ValueMatch:
    span = tuple(data["span"]) if data["span"] else None
    return ValueMatch(
        data["phrase"],
        ColumnRef(*data["column"]),
        data["value"],
        data["score"],
        data["row_count"],
        span,
    )


def describe(beams: Iterable[Beam], critic: Critic) -> list[list[dict[str, float]]]:
    """The critic's features of every beam's candidates."""
    return [
        critic.describe(beam.state, beam.state.candidates)[0] if beam.state.candidates else []
        for beam in beams
    ]


def main() -> None:
    """Build the beams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=110, help="questions per database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", help="a fold of `fit`, such as 0/2, instead")
    parser.add_argument("--own", type=Path, help="folder written by `python -m training.export`")
    parser.add_argument("--jobs", type=int, default=1, help="processes, with --within")
    options = parser.parse_args()
    own = {"each": options.each, "seed": options.seed}
    if options.within:
        folds = {"within": options.within, "ours": options.own, "jobs": options.jobs}
        build_crossed(options.data, options.weights, options.out, **folds, **own)
    else:
        build(options.data, options.weights, options.out, **own)


if __name__ == "__main__":
    main()
