"""The shares of broken queries that the schema mends rightly, wrongly, and leaves.

    python -m benchmarks.mended DATA --part train --golds 400 --seed 1 [--shown 20]

Gold queries of Spider (DATA/spider) are broken in the ways of small language models: a join left
out, its columns kept; a column given to another source; another table in FROM; a table or column in
the plural or without its underscores; another dialect's LIMIT. What still runs isn't counted. A
broken query is mended by `steps/repair/by_schema.py` with the question beside it, and is right if
it gives gold's result. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.query_mutants import parsed
from sqlglot import exp

from sqlwright.candidates import execute, same_result, valid
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.repair.by_schema import mended
from sqlwright.types import Candidate, Question, State


def broken(sql: str, schema: Schema, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Queries that a gold query becomes, each with what was done."""
    tree = parsed(sql)
    if tree is None:
        return
    for what, change in KINDS.items():
        copy = tree.copy()
        if change(copy, schema, chance):
            text = copy.sql(dialect="tsql" if what == "other dialect" else "sqlite")
            yield what, text


def _selects(tree: exp.Expr) -> list[exp.Select]:
    return list(tree.find_all(exp.Select))


def _joined(tree: exp.Expr, chance: random.Random) -> tuple[exp.Select, exp.Join, str] | None:
    found = [
        (select, join, join.this.alias_or_name)
        for select in _selects(tree)
        for join in select.args.get("joins") or ()
        if isinstance(join.this, exp.Table)
    ]
    return chance.choice(found) if found else None


def _drop(tree: exp.Expr, chance: random.Random, qualifier: str | None) -> bool:
    """A join is left out; its columns keep their source's name or get another one."""
    found = _joined(tree, chance)
    # Without its sources, a condition of another join would compare columns with themselves.
    if found is None or (qualifier == "none" and len(found[0].args["joins"]) > 1):
        return False
    select, join, alias = found
    table = join.this.name
    join.pop()
    start = select.args.get("from_") or select.args.get("from")
    for column in select.find_all(exp.Column):
        if column.table.lower() == alias.lower() and column.parent_select is select:
            name = {"none": None, "table": table, "start": start.this.alias_or_name}.get(
                qualifier or "", column.table
            )
            column.set("table", exp.to_identifier(name) if name else None)
        elif qualifier == "none":
            column.set("table", None)
    return True


def _other_source(tree: exp.Expr, schema: Schema, chance: random.Random) -> bool:
    """A column is given to another source of the same SELECT."""
    del schema
    found = _joined(tree, chance)
    if found is None:
        return False
    select, _, alias = found
    start = (select.args.get("from_") or select.args.get("from")).this.alias_or_name
    columns = [
        one
        for one in select.find_all(exp.Column)
        if one.table and one.find_ancestor(exp.Join) is None and one.parent_select is select
    ]
    if not columns:
        return False
    column = chance.choice(columns)
    new = start if column.table.lower() != start.lower() else alias
    column.set("table", exp.to_identifier(new))
    return True


def _other_table(tree: exp.Expr, schema: Schema, chance: random.Random) -> bool:
    """The only table of a query becomes another one."""
    tables = list(tree.find_all(exp.Table))
    rest = [one.name for one in schema.tables if one.name.lower() != tables[0].name.lower()]
    if len(tables) != 1 or not rest:
        return False
    tables[0].set("this", exp.to_identifier(chance.choice(rest)))
    return True


def _table_number(tree: exp.Expr, schema: Schema, chance: random.Random) -> bool:
    """A table gets or loses an s, wherever it is read."""
    del schema
    names = sorted({one.name for one in tree.find_all(exp.Table)})
    name = chance.choice(names)
    new = name[:-1] if name.endswith("s") else f"{name}s"
    for one in tree.find_all(exp.Table):
        if one.name == name:
            one.set("this", exp.to_identifier(new))
    for column in tree.find_all(exp.Column):
        if column.table == name:
            column.set("table", exp.to_identifier(new))
    return True


def _column_spelling(tree: exp.Expr, schema: Schema, chance: random.Random) -> bool:
    """A column gets an s or loses its underscores."""
    del schema
    columns = [one for one in tree.find_all(exp.Column) if not isinstance(one.this, exp.Star)]
    if not columns:
        return False
    name = chance.choice(columns).name
    new = name.replace("_", "") if "_" in name and chance.random() < 0.7 else f"{name}s"
    for one in columns:
        if one.name == name:
            one.set("this", exp.to_identifier(new))
    return True


def _limited(tree: exp.Expr, schema: Schema, chance: random.Random) -> bool:
    del schema, chance
    return tree.args.get("limit") is not None and isinstance(tree, exp.Select)


OUTCOMES = ("right", "wrong", "left")
KINDS = {
    "join left out": lambda tree, _, chance: _drop(tree, chance, None),
    "join left out, no sources": lambda tree, _, chance: _drop(tree, chance, "none"),
    "join left out, by table": lambda tree, _, chance: _drop(tree, chance, "table"),
    "join left out, wrong source": lambda tree, _, chance: _drop(tree, chance, "start"),
    "column of another source": _other_source,
    "another table": _other_table,
    "number of a table": _table_number,
    "spelling of a column": _column_spelling,
    "other dialect": _limited,
}


def main() -> None:
    """Print the shares by what was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", default="train", choices=("train", "dev"))
    parser.add_argument("--golds", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=0, help="wrong ones to show")
    options = parser.parse_args()
    dataset = load_spider(options.data / "spider", split=options.part)
    examples = [one for one in dataset.examples if one.database.exists()]
    chance = random.Random(options.seed)
    chance.shuffle(examples)
    chosen = defaultdict(list)
    for example in examples[: options.golds]:
        chosen[example.database].append(example)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    shown: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for path, own in sorted(chosen.items()):
            workspace = open_workspace(str(path), folder=Path(folder) / path.stem)
            for example in own:
                for what, sql in broken(example.gold_sql, workspace.schema, chance):
                    came = _came(sql, example.gold_sql, example.question, workspace)
                    if came is None:
                        continue
                    outcome, new = came
                    counts[what][outcome] += 1
                    if outcome in {"wrong", "left"}:
                        shown.append(
                            f"{outcome}: {what}\n  {example.question}\n  gold   "
                            f"{example.gold_sql}\n  broken {sql}\n  mended {new.sql}\n  {new.note}"
                        )
            workspace.database.close()
    for what, found in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        total = found.total()
        told = ", ".join(
            f"{kind} {Share(found[kind], total)}" for kind in ("right", "wrong", "left")
        )
        print(f"{what:30} n {total:5}  {told}")
    shown.sort(reverse=True)
    print("\n".join(shown[: options.shown]))


def _came(sql: str, gold: str, question: str, workspace: Workspace) -> tuple[str, Candidate] | None:
    """The outcome of mending a query; None where it runs as it is, or gold doesn't."""
    context = Context(workspace, Run())
    ran = [Candidate(gold, "gold"), Candidate(sql, "test")]
    right, failed = execute(ran, workspace.database, context.run)
    if valid(failed) or not valid(right):
        return None
    new = mended(failed, State(Question(question), SchemaView(workspace.schema)), context)
    if new is failed:
        return "left", new
    return ("right" if same_result(new, right) else "wrong"), new


if __name__ == "__main__":
    main()
