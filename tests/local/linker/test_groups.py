"""Of many databases in one schema the linker finds the one that a question is about."""

from __future__ import annotations

import numpy as np
import pytest

from sqlwright.local.linker.linker import WIDE, Linker, mass
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.types import Question, ValueMatch
from tests.local.linker.test_linker import WEIGHTS

GROUPS = (
    (("airline", "name", "country"), ("flight", "airline", "origin", "destination", "price")),
    (("student", "name", "age", "major"), ("enrolment", "student", "course", "grade")),
    (("film", "title", "director", "year"), ("screening", "film", "cinema", "seats")),
    (("employee", "name", "salary", "city"), ("contract", "employee", "start", "hours")),
    (("product", "name", "price", "stock"), ("sale", "product", "customer", "amount")),
    (("patient", "name", "age", "insurance"), ("treatment", "patient", "doctor", "cost")),
    (("player", "name", "height", "team"), ("appearance", "player", "goals", "minutes")),
    (("book", "title", "author", "pages"), ("loan", "book", "reader", "due")),
    (("farm", "name", "acres", "owner"), ("harvest", "farm", "crop", "tons")),
)


def crowd(groups: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = GROUPS) -> Schema:
    """Each group's second table refers to its first."""
    tables, keys = [], []
    for first, second in groups:
        for name, *columns in (first, second):
            own = [Column(column, "TEXT") for column in ("id", *columns)]
            tables.append(Table(name, tuple(own), ("id",)))
        keys.append(ForeignKey(second[0], (second[1],), first[0], ("id",)))
    return Schema("crowd", tuple(tables), tuple(keys))


CROWD = crowd()


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.load(WEIGHTS)


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ("What is the average price of a flight?", "flight"),
        ("Which pupils got the best marks in their courses?", "student"),
        ("List the names of people treated by more than one physician.", "patient"),
        ("How many goals did tall footballers score?", "player"),
        ("Which novels were borrowed most often?", "book"),
        ("names of all carriers flying from Berlin", "airline"),
    ],
)
def test_the_group_is_found_also_where_no_name_is_said(
    linker: Linker, asked: str, table: str
) -> None:
    links = linker.link_by_group(Question(asked), CROWD)
    assert links.groups[0].leader == CROWD.group_of[table]
    scores = [group.score for group in links.groups]
    assert scores == sorted(scores, reverse=True)
    assert {group.leader for group in links.groups} == set(CROWD.by_group)


def test_what_speaks_for_a_group_counts_for_all_that_is_in_it(linker: Linker) -> None:
    asked = Question("Give the name and age of each patient.")
    links = linker.link_by_group(asked, CROWD)
    place = {link.column: place for place, link in enumerate(links.columns)}
    assert set(place) == set(CROWD.columns)
    assert {link.table for link in links.tables} == {table.name for table in CROWD.tables}
    right = max(place[ColumnRef("patient", name)] for name in ("name", "age"))
    alike = [ColumnRef("student", "name"), ColumnRef("student", "age"), ColumnRef("farm", "name")]
    assert right < min(place[ref] for ref in alike)
    for found in (links.columns, links.tables):
        probabilities = [link.score for link in found]
        assert probabilities == sorted(probabilities, reverse=True)
        assert all(0.0 <= score <= 1.0 for score in probabilities)


def test_a_stored_value_speaks_for_its_group(linker: Linker) -> None:
    text = "Which names go with Kestrel?"
    value = ValueMatch("Kestrel", ColumnRef("farm", "owner"), "Kestrel", 1.0, span=(20, 27))
    assert (
        linker.link_by_group(Question(text), CROWD, (value,)).groups[0].leader
        == CROWD.group_of["farm"]
    )


def test_the_best_group_is_scored_as_if_it_were_alone(linker: Linker) -> None:
    asked = Question("How many goals did each player score?")
    links = linker.link_by_group(asked, CROWD)
    part = CROWD.by_group[links.groups[0].leader]
    columns, tables, _ = linker.link(asked, part)
    own = {link.column: link.score for link in columns}
    for link in links.columns:
        if link.column in own:
            assert link.score == pytest.approx(own[link.column], abs=1e-5)
    assert links.tables[0].table == tables[0].table


def test_a_wide_crowd_that_is_not_prepared_is_ranked_by_what_is_looked_at(linker: Linker) -> None:
    many = WIDE // 6
    filler = tuple(
        ((f"log{n}", f"metric{n}", "level"), (f"probe{n}", f"log{n}", f"state{n}"))
        for n in range(many)
    )
    wide = crowd((*GROUPS, *filler))
    assert wide.column_count > WIDE
    links = linker.link_by_group(Question("How many goals did each player score?"), wide)
    assert links.groups[0].leader == wide.group_of["player"]
    assert len(links.columns) == wide.column_count


def test_nothing_in_common_is_no_error(linker: Linker) -> None:
    for text in ("?", "of the", "12 34"):
        links = linker.link_by_group(Question(text), CROWD)
        assert all(np.isfinite(group.score) for group in links.groups)


def test_the_mass_of_an_owner_is_its_best_columns_together() -> None:
    scores = np.array([0.5, *[0.1] * 12, 0.7], dtype=np.float32)
    owners = np.array([2, *[0] * 12, 2])
    assert mass(scores, owners, 3) == pytest.approx([1.0, 0.0, 1.2])
