"""Orders to change what is stored; `tests/cases/request` has more, for the screening step."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.english.requests import ordered_change

from .cases import cases


@pytest.mark.parametrize("case", cases("requests"), ids=lambda case: case["text"])
def test_what_an_order_would_change(case: dict[str, Any]) -> None:
    assert ordered_change(case["text"]) == case["changes"]
