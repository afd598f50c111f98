"""Take changed prompts over into the transcripts, and add recordings as transcripts.

    python -m tests.transcripts
    python -m tests.transcripts add RECORDING ... --database demo --recipe R --question Q
        [--evidence E] [--set K=V ...] [--gold SQL | --right | --wrong] [--today YYYY-MM-DD]

The first plays every transcript with the replies it has, shows how the prompts differ from those
the replies were typed for, and stores the new ones. An answer that changed isn't stored: look at
what changed, then say `--answers`. With `--dry-run` nothing is stored.

`add` takes what a recording (`--record`, or `benchmarks/trial.py`) holds of one question. The
database is the demo's, one of tests/databases, or a small one dumped as SQL into
tests/cases/transcripts (NAME.duckdb.sql for one of DuckDB's). `--gold` says what was right; the
rows decide.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from sqlwright.demo.business import demo_questions
from sqlwright.llm.keeping.recording import read_recording
from sqlwright.messages import Capabilities
from tests.transcripts.played import Played, differences, play
from tests.transcripts.stored import (
    FOLDER,
    Exchange,
    Transcript,
    load,
    prompt_of_form,
    sample_from,
    save,
)

ABOUT_DATABASE = ("generation.make_examples", "schema_linking.summarise_tables")
"""Steps with prompts that show no question; those that aren't asked again are dropped."""


def update(folder: Path, *, answers: bool, dry_run: bool) -> int:
    """Take over the prompts of now. Returns how many transcripts lead to another answer."""
    with tempfile.TemporaryDirectory() as made:
        played = [play(each, Path(made), lenient=True) for each in load(folder)]
    kept = [_told(each, answers=answers) for each in played]
    for line in differences(played):
        print(line)
    changed = sum(any(asked.changed for asked in each.asked) for each in played)
    print(f"{changed} of {len(played)} transcripts have prompts that changed")
    if not dry_run:
        save(kept, folder)
    return sum(_stored_outcome(each) != each.outcome for each in played)


def add(options: argparse.Namespace, folder: Path) -> int:
    """Store one question of recordings. Returns 1 if it leads to nothing as it stands."""
    exchanges, can = recorded(options.recording, options.question)
    newest = max(path.stat().st_mtime for path in options.recording)
    gold = options.gold
    if gold is None and options.right is None and options.database == "demo":
        gold = next((one.sql for one in demo_questions() if one.text == options.question), None)
    if gold is None and options.right is None:
        print("say what was right: --gold SQL, --right or --wrong", file=sys.stderr)
        return 2
    transcript = Transcript(
        question=options.question,
        evidence=options.evidence,
        database=options.database,
        recipe=options.recipe,
        overrides=tuple(options.set),
        today=options.today or date.fromtimestamp(newest).isoformat(),
        capabilities=can,
        gold=gold,
        right=bool(options.right),
        status="",
        sql=None,
        exchanges=tuple(exchanges),
    )
    with tempfile.TemporaryDirectory() as made:
        played = play(transcript, Path(made), lenient=True)
    for line in differences([played]):
        print(line)
    kept = _told(played, answers=True)
    if all(asked.before is None for asked in played.asked):
        print("the recording has no reply to any of its prompts; nothing was stored")
        return 1
    save([*(each for each in load(folder) if each.name != kept.name), kept], folder)
    verdict = "right" if kept.right else "wrong"
    print(
        f"stored {kept.name}: {kept.status}, {verdict}, {len(kept.exchanges)} replies\n{kept.sql}"
    )
    return 0


def recorded(paths: Sequence[Path], question: str) -> tuple[list[Exchange], Capabilities]:
    """What recordings hold of the prompts that name a question, and what their model can do.

    Raises ConfigError for a file that is no recording."""
    exchanges: dict[tuple[str, int, str], Exchange] = {}
    can = Capabilities(remote=False)
    for path in paths:
        can = next(iter(read_recording(path).models.values()), can)
        for line in _requests(path):
            prompt = prompt_of_form(line["request"])
            step = line["request"].get("step", "")
            for reply in line["replies"] if question in prompt or step in ABOUT_DATABASE else ():
                seed = line["request"]["seed"] + reply["sample"]
                each = Exchange(step, seed, prompt, sample_from(reply))
                exchanges[each.key] = each
    return list(exchanges.values()), can


def _requests(path: Path) -> Iterator[dict[str, Any]]:
    for text in path.read_text("utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:  # the last one, cut short
            continue
        if "messages" in line.get("request", {}):
            yield line


def _told(played: Played, *, answers: bool) -> Transcript:
    """The transcript as it is to be stored; says what is odd about it."""
    name = played.transcript.name
    for each in played.unmatched:
        print(f"{name}: {each.step}, seed {each.seed}: no reply was typed for this prompt")
    for each in played.unasked:
        print(f"{name}: {each.step}, seed {each.seed}: not asked any more, dropped")
    stored, now = _stored_outcome(played), played.outcome
    if stored != now and played.transcript.status:
        print(f"{name}: the answer changed\n  was {stored}\n  is  {now}")
    kept = played.taken_over()
    if not answers:
        return kept
    status, sql, right = now
    return replace(kept, status=status, sql=sql, right=right)


def _stored_outcome(played: Played) -> tuple[str, str | None, bool]:
    return played.transcript.status, played.transcript.sql, played.transcript.right


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.transcripts", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where transcripts are")
    parser.add_argument("--answers", action="store_true", help="take over changed answers, too")
    parser.add_argument("--dry-run", action="store_true", help="store nothing")
    commands = parser.add_subparsers(dest="command")
    adding = commands.add_parser("add", help="store one question of recordings")
    adding.add_argument("recording", type=Path, nargs="+")
    adding.add_argument("--database", required=True)
    adding.add_argument("--recipe", required=True)
    adding.add_argument("--question", required=True)
    adding.add_argument("--evidence", default="")
    adding.add_argument("--set", action="append", default=[], metavar="K=V")
    known = adding.add_mutually_exclusive_group()
    known.add_argument("--gold", metavar="SQL", help="a query that is right")
    known.add_argument("--right", action="store_true", default=None)
    known.add_argument("--wrong", action="store_false", dest="right")
    adding.add_argument("--today", metavar="YYYY-MM-DD", help="the day it was asked on")
    options = parser.parse_args()
    if options.command == "add":
        return add(options, options.folder)
    return int(update(options.folder, answers=options.answers, dry_run=options.dry_run) > 0)


if __name__ == "__main__":
    sys.exit(main())
