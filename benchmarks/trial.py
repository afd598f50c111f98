"""Recipes tried on real questions through an endpoint, kept on record before anything is scored.

    python benchmarks/trial.py pick DATA FOLDER [--seed 1]
    python -m benchmarks.trial typed FOLDER
    python benchmarks/trial.py run FOLDER GROUP RECIPE --base-url URL [--model NAME] [--set K=V ...]
    python benchmarks/trial.py score FOLDER
    python benchmarks/trial.py compare FOLDER auto chess-ir-cg-ut

`pick` draws four questions of the demo, four of bird_like with evidence and four of Spider's
`valid` part, in four groups of three, and writes them without gold. `run` asks one group with one
recipe and keeps a recording (which `--replay` plays back) and each answer. `score` reads gold only
then: right answers, calls, tokens, replies that could not be read. Twelve questions say whether
prompts are clear and replies can be read, not how accurate a recipe is. `typed` takes the forty
questions of `benchmarks/typed` instead, in four groups of ten; `compare` sets two recipes that were
run over the same questions side by side: right answers with the paired interval (Newcombe) and
McNemar's test, tokens, and answers over the budget of `--budget`.
"""

from __future__ import annotations

import argparse
import json
import random
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.demo.business import demo_questions, write_business
from sqlwright.events import Event, ModelCalled, ReplyUnreadable
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.spider import load_spider, load_split
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.llm.options import LlmOptions
from sqlwright.prepare import open_workspace
from sqlwright.schema import SchemaView
from sqlwright.spending import parse_budget
from sqlwright.types import Question, State

GROUPS = 4


def pick(data: Path, folder: Path, seed: int) -> None:
    """Draw the questions; gold goes into a file of its own."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    business = folder / "demo.sqlite"
    if not business.exists():
        write_business(business)
    demo = [
        Example(f"demo-{n}", "demo", one.text, one.sql, business)
        for n, one in enumerate(demo_questions())
    ]
    bird = [e for e in load_bird(data / "bird_like").examples if e.evidence]
    valid = load_spider(data / "spider").only(load_split(data).valid, "valid").examples
    sources = [("demo", demo), ("bird", bird), ("spider", list(valid))]
    drawn = [(name, draw.sample(examples, GROUPS)) for name, examples in sources]
    rows, gold = [], {}
    for name, examples in drawn:
        for group, example in enumerate(examples):
            key = f"{name}-{group}"
            gold[key] = {"sql": example.gold_sql, "db_id": example.db_id}
            rows.append({
                "key": key, "group": group, "question": example.question,
                "evidence": example.evidence, "database": str(example.database),
            })  # fmt: skip
    _write(folder / "questions.json", rows)
    _write(folder / "gold.json", gold)


def typed(folder: Path) -> None:
    """The forty typed questions; gold goes into a file of its own."""
    from benchmarks.typed.databases import DATABASES, build_typed

    asked = tomllib.loads(
        (Path(__file__).parent / "typed" / "questions.toml").read_text(encoding="utf-8")
    )
    rows, gold = [], {}
    for name in DATABASES:
        database = build_typed(name, folder.absolute())
        for number, one in enumerate(asked[name]):
            key = f"{name}-{number}"
            gold[key] = {"sql": one["sql"], "db_id": name}
            rows.append({
                "key": key, "group": number % GROUPS, "question": one["question"],
                "evidence": one.get("evidence", ""), "database": str(database),
            })  # fmt: skip
    _write(folder / "questions.json", rows)
    _write(folder / "gold.json", gold)


def compare(folder: Path, first: str, second: str) -> None:
    """Two recipes over the questions that both were asked."""
    gold = _read(folder / "gold.json")
    rows = {row["key"]: row for row in _read(folder / "questions.json")}
    kept = {recipe: _kept(folder, recipe) for recipe in (first, second)}
    keys = [key for key in rows if all(key in answers for answers in kept.values())]
    right: dict[str, list[bool]] = {}
    tokens: dict[str, int] = {}
    for recipe, answers in kept.items():
        told = [answers[key]["answer"] for key in keys]
        right[recipe] = [
            _right(rows[key], gold[key]["sql"], one["sql"])
            for key, one in zip(keys, told, strict=True)
        ]
        used = [one["usage"]["prompt_tokens"] + one["usage"]["reply_tokens"] for one in told]
        tokens[recipe] = sum(used)
        calls = sum(one["usage"]["calls"] for one in told)
        over = sum(_over(answers[key]) for key in keys)
        print(f"{recipe}: right {Share(sum(right[recipe]), len(keys))}, {sum(used):,} tokens, "
              f"{calls:,} calls, {over} over the budget")  # fmt: skip
    pairs = list(zip(right[second], right[first], strict=True))
    split = PairedDifference(
        both=sum(a and b for a, b in pairs),
        gained=sum(b and not a for a, b in pairs),
        lost=sum(a and not b for a, b in pairs),
        neither=sum(not a and not b for a, b in pairs),
    )
    low, high = split.interval
    print(f"{first} against {second}, {len(keys)} questions: {100 * split.value:+.1f} points "
          f"[{100 * low:+.1f}, {100 * high:+.1f}], gained {split.gained}, lost {split.lost}, "
          f"McNemar p {split.p:.3f}; tokens {tokens[first] / max(tokens[second], 1):.3f} "
          f"of {second}'s")  # fmt: skip


def _kept(folder: Path, recipe: str) -> dict[str, Any]:
    """The answers of a recipe by the question's key."""
    outs = (folder / f"{recipe}-{group}" for group in range(GROUPS))
    return {path.stem: _read(path) for out in outs for path in out.glob("*-*.json")}


