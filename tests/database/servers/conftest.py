"""A shop on a server of this folder's own, which its tests may kill."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.served import ENGINES, Served, missing, serving


@pytest.fixture(scope="package", params=ENGINES)
def _served(request: pytest.FixtureRequest) -> Iterator[Served]:
    if reason := missing(request.param):
        pytest.skip(reason)
    with serving(request.param) as found:
        yield found


@pytest.fixture
def served(_served: Served) -> Iterator[Served]:
    """The shop on each server in turn, running again after each test."""
    yield _served
    _served.killed.start()
