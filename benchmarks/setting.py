"""What the benchmarks of language models share: the demo, prepared, and a model on a test server.

Run as modules from the root of the repository: `python -m benchmarks.llm_robustness`.
"""

from __future__ import annotations

import csv
import os
import random
import re
import sqlite3
from collections import ChainMap
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from tests.llm.server import ModelServer

import sqlwright
from sqlwright.demo.business import demo_questions, write_business
from sqlwright.events import Event
from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.sending.engine import Engine
from sqlwright.llm.vendors.connecting import Service, connect
from sqlwright.llm.vendors.providers import PROVIDERS
from sqlwright.local.models import EmbeddedModels
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.schema import ColumnRef

E = TypeVar("E", bound=Event)

DESCRIBED = {
    "customers": {
        "segment": "kind of business: cafe, hotel, office or shop",
        "credit_limit": "the most a customer may owe, in euros",
        "since": "day on which the first contract was signed",
    },
    "orders": {
        "status": "how far an order is: open, shipped, delivered or cancelled",
        "sales_rep_id": "the employee who took the order",
    },
}
"""Meanings of some columns of the demo, which has no description files of its own."""

WORDINGS = (
    "{}",
    "For the yearly report: {}",
    "{} Leave out what is missing.",
    "I'd like to know: {}",
)


@dataclass(frozen=True)
class Place:
    """A prepared database."""

    database: Path
    home: Path
    descriptions: Path | None = None


def prepared_demo(folder: Path) -> Place:
    """The demo business with description files, prepared; what is there already is used."""
    folder.mkdir(parents=True, exist_ok=True)
    database, described = folder / "demo.sqlite", folder / "described"
    if not database.exists():
        write_business(database)
        described.mkdir(exist_ok=True)
        for table, columns in DESCRIBED.items():
            with (described / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(
                    ["original_column_name", "column_name", "column_description", "data_format",
                     "value_description"]
                )  # fmt: skip
                writer.writerows([name, "", text, "", ""] for name, text in columns.items())
    return prepared(database, folder / "home", described)


def prepared(database: Path, home: Path, descriptions: Path | None = None) -> Place:
    """A database, prepared under `home` unless it is already."""
    folder = home / "databases" / prepared_folder(str(database)).name
    prepare(str(database), folder=folder, descriptions=descriptions)
    return Place(database, home, descriptions)


def varied_questions(count: int) -> list[str]:
    """The demo's thirty questions in several wordings, each wording once through all."""
    texts = [question.text for question in demo_questions()]
    return [WORDINGS[n // len(texts) % len(WORDINGS)].format(texts[n % len(texts)])
            for n in range(count)]  # fmt: skip


def recipe_path(name: str) -> str:
    """A shipped recipe's file."""
    return str(files("sqlwright").joinpath("recipes", f"{name}.yaml"))


@dataclass
class Watched:
    """A run's events."""

    kept: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.kept.append(event)

    def of(self, kind: type[E]) -> list[E]:
        """Those of one kind."""
        return [event for event in self.kept if isinstance(event, kind)]


@contextmanager
def model_on(
    server: ModelServer, throttle: Throttle, **options: Any
) -> Iterator[tuple[GatedModel, Engine]]:
    """A model behind the gate whose endpoint is the server, and the engine that calls it."""
    can = {"n": True, "json_schema": True, **options.pop("can", {})}
    provider = PROVIDERS["vllm"]
    service = Service(
        provider, "bench", base_url=server.url, throttle=throttle, capabilities=tuple(can.items())
    )
    engine = Engine()
    try:
        line = Connection(lambda: connect(service), engine)
        capabilities = replace(provider.capabilities, **can)
        yield GatedModel(service.name, capabilities, line, **options), engine
    finally:
        engine.close()


def open_session(
    place: Place, recipe: str, model: Any, overrides: Sequence[str] = (), **options: Any
) -> sqlwright.Session:
    """A session over a prepared database with a model of the benchmark's own."""
    return sqlwright.open(
        place.database,
        recipe=recipe_path(recipe),
        overrides=overrides,
        descriptions=place.descriptions,
        home=place.home,
        models=ChainMap({"llm": model}, EmbeddedModels()),  # type: ignore[arg-type]
        **options,
    )


def load_average() -> str:
    """How busy the machine is, for the record."""
    return (
        "load " + " ".join(f"{load:.1f}" for load in os.getloadavg()) + f", {os.cpu_count()} CPUs"
    )


def questions_about(database: Path, count: int, seed: int = 0) -> list[str]:
    """Questions that name tables and columns of a database, drawn by seed."""
    return [text for text, _ in named_questions(database, count, seed)]


def named_questions(
    database: Path, count: int, seed: int = 0
) -> list[tuple[str, frozenset[ColumnRef]]]:
    """The same, each with the columns that it names."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid"
        ).fetchall()
    columns: dict[str, list[str]] = {}
    for table, column in rows:
        columns.setdefault(table, []).append(column)
    draw, tables = random.Random(seed), sorted(columns)
    questions = []
    for _ in range(count):
        table = draw.choice(tables)
        first, second = (draw.choice(columns[table]) for _ in range(2))
        form = draw.choice((
            "How many {table} have a {first} above the average {second}?",
            "List the {first} of the {table} with the highest {second}.",
            "Which {first} do most {table} with the {second} 'amber birch' have?",
        ))  # fmt: skip
        text = form.format(table=_spoken(table), first=_spoken(first), second=_spoken(second))
        questions.append((text, frozenset({ColumnRef(table, first), ColumnRef(table, second)})))
    return questions


def _spoken(name: str) -> str:
    """A name as somebody would say it."""
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").split()).lower()
