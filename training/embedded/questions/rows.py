"""Questions about the rows of one table: shown, counted, reckoned with, grouped, put in order.

Every function takes a world and a generator and gives a question with its query, or None where the
drawn things don't fit. Whatever a query shows, its question asks for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from training.embedded.questions.entities import Entity, Property, Role, World
from training.embedded.questions.phrases import (
    AGGREGATES,
    Said,
    column,
    compare,
    joined,
    listed,
    many,
    modifiers,
    number_words,
    ordered_by,
    superlative,
)

from sqlwright.english.words import plural
from sqlwright.local.form import nodes as f

Made = tuple[str, f.Query]
"""A question's words and its query."""

ASKED = (
    "Show", "List", "Give me", "Find", "Return", "Display", "Get", "Tell me", "I need",
    "Please list",
)  # fmt: skip
_SHOWN = (Role.NAME, Role.CATEGORY, Role.TEXT, Role.MEASURE, Role.YEAR, Role.DAY, Role.CODE)


def ask(words: str, rng: random.Random, *, several: bool = True) -> str:
    """The words as a request or as a question, or as they are."""
    way = rng.random()
    if way < 0.12:
        return words[:1].upper() + words[1:]
    the = "the " if rng.random() < 0.8 else ""
    if way < 0.45:
        return f"What {'are' if several else 'is'} the {words}?"
    return f"{rng.choice(ASKED)} {the}{words}."


def pick(found: Sequence[Property], count: int, rng: random.Random) -> list[Property]:
    """So many of them, or all there are."""
    return rng.sample(found, min(count, len(found)))


def some(entity: Entity, rng: random.Random, most: int = 5) -> list[Property]:
    """Properties to show: often the name, and any others."""
    count = rng.choices(range(1, most + 1), (40, 28, 18, 9, 5)[:most])[0]
    shown = list(entity.names) if rng.random() < 0.6 else []
    rest = [one for one in entity.having(*_SHOWN) if one not in shown]
    chosen = [*shown, *pick(rest, count, rng)][:count]
    if len(chosen) > 2 and rng.random() < 0.3:
        rng.shuffle(chosen)
    return chosen


def conditions(entities: Sequence[Entity], count: int, rng: random.Random) -> list[Said]:
    """Conditions on different properties."""
    pool = [one for entity in entities for one in entity.properties]
    found: list[Said] = []
    for one in rng.sample(pool, len(pool)):
        if len(found) == count:
            break
        said = compare(one, rng) if all(one.words != other.subject for other in found) else None
        if said is not None:
            found.append(said)
    return found


def under(
    entity: Entity, rng: random.Random, weights: Sequence[int]
) -> tuple[str, f.Condition | None]:
    """Words behind the plural and the condition; nothing for no condition."""
    said = conditions([entity], rng.choices(range(len(weights)), weights)[0], rng)
    if not said:
        return "", None
    either = len(said) > 1 and rng.random() < 0.35
    return " " + modifiers(said, rng, either=either), joined(said, either=either)


def rows(world: World, rng: random.Random) -> Made | None:
    """Properties of an entity's rows, under conditions, in an order, without a limit."""
    entity = rng.choice(world.entities)
    shown = some(entity, rng)
    if not shown:
        return None
    behind, where = under(entity, rng, (25, 45, 30))
    different = len(shown) == 1 and shown[0].role is not Role.CODE and rng.random() < 0.15
    parts = [many(one.words, rng) if where or different else one.words for one in shown]
    words = listed(parts, rng)
    words = f"{rng.choice(('different', 'distinct', 'unique'))} {words}" if different else words
    noun = rng.choice(("of {}", "of all {}", "for all {}")).format(entity.plural)
    if rng.random() < 0.25 and not where:
        noun = rng.choice((f"of each {entity.singular}", f"for every {entity.singular}"))
    text = ask(f"{words} {noun}{behind}", rng)
    if not different and rng.random() < 0.12:
        asked = rng.choice(("Find the", "List all", "Show me the"))
        text = f"{asked} {entity.plural}{behind}, with their {words}"
    said, order = _order(entity, rng) if rng.random() < 0.4 else ("", ())
    if order:
        mark = text[-1] if text[-1] in ".?" else ""
        text = f"{text.rstrip('.?')}{rng.choice((', ', ' ', ', '))}{said}{mark}"
    return text, f.Select(tuple(map(column, shown)), different, where=where, order_by=order)


