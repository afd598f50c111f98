"""Prompt tokens and calls per question, by step, on a small, a middling and a huge schema.

    SQLWRIGHT_DATA=... python -m benchmarks.prompt_tokens FOLDER            a table in markdown
    python -m benchmarks.prompt_tokens FOLDER --schema demo --questions 4
    python -m benchmarks.prompt_tokens FOLDER --recipe mag                  as it ships, alone

The recipe chess-ir-ss-cg with the embedded column filter (`form: embedded`), with the one that
ships (`batched`) and with the paper's (`per_column`, one call a column); and `baseline`, which
shows everything. Replies come from a responder (`answering.py`) that names the tables and columns
that the question names, so revisions are few and the numbers are those of the prompts; nothing is
said of a model's accuracy. With each total stands its range over the questions, and for how many
of them the view that the query is written from still has all columns that they name (of the
demo's, that the gold query reads). On the largest schema one call a column is tried on two
questions only. Tokens are characters / 4; beside them those of the tokenizer that ships with the
embedded models (WordPiece), which makes more of names with underscores than those of large models.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from benchmarks.answering import Responder
from benchmarks.large_schema import COLUMNS, make_large_schema
from benchmarks.setting import (
    Place,
    named_questions,
    open_session,
    prepared,
    prepared_demo,
    varied_questions,
)
from tokenizers import Tokenizer

from sqlwright.demo.business import demo_questions
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used

FILTER = "schema_linking.filter_columns"
FORMS = {
    "embedded": ("chess-ir-ss-cg", (f"{FILTER}.form=embedded",)),
    "batched": ("chess-ir-ss-cg", (f"{FILTER}.limit=null",)),
    "per column": ("chess-ir-ss-cg", (f"{FILTER}.form=per_column", f"{FILTER}.limit=null")),
    "baseline": ("baseline", ()),
}
SCHEMAS = ("demo", "100", str(COLUMNS))
MOST_CALLS, SHARE = 8, 5


@dataclass
class Counted:
    """Calls and tokens of one step, or of all, per question."""

    calls: float = 0.0
    tokens: float = 0.0
    pieces: float = 0.0
    most_calls: int = 0
    least: float = 0.0
    """Tokens of the question that took least."""
    most: float = 0.0
    kept: int = 0
    """Questions whose columns were all in the last view."""
    asked: int = 0


Named = tuple[str, frozenset[ColumnRef]]
"""A question and the columns that it needs."""


def made(folder: Path, schema: str, count: int) -> tuple[Place, list[Named], int]:
    """A prepared database, questions, and how many columns it has."""
    if schema == "demo":
        place, texts, gold = prepared_demo(folder), varied_questions(count), demo_questions()
        columns = [columns_used(one.sql, _schema(place)) for one in gold]
        questions = [(t, frozenset(columns[n % len(gold)])) for n, t in enumerate(texts)]
    else:
        data = os.environ.get("SQLWRIGHT_DATA")
        if not data:
            raise SystemExit("set SQLWRIGHT_DATA: the schemas are made from BIRD's training part")
        database = make_large_schema(Path(data), folder, int(schema))
        place = prepared(database, folder / "home", database.parent / "database_description")
        questions = named_questions(database, count)
    return place, questions, _schema(place).column_count


def _schema(place: Place) -> Schema:
    with open_session(place, "baseline", None, record=False) as session:
        return session.workspace.schema


def count(
    place: Place, form: str, questions: Sequence[Named], tokenizer: Tokenizer
) -> dict[str, Counted]:
    """Means per question by step; under an empty name those of all steps."""
    recipe, overrides = FORMS.get(form, (form, ()))
    found: dict[str, Counted] = defaultdict(Counted)
    asked_of: list[int] = []
    sizes: list[float] = []
    kept = 0
    for question, columns in questions:
        model = ScriptedModel(Script(otherwise=Responder(faulty=0.1).scripted))
        with open_session(place, recipe, model, overrides, record=False, stand_in=False) as session:
            _, state = session.run(question)
        kept += columns <= set(state.view.visible)
        sizes.append(sum(len(asked.prompt) / 4 for asked in model.script.asked))
        for asked in model.script.asked:
            tokens = len(asked.prompt) / 4
            # Thousands of prompts that are alike but for a column: a few of them tell enough.
            pieces = tokens if len(model.script.asked) > 500 else len(
                tokenizer.encode(asked.prompt, add_special_tokens=False).ids
            )  # fmt: skip
            for name in ("", asked.step):
                found[name].calls += 1
                found[name].tokens += tokens
                found[name].pieces += pieces
        asked_of.append(len(model.script.asked))
    for counted in found.values():
        counted.calls /= len(questions)
        counted.tokens /= len(questions)
        counted.pieces /= len(questions)
    whole = found[""]
    whole.most_calls, whole.least, whole.most = max(asked_of), min(sizes), max(sizes)
    whole.kept, whole.asked = kept, len(questions)
    return dict(found)


def tokenizer_of_embedder() -> Tokenizer:
    """The one that ships, without the limit on the length of texts."""
    folder = files("sqlwright").joinpath("local", "weights")
    path = next(p for p in Path(str(folder)).rglob("tokenizer*.json"))
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the databases; kept")
    parser.add_argument("--schema", nargs="+", default=list(SCHEMAS), choices=SCHEMAS)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--recipe", nargs="+", default=[], help="recipes as they ship, alone")
    options = parser.parse_args()
    forms = options.recipe or list(FORMS)
    tokenizer, good = tokenizer_of_embedder(), True
    print("| schema | recipe | step | calls | prompt tokens | WordPiece tokens |")
    print("|---|---|---|---|---|---|")
    for schema in options.schema:
        place, questions, columns = made(options.folder, schema, options.questions)
        totals = {}
        for form in forms:
            few = questions[:2] if form == "per column" and columns > 1_000 else questions
            counted = count(place, form, few, tokenizer)
            totals[form] = counted[""]
            name = form if form in {"baseline", *options.recipe} else f"chess-ir-ss-cg, {form}"
            steps = sorted((s for s in counted if s), key=list(counted).index)
            for step in [*steps, ""]:
                one = counted[step]
                told = f"{one.tokens:,.0f}"
                if not step:
                    told += f" [{one.least:,.0f} to {one.most:,.0f}]"
                    told += f"; columns left {one.kept} of {one.asked}"
                row = [f"{columns:,} columns", name, step or "**all**", f"{one.calls:,.1f}",
                       told, f"{one.pieces:,.0f}"]  # fmt: skip
                print(f"| {' | '.join(row)} |", flush=True)
        if options.recipe:
            continue
        ours = totals["embedded"]
        shares = {f: totals[f].tokens / ours.tokens for f in FORMS if f != "embedded"}
        shown = ", ".join(f"{share:.1f} times as many in {f}" for f, share in shares.items())
        print(f"\n{columns:,} columns: {ours.tokens:,.0f} tokens, at most {ours.most_calls} calls; "
              f"{shown}\n", file=sys.stderr, flush=True)  # fmt: skip
        if schema == str(COLUMNS):
            good = ours.most_calls <= MOST_CALLS and all(
                shares[form] >= SHARE for form in ("per column", "baseline")
            )
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
