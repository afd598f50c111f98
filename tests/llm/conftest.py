"""An engine of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlwright.llm.sending.engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()
