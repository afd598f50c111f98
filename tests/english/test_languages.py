"""The language of a request; `tests/cases/request/language.yaml` has more."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.english.languages import foreign_language

from .cases import cases


@pytest.mark.parametrize("case", cases("languages"), ids=lambda case: case["text"])
def test_a_language_is_recognised(case: dict[str, Any]) -> None:
    assert foreign_language(case["text"]) == case["is"]
