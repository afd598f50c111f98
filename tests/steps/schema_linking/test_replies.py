"""What models reply when asked for tables and columns, and what is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import MalformedReply
from sqlwright.prompts.replies import json_from
from sqlwright.protocols import Workspace
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.steps.schema_linking.replies import (
    ColumnsReply,
    NamedTables,
    RelevanceReply,
    RepliedNames,
    TablesReply,
)

CASES = Path(__file__).parents[2] / "cases" / "chosen"


def cases(name: str) -> list[Any]:
    read: list[Any] = read_yaml((CASES / f"{name}.yaml").read_text(encoding="utf-8"), name)
    return read


@pytest.mark.parametrize("form", [TablesReply, NamedTables])
@pytest.mark.parametrize("case", cases("tables"), ids=lambda case: str(case["name"]))
def test_tables_are_read_from_a_reply(
    case: Any, form: type[TablesReply | NamedTables], shop_workspace: Workspace
) -> None:
    names = RepliedNames(shop_workspace.schema)
    try:
        found, _ = names.tables(json_from(case["reply"], form).tables)
    except MalformedReply:
        found = []
    assert sorted(set(found)) == case.get("read", [])


@pytest.mark.parametrize("case", cases("columns"), ids=lambda case: str(case["name"]))
def test_columns_are_read_from_a_reply(case: Any, shop_workspace: Workspace) -> None:
    names = RepliedNames(shop_workspace.schema)
    try:
        found, _ = names.columns(json_from(case["reply"], ColumnsReply).tables, whole=True)
    except MalformedReply:
        found = []
    assert sorted({str(ref) for ref in found}) == case.get("read", [])


@pytest.mark.parametrize(
    ("reply", "relevant"),
    [
        ('{"reasoning": "x", "relevant": "yes"}', "yes"),
        ('{"relevant": "No."}', "no"),
        ('{"relevant": true}', "yes"),
        ('```json\n{"reasoning": "y", "relevant": false}\n```', "no"),
        ('{"relevant": "irrelevant"}', "no"),
    ],
)
def test_a_column_is_relevant_or_not(reply: str, relevant: str) -> None:
    assert json_from(reply, RelevanceReply).relevant == relevant


@pytest.mark.parametrize(
    "reply", ["", "Yes", '{"relevant": "maybe"}', '{"reasoning": "yes"}', "[]"]
)
def test_what_is_neither_can_not_be_used(reply: str) -> None:
    with pytest.raises(MalformedReply):
        json_from(reply, RelevanceReply)


def test_names_with_dots_and_blanks_are_found() -> None:
    table = Table("sales.2024", (Column("unit price"), Column("net.total")))
    names = RepliedNames(Schema("odd", (table, Table("sales", (Column("id"),)))))
    assert names.tables(['"sales.2024"'])[0] == ["sales.2024"]
    assert names.column("SALES.2024", "`Unit  Price`") == ColumnRef("sales.2024", "unit price")
    assert names.column("sales.2024", "net.total") == ColumnRef("sales.2024", "net.total")
    assert names.column("", "sales.2024.net.total") is None
    assert names.column("nowhere", "id") is None


@pytest.mark.parametrize("model", [TablesReply, ColumnsReply, RelevanceReply])
def test_the_schema_sent_along_requires_everything_and_closes_the_object(model: Any) -> None:
    schema = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
