"""Codes with their meanings in descriptions of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.english.code_lists import codes_told

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "english" / "code_lists.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=[case["text"][:40] for case in CASES])
def test_codes_that_a_description_lists(case: dict[str, Any]) -> None:
    assert dict(codes_told(case["text"])) == case.get("codes", {})


def test_a_long_text_is_read_in_no_time() -> None:
    assert codes_told("0 a b c " * 5_000) == ()
    assert codes_told("a " * 20_000) == ()
    assert len(codes_told(", ".join(f"{n} state {'x' * (n + 1)}" for n in range(200)))) == 200
