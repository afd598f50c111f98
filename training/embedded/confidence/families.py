"""The families of questions that a calibration is fitted to and judged by.

A family is questions of one origin: the way people put them, the kind of database, the kind of
query. None of them asks a database that is held back: neither Spider's development databases nor
`TESTING`, those of our own that only measure.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Literal

from training.embedded.critic.data import explains
from training.embedded.critic.refusal import impossible
from training.embedded.pairs import Pair, load_pairs
from training.embedded.split import load_split

from sqlwright.demo.business import demo_questions, write_business
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.example import Example
from sqlwright.local.models import WEIGHTS
from sqlwright.prepare import open_workspace

TESTING = frozenset({"playhouse", "river_gauges"})
"""Databases of our own that nothing may be fitted to."""
CALIBRATING = frozenset(
    {"gym_chain", "coop_laitiere", "department_management", "student_1", "sakila_1", "wrestler"}
)
"""Databases with questions of our own that no model is trained on, there to fit probabilities; the
last four are Spider's."""

RuleName = Literal["spider", "bird", "same", "part"]
"""The rule that says what is right: two published ones, that of `candidates`, and `part`: what is
shown is some of the columns of the gold result, in its rows. (Gold queries about restaurants show
house numbers that nobody asks for.)"""


@dataclass(frozen=True, slots=True)
class Item:
    """A question of a family, and the query that answers it."""

    family: str
    database: str
    question: str
    sql: str
    """Empty where the database can't answer it."""
    path: Path
    rule: RuleName = "spider"
    evidence: str = ""
    template: str = ""
    """Questions of one template come and go together when figures are resampled; empty where the
    database is what they share."""
    seen: bool = False
    """True if the parser in use may have been trained on it."""

    @property
    def id(self) -> str:
        """Tells it from all others."""
        return "\t".join((self.family, self.database, self.question))


@dataclass(frozen=True, slots=True)
class Sources:
    """The places that questions are read from."""

    data: Path
    """The folder with `spider/`, `bird_like/` and the others."""
    own: Path
    """The folder with our own databases, built: `NAME.sqlite`."""
    questions: Path
    """The folder with the questions over them: `NAME.jsonl`."""
    scratch: Path
    """A folder for the demo's database."""
    trained_on_own: bool = False
    """True if the parser in use was trained on our own questions: then only those of
    `CALIBRATING` are read."""
    seed: int = 1


def all_items(sources: Sources) -> list[Item]:
    """The questions of every family, sampled by seed, in a fixed order."""
    return [item for read in FAMILIES for item in read(sources)]


def _spider_path(data: Path, name: str) -> Path:
    return data / "spider" / "database" / name / f"{name}.sqlite"


def _pairs(sources: Sources) -> list[Pair]:
    pairs = load_pairs(sources.data, load_split(sources.data), ("valid", "calib"))
    return [pair for pair in pairs if _spider_path(sources.data, pair.database).exists()]


def _drawn(pairs: Iterable[Pair], each: int, seed: int) -> Iterator[Pair]:
    """At most `each` of every database."""
    for name, listed in groupby(sorted(pairs, key=lambda p: p.database), lambda p: p.database):
        own = list(listed)
        random.Random(f"{seed}/{name}").shuffle(own)
        yield from own[:each]


def _spider(sources: Sources, family: str, source: str, each: int) -> Iterator[Item]:
    for pair in _drawn((p for p in _pairs(sources) if p.source == source), each, sources.seed):
        path = _spider_path(sources.data, pair.database)
        yield Item(family, pair.database, pair.question.text, pair.sql, path)


def spider(sources: Sources) -> Iterator[Item]:
    """Spider's questions over the databases of `valid` and `calib`."""
    yield from _spider(sources, "spider", "spider", 30)


def reworded(sources: Sources) -> Iterator[Item]:
    """Their rewordings in synonyms."""
    yield from _spider(sources, "reworded", "spider-syn", 22)


