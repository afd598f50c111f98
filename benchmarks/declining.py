"""What becomes of questions that a language model declines: by whom they are answered, for how many
replies.

    python -m benchmarks.declining                  forty questions, six recipes, three ways
    python -m benchmarks.declining --limit 4        the first four of each database
    python -m benchmarks.declining --recipe chase

The questions are those of `declined.toml`; nothing in their databases answers them. Every reply
that was to hold a query declines: in the form that prompts ask for, or in a sentence; the replies
to all other prompts are as they should be. Then one reply of several declines. The embedded models
are the real ones, so that they could stand in. Prints, by recipe and way, how many questions were
answered, by whom, in how many answers the decline is told, and the replies asked of those who write
queries.
Exit code 1 where one was answered though all declined, or where a decline isn't told.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.demo.business import write_business
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.local.models import EmbeddedModels
from sqlwright.types import Answer

RECIPES = ("chess-ir-ss-cg", "chess-ir-cg-ut", "chase", "mag", "msc", "baseline")
WRITERS = ("generation.direct", "generation.sub_sql")
MISSING = "nothing of the kind is stored"
IN_FORM = f"Nothing here tells that.\n\nCANNOT: {MISSING}"
IN_PROSE = "The database does not store this, so the question cannot be answered."
SEVERAL = {
    "chess-ir-ss-cg": ("samples.count=5",),
    "mag": ("samples.count=5",),
    "baseline": ("samples.count=5",),
}
"""Overrides by which a recipe that asks for one query asks for five."""
DATABASES = Path(__file__).parents[1] / "tests" / "databases"


def declining(words: str, *, most: int | None = None) -> Callable[[Asked], str]:
    """Replies that decline where a query is wanted, `most` of them at most."""
    responder, lock, left = Responder(faulty=0.0), threading.Lock(), [most]

    def reply(asked: Asked) -> str:
        if asked.step not in WRITERS:
            return responder.scripted(asked)
        with lock:
            if left[0] is None:
                return words
            left[0] -= 1
            return words if left[0] >= 0 else responder.scripted(asked)

    return reply


def ask(
    database: Path,
    home: Path,
    recipe: str,
    question: str,
    reply: Callable[[Asked], str],
    *overrides: str,
    models: EmbeddedModels,
) -> tuple[Answer, Counter[str]]:
    """The answer, and the replies asked for by step."""
    model = ScriptedModel(Script(otherwise=reply))
    with api.open(
        database,
        recipe=recipe,
        overrides=overrides,
        models={**models, "llm": model},
        home=home,
        prepare=False,
        record=False,
    ) as session:
        answer = session.ask(question)
    return answer, Counter(step for step, request in model.requests for _ in range(request.n))


def told(answer: Answer) -> bool:
    """True if an answer says that replies declined."""
    texts = [answer.message, answer.doubt, *(note.text for note in answer.warnings)]
    return any(words in text for text in texts for words in (MISSING, IN_PROSE[:-1]))


def questions(limit: int | None = None) -> Iterator[tuple[str, str]]:
    """Database and question."""
    listed = tomllib.loads(Path(__file__).with_name("declined.toml").read_text("utf-8"))
    for database, texts in listed.items():
        for text in texts[:limit]:
            yield database, text


def database_at(name: str, folder: Path) -> Path:
    """The database of that name, made where it isn't there."""
    path = folder / f"{name}.sqlite"
    if not path.exists() and name == "demo":
        write_business(path)
    elif not path.exists():
        with sqlite3.connect(path) as connection:
            connection.executescript((DATABASES / f"{name}.sql").read_text("utf-8"))
        connection.close()
    return path


def main() -> int:
    """Ask all, and print the table; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recipe", action="append", choices=RECIPES)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    asked, models, bad = list(questions(options.limit)), EmbeddedModels(), 0
    print(f"{len(asked)} questions")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for recipe in options.recipe or RECIPES:
            for way, words, most in (
                ("all, in form", IN_FORM, None),
                ("all, in prose", IN_PROSE, None),
                ("one of several", IN_FORM, 1),
            ):
                overrides = SEVERAL.get(recipe, ()) if most else ()
                ends, replies, telling, most_replies = Counter[str](), 0, 0, 0
                for database, question in asked:
                    answer, steps = ask(
                        database_at(database, folder), folder / "home", recipe, question,
                        declining(words, most=most), *overrides, models=models,
                    )  # fmt: skip
                    ends[answer.answered_by or answer.status] += 1
                    telling += told(answer)
                    wrote = sum(steps[step] for step in WRITERS)
                    replies, most_replies = replies + wrote, max(most_replies, wrote)
                    bad += not told(answer) or (most is None and answer.status != "refused")
                wrote = f"{replies / len(asked):.1f} a question, {most_replies} at most"
                print(f"{recipe:15} {way:15} {dict(ends)}, told in {telling}, replies {wrote}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