def _order(entity: Entity, rng: random.Random) -> tuple[str, tuple[f.OrderTerm, ...]]:
    """An order by one property or two."""
    terms = [
        (one, rng.random() < 0.55) for one in pick(entity.properties, rng.choice((1, 1, 2)), rng)
    ]
    said = " and then ".join(ordered_by(one, down, rng) for one, down in terms)
    return said, tuple(f.OrderTerm(column(one), down) for one, down in terms)


def everything(world: World, rng: random.Random) -> Made | None:
    """All columns of an entity's rows."""
    entity = rng.choice(world.entities)
    behind, where = under(entity, rng, (40, 60))
    words = rng.choice(
        ("all information about", "all details of", "everything about", "all columns of")
    )
    return f"{rng.choice(ASKED)} {words} {entity.plural}{behind}.", f.Select(
        (f.Star(entity.table),), where=where
    )


def extreme(world: World, rng: random.Random) -> Made | None:
    """The first row, or the first few, by a property."""
    entity = rng.choice(world.entities)
    found = entity.having(Role.MEASURE, Role.YEAR, Role.DAY)
    shown = some(entity, rng, 3)
    if not found or not shown:
        return None
    by, descending = rng.choice(found), rng.random() < 0.6
    count = rng.choice((1, 1, 1, 2, 3, 3, 5, 5, 10))
    before, behind = superlative(by, descending, rng)
    condition, where = under(entity, rng, (70, 30))
    noun = entity.singular if count == 1 else entity.plural
    top = rng.choice(("top ", "")) if descending else ""
    number = f"{top}{number_words(count, rng)} " if count > 1 else ""
    words = listed([one.words for one in shown], rng)
    noun = " ".join(f"{number}{before} {noun}{condition} {behind}".split())
    text = ask(f"{words} of the {noun}", rng, several=len(shown) > 1 or count > 1)
    order = (f.OrderTerm(column(by), descending),)
    return text, f.Select(tuple(map(column, shown)), where=where, order_by=order, limit=count)


def count(world: World, rng: random.Random) -> Made | None:
    """A question for the number of rows or of different values."""
    entity = rng.choice(world.entities)
    behind, where = under(entity, rng, (15, 60, 25))
    kinds = entity.having(Role.CATEGORY, Role.NAME, Role.TEXT, Role.CODE)
    if kinds and rng.random() < 0.25:
        one = rng.choice(kinds)
        text = rng.choice((
            f"How many different {plural(one.words)} do {entity.plural}{behind} have?",
            f"How many distinct {plural(one.words)} are there among {entity.plural}{behind}?",
            f"Count the number of unique {plural(one.words)} of {entity.plural}{behind}.",
        ))  # fmt: skip
        return text, f.Select((f.Aggregate("count", column(one), True),), where=where)
    text = rng.choice((
        f"How many {entity.plural} are there{behind}?", f"How many {entity.plural}{behind}?",
        f"What is the number of {entity.plural}{behind}?", f"Count the {entity.plural}{behind}.",
        f"Number of {entity.plural}{behind}",
        f"What is the total number of {entity.plural}{behind}?",
    ))  # fmt: skip
    return text, f.Select((f.Aggregate("count", f.Star(entity.table)),), where=where)


def figures_of(entity: Entity, rng: random.Random) -> tuple[str, tuple[f.Expression, ...]] | None:
    """Several figures of one measure, or one figure of several measures."""
    found = entity.having(Role.MEASURE)
    if not found:
        return None
    if rng.random() < 0.8:
        one = rng.choice(found)
        names = rng.sample(sorted(AGGREGATES), rng.choices((1, 2, 3, 4), (40, 25, 20, 15))[0])
        words = listed([rng.choice(AGGREGATES[name]) for name in names], rng)
        return f"{words} {one.words}", tuple(f.Aggregate(name, column(one)) for name in names)
    parts = [(rng.choice(sorted(AGGREGATES)), one) for one in pick(found, 2, rng)]
    words = listed([f"{rng.choice(AGGREGATES[name])} {one.words}" for name, one in parts], rng)
    return words, tuple(f.Aggregate(name, column(one)) for name, one in parts)


def figures(world: World, rng: random.Random) -> Made | None:
    """Figures over all rows that meet a condition."""
    entity = rng.choice(world.entities)
    made = figures_of(entity, rng)
    if made is None:
        return None
    behind, where = under(entity, rng, (45, 45, 10))
    every = rng.choice(("", "all ", "all "))
    text = ask(f"{made[0]} of {every}{entity.plural}{behind}", rng, several=len(made[1]) > 1)
    return text, f.Select(made[1], where=where)


