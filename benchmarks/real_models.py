"""Recipes with a small real language model on questions with gold, paired question by question.

    python -m benchmarks.real_models --model FILE.gguf --data spider:DIR:dev --out OUT.jsonl
        [--n 120] [--seed 3] [--recipes baseline,chess-ir-ss-cg,msc,auto,local] [--minutes 60]
        [--set RECIPE:KEY=VALUE ...] [--whole RECIPE ...] [--python PYTHON_WITH_XLLAMACPP]
        [--server "--slots 1"]
    python -m benchmarks.real_models --out OUT.jsonl --summary

Every question is asked by every recipe before the next question is, so that the pairs are whole
whenever it is stopped; a second run goes on where the first was. A recipe may be given another name
and changes (`short=chess-ir-ss-cg` with `--set short:retrieval.context.enabled=false`), which is
how the part of each step is found; one that `--whole` names shows the model whole prompts, as if it
weren't small. Nothing is cached and embedded models don't answer in the model's place (`auto` and
`local` are they). OUT holds a line of JSON for each question and recipe: right by the data set's
rule, the query, calls, tokens, seconds and both by step, notes. The summary has 95 % intervals, and
each recipe against `baseline` and `local` on the questions that both were asked: gained, lost,
difference (Newcombe), McNemar's exact test. `--base-url` asks a server that runs already. The
figures are those of one small model in four bits, and say nothing of large ones.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.small_models import served

import sqlwright
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.evaluation.intervals import PairedDifference, Share
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.llm.options import LlmOptions

WITHOUT_MODEL = ("local", "local-unscored")
AGAINST = ("baseline", "local")
QUESTION_SECONDS = 900.0
Records = dict[tuple[str, str], dict[str, Any]]


def read(path: Path) -> Records:
    """Records by recipe and question; half a line at the end is left out."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records: Records = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        records[record["recipe"], record["id"]] = record
    return records


def drawn(data: str, count: int, seed: int) -> list[Example]:
    """The sample; the same seed gives the same questions first whatever their number."""
    name, _, rest = data.partition(":")
    folder, _, split = rest.partition(":")
    examples = load_dataset(name, Path(folder), Selection(split=split or None)).examples
    order = random.Random(seed)
    return order.sample(list(examples), len(examples))[:count]


def ask(example: Example, name: str, recipe: str, given: argparse.Namespace, url: str) -> Any:
    """One record."""
    overrides = [part.partition(":")[2] for part in given.set if part.startswith(f"{name}:")]
    own = recipe in WITHOUT_MODEL
    whole = (("small", False),) if name in given.whole else ()
    with sqlwright.open(
        example.database,
        recipe=recipe,
        overrides=overrides,
        model="" if own else given.name,
        base_url="" if own else url,
        llm=LlmOptions(cache=False, record=given.record, capabilities=whole),
        home=given.out.parent / "home",
        seconds=QUESTION_SECONDS,
        stand_in=False,
        record=False,
    ) as session:
        started = time.perf_counter()
        answer = session.ask(example.question, evidence=example.evidence)
        seconds = time.perf_counter() - started
        judge = Scorer(session.workspace.database, session.workspace.schema).judge(example)
        answered = answer.sql if answer.status == "answered" else None
        return {
            "recipe": name,
            "id": example.id,
            "db_id": example.db_id,
            "question": example.question,
            "gold": example.gold_sql,
            "sql": answer.sql,
            "status": answer.status,
            "message": answer.message,
            "right": None if judge is None else bool(answered and judge(answered)),
            "confidence": answer.confidence,
            "answered_by": answer.answered_by,
            "seconds": round(seconds, 2),
            "usage": asdict(answer.usage),
            "steps": {step: asdict(usage) for step, usage in answer.usage_by_step.items()},
            "times": {each.step: round(each.seconds, 2) for each in answer.times},
            "notes": [str(note) for note in answer.warnings],
        }


