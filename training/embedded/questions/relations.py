"""Questions about rows of several tables: parents and children, chains of keys, and money made of
prices and quantities.
"""

from __future__ import annotations

import random
from dataclasses import replace

from training.embedded.questions.entities import Entity, Property, Relation, Role, World
from training.embedded.questions.phrases import (
    AGGREGATES,
    COMPARED,
    column,
    joined,
    listed,
    many,
    modifiers,
    number_words,
    sample_number,
)
from training.embedded.questions.rows import (
    Made,
    ask,
    conditions,
    many_rows,
    per,
    pick,
    some,
    under,
)

from sqlwright.local.form import nodes as f

_PRICES = frozenset({"price", "cost", "rate", "fee", "charge"})
_QUANTITIES = frozenset({"quantity", "units", "pieces", "copies"})


def _related(world: World, rng: random.Random) -> Relation | None:
    """A relation that the shortest way restores, whose parent can be named."""
    found = [one for one in world.relations if one.only and one.parent.key == one.far]
    return rng.choice(found) if found else None


def _titles(entity: Entity, rng: random.Random) -> list[Property]:
    return list(entity.names) or some(entity, rng, 2)


def families(world: World, rng: random.Random) -> Made | None:
    """For each parent the number of its children, or figures of theirs."""
    relation = _related(world, rng)
    if relation is None:
        return None
    parent, child = relation.parent, relation.child
    shown = _titles(parent, rng)
    said = listed([one.words for one in shown], rng)
    words, parts = per(child, rng)
    behind, where = under(child, rng, (75, 25))
    one = parent.singular
    text = rng.choice(
        (
            f"For each {one}, show the {said} and the {words}{behind}.",
            f"{words}{behind} per {one}, with the {said} of the {one}",
            f"Show the {said} of each {one} and the {words}{behind}.",
            f"List the {one} {said} together with the {words}{behind}.",
            f"What are the {said} of {parent.plural} and the {words}{behind} of each {one}?",
            f"What is the {words}{behind} of every {one}? Show the {said} too.",
        )
    )
    items = (*map(column, shown), *parts)
    return text, f.Select(items, where=where, group_by=(f.Column(relation.far),))


def largest(world: World, rng: random.Random) -> Made | None:
    """The parents with the most children, with at least some, or with a high figure of theirs."""
    relation = _related(world, rng)
    if relation is None:
        return None
    parent, child = relation.parent, relation.child
    shown = _titles(parent, rng)
    said = listed([one.words for one in shown], rng)
    select = f.Select(tuple(map(column, shown)), group_by=(f.Column(relation.far),))
    measures = child.having(Role.MEASURE)
    value: f.Expression = f.Aggregate("count", f.Star(child.table))
    few = rng.random() < 0.3
    words = rng.choice(("fewest", "smallest number of") if few else ("most", "largest number of"))
    words = f"{words} {child.plural}"
    named: f.AggregateName = rng.choice(("avg", "sum", "max", "min"))
    if measures and rng.random() < 0.5:
        one = rng.choice(measures)
        value = f.Aggregate(named, column(one))
        figure = f"{rng.choice(AGGREGATES[named])} {one.words} of {child.plural}"
        words = f"{'lowest' if few else 'highest'} {figure}"
        if rng.random() < 0.5:
            operator: f.ComparisonOperator = rng.choice((">", ">=", "<"))
            bound = sample_number(one, rng)
            limit = rng.choice(COMPARED[operator]).format(number_words(bound, rng))
            above = f.Comparison(operator, value, f.Literal(bound))
            behind = rng.choice((f"whose {figure} is {limit}", f"with {figure} {limit}"))
            return ask(f"{said} of {parent.plural} {behind}", rng), replace(select, having=above)
    elif rng.random() < 0.5:
        words, having = many_rows(child, rng)
        return ask(f"{said} of {parent.plural} with {words}", rng), replace(select, having=having)
    text = rng.choice(
        (
            ask(f"{said} of the {parent.singular} with the {words}", rng, several=len(shown) > 1),
            f"Which {parent.singular} has the {words}? Give the {said}.",
        )
    )
    return text, replace(select, order_by=(f.OrderTerm(value, not few),), limit=1)


def without(world: World, rng: random.Random) -> Made | None:
    """Parents that have no child, or none of a kind."""
    relation = _related(world, rng)
    if relation is None:
        return None
    parent, child = relation.parent, relation.child
    shown = _titles(parent, rng) if rng.random() < 0.7 else some(parent, rng, 2)
    behind, where = under(child, rng, (65, 35))
    inner = f.Select((f.Column(relation.near),), where=where)
    absent = f.InQuery(f.Column(relation.far), inner, True)
    words = rng.choice(
        (
            f"without any {child.plural}",
            f"that have no {child.plural}",
            f"with no {child.plural}",
            f"that do not have any {child.plural}",
            f"that never had a {child.singular}",
        )
    )
    if rng.random() < 0.3 or not shown:
        text = f"How many {parent.plural} {words.removeprefix('that ')}{behind}?"
        return text, f.Select((f.Aggregate("count", f.Star(parent.table)),), where=absent)
    said = listed([many(one.words, rng) for one in shown], rng)
    text = ask(f"{said} of {parent.plural} {words}{behind}", rng)
    return text, f.Select(tuple(map(column, shown)), where=absent)


