"""Answers that leave a condition of the question out: how many are shown as if they were right.

    python -m benchmarks.left_out DATA [--count 500] [--own FOLDER] [--out FILE]

DATA is a folder with spider/. From each right query over databases that nothing was trained on
(`valid` of the split, then `calib`) one condition is deleted, where that changes the rows; `--own`
takes the pairs of files such as training/data/questions/*.jsonl, their databases made by
`training.script`. What is left is given to the recipe `local` twice: as the only candidate, and as
the parser's first. Told are the answers shown under a half or repaired (the right rows are shown
instead), and of the right queries, given the same two ways, those that stop being the answer shown.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training.embedded.pairs import Pair, load_pairs
from training.embedded.split import load_split

from sqlwright.errors import SqlwrightError, UnsupportedQuery
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.walking import exchanged, selects
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import WrittenForm
from sqlwright.local.models import EmbeddedModels
from sqlwright.local.steps.critic import CriticSelection
from sqlwright.local.steps.execution_guided import ExecutionGuidedRepair
from sqlwright.local.steps.generation import EmbeddedGeneration
from sqlwright.local.steps.linking import EmbeddedLinking
from sqlwright.local.steps.veto import VetoRepair
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Limits, Run, Workspace
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Candidate, Question, State

READ = (ValueRetrieval(), EmbeddedLinking())
WRITE = EmbeddedGeneration()
JUDGE = (ExecutionGuidedRepair(), VetoRepair(), CriticSelection())
"""The steps of the recipe `local` before, at and after the one that writes candidates."""
WAYS = ("alone", "first")
HALF = 0.5


@dataclass(frozen=True)
class Shown:
    """What became of a query that was given as the answer's."""

    way: str
    confidence: float
    """0 where the answer was refused."""
    right: bool
    """True if the rows shown are the gold query's."""
    sql: str

    @property
    def caught(self) -> bool:
        """True if it is shown under a half or repaired."""
        return self.right or self.confidence < HALF


def without_one(form: f.Query) -> Iterator[tuple[str, f.Query]]:
    """The query without one of its conditions, for each of them, and the kind of condition."""
    for select in selects(form):
        for name in ("where", "having"):
            whole = getattr(select, name)
            parts = whole.operands if isinstance(whole, f.And) else (whole,) if whole else ()
            for place, part in enumerate(parts):
                kept = (*parts[:place], *parts[place + 1 :])
                rest = f.And(kept) if len(kept) > 1 else kept[0] if kept else None
                yield kind_of(part, name), exchanged(form, select, replace(select, **{name: rest}))
    if isinstance(form, f.SetOperation) and form.operator in {"intersect", "except"}:
        yield form.operator, form.left


def kind_of(part: f.Condition, clause: str) -> str:
    """The kind of a condition, for the report."""
    if clause == "having":
        return "having"
    if isinstance(part, f.Comparison) and isinstance(part.right, f.Literal):
        kind = "text" if isinstance(part.right.value, str) else "number"
        return f"{kind} {part.operator}" if part.operator in {"=", "!="} else "range"
    return type(part).__name__.casefold()


def state_of(question: Question, space: Workspace, context: Context) -> State:
    """The question with its values and links."""
    state = State(question, SchemaView(space.schema))
    for step in READ:
        state = step(state, context)
    return state


def shown(
    sql: str, state: State, beam: Sequence[Candidate], context: Context, gold: Rows
) -> Iterator[Shown]:
    """What is shown of a query as the only candidate and as the first of a beam."""
    top = max((one.score for one in beam), default=-0.5)
    schema = context.workspace.schema
    first = Candidate(
        sql, "generation.embedded", score=top + 0.5, form=WrittenForm(read_sql(sql, schema))
    )
    from sqlwright.candidates import grounded

    first = grounded(first, state.values, schema)
    others = [one for one in beam if one.sql != sql]
    for way, pool in (("alone", [first]), ("first", [first, *others])):
        after = state.evolve(candidates=tuple(pool))
        for step in JUDGE:
            after = step(after, context)
        chosen = after.selected
        if after.refusal is not None or chosen is None or chosen.result is None:
            yield Shown(way, 0.0, False, "")
            continue
        right = gold.same(chosen)
        yield Shown(way, after.confidence or 0.0, right, chosen.sql)


@dataclass(frozen=True)
class Rows:
    """The gold query's rows, and whether their order counts."""

    rows: tuple[tuple[Any, ...], ...]
    ordered: bool

    def same(self, one: Candidate) -> bool:
        result = one.result
        return (
            result is not None
            and result.ok
            and spider_match(result.rows, self.rows, ordered=self.ordered)
        )


def cases(
    pairs: Iterable[Pair], open_one: Callable[[str], Workspace], models: EmbeddedModels, count: int
) -> Iterator[dict[str, Any]]:
    """Each condition that can be deleted: what is shown without it, and with it."""
    done = 0
    spaces: dict[str, Workspace] = {}
    for pair in pairs:
        if done >= count:
            return
        if pair.database not in spaces:
            spaces[pair.database] = open_one(pair.database)
        space = spaces[pair.database]
        run = Run(seconds=60.0, limits=Limits(seconds=5.0, rows=5_000))
        context = Context(space, run, models)
        for case in cases_of(pair, space, context):
            done += 1
            yield case


