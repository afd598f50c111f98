"""Every answer to sets of questions, kept in a file; and two such files compared.

A change that only moves code must leave every answer as it was: `ask` before it, `ask` after it,
then `compare`. After a change that is meant to alter answers, `compare --list` shows each.

    python scripts/same_answers.py ask before.jsonl --spider DATA --split dev
    python scripts/same_answers.py ask before.jsonl --demo
    python scripts/same_answers.py compare before.jsonl after.jsonl

`ask` adds to its file. One JSON object a line: set, id, question, status, sql, confidence, whether
it is right (null where the gold query gives nothing to compare with), and every candidate's SQL.
`compare` exits with 1 if any status, SQL or confidence differs. On a busy machine the first look at
a large database is cut short at another row each time, and its answers differ: ask it again, with
`--only`, when nothing else runs.
"""

import argparse
import json
import sys
import tempfile
from itertools import groupby
from math import comb
from pathlib import Path

import sqlwright
from sqlwright.demo.business import demo_questions, rows_digest, write_business
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.scoring import Scorer


def ask(arguments):
    """Ask, score and append, database by database."""
    with arguments.file.open("a", encoding="utf-8") as file:
        for row in _spider(arguments) if arguments.spider else _demo():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()


def _spider(arguments):
    examples = load_spider(arguments.spider, split=arguments.split).examples
    if arguments.only:
        examples = [example for example in examples if example.db_id in arguments.only]
    by_database = sorted(examples, key=lambda e: e.db_id)
    for database, group in groupby(by_database, key=lambda e: e.database):
        if not database.exists():
            print(f"{database} isn't there: its questions are left out", file=sys.stderr)
            continue
        with _opened(database) as session:
            scorer = Scorer(session.workspace.database, session.workspace.schema)
            for example in group:
                answer, state = session.run(example.question, evidence=example.evidence)
                right = scorer.score(example, answer, state, 0.0).right("spider")
                yield _row(arguments.split, example.id, example.question, answer, state, right)
        print(arguments.split, example.id, file=sys.stderr)


def _demo():
    with tempfile.TemporaryDirectory() as folder:
        write_business(path := Path(folder) / "business.sqlite")
        with _opened(path) as session:
            for question in demo_questions():
                answer, state = session.run(question.text)
                right = answer.sql is not None and rows_digest(answer.rows) == question.digest
                yield _row("demo", question.text, question.text, answer, state, right)


def _opened(database):
    return sqlwright.open(str(database), prepare=False, record=False)


def _row(part, identifier, question, answer, state, right):
    return {
        "set": part,
        "id": identifier,
        "question": question,
        "status": answer.status,
        "sql": answer.sql,
        "confidence": answer.confidence,
        "right": right,
        "candidates": [candidate.sql for candidate in state.candidates],
    }


def compare(arguments):
    """Print, for each set, how many answers differ and how; then each of them. True if any does."""
    before, after = (_read(path) for path in (arguments.before, arguments.after))
    if before.keys() != after.keys():
        sys.exit(f"other questions: {len(before.keys() ^ after.keys())} are in one file only")
    differing = [key for key in before if _answered(before[key]) != _answered(after[key])]
    for part in sorted({part for part, _ in before}):
        keys = [key for key in before if key[0] == part]
        right = [sum(bool(rows[key]["right"]) for key in keys) for rows in (before, after)]
        gained = sum(bool(after[key]["right"]) > bool(before[key]["right"]) for key in keys)
        lost = sum(bool(after[key]["right"]) < bool(before[key]["right"]) for key in keys)
        changed = [key for key in differing if key[0] == part]
        print(
            f"{part}: {len(keys)} questions, {len(changed)} differ, "
            f"{sum(before[key]['sql'] != after[key]['sql'] for key in changed)} in SQL, "
            f"{sum(before[key]['candidates'] != after[key]['candidates'] for key in keys)} "
            f"in candidates; right {right[0]} -> {right[1]} (+{gained} -{lost}, "
            f"two-sided p {_sign_test(gained, lost):.2f})"
        )
    for key in differing if arguments.list else ():
        print(f"\n{key[0]} {key[1]}: {before[key]['question']}")
        for row in (before[key], after[key]):
            print(f"  {row['status']} {row['confidence']} right={row['right']} {row['sql']}")
    return bool(differing)


def _read(path):
    lines = Path(path).read_text("utf-8").splitlines()
    return {(row["set"], row["id"]): row for row in map(json.loads, lines)}


def _answered(row):
    sure = row["confidence"]
    return row["status"], row["sql"], None if sure is None else round(sure, 6)


def _sign_test(gained, lost):
    total, fewer = gained + lost, min(gained, lost)
    return min(1.0, 2 * sum(comb(total, k) for k in range(fewer + 1)) / 2**total)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask")
    asking.add_argument("file", type=Path)
    chosen = asking.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--spider", type=Path, help="a folder in Spider's layout")
    chosen.add_argument("--demo", action="store_true")
    asking.add_argument("--split", default="dev")
    asking.add_argument("--only", nargs="+", help="databases to ask, by name")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--list", action="store_true", help="show every answer that differs")
    given = parser.parse_args()
    if given.command == "ask":
        ask(given)
    else:
        sys.exit(compare(given))
