"""Questions about rows of one table that belong together: an employee and her manager, two
players of one match.
"""

from __future__ import annotations

import random

from training.embedded.questions.entities import Property, Relation, Role, World
from training.embedded.questions.phrases import column, listed, many
from training.embedded.questions.rows import Made, ask

from sqlwright.english.words import plural
from sqlwright.local.form import nodes as f


def selves(world: World, rng: random.Random) -> Made | None:
    """Rows of a table and the row of the same table that each of them has."""
    found = [
        one
        for one in world.relations
        if one.child is one.parent and one.role and one.child.key == one.far and one.child.names
    ]
    if not found:
        return None
    relation = rng.choice(found)
    way = rng.choice((_pairs, _followers, _of, _whose, _beyond, _alone))
    return way(relation, rng)


def _sides(relation: Relation) -> tuple[tuple[f.Column, ...], tuple[f.Column, ...], f.Join]:
    """Columns of a row, columns of the row that it belongs to, and the join of the two."""
    names = relation.child.names
    own, other = (tuple(column(one, number) for one in names) for number in (1, 2))
    return own, other, f.Join(f.Column(relation.near), f.Column(relation.far, 2))


def _called(relation: Relation, rng: random.Random) -> str:
    return listed([one.words for one in relation.child.names], rng)


def _pairs(relation: Relation, rng: random.Random) -> Made | None:
    entity, role = relation.child, relation.role
    own, other, join = _sides(relation)
    said = _called(relation, rng)
    texts = [
        f"{rng.choice(('Show', 'List', 'Give'))} the {said} of each {entity.singular} "
        f"and the {said} of {rng.choice(('its', 'their', 'the'))} {role}.",
        f"What are the {said} of all {entity.plural} and of their {plural(role)}?",
        f"For every {entity.singular}, list its {said} and that of its {role}.",
    ]
    if len(entity.names) == 1:
        texts.append(f"{entity.plural} and their {plural(role)}: show both {plural(said)}")
    return rng.choice(texts), f.Select((*own, *other), joins=(join,))


def _followers(relation: Relation, rng: random.Random) -> Made | None:
    entity, role = relation.child, relation.role
    _, other, join = _sides(relation)
    said = _called(relation, rng)
    text = rng.choice(
        (
            f"How many {entity.plural} does each {role} have? Show the {said} of the {role}.",
            f"For each {role}, show the {said} and the number of {entity.plural}.",
            f"Number of {entity.plural} per {role}, with the {role}'s {said}",
        )
    )
    rows_of = f.Aggregate("count", f.Star(entity.table))
    by = (f.Column(relation.far, 2),)
    return text, f.Select((*other, rows_of), joins=(join,), group_by=by)


def _alone(relation: Relation, rng: random.Random) -> Made | None:
    own, _, _ = _sides(relation)
    role, said = relation.role, _called(relation, rng)
    words = rng.choice((f"without a {role}", f"that have no {role}", f"with no {role}"))
    where = f.IsNull(f.Column(relation.near))
    return ask(f"{said} of {relation.child.plural} {words}", rng), f.Select(own, where=where)


def _one_called(relation: Relation, rng: random.Random) -> tuple[Property, str] | None:
    """A stored name to speak of a row by."""
    called = [one for one in relation.child.names if one.texts]
    return (called[0], rng.choice(called[0].texts)) if called else None


def _whose(relation: Relation, rng: random.Random) -> Made | None:
    named = _one_called(relation, rng)
    if named is None:
        return None
    own, _, join = _sides(relation)
    where = f.Comparison("=", column(named[0], 2), f.Literal(named[1]))
    role, said = relation.role, _called(relation, rng)
    words = rng.choice((f"whose {role} is {named[1]}", f"who have {named[1]} as {role}"))
    text = ask(f"{said} of {relation.child.plural} {words}", rng)
    return text, f.Select(own, joins=(join,), where=where)


def _of(relation: Relation, rng: random.Random) -> Made | None:
    named = _one_called(relation, rng)
    if named is None:
        return None
    _, other, join = _sides(relation)
    where = f.Comparison("=", column(named[0]), f.Literal(named[1]))
    role, said = relation.role, _called(relation, rng)
    text = rng.choice(
        (
            f"Who is the {role} of {named[1]}? Give the {said}.",
            f"What is the {said} of the {role} of {named[1]}?",
        )
    )
    return text, f.Select(other, joins=(join,), where=where)


def _beyond(relation: Relation, rng: random.Random) -> Made | None:
    """Rows that surpass the row they belong to."""
    measures = relation.child.having(Role.MEASURE)
    if not measures:
        return None
    own, _, join = _sides(relation)
    one, above = rng.choice(measures), rng.random() < 0.7
    word = rng.choice(("higher", "larger", "greater") if above else ("lower", "smaller"))
    where = f.Comparison(">" if above else "<", column(one), column(one, 2))
    said = listed([many(name.words, rng) for name in relation.child.names], rng)
    words = f"with a {word} {one.words} than their {relation.role}"
    text = ask(f"{said} of {relation.child.plural} {words}", rng)
    return text, f.Select(own, joins=(join,), where=where)


def links(world: World, rng: random.Random) -> Made | None:
    """Two rows of one table that rows of another one bring together."""
    doubles = [
        (first, second)
        for index, first in enumerate(world.relations)
        for second in world.relations[index + 1 :]
        if first.child is second.child and first.parent is second.parent and second.role
        and first.child is not first.parent and first.parent.names
    ]  # fmt: skip
    if not doubles:
        return None
    first, second = rng.choice(doubles)
    parent, link = first.parent, first.child
    title = parent.names[0]
    joins = (
        f.Join(f.Column(first.near), f.Column(first.far)),
        f.Join(f.Column(second.near), f.Column(second.far, 2)),
    )
    role = first.role or parent.singular
    own, other = column(title), column(title, 2)
    way = rng.choice(("pairs", "of", "count"))
    if way == "pairs":
        text = rng.choice(
            (
                f"Show the {title.words} of the {role} and of the {second.role} "
                f"of every {link.singular}.",
                f"{role} {title.words} and {second.role} {title.words} of all {link.plural}",
                f"List each {role}'s {title.words} with the {title.words} of the {second.role}.",
            )
        )
        return text, f.Select((own, other), joins=joins)
    if way == "count":
        rows_of = f.Aggregate("count", f.Star(link.table))
        text = f"How many {plural(second.role)} does each {role} have? Show the {title.words}."
        return text, f.Select((own, rows_of), joins=joins[:1], group_by=(f.Column(first.far),))
    if not title.texts:
        return None
    value = rng.choice(title.texts)
    where = f.Comparison("=", own, f.Literal(value))
    text = ask(f"{many(title.words, rng)} of the {plural(second.role)} of {value}", rng)
    return text, f.Select((other,), joins=joins, where=where)
