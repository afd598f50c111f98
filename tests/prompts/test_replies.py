"""What replies hold, whatever shape they come in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

from sqlwright.errors import MalformedReply
from sqlwright.prompts.replies import (
    items_from,
    json_from,
    plan_from,
    prose_from,
    sql_from,
    written_from,
)

CASES = Path(__file__).parents[1] / "cases" / "replies"


def cases(name: str) -> list[Any]:
    found = yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case.get("name", f"{place}")) for place, case in enumerate(found)]


class Chosen(BaseModel):
    tables: list[str]
    reason: str | None = None


class Verdict(BaseModel):
    test: int
    passed: bool


class Verdicts(RootModel[list[Verdict]]):
    pass


@pytest.mark.parametrize("case", cases("queries"))
def test_the_query_of_a_reply(case: dict[str, Any]) -> None:
    if "sql" in case:
        assert sql_from(case["reply"]) == case["sql"]
    else:
        with pytest.raises(MalformedReply):
            sql_from(case["reply"])


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "clickhouse"])
@pytest.mark.parametrize("case", cases("queries"))
def test_the_query_of_a_reply_is_the_same_in_every_dialect_that_reads_it_alike(
    case: dict[str, Any], dialect: str
) -> None:
    try:
        assert sql_from(case["reply"], dialect) == case.get("sql")
    except MalformedReply:
        assert "sql" not in case


DIALECTS = yaml.safe_load((CASES / "dialects.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb"])
def test_a_query_is_cut_from_a_reply_as_its_engine_reads_it(
    dialect: str, request: pytest.FixtureRequest
) -> None:
    rows: Callable[[str], Sequence[Any]]
    if dialect == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        connection = duckdb.connect()

        def rows(sql: str) -> Sequence[Any]:
            return list(connection.execute(sql).fetchall())
    else:
        name = {"postgres": "postgres", "mysql": "mariadb"}[dialect]
        server = request.getfixturevalue(f"{name}_server")
        made = request.getfixturevalue(f"{name}_database")("")
        rows = partial(server.rows, database=made)
    for case in (one for one in DIALECTS if one["dialect"] == dialect):
        sql = sql_from(case["reply"], dialect)
        assert sql == case["sql"]
        assert [list(row) for row in rows(sql)] == case["rows"], sql


@pytest.mark.parametrize("case", cases("plans"))
def test_the_reasoning_around_the_query(case: dict[str, Any]) -> None:
    assert plan_from(case["reply"]) == case["plan"]


@pytest.mark.parametrize("case", cases("items"))
def test_the_list_of_a_reply(case: dict[str, Any]) -> None:
    if "items" in case:
        assert items_from(case["reply"]) == tuple(case["items"])
    else:
        with pytest.raises(MalformedReply):
            items_from(case["reply"])


@pytest.mark.parametrize("case", cases("json"))
def test_the_json_of_a_reply(case: dict[str, Any]) -> None:
    if "value" in case:
        assert json_from(case["reply"], Chosen).model_dump() == case["value"]
    else:
        with pytest.raises(MalformedReply, match=case["told"]):
            json_from(case["reply"], Chosen)


@pytest.mark.parametrize(
    "reply",
    [
        '[{"test": 1, "passed": true}]',
        '{"test": 1, "passed": true}',
        '{"verdicts": [{"test": 1, "passed": true}]}',
    ],
)
def test_a_list_of_objects_may_come_as_one_object_or_under_a_key(reply: str) -> None:
    assert json_from(reply, Verdicts).root == [Verdict(test=1, passed=True)]


def test_a_reason_says_what_was_missing() -> None:
    with pytest.raises(MalformedReply, match="no SQL query"):
        sql_from("Sorry.")
    with pytest.raises(MalformedReply, match="ends before"):
        sql_from('{"sql": "SELECT')


PIECES = st.sampled_from(
    [*yaml.safe_load((CASES / "pieces.yaml").read_text(encoding="utf-8")), "\ud800"]
)
REPLIES = st.text(max_size=60) | st.lists(PIECES, max_size=14).map("".join)
STRAIGHT = str.maketrans("‘’“”\ud800", "''\"\"\ufffd")


@settings(deadline=None)
@given(reply=REPLIES, dialect=st.sampled_from(["postgres", "mysql", "duckdb", "snowflake"]))
def test_a_query_in_any_dialect_is_a_piece_of_the_reply(reply: str, dialect: str) -> None:
    with suppress(MalformedReply):
        sql = sql_from(reply.replace("\\", ""), dialect)
        assert sql.translate(STRAIGHT) in reply.replace("\\", "").translate(STRAIGHT)


@settings(deadline=None)
@given(reply=REPLIES)
@example("[" * 5_000)
@example('{"a":' * 5_000)
@example("SELECT " + "(" * 5_000)
@example("<sql>" * 2_000)
@example("```\n" * 2_000)
def test_nothing_but_malformed_reply_is_ever_raised(reply: str) -> None:
    assert isinstance(plan_from(reply), str)
    for read in (sql_from, items_from, lambda text: json_from(text, Chosen)):
        with suppress(MalformedReply):
            read(reply)


@settings(deadline=None)
@given(reply=REPLIES.filter(lambda text: "\\" not in text))
def test_a_query_is_a_piece_of_the_reply(reply: str) -> None:
    try:
        sql = sql_from(reply)
    except MalformedReply:
        return
    assert sql
    assert sql.translate(STRAIGHT) in reply.translate(STRAIGHT)


@given(before=st.text(max_size=20), text=st.text(max_size=40))
def test_a_query_in_json_is_a_piece_of_what_json_decodes_to(before: str, text: str) -> None:
    query = f"SELECT '{text.replace(chr(39), chr(39) * 2)}' FROM t"
    valid = query.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    reply = json.dumps({"reasoning": before, "sql": query})
    assert sql_from(reply) in valid


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
def test_whatever_a_string_of_the_query_holds_the_query_stays_whole(text: str) -> None:
    query = f"SELECT a FROM b WHERE c = '{text.replace(chr(39), chr(39) * 2)}'"
    assert sql_from(json.dumps({"sql": query})) == query


@given(items=st.lists(st.text(st.characters(codec="utf-8"), max_size=20)))
def test_a_json_list_is_read_as_it_was_written(items: list[str]) -> None:
    wanted = tuple(dict.fromkeys(item.strip() for item in items if item.strip()))
    assert items_from(json.dumps(items)) == wanted


@pytest.mark.timeout(120)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql"])
@pytest.mark.parametrize("form", ["bare", "tagged", "fenced"])
def test_a_reply_of_one_text_over_and_over_is_read_to_its_end(form: str, dialect: str) -> None:
    """Each takes less than a second, all together seconds; by the square of their length, hours."""
    before = {"bare": "", "tagged": "<sql>", "fenced": "```sql\n"}[form]
    for unit in yaml.safe_load((CASES / "repeated.yaml").read_text("utf-8")):
        reply = before + unit * (200_000 // len(unit))
        with suppress(MalformedReply):
            sql_from(reply, dialect)
        plan_from(reply, dialect)
        for read in (items_from, lambda text: json_from(text, Chosen)):
            with suppress(MalformedReply):
                read(reply)


def test_a_reply_that_is_too_long_is_told_so() -> None:
    with pytest.raises(MalformedReply, match=r"holds no SQL query, or it is too long: .* 40,000"):
        sql_from("SELECT 1; then " + "and so on " * 5_000)
    assert sql_from("and so on " * 50_000 + "\n```sql\nSELECT 1\n```") == "SELECT 1"
    with pytest.raises(MalformedReply, match=r"holds no SQL query$"):
        sql_from("and so on")


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("```sqlite SELECT 1``` is it", "SELECT 1"),
        ("```sql SELECT 1``` is it", "SELECT 1"),
        ("<sql>SELECT '</sql>' AS a</sql>", "SELECT '</sql>' AS a"),
        ("<sql>SELECT 1 /* </sql> */ AS a</sql>", "SELECT 1 /* </sql> */ AS a"),
        ("<sql>SELECT 'it''s', \"</sql>\"</sql> or so</sql>", "SELECT 'it''s', \"</sql>\""),
        ("<sql>SELECT 1 -- 'open\n</sql>", "SELECT 1 -- 'open"),
    ],
)
def test_where_marks_around_a_query_end(reply: str, sql: str) -> None:
    assert sql_from(reply) == sql


@pytest.mark.parametrize("case", cases("declined"))
def test_a_reply_may_say_that_there_is_no_query(case: dict[str, str]) -> None:
    if "cannot" in case or "sql" in case:
        written = written_from(case["reply"], "sqlite")
        assert (written.sql, written.cannot) == (case.get("sql", ""), case.get("cannot", ""))
        return
    with pytest.raises(MalformedReply):
        written_from(case["reply"], "sqlite")
    said = prose_from(case["reply"])
    assert (said and said.cannot) == case.get("prose")