def _over(kept: Mapping[str, Any]) -> bool:
    """True if an answer took more than it was allowed."""
    usage, budget = kept["answer"]["usage"], parse_budget(kept["budget"] or "1000000000 calls")
    used = usage["prompt_tokens"] + usage["reply_tokens"]
    return (
        (budget.calls is not None and usage["calls"] > budget.calls)
        or (budget.tokens is not None and used > budget.tokens)
        or (budget.cost is not None and (usage["cost"] or 0.0) > budget.cost)
    )


def run(folder: Path, group: int, recipe: str, options: argparse.Namespace) -> None:
    """Ask one group's questions one after another."""
    out = folder / f"{recipe}-{group}"
    out.mkdir(exist_ok=True)
    llm = LlmOptions(cache=False, record=out / "recording.jsonl", timeout=options.timeout)
    for row in _read(folder / "questions.json"):
        path = out / f"{row['key']}.json"
        if row["group"] != group or path.exists():
            continue
        events: list[dict[str, Any]] = []

        def watch(event: Event, seen: list[Any] = events) -> None:
            if isinstance(event, ModelCalled | ReplyUnreadable):
                seen.append({"kind": event.kind, "step": event.step,
                             "cached": getattr(event, "cached", None),
                             "problem": getattr(event, "problem", None)})  # fmt: skip

        with sqlwright.open(
            row["database"], recipe=recipe, overrides=options.set, model=options.model,
            base_url=options.base_url, llm=llm, home=folder / "home",
            budget=options.budget or None,
        ) as session:  # fmt: skip
            answer = session.ask(row["question"], evidence=row["evidence"], on_event=watch)
        kept = {"answer": answer.to_dict(), "events": events, "budget": options.budget}
        _write(path, kept)
        print(row["key"], answer.status, answer.usage.calls, "calls", flush=True)


def score(folder: Path) -> None:
    """What the answers come to, once all are kept."""
    gold = _read(folder / "gold.json")
    rows = {row["key"]: row for row in _read(folder / "questions.json")}
    for out in sorted(path for path in folder.iterdir() if path.is_dir() and path.name != "home"):
        for path in sorted(out.glob("*-*.json")):
            kept = _read(path)
            row, key = rows[path.stem], path.stem
            right = _right(row, gold[key]["sql"], kept["answer"]["sql"])
            bad = Counter(e["step"] for e in kept["events"] if e["kind"] == "malformed")
            usage = kept["answer"]["usage"]
            print(json.dumps({
                "recipe": out.name.rpartition("-")[0], "question": key, "right": right,
                "status": kept["answer"]["status"], "usage": usage, "unread": dict(bad),
                "sql": kept["answer"]["sql"], "gold": gold[key]["sql"],
            }))  # fmt: skip


def _right(row: Mapping[str, Any], gold: str, sql: str | None) -> bool:
    workspace = open_workspace(row["database"])
    try:
        scorer = Scorer(workspace.database, workspace.schema)
        example = Example(row["key"], "", row["question"], gold, Path(row["database"]))
        with sqlwright.open(row["database"], record=False) as session:
            answer = session.sql(sql) if sql else None
        if answer is None:
            return False
        state = State(Question(row["question"]), SchemaView(workspace.schema))
        return scorer.score(example, answer, state, 0.0).right("spider")
    finally:
        workspace.database.close()


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    picking = commands.add_parser("pick")
    picking.add_argument("data", type=Path)
    picking.add_argument("folder", type=Path)
    picking.add_argument("--seed", type=int, default=1)
    running = commands.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("group", type=int)
    running.add_argument("recipe")
    running.add_argument("--base-url", required=True)
    running.add_argument("--model", default="openai-compatible/typed")
    running.add_argument("--timeout", type=float, default=1_500.0)
    running.add_argument("--set", action="append", default=[])
    running.add_argument("--budget", default="")
    typing = commands.add_parser("typed")
    typing.add_argument("folder", type=Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("first")
    comparing.add_argument("second")
    scoring = commands.add_parser("score")
    scoring.add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.command == "pick":
        pick(options.data, options.folder, options.seed)
    elif options.command == "run":
        run(options.folder, options.group, options.recipe, options)
    elif options.command == "typed":
        typed(options.folder)
    elif options.command == "compare":
        compare(options.folder, options.first, options.second)
    else:
        score(options.folder)


if __name__ == "__main__":
    main()
