"""How stored values are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwright.catalog.formats import recognise_formats, recognise_number_formats, shape

CASES = Path(__file__).parents[1] / "cases" / "formats"


def cases(name: str) -> list[Any]:
    found: list[Any] = yaml.safe_load((CASES / name).read_text("utf-8"))
    return [pytest.param(case, id=case["name"]) for case in found]


@pytest.mark.parametrize("case", cases("texts.yaml"))
def test_texts(case: dict[str, Any]) -> None:
    found = recognise_formats([str(value) for value in case["values"]])
    assert [form.name for form in found] == case["formats"]
    if "pattern" in case:
        assert found[0].pattern == case["pattern"]
    assert all(0.9 <= form.share <= 1 for form in found)


@pytest.mark.parametrize("case", cases("numbers.yaml"))
def test_numbers(case: dict[str, Any]) -> None:
    assert [form.name for form in recognise_number_formats(case["values"])] == case["formats"]


@settings(max_examples=40)
@given(st.lists(st.text(max_size=40), max_size=20))
def test_any_texts_are_taken(values: list[str]) -> None:
    for form in recognise_formats(values):
        assert 0 < form.share <= 1


@given(st.text(max_size=40))
def test_a_shape_is_as_long_as_its_text(text: str) -> None:
    assert len(shape(text)) == len(text)