def per(entity: Entity, rng: random.Random) -> tuple[str, tuple[f.Expression, ...]]:
    """Something to reckon for each group."""
    made = figures_of(entity, rng) if rng.random() < 0.5 else None
    if made is not None:
        return f"{made[0]} of {entity.plural}", made[1]
    words = rng.choice((f"number of {entity.plural}", f"count of {entity.plural}"))
    return words, (f.Aggregate("count", f.Star(entity.table)),)


def groups(world: World, rng: random.Random) -> Made | None:
    """Figures for each kind of an entity's rows."""
    entity = rng.choice(world.entities)
    kinds = entity.having(Role.CATEGORY, Role.YEAR, Role.TEXT, Role.DAY)
    if not kinds:
        return None
    by = rng.choice(kinds)
    key: f.Expression = column(by)
    words, parts = per(entity, rng)
    if by.role is Role.DAY:
        by = replace(by, words=f"year of {by.words}" if rng.random() < 0.7 else "year")
        key = f.Function("year", (key,))
    behind, where = under(entity, rng, (75, 25))
    text = rng.choice((
        f"For each {by.words}, show the {words}{behind}.", f"{words} per {by.words}{behind}",
        f"What is the {words}{behind} for each {by.words}?",
        f"Show the {words}{behind} by {by.words}.",
        f"Show each {by.words} and the {words}{behind}.", f"{words}{behind} in every {by.words}",
        f"What are the {plural(by.words)} and the {words}{behind} of each?",
        f"List the {words}{behind}, grouped by {by.words}.",
    ))  # fmt: skip
    return text, f.Select((key, *parts), where=where, group_by=(key,))


def frequent(world: World, rng: random.Random) -> Made | None:
    """The kind that most rows have, or the kinds that many have."""
    entity = rng.choice(world.entities)
    kinds = entity.having(Role.CATEGORY)
    if not kinds:
        return None
    by = rng.choice(kinds)
    rows_of = f.Aggregate("count", f.Star(entity.table))
    if rng.random() < 0.5:
        down = rng.random() < 0.7
        word = rng.choice(("most common", "most frequent")) if down else "least common"
        text = ask(f"{word} {by.words} of {entity.plural}", rng, several=False)
        order = (f.OrderTerm(rows_of, down),)
        return text, f.Select((column(by),), group_by=(column(by),), order_by=order, limit=1)
    words, having = many_rows(entity, rng)
    text = rng.choice(
        (f"Which {plural(by.words)} have {words}?", f"List every {by.words} with {words}.")
    )
    return text, f.Select((column(by),), group_by=(column(by),), having=having)


def many_rows(entity: Entity, rng: random.Random) -> tuple[str, f.Condition]:
    """Words for a number of rows, and the condition on a group."""
    least = rng.randint(2, 10)
    ways: tuple[tuple[f.ComparisonOperator, str], ...] = (
        (">", "more than {}"), (">=", "at least {}"), (">=", "{} or more"),
        ("<", "fewer than {}"), ("=", "exactly {}"),
    )  # fmt: skip
    operator, words = rng.choice(ways)
    rows_of = f.Aggregate("count", f.Star(entity.table))
    said = words.format(number_words(least, rng))
    return f"{said} {entity.plural}", f.Comparison(operator, rows_of, f.Literal(least))


def average(world: World, rng: random.Random) -> Made | None:
    """Rows above or below the average of a measure, or at its extreme."""
    entity = rng.choice(world.entities)
    found, shown = entity.having(Role.MEASURE), some(entity, rng, 2)
    if not found or not shown:
        return None
    by, above = rng.choice(found), rng.random() < 0.7
    inner = f.Subquery(f.Select((f.Aggregate("avg", column(by)),)))
    word = rng.choice(
        ("above", "higher than", "greater than") if above else ("below", "lower than")
    )
    where = f.Comparison(">" if above else "<", column(by), inner)
    behind = rng.choice((
        f"whose {by.words} is {word} the average", f"with {by.words} {word} average",
        f"with a {by.words} {word} the average {by.words} of all {entity.plural}",
    ))  # fmt: skip
    if rng.random() < 0.3:
        text = f"How many {entity.plural} are there {behind}?"
        return text, f.Select((f.Aggregate("count", f.Star(entity.table)),), where=where)
    text = ask(
        f"{listed([many(one.words, rng) for one in shown], rng)} of {entity.plural} {behind}", rng
    )
    return text, f.Select(tuple(map(column, shown)), where=where)
