"""Every prompt of every recipe fits the model's context, or isn't sent and says so."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.metering import prompt_tokens
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.recipes.loading import load_recipe, recipe_names
from sqlwright.types import Answer
from tests.llm.server import Asked, ModelServer
from tests.scripted import ScriptedEmbedder, ScriptedLinker

QUESTION = "List the names of the customers whose invoice total is above 500 in Hamburg."
WORDS = ("customer", "invoice", "payment", "vessel", "harbour", "sensor", "reading", "contract",
         "employee", "branch", "ticket", "warranty", "supplier", "shipment", "policy")  # fmt: skip
COLUMNS = ("name", "total", "city", "opened_at", "status_code", "category_description",
           "amount_due", "reference_number", "last_modified_by", "notes")  # fmt: skip
A_WORD = 8
"""Tokens of a reply of a letter or a number, which tuned judges give."""
SMALLER = (
    "samples.count=2",
    "selection.generate_tests.tests=2",
    "samples[1].count=2",
)


def asking() -> list[str]:
    """The recipes that ask a language model."""
    return [name for name in recipe_names() if load_recipe(name).asks]


@pytest.fixture(scope="module", params=[100, 4_337])
def wide(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with so many columns, and long descriptions beside it."""
    path: Path = tmp_path_factory.mktemp("wide") / f"wide_{request.param}.sqlite"
    described = path.parent / "descriptions"
    described.mkdir()
    with closing(sqlite3.connect(path)) as database:
        for number, columns in enumerate(_tables(request.param)):
            table = f"{WORDS[number % len(WORDS)]}_{number}"
            database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {', '.join(columns)})")
            row = ", ".join("'Hamburg'" if "city" in each else "700" for each in columns)
            database.executemany(
                f"INSERT INTO {table} VALUES (?, {row})",
                [(place,) for place in range(3)],
            )
            lines = ["original_column_name,column_description"]
            told = "tells what the office wrote down on the day it was opened, in plain words"
            lines += [
                f"{each.split()[0]},{each.split()[0]} of the {table} {told}" for each in columns
            ]
            (described / f"{table}.csv").write_text("\n".join(lines))
        database.commit()
    return path


def _tables(columns: int) -> Iterator[list[str]]:
    """Columns of tables that have so many together, keys included."""
    left = columns
    names = [*COLUMNS, *(f"{name}_{place}" for place in range(2, 5) for name in COLUMNS)]
    while left > 1:
        count = min(len(names) + 1, left)
        yield [f"{name} TEXT" for name in names[: count - 1]]
        left -= count


def ask(recipe: str, path: Path, server: ModelServer, context: int, home: Path) -> Answer:
    own = ModelOptions(
        "openai-compatible/m",
        server.url,
        context_tokens=context,
        capabilities=(("json_schema", True), ("tools", True)),
    )
    named = [name for name in load_recipe(recipe).asks if name]
    with api.open(
        path,
        recipe=recipe,
        overrides=_fitting(recipe),
        descriptions=path.parent / "descriptions",
        llm=LlmOptions("m", models={"m": own, **dict.fromkeys(named, own)}, cache=False),
        models={"linker": ScriptedLinker(), "embedder": ScriptedEmbedder()},
        home=home,
        prepare=False,
    ) as session:
        return session.ask(QUESTION, evidence="above 500 refers to total > 500")


def _fitting(recipe: str) -> list[str]:
    kept = []
    for override in SMALLER:
        try:
            load_recipe(recipe, [override])
        except ConfigError:
            continue
        kept.append(override)
    return kept


def size(asked: Asked) -> int:
    """Tokens of a request at most, its reply included."""
    messages = tuple(
        PlainMessage(message["role"], message["content"]) for message in asked.body["messages"]
    )
    form = asked.body.get("response_format")
    schema = form["json_schema"]["schema"] if form else None
    call = Call(messages, reply_schema=schema)
    tools = json.dumps(asked.body.get("tools", []))
    return prompt_tokens(call) + len(tools) // 3 + int(asked.body["max_tokens"])


CONTEXTS = (8_192, 4_096)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("recipe", asking())
def test_every_prompt_fits(recipe: str, context: int, wide: Path) -> None:
    if context == max(CONTEXTS) and "4337" in wide.name and recipe != "baseline":
        pytest.skip("the smaller context asks more of the widest schema")
    with ModelServer(answer=Responder(faulty=0.0)) as server:
        answer = ask(recipe, wide, server, context, wide.parent / "home")
        assert all(size(asked) <= context for asked in server.seen)
        limits = {asked.body["max_tokens"] for asked in server.seen}
        assert min(limits - {A_WORD}) >= 512
        assert server.seen
    told = " ".join(f"{note.text} {note.cause}" for note in answer.warnings)
    assert answer.status == "answered", (answer.status, told, len(server.seen))
    assert "not sent" not in told
    if recipe == "baseline" and "4337" in wide.name:
        assert f"context of {context:,} tokens" in told


def test_what_cannot_fit_is_refused_before_it_is_sent(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "descriptions").mkdir()
    path = tmp_path / "shop.sqlite"
    path.write_bytes(database_files["shop"].read_bytes())
    with ModelServer(answer=Responder(faulty=0.0)) as server:
        answer = ask("baseline", path, server, 1_200, tmp_path)
        assert not server.seen
    assert answer.status == "failed"
    told = answer.to_json()
    assert "was not sent" in told
    assert "1,200" in told
    assert "would do" in told
