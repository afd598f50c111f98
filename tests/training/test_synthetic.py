"""Made-up pairs ask for what their queries show, and their queries run."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Callable

import pytest
from training.embedded.pairs import TrainingDatabase
from training.embedded.questions import relations as ask_relations
from training.embedded.questions import rows as ask_rows
from training.embedded.questions import selves as ask_selves
from training.embedded.questions.entities import Role, World, plural, read_world, singular
from training.embedded.questions.growth import WAYS, grown
from training.embedded.questions.phrases import ordered_by
from training.embedded.questions.rows import Made
from training.embedded.questions.synthetic import KINDS, Synthesizer, synthetic_pairs

from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table

SHOP = Schema(
    "shop",
    (
        Table(
            "employee",
            (
                Column("employee_id", "INTEGER"),
                Column("name", "TEXT"),
                Column("state", "TEXT"),
                Column("age", "INTEGER"),
                Column("manager_id", "INTEGER"),
            ),
            ("employee_id",),
        ),
        Table(
            "sale",
            (
                Column("sale_id", "INTEGER"),
                Column("seller_id", "INTEGER"),
                Column("product_code", "TEXT"),
                Column("quantity", "INTEGER"),
                Column("sale_date", "DATE"),
                Column("channel", "TEXT"),
            ),
            ("sale_id",),
        ),
        Table(
            "product",
            (
                Column("product_code", "TEXT"),
                Column("product_name", "TEXT"),
                Column("unit_price", "REAL"),
                Column("release_year", "INTEGER"),
            ),
            ("product_code",),
        ),
        Table(
            "friendship",
            (
                Column("employee_id", "INTEGER"),
                Column("friend_id", "INTEGER"),
                Column("since_year", "INTEGER"),
            ),
        ),
    ),
    (
        ForeignKey("employee", ("manager_id",), "employee", ("employee_id",)),
        ForeignKey("sale", ("seller_id",), "employee", ("employee_id",)),
        ForeignKey("sale", ("product_code",), "product", ("product_code",)),
        ForeignKey("friendship", ("employee_id",), "employee", ("employee_id",)),
        ForeignKey("friendship", ("friend_id",), "employee", ("employee_id",)),
    ),
)
KNOWN = TrainingDatabase(
    SHOP,
    {
        ColumnRef("employee", "name"): (("Ada Byron", 1), ("Mary Jackson", 1), ("Tim Lee", 1)),
        ColumnRef("employee", "state"): (("CA", 5), ("TX", 3)),
        ColumnRef("sale", "sale_date"): (("2021-04-02", 2), ("2023-11-30", 1)),
        ColumnRef("sale", "channel"): (("web", 9), ("phone", 3), ("shop", 2)),
        ColumnRef("product", "product_name"): (("green lamp", 1), ("oak table", 1)),
    },
)
WORLD = read_world(KNOWN)


def made(kind: Callable[[World, random.Random], Made | None], count: int = 150) -> list[Made]:
    found = [kind(WORLD, random.Random(seed)) for seed in range(count)]
    return [one for one in found if one is not None]


def database(schema: Schema) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for table in schema.tables:
        columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
        connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
    return connection


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_queries_run_and_can_be_read_back(
    kind: Callable[[World, random.Random], Made | None],
) -> None:
    found = made(kind)
    assert found
    connection = database(SHOP)
    for _, form in found:
        sql = write_sql(form, SHOP)
        connection.execute(sql)
        assert write_sql(read_sql(sql, SHOP), SHOP)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_constants_stand_in_the_question(
    kind: Callable[[World, random.Random], Made | None],
) -> None:
    codes = {"CA": "California", "TX": "Texas"}
    for text, form in made(kind):
        sql = write_sql(form, SHOP).replace("STRFTIME('%Y'", "")
        for value in re.findall(r"'([^']*)'", sql):
            plain = value.strip("%")
            assert plain in text or codes[plain] in text, (text, value)


def test_a_code_is_said_by_its_name_at_times() -> None:
    texts = {text for text, form in made(ask_rows.count) if "'CA'" in write_sql(form, SHOP)}
    assert any("California" in text for text in texts)
    assert any("CA" in text for text in texts)


def test_rows_in_an_order_are_never_cut() -> None:
    for text, form in made(ask_rows.rows):
        assert isinstance(form, f.Select)
        assert form.limit is None
        asked = re.search(r"sort|order|alphabetical|first|from the|starting with", text)
        assert bool(form.order_by) == bool(asked), text


def test_every_shown_property_is_asked_for() -> None:
    words = {one.ref: one.words for entity in WORLD.entities for one in entity.properties}
    for text, form in made(ask_rows.rows):
        assert isinstance(form, f.Select)
        for item in form.items:
            assert isinstance(item, f.Column)
            assert words[item.ref].removesuffix("y") in text.lower()


def test_groups_name_what_they_are_grouped_by() -> None:
    for _, form in made(ask_rows.groups):
        assert isinstance(form, f.Select)
        assert form.group_by
        assert form.items[0] == form.group_by[0]


def test_a_row_and_its_like_are_two_appearances_of_one_table() -> None:
    written = [(text, write_sql(form, SHOP)) for text, form in made(ask_selves.selves)]
    pairs = [sql for text, sql in written if "manager" in text and "employee_2" in sql]
    assert pairs
    joined = "employee.manager_id = employee_2.employee_id"
    assert all(joined in sql for sql in pairs)


def test_money_is_price_times_quantity() -> None:
    for text, form in made(ask_relations.money):
        assert "SUM(product.unit_price * sale.quantity)" in write_sql(form, SHOP), text


def test_roles() -> None:
    (employee,) = (entity for entity in WORLD.entities if entity.table == "employee")
    roles = {one.words: one.role for one in employee.properties}
    assert roles == {
        "employee id": Role.CODE,
        "name": Role.NAME,
        "state": Role.CATEGORY,
        "age": Role.MEASURE,
        "manager id": Role.CODE,
    }
    (sale,) = (entity for entity in WORLD.entities if entity.table == "sale")
    assert {one.words: one.role for one in sale.properties}["date"] is Role.DAY


def test_an_order_is_no_superlative() -> None:
    (age,) = (one for e in WORLD.entities for one in e.properties if one.words == "age")
    said = {ordered_by(age, True, random.Random(seed)) for seed in range(60)}
    assert "highest age first" in said
    assert "oldest first" in said


@pytest.mark.parametrize(
    ("one", "several"),
    [("city", "cities"), ("class", "classes"), ("person", "people"), ("key", "keys")],
)
def test_plurals(one: str, several: str) -> None:
    assert plural(one) == several
    assert singular(several) == one or several == "people"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_grown_schema_keeps_what_it_had(
    way: Callable[..., Schema],
) -> None:
    entities = [entity for entity in WORLD.entities if entity.key and entity.names]
    changed = [way(SHOP, entities, random.Random(seed)) for seed in range(30)]
    assert any(schema is not SHOP for schema in changed)
    for schema in changed:
        assert set(SHOP.columns) <= set(schema.columns)
        assert schema.foreign_keys[: len(SHOP.foreign_keys)] == SHOP.foreign_keys
        for key in schema.foreign_keys:
            assert all(schema.column(ref) for pair in key.pairs for ref in pair)
        database(schema)


def test_the_same_seed_makes_the_same_pairs() -> None:
    known = {"shop": KNOWN}
    known.update(grown(known, random.Random(1)))
    assert set(known) == {"shop", "shop+"}
    names = sorted(known)
    first, second = (
        synthetic_pairs(Synthesizer(known), names, 40, random.Random(5)) for _ in range(2)
    )
    assert first == second
    assert len({pair.question.text for pair in first}) > 30
    assert {pair.database for pair in first} == set(names)
