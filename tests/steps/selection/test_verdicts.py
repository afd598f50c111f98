"""Verdicts in every form that models write them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import MalformedReply
from sqlwright.steps.selection.judging.verdicts import (
    Verdicts,
    letter_from,
    number_from,
    right_from,
    verdicts_from,
)

FOLDER = Path(__file__).parents[2] / "cases" / "verdicts"


def cases(name: str) -> Any:
    return read_yaml((FOLDER / name).read_text(encoding="utf-8"), "cases")


@pytest.mark.parametrize("case", cases("replies.yaml"), ids=lambda c: str(c["name"]))
def test_verdicts_are_read(case: Any) -> None:
    if "read" not in case:
        with pytest.raises(MalformedReply):
            verdicts_from(case["reply"], 3)
        return
    said = {number: word == "passed" for number, word in case["read"].items()}
    assert verdicts_from(case["reply"], 3) == said


def test_the_schema_sent_along_requires_everything_and_closes_the_object() -> None:
    schema = Verdicts.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])


@pytest.mark.parametrize("case", cases("letters.yaml"), ids=lambda c: repr(c["says"]))
def test_a_letter_is_read_or_asked_for_again(case: Any) -> None:
    if case["chose"] is None:
        with pytest.raises(MalformedReply):
            letter_from(case["says"], "AB")
    else:
        assert letter_from(case["says"], "AB") == case["chose"]


@pytest.mark.parametrize("case", cases("numbers.yaml"), ids=lambda c: repr(c["says"]))
def test_a_number_is_read_or_asked_for_again(case: Any) -> None:
    if case["chose"] is None:
        with pytest.raises(MalformedReply):
            number_from(case["says"], 3)
    else:
        assert number_from(case["says"], 3) == case["chose"]


@pytest.mark.parametrize("case", cases("words.yaml"), ids=lambda c: repr(c["says"]))
def test_right_or_wrong_is_read_or_asked_for_again(case: Any) -> None:
    if case["right"] is None:
        with pytest.raises(MalformedReply):
            right_from(case["says"])
    else:
        assert right_from(case["says"]) is case["right"]