def archer(sources: Sources) -> Iterator[Item]:
    """Archer's training questions; those over databases of `fit` are marked as seen."""
    rows = json.loads((sources.data / "spider" / "archer_train.json").read_text("utf-8"))
    unseen = {pair.database for pair in _pairs(sources)}
    by_database = groupby(sorted(rows, key=lambda row: str(row["db_id"])), lambda r: r["db_id"])
    for name, listed in by_database:
        path = _spider_path(sources.data, name)
        own = list(listed)
        random.Random(f"{sources.seed}/{name}").shuffle(own)
        for row in own[: 60 if name in unseen else 30]:
            known = str(row.get("commonsense_knowledge") or "")
            yield Item(
                "archer", name, row["question"], row["query"], path,
                evidence=known, seen=name not in unseen,
            )  # fmt: skip


def bird_like(sources: Sources) -> Iterator[Item]:
    """BIRD's questions with evidence over same-source databases; a family each."""
    by_name = sorted(load_bird(sources.data / "bird_like").examples, key=lambda e: e.db_id)
    for name, listed in groupby(by_name, lambda e: e.db_id):
        own: list[Example] = list(listed)
        random.Random(f"{sources.seed}/{name}").shuffle(own)
        for one in own[:150]:
            yield Item(
                f"bird-like {name}", name, one.question, one.gold_sql, one.database,
                rule="bird", evidence=one.evidence,
            )  # fmt: skip


def geoquery(sources: Sources) -> Iterator[Item]:
    """GeoQuery: questions about American geography, two of a template."""
    folder = sources.data / "geoquery"
    path = folder / "geography-db.added-in-2020.sqlite"
    yield from _templates("geoquery", folder / "geography.json", path, 2, sources.seed)


def restaurants(sources: Sources) -> Iterator[Item]:
    """Questions about restaurants, ten of a template."""
    folder = sources.data / "restaurants"
    path = folder / "restaurants-fixed.sqlite"
    for item in _templates("restaurants", folder / "restaurants.json", path, 10, sources.seed):
        yield replace(item, rule="part")


def _templates(family: str, listed: Path, path: Path, each: int, seed: int) -> Iterator[Item]:
    """At most `each` different questions of every template, its variables filled in."""
    for number, row in enumerate(json.loads(listed.read_text("utf-8"))):
        fixed = {v["name"]: v["example"] for v in row["variables"]}
        filled: dict[str, str] = {}
        for sentence in row["sentences"]:
            values = fixed | sentence["variables"]
            filled.setdefault(_filled(sentence["text"], values), _filled(row["sql"][0], values))
        texts = sorted(filled)
        random.Random(f"{seed}/{family}/{number}").shuffle(texts)
        for text in texts[:each]:
            yield Item(family, family, text, filled[text], path, template=str(number))


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(name, values[name])
    return text


def own(sources: Sources) -> Iterator[Item]:
    """Our own questions, over databases of our own making and those of Spider that are there to fit
    probabilities."""
    for listed in sorted(sources.questions.rglob("*.jsonl")):
        name, made = listed.stem, listed.parent == sources.questions
        if name in TESTING or (name not in CALIBRATING and (sources.trained_on_own or not made)):
            continue
        path = sources.own / f"{name}.sqlite" if made else _spider_path(sources.data, name)
        for line in listed.read_text("utf-8").splitlines()[:120]:
            row = json.loads(line)
            yield Item(
                "own", name, row["question"], row["sql"], path,
                rule="same", evidence=row["evidence"],
            )  # fmt: skip


def demo(sources: Sources) -> Iterator[Item]:
    """The demo business's thirty questions."""
    path = sources.scratch / "business.sqlite"
    if not path.exists():
        write_business(path)
    for one in demo_questions():
        yield Item("demo", "demo", one.text, one.sql, path, rule="same")


def in_vain(sources: Sources) -> Iterator[Item]:
    """Questions that the databases of `valid` and `calib` can't answer."""
    pairs = [pair for pair in _pairs(sources) if pair.source == "spider"]
    schemas = {}
    for name in sorted({pair.database for pair in pairs}):
        space = open_workspace(str(_spider_path(sources.data, name)))
        schemas[name] = space.schema
        space.database.close()
    asked = impossible(pairs, schemas, explains(WEIGHTS), each=16, seed=sources.seed)
    for one in asked:
        if not one.removed:
            path = _spider_path(sources.data, one.database)
            yield Item("in vain", one.database, one.question.text, "", path)


FAMILIES: Sequence[Callable[[Sources], Iterator[Item]]] = (
    spider, reworded, archer, bird_like, geoquery, restaurants, own, demo, in_vain,
)  # fmt: skip
"""A line for each reader of a family or a few of them."""