def _neighbours(world: World, entity: Entity) -> list[tuple[Entity, str]]:
    """Entities one key away, and how the first one's rows have theirs."""
    found = []
    for one in world.relations:
        if one.only and one.child is entity:
            found.append((one.parent, one.parent.singular))
        elif one.only and one.parent is entity:
            found.append((one.child, one.child.singular))
    return found


def chains(world: World, rng: random.Random) -> Made | None:
    """Properties of one entity under conditions on another, one to three keys away."""
    entity = rng.choice(world.entities)
    shown = some(entity, rng, 3)
    path: list[tuple[Entity, str]] = [(entity, entity.singular)]
    for _ in range(rng.choices((1, 2, 3), (50, 35, 15))[0]):
        near = _neighbours(world, path[-1][0])
        near = [step for step in near if all(step[0] is not seen for seen, _ in path)]
        if not near:
            break
        path.append(rng.choice(near))
    far, noun = path[-1]
    if len(path) < 2 or not shown:
        return None
    plain = conditions([far], 1, rng)
    said = [replace(one, subject=f"{noun} {one.subject}", alone="") for one in plain]
    own = conditions([entity], rng.choices((0, 1), (70, 30))[0], rng)
    extra = pick(far.names or far.properties, 1, rng) if rng.random() < 0.3 else []
    if not said and not extra:
        return None
    behind = f" {modifiers([*own, *said], rng)}" if own or said else ""
    if said and not own and rng.random() < 0.4:
        having = rng.choice(("with a", "that have a", "having a"))
        behind = f" {having} {noun} {modifiers(plain, rng)}"
    words = [one.words for one in shown] + [f"{noun} {one.words}" for one in extra]
    text = ask(f"{listed(words, rng)} of {entity.plural}{behind}", rng)
    items = tuple(map(column, (*shown, *extra)))
    return text, f.Select(items, where=joined([*own, *said]))


def both(world: World, rng: random.Random) -> Made | None:
    """A question for parents that have one kind of rows and another kind, too."""
    relation = _related(world, rng)
    if relation is None:
        return None
    parent, child = relation.parent, relation.child
    shown = list(parent.names)
    pool = [one for one in child.having(Role.CATEGORY, Role.TEXT) if len(one.texts) > 1]
    if not shown or not pool:
        return None
    by = rng.choice(pool)
    values = rng.sample(by.texts, 2)
    if any("'" in value or len(value) > 25 for value in values):
        return None
    first, second = (
        f.Select(tuple(map(column, shown)), where=f.Comparison("=", column(by), f.Literal(value)))
        for value in values
    )
    said = listed([many(one.words, rng) for one in shown], rng)
    but = rng.random() < 0.3
    if but:
        words = (
            f"with a {child.singular} of {by.words} {values[0]} but none of {by.words} {values[1]}"
        )
    else:
        words = rng.choice(
            (
                f"that have both a {child.singular} with {by.words} {values[0]} "
                f"and a {child.singular} with {by.words} {values[1]}",
                f"with {child.plural} of both {by.words} {values[0]} and {by.words} {values[1]}",
                f"having {child.plural} whose {by.words} is {values[0]} "
                f"and also {child.plural} whose {by.words} is {values[1]}",
            )
        )
    text = ask(f"{said} of {parent.plural} {words}", rng)
    return text, f.SetOperation("except" if but else "intersect", first, second)


def money(world: World, rng: random.Random) -> Made | None:
    """Prices times quantities, over all rows, for each kind or each parent."""
    found = [
        (price, quantity, child)
        for child in world.entities
        for quantity in child.having(Role.MEASURE)
        if _QUANTITIES.intersection(quantity.words.split())
        for near in (child, *(step for step, _ in _neighbours(world, child)))
        for price in near.having(Role.MEASURE)
        if _PRICES.intersection(price.words.split())
    ]
    if not found:
        return None
    price, quantity, child = rng.choice(found)
    value = f.Aggregate("sum", f.Arithmetic("*", column(price), column(quantity)))
    words = rng.choice(
        ("total revenue", "revenue", "total sales", "total value", "turnover", "sales value",
         f"total {price.words} times {quantity.words}")
    )  # fmt: skip
    behind, where = under(child, rng, (70, 30))
    parents = [one for one in world.relations if one.child is child and one.only]
    if not parents or rng.random() < 0.25:
        text = ask(f"{words} of all {child.plural}{behind}", rng, several=False)
        return text, f.Select((value,), where=where)
    relation = rng.choice(parents)
    titles = relation.parent.names or relation.parent.having(Role.CATEGORY)[:1]
    if not titles:
        return None
    noun, said = relation.parent.singular, listed([one.words for one in titles], rng)
    by = (f.Column(relation.far),)
    items = tuple(map(column, titles))
    if rng.random() < 0.35:
        top = (f.OrderTerm(value, True),)
        text = f"Which {noun} has the highest {words}{behind}? Show the {said}."
        return text, f.Select(items, where=where, group_by=by, order_by=top, limit=1)
    text = rng.choice(
        (
            f"{words}{behind} per {noun}, with the {said}",
            f"Show the {said} and the {words} of each {noun}{behind}.",
            f"What is the {words} for each {noun}{behind}? List the {said} too.",
        )
    )
    return text, f.Select((*items, value), where=where, group_by=by)
