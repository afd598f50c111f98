"""Asks every question of the families once, and keeps what a calibration is fitted to.

    python -m training.embedded.confidence.collect --data DATA --own DATABASES \
        --questions training/data/questions --out FOLDER

Asks by the recipe `local`, each database prepared. FOLDER/answers.jsonl gets a line for each
question: what the critic measured of the query it chose, how sure it was, and whether that is
right. What is there isn't asked again; remove the file after a model was trained anew. FOLDER keeps
the prepared databases, too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

from training.embedded.confidence.families import Item, Sources, all_items

from sqlwright import api
from sqlwright.candidates import same_result
from sqlwright.confidence.measures import Seen, measured
from sqlwright.lab.evaluation.rules.published import bird_match, orders, spider_match
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.local.models import EmbeddedModels
from sqlwright.running.grounds import basis_of
from sqlwright.session import Session
from sqlwright.types import Answer, Candidate, Cell, State

ANSWERS = "answers.jsonl"


def is_right(item: Item, sql: str, scorer: Scorer) -> bool | None:
    """True if a query answers the question by its family's rule; None where the right answer is
    unknown or holds nothing, so that any empty result would do."""
    gold = scorer.execute(item.sql)
    if not gold.whole or not gold.rows:
        return None
    found = scorer.execute(sql)
    if not found.whole:
        return False
    if item.rule == "same":
        return same_result(Candidate(sql, "", result=found), Candidate(item.sql, "", result=gold))
    if item.rule == "part":
        return is_part(found.rows, gold.rows)
    if item.rule == "bird":
        return bird_match(found.rows, gold.rows)
    return spider_match(found.rows, gold.rows, ordered=orders(item.sql))


def is_part(rows: Sequence[Sequence[Cell]], gold: Sequence[Sequence[Cell]]) -> bool:
    """True if the rows are those of some of the gold columns, in any order of both."""
    if not rows or len(rows[0]) > len(gold[0]):
        return False
    wanted = Counter(tuple(row) for row in rows)
    return any(
        wanted == Counter(tuple(row[place] for place in order) for row in gold)
        for order in permutations(range(len(gold[0])), len(rows[0]))
    )


def described(item: Item, answer: Answer, state: State, right: bool) -> dict[str, Any]:
    """The line of one question."""
    chosen = state.selected
    schema = state.view.schema
    measures: Mapping[str, float] = state.measures
    if chosen is not None and chosen.result is not None:
        measures = measured(Seen(state, chosen, schema, basis_of(state, chosen)))
    return {
        "id": item.id,
        "family": item.family,
        "database": item.database,
        "template": item.template,
        "seen": item.seen,
        "question": item.question,
        "evidence": item.evidence,
        "status": answer.status,
        "refusal": answer.refusal,
        "right": right,
        "sql": answer.sql,
        "raw": state.confidence,
        "answerable": state.answerable,
        "measures": {name: round(float(v), 5) for name, v in measures.items()},
    }


def answered(item: Item, session: Session, scorer: Scorer) -> dict[str, Any] | None:
    """The line of one question; None where nobody can say what is right."""
    if item.sql and is_right(item, item.sql, scorer) is None:
        return None
    answer, state = session.run(item.question, evidence=item.evidence)
    right = False
    if item.sql and answer.sql and answer.status == "answered":
        right = bool(is_right(item, answer.sql, scorer))
    return described(item, answer, state, right)


def collect(items: list[Item], folder: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of the questions that aren't in the folder yet, database by database."""
    path = folder / ANSWERS
    done = set()
    if path.exists():
        done = {json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()}
    models = EmbeddedModels()
    left = [item for item in items if item.id not in done and item.path.exists()]
    for database, listed in groupby(sorted(left, key=lambda i: i.path), lambda i: i.path):
        asked, started = list(listed), time.perf_counter()
        with api.open(
            database, models=models, home=folder / "home", prepare=True, record=False
        ) as session:
            workspace = session.workspace
            scorer = Scorer(workspace.database, workspace.schema)
            for item in asked:
                line = answered(item, session, scorer)
                yield {"id": item.id, "family": "", "unknown": True} if line is None else line
        seconds = time.perf_counter() - started
        print(f"{database.stem}: {len(asked)} in {seconds:.0f} s", file=sys.stderr, flush=True)


def main() -> None:
    """Ask what isn't asked yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--own", type=Path, required=True, help="our own databases, built")
    parser.add_argument("--questions", type=Path, required=True, help="the questions over them")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--trained-on-own", action="store_true", help="read only those that no model learnt from"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sources = Sources(
        options.data, options.own, options.questions, options.out,
        options.trained_on_own, options.seed,
    )  # fmt: skip
    with (options.out / ANSWERS).open("a", encoding="utf-8") as file:
        for line in collect(all_items(sources), options.out):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
