"""Questions that a database can't answer, made on purpose, to learn when to refuse.

Four kinds: a question that belongs to another database; one whose column has been taken out of the
schema; one that asks a property or a kind of thing the schema doesn't have; one about the world.
Words that the schema does explain disqualify a made-up question.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from training.embedded.linker.gold import used
from training.embedded.pairs import Pair

from sqlwright.english.words import readable, split_name, stem
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types import Question

PROPERTIES = (
    "blood type", "shoe size", "favourite colour", "horoscope sign", "driving licence number",
    "eye colour", "marital status", "passport number", "hair colour", "carbon footprint",
    "wifi password", "insurance premium", "tax bracket", "voting preference", "religion",
    "credit score", "vaccination status", "allergy", "hobby", "pet name", "calorie count",
    "sugar content", "battery life", "screen size", "warranty period", "fuel consumption",
    "expiry date", "noise level", "recycling rate", "water usage", "return policy",
    "customer satisfaction", "profit margin", "market share", "stock price", "net promoter score",
    "delivery fee", "loyalty points", "discount code", "refund rate", "bounce rate",
    "click-through rate", "page views", "follower count", "shoe brand", "bus line", "parking fee",
    "opening hours", "dress code", "wheelchair access", "elevation", "rainfall", "soil quality",
    "annual rainfall", "humidity", "crime rate", "literacy rate", "unemployment rate",
    "life expectancy", "inflation rate", "mortgage", "retirement plan", "sick days",
    "vacation days", "overtime hours", "security clearance", "union membership", "mother tongue",
    "sleep quality", "heart rate", "body temperature", "cholesterol level", "medication",
    "dosage", "diagnosis", "number of siblings", "maiden name", "nickname", "twitter handle",
    "linkedin profile", "website traffic", "licence plate", "engine power", "top speed",
    "tyre pressure", "seating plan", "fabric", "thread count", "scent", "spiciness", "wingspan",
    "number of legs", "venom", "diet", "habitat", "lifespan", "shelf number", "barcode",
    "supplier rating", "audit result", "risk class", "contract duration", "cancellation fee",
)  # fmt: skip

THINGS = (
    "volcanoes", "spaceships", "pizzas", "dentists", "submarines", "wedding cakes", "lighthouses",
    "earthquakes", "ski lifts", "vending machines", "piano lessons", "satellites", "glaciers",
    "beehives", "windmills", "passports", "parking tickets", "umbrellas", "dinosaurs", "planets",
    "vaccines", "lawsuits", "patents", "podcasts", "webinars", "coupons", "gift cards",
    "newsletters", "complaints", "refunds", "warehouses", "trucks", "drivers", "robots", "printers",
    "laptops", "meeting rooms", "holidays", "hurricanes", "rivers", "mountains", "museums",
    "bridges", "restaurants", "bakeries", "hospitals", "pharmacies", "nurses", "soldiers",
    "elections", "senators", "embassies", "languages", "dialects", "recipes", "ingredients",
    "wines", "breweries", "chess tournaments", "marathons", "swimmers", "coaches", "referees",
    "stadiums", "sponsors", "trophies", "paintings", "sculptures", "violins", "operas", "comics",
    "video games", "mobile apps", "servers", "firewalls", "passwords", "bugs", "software releases",
)  # fmt: skip

WORLD = (
    "What is the weather in Paris tomorrow?", "Who is the president of France?",
    "What is the capital of Australia?", "How do I fix my printer?", "Who won the last world cup?",
    "What is the exchange rate of the euro?", "How tall is the Eiffel Tower?",
    "When did the second world war end?", "What is the best programming language?",
    "How many calories are in a banana?", "Which horse should I bet on?",
    "What is the square root of 144?", "Who invented the telephone?", "Is it going to rain today?",
    "What did the chief executive say in yesterday's interview?",
    "What do our competitors charge?", "Why are sales falling?",
    "Which marketing campaign should we run next?", "How can we reduce our costs?",
    "What is the sentiment of our reviews on social media?", "Who is the most famous actor?",
    "How far is the moon from the earth?", "What is the speed of light?",
    "What time does the train to London leave?", "How is the traffic this morning?",
    "What is the boiling point of water?", "Which stock will rise most next year?",
    "What will our revenue be in 2035?", "Who wrote Hamlet?", "What is the population of Mars?",
    "How many bitcoins did we mine?", "What is my horoscope for today?",
    "Explain quantum mechanics", "Describe the plot of the movie Titanic",
    "What is the phone number of the nearest taxi?", "What are the symptoms of the flu?",
    "Which restaurant nearby has vegan food?", "How long does it take to boil an egg?",
    "What is the salary of the president?", "Show me pictures of cats",
    "What is on television tonight?", "What are the opening hours of the town hall?",
)  # fmt: skip

_PROPERTY_FORMS = (
    "What is the {property} of each {table}?", "List the {property} of all {table}.",
    "Which {table} has the highest {property}?", "What is the average {property} of the {table}?",
    "How many {table} are there for each {property}?", "Show every {table} and its {property}.",
    "What {property} does the {table} with the lowest id have?", "{table} by {property}",
    "How many {table} have no {property}?", "Find the {table} whose {property} is missing.",
)  # fmt: skip

_THING_FORMS = (
    "How many {thing} are there?", "List all {thing} with their names.",
    "Which {thing} were added last?", "Show the {thing} of each {table}.",
    "How many {thing} does each {table} have?", "What is the average price of {thing}?",
    "Which {table} has the most {thing}?", "Are there any {thing} without a {table}?",
)  # fmt: skip


@dataclass(frozen=True)
class Impossible:
    """A question, the database it is asked of, and the columns to take out of its schema."""

    question: Question
    database: str
    kind: str
    removed: frozenset[ColumnRef] = frozenset()


Explains = Callable[[Schema, str], float]
"""Share of a phrase that a schema explains, in [0, 1]."""


def impossible(
    pairs: Sequence[Pair],
    schemas: Mapping[str, Schema],
    explains: Explains,
    *,
    each: int,
    seed: int,
) -> list[Impossible]:
    """About `each` questions per database that it can't answer, of all kinds."""
    found = []
    for name in sorted(schemas):
        draw = random.Random(f"{seed}/{name}")
        makers = (
            (_made_up(schemas[name], explains, draw), 0.5),
            (_removed(name, pairs, schemas[name], draw), 0.2),
            (_foreign(name, pairs, schemas[name], explains, draw), 0.2),
            (_world(schemas[name], explains, draw), 0.1),
        )
        for maker, share in makers:
            for _, one in zip(range(max(1, round(each * share))), maker, strict=False):
                found.append(replace(one, database=name))
    return found


