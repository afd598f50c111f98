"""Questions made up over training schemas, with their queries: what real pairs show too seldom.

Each kind of question gives words and a form; the form is written as SQL and goes the way of every
other pair, through the same reader, encoder and augmentation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from training.embedded.pairs import Pair, TrainingDatabase
from training.embedded.questions import relations as ask_relations
from training.embedded.questions import rows as ask_rows
from training.embedded.questions import selves as ask_selves
from training.embedded.questions.entities import World, read_world
from training.embedded.questions.rows import Made

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.write.sql import write_sql
from sqlwright.types import Question

SOURCE = "synthetic"
TRIES = 30

KINDS: Mapping[Callable[[World, random.Random], Made | None], int] = {
    ask_rows.rows: 22,
    ask_rows.everything: 2,
    ask_rows.extreme: 8,
    ask_rows.count: 7,
    ask_rows.figures: 8,
    ask_rows.groups: 9,
    ask_rows.frequent: 4,
    ask_rows.average: 4,
    ask_relations.families: 8,
    ask_relations.largest: 8,
    ask_relations.without: 6,
    ask_relations.chains: 12,
    ask_relations.both: 3,
    ask_selves.selves: 12,
    ask_selves.links: 6,
    ask_relations.money: 12,
}
"""Kinds of questions and how often each is tried; the last three find few schemas to ask about."""


class Synthesizer:
    """Makes pairs over the databases it is given."""

    def __init__(self, known: Mapping[str, TrainingDatabase]) -> None:
        self._known = known
        self._worlds: dict[str, World] = {}

    def pair(self, database: str, rng: random.Random) -> Pair | None:
        """A pair over a database; None when nothing can be asked of it in reasonable English."""
        if database not in self._worlds:
            self._worlds[database] = read_world(self._known[database])
        world = self._worlds[database]
        if not world.entities:
            return None
        for _ in range(TRIES):
            (make,) = rng.choices(list(KINDS), list(KINDS.values()))
            made = make(world, rng)
            if made is None:
                continue
            try:
                sql = write_sql(made[1], self._known[database].schema)
            except UnsupportedQuery:
                continue
            return Pair(Question(" ".join(made[0].split())), sql, database, SOURCE)
        return None


def synthetic_pairs(
    synthesizer: Synthesizer, databases: list[str], count: int, rng: random.Random
) -> list[Pair]:
    """At most `count` pairs, spread evenly over the databases."""
    made = (synthesizer.pair(rng.choice(databases), rng) for _ in range(count))
    return [pair for pair in made if pair is not None]
