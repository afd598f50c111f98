"""The training sets of CHASE-SQL, CHESS and MSc-SQL, built from what is at hand, with their sizes
beside the papers'.

    python -m benchmarks.finetuning_sets DATA OUT [--set msc-linker] [--sample 500] [--limit N]
        [--beams 0/2=FILE --beams 1/2=FILE] [--tokenizer FOLDER] [--write]

DATA is the folder with spider/, spider_syn/ and bird/. Each set is kept in OUT/NAME, and one that
is there is only read; broken off, the same command goes on. BIRD's training part comes here without
databases: they are made of its schemas, with made-up rows (`finetuning_data.py`). Critic and
selector need candidates of generators that weren't trained on the questions' databases: beams of
parsers by folds, as `python -m training.embedded.critic.data --within FOLD` makes them. A set
whose data isn't there is told, and left out.

`--sample N` draws so many questions of each data set, from every database as it is large.
`--tokenizer` is a folder with tokenizer.json, by which tokens are counted; else they are estimated.
`--write` puts the table between the markers of docs/finetuning.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.finetuning_data import bird_with_made_rows, candidates_of_beams
from benchmarks.marked import write_between
from benchmarks.token_counts import TokenCounter

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.finetuning.building.build import build
from sqlwright.lab.finetuning.building.leakage import WAYS, find_leakage, fingerprints
from sqlwright.lab.finetuning.building.plan import BuildPlan, Source
from sqlwright.lab.finetuning.building.set_folder import RECORD, SetFolder
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.llm.metering import PER_MESSAGE, estimated_tokens

DOC = Path("docs/finetuning.md")
BEGIN = "<!-- papers' sets: begins -->"
END = "<!-- papers' sets: ends -->"


@dataclass(frozen=True)
class PaperSet:
    """A set that a paper trained on."""

    name: str
    role: str
    recipe: str
    sources: tuple[str, ...]
    """Names of data sets, as `SOURCES` has them."""
    paper: str
    """What the paper says of its size."""


SOURCES = ("bird", "spider-syn", "spider")
SETS = (
    PaperSet(
        "msc-linker",
        "linker",
        "msc-tuned",
        ("bird", "spider-syn"),
        "no number; BIRD train (9,428), and by its code Spider-Syn train (7,000)",
    ),
    PaperSet(
        "msc-generator",
        "generator",
        "msc-tuned",
        ("bird", "spider-syn"),
        "no number; the same questions",
    ),
    PaperSet("chess-generator", "generator", "chess-tuned", ("bird",), "about 9,500"),
    PaperSet(
        "msc-critic",
        "critic",
        "msc-tuned",
        ("spider", "spider-syn"),
        "no number; questions of the training set with a right and a wrong query",
    ),
    PaperSet(
        "chase-selector",
        "selector",
        "chase-tuned",
        ("spider", "spider-syn"),
        "3.8K, of BIRD train",
    ),
)
CHOOSING = ("critic", "selector")
LABELS = {
    "linker": {"tables_in_reply": "tables in the reply"},
    "generator": {"injected": "tables added", "hardness": "hardness"},
    "selector": {"completions": "letter"},
}
"""The labels that the table shows of a role, with words for them; all of others."""


@dataclass(frozen=True)
class Built:
    """A set that was built, and the tokens of its examples to train on."""

    paper: PaperSet
    folder: SetFolder
    lengths: list[int]
    """Of each prompt with its right reply."""
    questions: int
    """Given to the builder."""
    seconds: float


def datasets(data: Path, out: Path, sample: str) -> dict[str, tuple[Path, Dataset]]:
    """The data sets that are there, with their folders."""
    found = {}
    bird = bird_with_made_rows(data, out / "bird")
    places = {
        "bird": ("bird", bird, None),
        "spider-syn": ("spider-syn", data / "spider_syn", None),
        "spider": ("spider", data / "spider", "fit"),
    }
    for name, (loader, folder, split) in places.items():
        if folder is None or not folder.is_dir():
            continue
        selection = Selection(split=split, sample=sample, by="database" if sample else "")
        dataset = load_dataset(loader, folder, selection)
        found[name] = folder, replace(dataset, name=f"{name}-{dataset.name}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Build what can be built, print the table."""
    options = _options(arguments)
    there = datasets(options.data, options.out, options.sample)
    dev = load_dataset("spider", options.data / "spider", Selection(split="dev"))
    like = load_dataset("bird", options.data / "bird_like")
    leaks = {
        leak.trained: f"{leak.trained} ({WAYS[leak.way]} as {leak.evaluated} of {measured.name})"
        for _, dataset in there.values()
        for marks in [fingerprints(dataset)]
        for measured in (dev, like)
        for leak in find_leakage(dataset, measured, marks)
    }
    candidates = list(_candidates(options, {name: one for name, (_, one) in there.items()}))
    built, lacking = [], []
    for paper in SETS:
        if options.set and paper.name not in options.set:
            continue
        if missing := [name for name in paper.sources if name not in there]:
            lacking.append(f"{paper.name}: {', '.join(missing)} isn't in {options.data}")
            continue
        if paper.role in CHOOSING and not candidates:
            lacking.append(f"{paper.name}: it needs candidates, --beams")
            continue
        plan = BuildPlan(
            role=paper.role,
            datasets=[
                Source(f"{name}:{folder}", dataset)
                for name in paper.sources
                for folder, dataset in [there[name]]
            ],
            recipe=paper.recipe,
            out=options.out / paper.name,
            held_out=[dev, like],
            share_held_out=0.1,
            limit=options.limit,
            candidates=candidates if paper.role in CHOOSING else (),
            without=sorted(
                {one for name in paper.sources for one in there[name][1].db_ids} & set(leaks)
            ),
        )
        built.append(_built(paper, plan, options.tokenizer))
    lines = [*_table(built), "", *_left_out(leaks), *(f"Not built: {line}." for line in lacking)]
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    if options.write:
        write_between(DOC, BEGIN, END, text)


