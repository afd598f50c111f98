"""Values that SQLite lacks, in every form that they are shown or written in."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from sqlwright.boundary.text import to_json
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.table import table_lines
from sqlwright.presentation.answer import answer_to_json, cell_to_json, cell_to_text
from sqlwright.presentation.as_csv import answer_to_csv
from sqlwright.presentation.as_html import answer_to_html
from sqlwright.prompts.cells import literal
from sqlwright.types import Answer, Cell

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "cells.yaml").read_text("utf-8"))
NAMES = {kind.__name__: kind for kind in (date, datetime, time, timedelta, timezone, Decimal, UUID)}


def _cell(case: dict[str, Any]) -> Cell:
    return eval(case["cell"], NAMES)


@pytest.mark.parametrize("case", CASES, ids=[case["cell"] for case in CASES])
def test_a_cell_in_every_form(case: dict[str, Any]) -> None:
    cell = _cell(case)
    assert to_json(cell_to_json(cell)) == case["json"]
    assert cell_to_text(cell) == case["text"]
    assert literal(cell) == case["prompt"]
    answer = Answer("answered", "?", "SELECT 1", "postgres", ("c",), ((cell,),))
    assert answer_to_csv(answer) == f"c\n{case['csv']}\n"
    assert json.loads(answer_to_json(answer))["rows"] == [[json.loads(case["json"])]]
    assert case["text"].replace("'", "&#x27;") in answer_to_html(answer).replace("&#39;", "&#x27;")


def test_a_decimal_in_json_is_a_number_only_where_nothing_is_lost() -> None:
    for text in ("0.1", "10.50", "0.30000000000000004", "1e22", "0.1000000000000000000001"):
        number = Decimal(text)
        back = json.loads(to_json(cell_to_json(number)))
        assert Decimal(str(back)) == number


def test_decimals_of_a_column_are_lined_up() -> None:
    rows = [(Decimal("1.5"), True), (Decimal(10), False), (Decimal("-0.125"), None)]
    lines = table_lines(("amount", "paid"), rows, width=80, glyphs=Screen.open().glyphs)
    assert [line.plain.rstrip() for line in lines][2:] == [
        " 1.500   true",
        "10.000  false",
        "-0.125   NULL",
    ]
