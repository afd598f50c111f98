"""Description files, as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.catalog.descriptions import (
    DescribedColumn,
    Descriptions,
    describe,
    find_descriptions,
    parse_descriptions,
    read_descriptions,
)
from sqlwright.errors import WorkspaceError
from sqlwright.schema import Column, Schema, Table

CASES = Path(__file__).parents[1] / "cases" / "descriptions" / "files.yaml"
SHOP = Schema(
    "shop",
    (
        Table("Order Items", (Column("item_id"), Column("Unit Price"), Column("unit_price2"))),
        Table("customers", (Column("id"), Column("name"))),
    ),
)


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c["name"]) for c in yaml.safe_load(CASES.read_text("utf-8"))]
)
def test_files(case: dict[str, Any]) -> None:
    content = case["text"].encode(case["encoding"])
    if "error" in case:
        with pytest.raises(ValueError, match=case["error"]):
            parse_descriptions(content)
        return
    found = [
        [entry.name, entry.label, entry.description, entry.value_description]
        for entry in parse_descriptions(content)
    ]
    assert found == case["columns"]


def test_bytes_in_no_encoding_are_read() -> None:
    content = b"original_column_name,column_name\na,label \x81\n"
    assert parse_descriptions(content)[0].label.startswith("label")


def described(stem: str, *columns: DescribedColumn) -> tuple[Schema, tuple[str, ...]]:
    return describe(SHOP, Descriptions({stem: columns}))


def test_names_are_matched_whatever_their_case_and_separators() -> None:
    schema, notes = described(
        "order_items",
        DescribedColumn("ITEM_ID", "the item"),
        DescribedColumn("unit_price", "a price"),
    )
    table = schema.table("Order Items")
    assert table is not None
    assert [column.label for column in table.columns] == ["the item", "a price", ""]
    assert notes == ()


def test_what_fits_nothing_becomes_a_note() -> None:
    schema, notes = described(
        "customers", DescribedColumn("nickname", "x"), DescribedColumn("name", "n")
    )
    assert schema.tables[1].columns[1].label == "n"
    assert len(notes) == 1
    assert "nickname" in notes[0]
    _, notes = described("suppliers", DescribedColumn("id", "x"))
    assert "suppliers.csv" in notes[0]


def test_a_label_that_repeats_the_name_is_dropped() -> None:
    schema, _ = described("customers", DescribedColumn("name", "Name", "name"))
    assert schema.tables[1].columns[1].label == ""


def test_a_folder_is_found_beside_the_database(tmp_path: Path) -> None:
    database = tmp_path / "shop.db"
    assert find_descriptions(database) is None
    (tmp_path / "Database_Description").mkdir()
    assert find_descriptions(database) == tmp_path / "Database_Description"


def test_an_unreadable_file_becomes_a_note_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("nothing,of,use\n1,2,3\n")
    (tmp_path / "b.CSV").write_text("original_column_name,column_name\nid,the id\n")
    (tmp_path / "readme.txt").write_text("not a description")
    (tmp_path / "c.csv").mkdir()
    found = read_descriptions(tmp_path)
    assert list(found.tables) == ["b"]
    assert len(found.unread) == 2


def test_a_given_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        read_descriptions(tmp_path / "absent")