def cases_of(pair: Pair, space: Workspace, context: Context) -> Iterator[dict[str, Any]]:
    """One case for each condition whose deletion changes the rows."""
    found = list(deleted(pair, space, context))
    if not found:
        return
    state = state_of(pair.question, space, context)
    beam = WRITE(state, context).candidates
    _, _, whole, gold = found[0]
    with_it = [vars_of(one) for one in shown(whole, state, beam, context, gold)]
    for kind, sql, _, _ in found:
        yield {
            "database": pair.database,
            "question": pair.question.text,
            "evidence": pair.question.evidence,
            "kind": kind,
            "gold": whole,
            "left": sql,
            "without": [vars_of(one) for one in shown(sql, state, beam, context, gold)],
            "with": with_it,
        }


def deleted(pair: Pair, space: Workspace, context: Context) -> Iterator[tuple[str, str, str, Rows]]:
    """The kind of condition, the query without it, the whole query, and its rows."""
    schema: Schema = space.schema
    try:
        form = read_sql(pair.sql, schema)
        whole = write_sql(form, schema)
    except UnsupportedQuery:
        return
    result = space.database.execute(whole, context.run)
    if not result.ok or not result.rows:
        return
    gold = Rows(result.rows, orders(pair.sql))
    for kind, other in without_one(form):
        try:
            sql = write_sql(other, schema)
            read_sql(sql, schema)
        except (UnsupportedQuery, SqlwrightError):
            continue
        left = space.database.execute(sql, context.run)
        if left.ok and not spider_match(left.rows, gold.rows, ordered=gold.ordered):
            yield kind, sql, whole, gold


def vars_of(one: Shown) -> dict[str, Any]:
    """One outcome as JSON types."""
    return {"way": one.way, "sure": one.confidence, "right": one.right, "sql": one.sql}


def report(title: str, found: Sequence[dict[str, Any]]) -> None:
    """The two shares of the two ways, and by the kind of condition."""
    print(f"{title}: {len(found)} queries")
    for place, way in enumerate(WAYS):
        without = [one["without"][place] for one in found]
        asked = {(one["question"], one["gold"]): one["with"][place] for one in found}
        with_it = list(asked.values())
        caught = sum(one["right"] or one["sure"] < HALF for one in without)
        kept = sum(one["right"] for one in with_it)
        print(f"{way}: left out, under a half or repaired: {Share(caught, len(found))}")
        repaired = sum(one["right"] for one in without)
        print(f"  repaired {Share(repaired, len(found))}")
        print(f"  right, no longer shown: {Share(len(with_it) - kept, len(with_it))}")
        doubted = sum(one["right"] and one["sure"] < HALF for one in with_it)
        print(f"  right, shown under a half: {Share(doubted, len(with_it))}")
        missed = Counter(
            one["kind"]
            for one in found
            if not (one["without"][place]["right"] or one["without"][place]["sure"] < HALF)
        )
        total = Counter(one["kind"] for one in found)
        print("  missed:", ", ".join(f"{k} {n}/{total[k]}" for k, n in missed.most_common()))


def own_pairs(folder: Path) -> list[Pair]:
    """The pairs of files with one JSON object a line."""
    return [
        Pair(Question(row["question"], row["evidence"]), row["sql"], row["database"], "own")
        for path in sorted(folder.glob("*.jsonl"))
        for row in map(json.loads, path.read_text("utf-8").splitlines())
    ]


def spider_file(data: Path, name: str) -> Path:
    """The file of one of Spider's databases."""
    return data / "spider" / "database" / name / f"{name}.sqlite"


def main() -> None:
    """Delete, present, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--own", type=Path, help="a folder of pairs")
    parser.add_argument("--databases", type=Path, help="a folder with their databases")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    models = EmbeddedModels()
    if options.own:
        pairs = own_pairs(options.own)

        def open_one(name: str) -> Workspace:
            return open_workspace(str(options.databases / f"{name}.sqlite"), seconds=30.0)
    else:
        split = load_split(options.data)
        pairs = []
        for part in ("valid", "calib"):
            some = [
                one
                for one in load_pairs(options.data, split, (part,))
                if one.source != "archer" and spider_file(options.data, one.database).exists()
            ]
            random.Random(part).shuffle(some)
            some.sort(key=lambda one: one.source != "spider")
            pairs += some

        def open_one(name: str) -> Workspace:
            return open_workspace(str(spider_file(options.data, name)), seconds=30.0)

    found = list(cases(pairs, open_one, models, options.count))
    if options.out:
        lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in found)
        options.out.write_text("".join(lines), encoding="utf-8")
    report("own" if options.own else "Spider's valid and calib", found)


if __name__ == "__main__":
    main()