def _built(paper: PaperSet, plan: BuildPlan, tokenizer: Path | None) -> Built:
    began = time.monotonic()
    there = (plan.out / RECORD).exists()
    folder = SetFolder.open(plan.out) if there else build(plan, progress=_told(paper.name))
    seconds = 0.0 if there else time.monotonic() - began
    asked = sum(
        one.db_id not in plan.without for source in plan.datasets for one in source.dataset.examples
    )
    counter = None if tokenizer is None else TokenCounter.load(tokenizer)
    lengths = [_tokens(one, counter) for one in folder.examples()]
    return Built(paper, folder, lengths, min(asked, plan.limit or asked), seconds)


def _tokens(example: TrainingExample, counter: TokenCounter | None) -> int:
    """Of a prompt and its right reply; without a counter estimated."""
    texts = [" ".join(turn.text for turn in example.messages), example.completion]
    counted = counter.counts(texts) if counter else (estimated_tokens([text]) for text in texts)
    return sum(counted) + PER_MESSAGE * (len(example.messages) + 1)


def _told(name: str) -> Any:
    def progress(done: int, total: int) -> None:
        if done % 100 == 0 or done == total:
            print(f"{name}: {done} of {total}", flush=True)

    return progress


def _candidates(options: argparse.Namespace, sources: dict[str, Dataset]) -> Iterator[Path]:
    """Files of candidates made of beams."""
    for named in options.beams:
        fold, _, path = named.partition("=")
        out = options.out / f"candidates-{fold.replace('/', '-')}.jsonl"
        counted = candidates_of_beams(options.data, Path(path), fold, out, sources)
        print(f"{out}: {dict(counted)}", flush=True)
        yield out


def _table(built: Sequence[Built]) -> Iterator[str]:
    yield (
        "| set | the paper | questions | examples, of them held out | databases | tokens, mean and "
        "95th percentile | longest | labels | left out |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in built:
        about = one.folder.about
        lengths = sorted(one.lengths)
        train = len(lengths)
        held = sum(1 for _ in one.folder.held_out.open(encoding="utf-8"))
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in about.skipped.items())
        databases = len(about.databases["train"]) + len(about.databases["held_out"])
        yield (
            f"| `{one.paper.name}` | {one.paper.paper} | {one.questions:,} | {train + held:,}, "
            f"{held:,} | {databases} | {mean(lengths):,.0f}, "
            f"{lengths[int(0.95 * train)]:,} | {lengths[-1]:,} | {_labels(one)} | "
            f"{skipped or 'none'} |"
        )


def _left_out(leaks: Mapping[str, str]) -> Iterator[str]:
    """The databases that are left out because something is measured on them."""
    plain = [name for name, told in leaks.items() if "same name" in told]
    others = [told for told in leaks.values() if "same name" not in told]
    yield (
        f"Left out because something is measured on them: {len(plain)} databases of that name, and "
        f"{'; '.join(others) or 'no other'}. A check of the rest found no leakage."
    )
    yield ""


def _labels(one: Built) -> str:
    """The balance of labels in a few words."""
    told = one.folder.about.statistics["train"]["balance"].get(one.paper.role, {})
    kinds = LABELS.get(one.paper.role, {name: name.replace("_", " ") for name in told})
    return "; ".join(
        f"{words}: {', '.join(f'{label} {count:,}' for label, count in told[name].items())}"
        for name, words in kinds.items()
        if name in told
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--set", action="append", choices=[one.name for one in SETS])
    parser.add_argument("--sample", default="")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--beams", action="append", default=[], metavar="FOLD=FILE")
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
