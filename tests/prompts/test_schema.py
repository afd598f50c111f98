"""Schemas, values, results and queries as prompts show them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from sqlwright.messages import HIDDEN, Text
from sqlwright.prepare import open_workspace, prepare
from sqlwright.prompts.schema import (
    SchemaLayout,
    render_result,
    render_schema,
    render_sql,
)
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, ColumnRef, Detail, Schema, SchemaView, Table
from sqlwright.types import (
    Candidate,
    DescriptionMatch,
    ExecutionError,
    ExecutionResult,
    Question,
    ValueMatch,
)

GOLDEN = Path(__file__).parents[1] / "cases" / "renderings"
CITY = ColumnRef("customers", "city")
PLACED = ColumnRef("orders", "placed")
STATUS = ColumnRef("orders", "status")
PRODUCT = ColumnRef("lines", "product")


@pytest.fixture(scope="module", params=["shop", "composite", "odd", "sparse", "mixed"])
def workspace(
    request: pytest.FixtureRequest,
    database_files: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("prepared") / "absent"
    opened = open_workspace(str(database_files[request.param]), folder=folder)
    yield opened
    opened.database.close()


def golden(name: str, rendered: Text) -> None:
    assert f"{rendered}\n" == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("style", ["ddl", "compact"])
def test_whole_schemas(workspace: Workspace, style: Literal["ddl", "compact"]) -> None:
    view = SchemaView(workspace.schema)
    rendered = render_schema(view, style=style, catalog=workspace.catalog)
    golden(f"{workspace.schema.name}.{style}", rendered)


def found(shop: Workspace) -> dict[str, object]:
    return {
        "catalog": shop.catalog,
        "values": [
            ValueMatch("Munich", CITY, "München", 0.9),
            ValueMatch("february", PLACED, "2026-02-11", 0.6),
        ],
        "descriptions": [
            DescriptionMatch(STATUS, "label", "Status", 0.5),
            DescriptionMatch(STATUS, "description", "what became\nof the order", 0.7),
            DescriptionMatch(STATUS, "value_description", "open: not sent yet", 0.6),
            DescriptionMatch(PRODUCT, "label", "product name", 0.5),
        ],
    }


@pytest.mark.parametrize("style", ["ddl", "compact"])
def test_a_narrowed_view_with_what_was_found(
    shop_workspace: Workspace, style: Literal["ddl", "compact"]
) -> None:
    view = SchemaView(shop_workspace.schema).narrowed([CITY, PLACED, STATUS])
    view = SchemaView(view.schema, {**view.details, PRODUCT: Detail.BRIEF})
    rendered = render_schema(view, style=style, **found(shop_workspace))  # type: ignore[arg-type]
    golden(f"narrowed.{style}", rendered)
    golden(f"narrowed.{style}.hidden", rendered.without("value"))


def test_keys_that_join_what_is_shown_are_there_although_hidden(shop_workspace: Workspace) -> None:
    view = SchemaView(shop_workspace.schema).narrowed([CITY, STATUS])
    text = str(render_schema(view))
    assert "FOREIGN KEY (customer_id) REFERENCES customers (id)" in text
    assert "id INTEGER PRIMARY KEY" in text
    assert "lines" not in text
    assert "total" not in text


def test_a_seeded_shuffle_orders_tables_and_columns(shop_workspace: Workspace) -> None:
    view = SchemaView(shop_workspace.schema)
    orders = {str(render_schema(view, shuffle=random.Random(seed))) for seed in range(8)}
    assert len(orders) == 8
    again = [str(render_schema(view, shuffle=random.Random(3))) for _ in range(2)]
    assert again[0] == again[1]
    assert len({"".join(sorted(text.replace(",", ""))) for text in orders}) == 1


@pytest.mark.parametrize("style", ["ddl", "compact"])
def test_one_layout_gives_every_order_that_was_asked_for(
    shop_workspace: Workspace, style: Literal["ddl", "compact"]
) -> None:
    view = SchemaView(shop_workspace.schema)
    layout = SchemaLayout(view, style=style, **found(shop_workspace))  # type: ignore[arg-type]
    afresh = partial(render_schema, view, style=style, **found(shop_workspace))  # type: ignore[arg-type]
    for seed in range(4):
        assert layout.text(random.Random(seed)) == afresh(shuffle=random.Random(seed))
    assert layout.text() == layout.text() == afresh()


def test_a_shuffle_keeps_keys_first(database_files: dict[str, Path], tmp_path: Path) -> None:
    opened = open_workspace(str(database_files["composite"]), folder=tmp_path / "absent")
    for seed in range(8):
        text = str(render_schema(SchemaView(opened.schema), shuffle=random.Random(seed)))
        lines = text.split("CREATE TABLE flights (")[1].split("\n")
        names = [line.split()[0] for line in lines[1:7]]
        assert names[:2] == ["number", "day"]
        assert set(names[2:]) == {"from_code", "from_country", "to_code", "to_country"}
        lines = text.split("CREATE TABLE staff (")[1].split("\n")
        assert [line.split()[0] for line in lines[1:4]] == ["id", "boss", "name"]
    opened.database.close()


@pytest.mark.parametrize("style", ["ddl", "compact"])
def test_a_key_into_a_table_that_is_hidden_says_so(
    shop_workspace: Workspace, style: Literal["ddl", "compact"]
) -> None:
    view = SchemaView(shop_workspace.schema).narrowed([ColumnRef("orders", "customer_id"), STATUS])
    text = str(render_schema(view, style=style))
    assert "refers to customers.id, not shown" in text
    assert "FOREIGN KEY" not in text


LARGE = """
CREATE TABLE big (id INTEGER PRIMARY KEY, kind TEXT, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
INSERT INTO big SELECT i, 'kind ' || (i % 3), CASE WHEN i % 5 THEN i ELSE '' END FROM n;
CREATE TABLE wide (code TEXT PRIMARY KEY, note TEXT) WITHOUT ROWID;
INSERT INTO wide SELECT 'c' || id, 'same' FROM big;
CREATE VIEW seen AS SELECT kind, amount FROM big;
"""


def test_an_unprepared_database_reads_the_same_however_much_time_there_is(tmp_path: Path) -> None:
    path = tmp_path / "large.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(LARGE)
    texts = set()
    for seconds in (2.0, 60.0):
        opened = open_workspace(str(path), folder=tmp_path / "absent", seconds=seconds)
        texts.add(str(render_schema(SchemaView(opened.schema), catalog=opened.catalog)))
        opened.database.close()
    golden("large.unprepared", Text.of(texts.pop(), "schema"))
    assert not texts
    prepare(str(path), folder=tmp_path / "prepared")
    opened = open_workspace(str(path), folder=tmp_path / "prepared")
    rendered = render_schema(SchemaView(opened.schema), catalog=opened.catalog)
    opened.database.close()
    golden("large.prepared", rendered)


def test_every_value_has_the_origin_of_a_value(shop_workspace: Workspace) -> None:
    rendered = render_schema(SchemaView(shop_workspace.schema), **found(shop_workspace))  # type: ignore[arg-type]
    kept = str(rendered.without("value"))
    for value in ("München", "Lamp", "2026-02-11", "120.5", "shipped"):
        assert value in str(rendered)
        assert value not in kept
    assert HIDDEN in kept


def test_no_examples_but_retrieved_ones(shop_workspace: Workspace) -> None:
    text = str(
        render_schema(SchemaView(shop_workspace.schema), examples=0, **found(shop_workspace))  # type: ignore[arg-type]
    )
    assert "'München'" in text
    assert "Copenhagen" not in text


def test_all_descriptions_there_are(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    table = schema.tables[0]
    columns = tuple(replace(c, description=f"the {c.name} of it") for c in table.columns)
    described = replace(schema, tables=(replace(table, columns=columns), *schema.tables[1:]))
    assert "the city of it" in str(render_schema(SchemaView(described), descriptions=None))
    assert "the city of it" not in str(render_schema(SchemaView(described)))


def test_a_value_that_breaks_lines_stays_on_one(shop_workspace: Workspace) -> None:
    match = ValueMatch("x", CITY, "Mün\nchen'); --", 1.0)
    text = str(render_schema(SchemaView(shop_workspace.schema), values=[match]))
    assert "e.g. 'Mün chen''); --'" in text


def test_a_schema_without_tables_is_empty(shop_workspace: Workspace) -> None:
    nothing = SchemaView(replace(shop_workspace.schema, tables=(), foreign_keys=()))
    assert not render_schema(nothing)
    assert not render_schema(SchemaView(shop_workspace.schema).narrowed([]))


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (
            ExecutionResult(("name", "n"), (("Ada", 1), (None, 2.5), ("x" * 60, b"\x00"))),
            f"3 rows, 2 columns\nname | n\n'Ada' | 1\nNULL | 2.5\n'{'x' * 50}'… | a blob of 1 byte",
        ),
        (ExecutionResult(("n",), ()), "0 rows, 1 column\nn"),
        (
            ExecutionResult(("n",), tuple((n,) for n in range(30)), truncated=True),
            "at least 30 rows, 1 column; the first 3 rows:\nn\n0\n1\n2",
        ),
        (
            ExecutionResult(error=ExecutionError("sql", "no such column: x")),
            "the query failed: no such column: x",
        ),
        (
            ExecutionResult(error=ExecutionError("timeout", "10 s")),
            "the query was stopped because it took too long: 10 s",
        ),
    ],
)
def test_results(result: ExecutionResult, text: str) -> None:
    rendered = render_result(result, rows=3)
    assert str(rendered) == text
    for row in result.rows:
        for cell in row:
            if isinstance(cell, str):
                assert cell[:20] not in str(rendered.without("value"))


def test_a_column_called_by_an_expression_may_hold_values() -> None:
    result = ExecutionResult(("total", "city = 'München'"), ((1, 0),))
    kept = str(render_result(result).without("value"))
    assert "total" in kept
    assert "München" not in kept


def test_the_number_of_rows_is_none_one_or_many_where_values_stay_home() -> None:
    told = {}
    for count in (0, 1, 2, 66, 300):
        rows = tuple((number,) for number in range(count))
        told[count] = str(render_result(ExecutionResult(("n",), rows), rows=3).without("value"))
    assert told[2] == told[66] == told[300] == "many rows, 1 column\nn\n[hidden]"
    assert told[1] == "1 row, 1 column\nn\n[hidden]"
    assert told[0] == "0 rows, 1 column\nn"


def test_what_a_description_says_of_values_counts_as_values(shop_workspace: Workspace) -> None:
    schema = shop_workspace.schema
    table = schema.tables[0]
    columns = tuple(
        replace(c, description="what it is", value_description="A: apple") for c in table.columns
    )
    schema = replace(schema, tables=(replace(table, columns=columns), *schema.tables[1:]))
    for style in ("ddl", "compact"):
        text = render_schema(SchemaView(schema), descriptions=None, style=style)  # type: ignore[arg-type]
        assert "what it is; A: apple" in str(text)
        assert "what it is; [hidden]" in str(text.without("value"))


OWN = [
    # Neither the question nor a model has these constants.
    ("SELECT 1 FROM c WHERE n = 987654", "", "which?", "SELECT [hidden] FROM c WHERE n = [hidden]"),
    ("SELECT 1 FROM c WHERE n = 1997", "", "in 1997?", "WHERE n = 1997"),
    ("SELECT x FROM c WHERE n = X'6361'", "", "which?", "WHERE n = [hidden]"),
    ("SELECT x FROM c WHERE \"n m\" = 'a'", "", "which?", 'WHERE "n m" = [hidden]'),
    ("SELECT x FROM c WHERE n = 'a' AND m = 'b'", "SELECT 'b'", "?", "n = [hidden] AND m = 'b'"),
    ("SELECT strftime('%Y-%m', d) FROM c", "", "?", "strftime('%Y-%m', d)"),
    ("SELECT x FROM c WHERE n = 'on' OR m = 'one", "", "London", "n = [hidden] OR m = [hidden]"),
]


@pytest.mark.parametrize(("sql", "models", "question", "kept"), OWN)
def test_constants_of_our_own_queries_that_nobody_wrote(
    sql: str, models: str, question: str, kept: str
) -> None:
    parent = Candidate(models, "test", by_model=True) if models else None
    rendered = render_sql(Candidate(sql, "test", parent=parent), Question(question))
    assert str(rendered) == sql
    assert kept in str(rendered.without("value"))


OF_DIALECTS = [
    ("postgres", "SELECT 1 FROM c WHERE n = $$it's$$", "?", "WHERE n = [hidden]"),
    ("postgres", "SELECT 1 FROM c WHERE n = E'it\\'s' AND a = 1", "1?", "n = [hidden] AND a = 1"),
    ("postgres", "SELECT ARRAY['a'] FROM c", "?", "SELECT ARRAY[[hidden]] FROM c"),
    ("postgres", "SELECT x::int FROM c WHERE n = 'it''s'", "it's?", "n = 'it''s'"),
    (
        "mysql",
        'SELECT `n m` FROM c WHERE n = "it\'s"',
        "?",
        "SELECT `n m` FROM c WHERE n = [hidden]",
    ),
    ("mysql", "SELECT 1 FROM c WHERE n = 'it\\'s' OR n = 'a'", "a?", "n = [hidden] OR n = 'a'"),
    (
        "mysql",
        "SELECT x FROM c # it's 'x'\nWHERE n = 'b'",
        "?",
        "FROM c [hidden]\nWHERE n = [hidden]",
    ),
    (
        "duckdb",
        "SELECT [n, 'b'] FROM c WHERE n = $x$a$x$",
        "?",
        "[n, [hidden]] FROM c WHERE n = [h",
    ),
]


@pytest.mark.parametrize(("dialect", "sql", "question", "kept"), OF_DIALECTS)
def test_constants_of_our_own_queries_in_each_dialect(
    dialect: str, sql: str, question: str, kept: str
) -> None:
    rendered = render_sql(Candidate(sql, "test", dialect=dialect), Question(question))
    assert str(rendered) == sql
    assert kept in str(rendered.without("value"))


@pytest.mark.parametrize(
    ("dialect", "literal"),
    [
        ("postgres", "E'O\\'Hare'"), ("postgres", "$$O'Hare$$"), ("mysql", "'O\\'Hare'"),
        ("mysql", '"O\'Hare"'), ("duckdb", "$x$O'Hare$x$"), ("sqlite", "'O''Hare'"),
    ],
)  # fmt: skip
def test_a_stored_value_is_one_however_its_dialect_writes_it(dialect: str, literal: str) -> None:
    matches = (ValueMatch("", CITY, "O'Hare", 1.0),)
    sql = f"SELECT 1 FROM c WHERE x = {literal}"
    candidate = Candidate(sql, "test", values=matches, by_model=True, dialect=dialect)
    rendered = render_sql(candidate, Question("ohare?"))
    assert str(rendered.without("value")) == "SELECT 1 FROM c WHERE x = [hidden]"


VIEWS = {
    "postgres": "SELECT id FROM people WHERE city = 'Bonn'::text AND NOT name = E'it\\'s'::text;",
    "mysql": "select `people`.`id` AS `id` from `people` where `people`.`city` = 'it\\'s'",
    "duckdb": "SELECT id FROM people WHERE (city = $$it's$$) AND list_contains(['x'], city);",
}


@pytest.mark.parametrize("dialect", list(VIEWS))
def test_a_view_s_query_is_told_in_its_dialect_without_its_constants(dialect: str) -> None:
    people = Table("people", (Column("id", "int"), Column("name", "text"), Column("city", "text")))
    view = Table("bonn", (Column("id", "int"),), kind="view", definition=VIEWS[dialect])
    text = render_schema(SchemaView(Schema("s", (people, view), (), dialect)))
    assert VIEWS[dialect].rstrip(";") in str(text)
    kept = str(text.without("value"))
    assert "people" in kept.split("CREATE VIEW")[1]
    assert not any(value in kept for value in ("Bonn", "it's", "it\\'s", "'x'"))
    long = replace(view, definition=VIEWS[dialect].replace("id", f"{'id + ' * 400}id", 1))
    schema = Schema("s", (people, long), (), dialect)
    assert "-- made of people" in str(render_schema(SchemaView(schema)))


@pytest.mark.parametrize(
    ("sql", "values", "question", "hidden"),
    [
        ("SELECT 1 FROM c WHERE city = 'München'", ["München"], "in Munich?", "city = [hidden]"),
        ("SELECT 1 FROM c WHERE city = 'München'", ["München"], "in München?", "= 'München'"),
        ("SELECT 1 FROM c WHERE city = 'München'", [], "in Munich?", "= 'München'"),
        ("SELECT 1 FROM c WHERE x LIKE '%O''Hare%'", ["O'Hare"], "ohare?", "LIKE [hidden]"),
        ("SELECT 1 -- 'München'\nFROM c", ["München"], "in Munich?", "SELECT 1 [hidden]\nFROM c"),
        ("SELECT a FROM c WHERE g = 'A' OR g = 'BA'", ["A"], "best?", "g = [hidden] OR g = 'BA'"),
    ],
)
def test_literals_that_only_the_database_knows(
    sql: str, values: list[str], question: str, hidden: str
) -> None:
    matches = tuple(ValueMatch("", CITY, value, 1.0) for value in values)
    for candidate in (
        Candidate(sql, "test", values=matches, by_model=True),
        Candidate(sql, "test", parent=Candidate("SELECT", "test", values=matches), by_model=True),
    ):
        rendered = render_sql(candidate, Question(question))
        assert str(rendered) == sql
        assert hidden in str(rendered.without("value"))
