"""Reading SQL text: the guard's verdicts, and what a query uses."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.errors import UnsafeQuery
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, Schema, Table
from sqlwright.sql.guard import check_query
from sqlwright.sql.reading import (
    columns_used,
    compared_texts,
    format_sql,
    has_order_by,
    tables_used,
)
from sqlwright.sql.tokens import UnreadableQuery, tokenize

CASES = Path(__file__).parents[1] / "cases" / "guard"
ACCEPTED: list[str] = yaml.safe_load((CASES / "accepted.yaml").read_text(encoding="utf-8"))
COLUMNS = yaml.safe_load((CASES / "columns.yaml").read_text(encoding="utf-8"))
DATA = os.environ.get("SQLWRIGHT_DATA")
SCHEMA = Schema(
    "music",
    (
        Table("singer", (Column("id"), Column("Name"), Column("city"))),
        Table("song", (Column("sid"), Column("name"), Column("singer"))),
        Table("Order Item", (Column("order"), Column("note"))),
    ),
)


@pytest.mark.parametrize("sql", ACCEPTED)
def test_queries_are_let_through(sql: str) -> None:
    check_query(sql)


@pytest.mark.parametrize("case", COLUMNS, ids=lambda case: case["sql"])
def test_what_a_query_uses(case: dict[str, object]) -> None:
    sql = str(case["sql"])
    assert [str(ref) for ref in columns_used(sql, SCHEMA)] == case["columns"]
    assert list(tables_used(sql)) == case["tables"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM t ORDER BY a LIMIT 1", True),
        ("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1", True),
        ("WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1;", True),
        ("SELECT a FROM t", False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("WITH x AS (SELECT 1 ORDER BY 1) SELECT * FROM x", False),
        ("SELECT rank() OVER (ORDER BY a) FROM t", False),
        ("SELECT group_concat(a ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY'", False),
        ("ORDER BY", False),
    ],
)
def test_order(sql: str, expected: bool) -> None:
    assert has_order_by(sql) is expected


def test_formatting() -> None:
    assert format_sql("select a,count(*) from t where b='x' group by a -- note") == (
        "SELECT\n  a,\n  COUNT(*)\nFROM t\nWHERE\n  b = 'x'\nGROUP BY\n  a"
    )
    assert format_sql("DROP TABLE t") == "DROP TABLE t"
    assert format_sql("SELECT FROM") == "SELECT FROM"


@pytest.mark.parametrize("sql", ACCEPTED)
def test_formatting_keeps_the_meaning(sql: str, tmp_path: Path) -> None:
    pretty = format_sql(sql)
    check_query(pretty)
    assert format_sql(pretty) == pretty


@pytest.mark.parametrize(
    ("view", "safe"),
    [
        ("CREATE VIEW v AS SELECT 1", True),
        ("CREATE VIEW v(a, b) AS SELECT 1, 2", True),
        ("CREATE TEMP VIEW IF NOT EXISTS [v] (a) AS WITH x AS (SELECT 1) SELECT * FROM x", True),
        ("CREATE VIEW v /* AS SELECT load_extension('x') */ AS SELECT 1", True),
        ('CREATE VIEW "a as b" AS SELECT 1', True),
        ("CREATE VIEW v AS SELECT load_extension('x')", False),
        ("CREATE VIEW v AS SELECT * FROM w", False),
        ("CREATE VIEW v AS SELECT 1 WHERE 1 IN w", False),
        ("CREATE VIEW v AS SELECT * FROM pragma_database_list", False),
        ("CREATE VIEW v AS DELETE FROM t", False),
        ("CREATE VIEW v AS SELECT 1; DELETE FROM t", False),
        ("no view at all", False),
    ],
)
def test_views(view: str, safe: bool) -> None:
    views = {"V": view, "w": "CREATE VIEW w AS SELECT * FROM dbstat"}
    check_query("SELECT 1 FROM other", views=views)
    if safe:
        check_query("SELECT * FROM v", views=views)
    else:
        with pytest.raises(UnsafeQuery, match="the view"):
            check_query("SELECT * FROM v", views=views)


def test_views_in_a_circle() -> None:
    views = {"a": "CREATE VIEW a AS SELECT * FROM b", "b": "CREATE VIEW b AS SELECT * FROM a"}
    check_query("SELECT * FROM a", views=views)


def test_mistakes_are_told_from_attacks() -> None:
    for sql in ("SELEC 1", "SELECT 'a", "SELECT year(a) FROM t", "SELECT FROM"):
        with pytest.raises(UnreadableQuery):
            check_query(sql)
    for sql in ("DELETE FROM t", "SELECT 1; SELECT 2", "SELECT load_extension('x')"):
        with pytest.raises(UnsafeQuery) as caught:
            check_query(sql)
        assert not isinstance(caught.value, UnreadableQuery)


@given(st.text(alphabet="abs()'\"`[]-/*;,. \n\t\x00\u00a0é12x+<>=|{}#$%\\"))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    for sql in (text, "SELECT " + text):
        with contextlib.suppress(UnsafeQuery):
            check_query(sql)
        tables_used(sql)
        columns_used(sql, SCHEMA)
        has_order_by(sql)
        format_sql(sql)


@given(st.text(alphabet="ab()'\"`[]-/*;, \n1x", max_size=40))
def test_tokens_end_where_sqlite_ends_them(text: str) -> None:
    """What we take for one statement, SQLite takes for one or refuses."""
    sql = "SELECT " + text
    try:
        tokens = tokenize(sql)
    except UnsafeQuery:
        return
    if any(token.kind == "end" for token in tokens):
        return
    said = ""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(sql)
    except (sqlite3.Error, sqlite3.Warning) as error:
        said = str(error)
    finally:
        connection.close()
    assert "one statement" not in said


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="SQLWRIGHT_DATA doesn't name the benchmark data's folder")
def test_benchmark_queries_are_let_through() -> None:
    """All but the ones that call functions SQLite doesn't have."""
    folder = Path(str(DATA))
    refused = []
    texts: set[str] = set()
    for name, key in (
        ("spider/train_spider.json", "query"),
        ("bird/train/train.json", "SQL"),
        ("bird_like/questions.json", "SQL"),
    ):
        items = json.loads((folder / name).read_text(encoding="utf-8"))
        texts.update(item[key] for item in items)
    pairs = (folder / "verdicts/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    texts.update(json.loads(line)["gold"] for line in pairs)
    for sql in texts:
        try:
            check_query(sql)
        except UnsafeQuery as error:
            refused.append(str(error))
    assert all("datediff" in reason or "timestampdiff" in reason for reason in refused)
    assert len(refused) <= 10


COMPARED = yaml.safe_load((CASES.parent / "literals" / "compared.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: str(case["sql"])[:60])
def test_texts_that_columns_are_compared_with(
    shop_workspace: Workspace, case: dict[str, Any]
) -> None:
    sql = case["sql"]
    found = compared_texts(sql, shop_workspace.schema)
    assert [
        [str(one.column), one.text] + ["negated"] * one.negated + ["pattern"] * one.pattern
        for one in found
    ] == case["finds"]
    for one in found:
        assert sql[one.start : one.end] == "'" + one.text.replace("'", "''") + "'"
