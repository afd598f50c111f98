"""Which functions of the package each test reaches: used by `mutants.py`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reached:
    """What one test reaches."""

    seconds: float
    functions: list[str]
    """`path:qualified name` of every function that is called while it runs."""
    shared: list[str]
    """Those called while it is set up, which other tests of its file may depend on."""


class Recorder:
    """Notes which functions each test calls, and what the tests import."""

    def __init__(self, tree: Path, out: Path) -> None:
        self._root = str(tree / "src" / "sqlwright") + "/"
        self._out = out
        self._seen: set[Any] = set()
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: list[str] = []

    def _on_call(self, frame: Any, event: str, _: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def _taken(self) -> list[str]:
        seen, self._seen = self._seen, set()
        root = self._root
        inside = [code for code in seen if code.co_filename.startswith(root)]
        names = {(code.co_filename, code.co_qualname.split(".<locals>")[0]) for code in inside}
        return sorted(f"{path[len(root) :]}:{name}" for path, name in names)

    def pytest_runtest_logreport(self, report: Any) -> None:
        noted = self._tests.setdefault(
            report.nodeid, {"seconds": 0.0, "functions": [], "shared": []}
        )
        noted["seconds"] += report.duration
        if report.failed:
            self._failed.append(report.nodeid)
        noted["shared" if report.when == "setup" else "functions"] += self._taken()

    def pytest_collection_finish(self) -> None:
        self._seen = set()
        sys.setprofile(self._on_call)

    def pytest_sessionfinish(self) -> None:
        sys.setprofile(None)
        # What is imported once, before the forks; threads of these would not survive them.
        late = {"sqlwright", "tests", "torch", "__main__", "benchmarks"}
        modules = [name for name in sys.modules if name.split(".")[0] not in late]
        noted = {"tests": self._tests, "failed": self._failed, "modules": modules}
        self._out.write_text(json.dumps(noted))