def _made_up(schema: Schema, explains: Explains, draw: random.Random) -> Iterator[Impossible]:
    for _ in range(200):
        table = readable([draw.choice(schema.tables).name])
        if draw.random() < 0.6:
            word, form, kind = draw.choice(PROPERTIES), draw.choice(_PROPERTY_FORMS), "property"
        else:
            word, form, kind = draw.choice(THINGS), draw.choice(_THING_FORMS), "thing"
        if explains(schema, word) < 0.5:
            text = form.format(property=word, thing=word, table=table)
            yield Impossible(Question(text[0].upper() + text[1:]), "", kind)


def _removed(
    name: str, pairs: Sequence[Pair], schema: Schema, draw: random.Random
) -> Iterator[Impossible]:
    own = [pair for pair in pairs if pair.database == name]
    draw.shuffle(own)
    for pair in own:
        needed = used(pair.sql, schema)
        if needed is None:
            continue
        words = {stem(word.strip("?.,'\"").casefold()) for word in pair.question.text.split()}
        named = [
            ref
            for ref in sorted(needed.columns - needed.joining)
            if {stem(word) for word in split_name(ref.column)} & words
            and not {"name", "id"} & set(split_name(ref.column))
        ]
        for ref in named[:1]:
            # A column of the same name elsewhere would still answer it.
            same = {one for one in schema.columns if one.column.casefold() == ref.column.casefold()}
            yield Impossible(pair.question, "", "removed", frozenset(same))


def _foreign(
    name: str, pairs: Sequence[Pair], schema: Schema, explains: Explains, draw: random.Random
) -> Iterator[Impossible]:
    others = [pair for pair in pairs if pair.database != name]
    draw.shuffle(others)
    for pair in others:
        if explains(schema, pair.question.text) < 0.55:
            yield Impossible(pair.question, "", "foreign")


def _world(schema: Schema, explains: Explains, draw: random.Random) -> Iterator[Impossible]:
    texts = list(WORLD)
    draw.shuffle(texts)
    for text in texts:
        if explains(schema, text) < 0.6:
            yield Impossible(Question(text), "", "world")


def without_columns(schema: Schema, removed: frozenset[ColumnRef]) -> Schema:
    """The schema without some columns, tables left empty and keys over them."""
    tables = []
    for table in schema.tables:
        kept = tuple(c for c in table.columns if ColumnRef(table.name, c.name) not in removed)
        primary = tuple(n for n in table.primary_key if ColumnRef(table.name, n) not in removed)
        if kept:
            tables.append(replace(table, columns=kept, primary_key=primary))
    names = {table.name for table in tables}
    keys = tuple(
        key
        for key in schema.foreign_keys
        if key.table in names
        and key.target_table in names
        and not any(near in removed or far in removed for near, far in key.pairs)
    )
    return Schema(schema.name, tuple(tables), keys, schema.dialect)