def run(given: argparse.Namespace, url: str) -> None:
    """Ask what isn't in the file yet, until the time is over."""
    done, until = read(given.out), time.monotonic() + 60 * given.minutes
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("a", encoding="utf-8") as out:
        if given.out.stat().st_size and not given.out.read_bytes().endswith(b"\n"):
            out.write("\n")
        for number, example in enumerate(drawn(given.data, given.n, given.seed), start=1):
            for each in given.recipes.split(","):
                name, _, recipe = each.partition("=")
                if (name, example.id) in done:
                    continue
                if time.monotonic() > until:
                    return
                record = ask(example, name, recipe or name, given, url)
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
                out.flush()
                told = {None: "no gold", True: "right", False: "wrong"}[record["right"]]
                print(f"{number} {name}: {told}, {record['status']}, {record['seconds']:.0f} s, "
                      f"{record['usage']['calls']} calls", flush=True)  # fmt: skip


def summary(records: Records) -> str:
    """Tables of all recipes."""
    by_recipe: dict[str, dict[str, Any]] = {}
    for (recipe, question), record in records.items():
        if record["right"] is not None:
            by_recipe.setdefault(recipe, {})[question] = record
    lines = [
        "| recipe | right | not answered | calls | prompt tokens | reply tokens | seconds, median "
        "and longest |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_line(name, list(found.values())) for name, found in by_recipe.items()]
    lines += ["", "| recipe | against | questions | gained | lost | points | McNemar p |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, found in by_recipe.items():
        lines += [
            _pair_line(name, found, other, by_recipe[other])
            for other in AGAINST
            if other in by_recipe and other != name
        ]
    lines += ["", "Tokens by step, a question:"]
    for name, found in by_recipe.items():
        lines += _step_lines(name, list(found.values()))
    return "\n".join(lines)


def _line(name: str, found: Sequence[Mapping[str, Any]]) -> str:
    usage = [record["usage"] for record in found]
    means = [
        statistics.fmean(each[part] for each in usage)
        for part in ("calls", "prompt_tokens", "reply_tokens")
    ]
    seconds = [record["seconds"] for record in found]
    missed = sum(record["status"] != "answered" for record in found)
    return (
        f"| {name} | {Share(sum(record['right'] for record in found), len(found))} | {missed} | "
        f"{means[0]:.1f} | {means[1]:,.0f} | {means[2]:,.0f} | {statistics.median(seconds):.0f}, "
        f"{max(seconds):.0f} |"
    )


def _pair_line(
    name: str, found: Mapping[str, Any], other: str, before: Mapping[str, Any]
) -> str:  # fmt: skip
    pairs = Counter(
        (before[question]["right"], found[question]["right"])
        for question in found.keys() & before.keys()
    )
    split = PairedDifference(
        pairs[True, True], pairs[False, True], pairs[True, False], pairs[False, False]
    )
    low, high = split.interval
    return (
        f"| {name} | {other} | {split.total} | {split.gained} | {split.lost} | "
        f"{100 * split.value:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}] | {split.p:.3f} |"
    )


def _step_lines(name: str, found: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    total: Counter[tuple[str, str]] = Counter()
    for record in found:
        for step, usage in record["steps"].items():
            for part in ("calls", "prompt_tokens", "reply_tokens"):
                total[step, part] += usage[part]
    for step in sorted({step for step, _ in total}):
        calls, prompt, reply = (
            total[step, part] / len(found) for part in ("calls", "prompt_tokens", "reply_tokens")
        )
        yield f"  {name} {step}: {calls:.1f} calls, {prompt:,.0f} and {reply:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--base-url", default="")
    parser.add_argument("--name", default="openai-compatible/qwen")
    parser.add_argument("--data", default="")
    parser.add_argument("--n", type=int, default=120)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--recipes", default="baseline,chess-ir-ss-cg,msc,auto,local")
    parser.add_argument("--set", action="append", default=[], metavar="RECIPE:KEY=VALUE")
    parser.add_argument("--whole", action="append", default=[], metavar="RECIPE")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--record", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--server", default="", help="options of small_models serve")
    parser.add_argument("--summary", action="store_true", help="ask nothing")
    given = parser.parse_args()
    if not given.summary:
        log = given.out.with_suffix(".log")
        given.out.parent.mkdir(parents=True, exist_ok=True)
        server = (
            nullcontext(given.base_url)
            if given.base_url
            else served(given.model, *given.server.split(), log=log, python=given.python)
        )
        with server as url:
            run(given, url)
    print(summary(read(given.out)))


if __name__ == "__main__":
    main()
