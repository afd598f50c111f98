"""`--passed FILE`: tests that passed are kept in a file, and those it holds aren't run again.

So a suite is run on a bare machine first, and once servers and a browser are installed, only what
was skipped for want of them runs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--passed", metavar="FILE", help="keep what passed, and don't run it again")


def pytest_configure(config: pytest.Config) -> None:
    if named := config.getoption("--passed"):
        config.pluginmanager.register(
            _Passed(Path(named), keeps="PYTEST_XDIST_WORKER" not in os.environ)
        )


class _Passed:
    def __init__(self, file: Path, *, keeps: bool) -> None:
        self._file = file
        self._keeps = keeps
        text = file.read_text("utf-8") if file.exists() else ""
        self._before = frozenset(text.split("\0"))
        self._now: list[str] = []

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        again = [item for item in items if item.nodeid in self._before]
        items[:] = [item for item in items if item.nodeid not in self._before]
        config.hook.pytest_deselected(items=again)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._now.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Written by the process that hears of all tests, once they ended."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._before:
            session.exitstatus = pytest.ExitCode.OK
        if self._keeps:
            self._file.write_text("\0".join(sorted({*self._before, *self._now} - {""})), "utf-8")
