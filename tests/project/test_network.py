"""Nothing leaves the machine unless a language model is named, and nothing is left lying about.

A library that we load may have ideas of its own: onnxruntime keeps a device's id and a queue of
events under the user's cache folder from its first moment on, and some ten seconds later looks for
its vendor's host. `benchmarks/network.py` watches processes that live longer.
"""

import ast
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from tests.watched import Watched, strace_problem, watch

SOURCE = Path(__file__).parents[2] / "src" / "sqlwright"
QUESTION = "How many customers are there?"
OURS = user_cache_path("sqlwright").relative_to(Path.home())
WAYS = ("ask", "chat", "open")
PLAYING = """
import os, socket
open(os.path.expanduser("~/left-behind"), "w").close()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.connect(("192.0.2.1", 53))
    import time; time.sleep(0.2)
try:
    socket.getaddrinfo("events.example.invalid", 443)
except OSError:
    pass
"""


@pytest.fixture(scope="module")
def runs(
    database_files: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Watched]:
    """One process for each way to ask, side by side."""
    folder, shop = tmp_path_factory.mktemp("watched"), str(database_files["shop"])

    def run(way: str) -> Watched:
        if way == "chat":
            return watch(folder / way, [way, shop], stdin=f"{QUESTION}\n:quit\n")
        return watch(folder / way, [way, shop, QUESTION])

    with ThreadPoolExecutor(len(WAYS)) as pool:
        return dict(zip(WAYS, pool.map(run, WAYS), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_the_question_is_answered(runs: Mapping[str, Watched], way: str) -> None:
    assert runs[way].code == 0, runs[way].errors
    assert runs[way].out


@pytest.mark.parametrize("way", WAYS)
def test_no_file_is_made_but_in_our_own_folder(runs: Mapping[str, Watched], way: str) -> None:
    made = [Path(name) for name in runs[way].files]
    assert any(path.is_relative_to(Path("home") / OURS) for path in made)  # a trace
    assert [str(path) for path in made if not path.is_relative_to(Path("home") / OURS)] == []


@pytest.mark.parametrize("way", WAYS)
def test_no_socket_is_opened_and_no_name_looked_up(runs: Mapping[str, Watched], way: str) -> None:
    assert runs[way].heard == ()
    assert runs[way].sockets == ()


@pytest.mark.parametrize("way", WAYS)
def test_by_its_system_calls(runs: Mapping[str, Watched], way: str) -> None:
    if problem := strace_problem():
        pytest.skip(problem)
    run = runs[way]
    ours = run.folder / "home" / OURS
    assert run.traced == ()
    assert run.created
    above = {ours, *ours.parents}
    assert [p for p in run.created if not (p.is_relative_to(ours) or p in above)] == []


def test_the_watch_notices(tmp_path: Path) -> None:
    program = tmp_path / "playing.py"
    program.write_text(PLAYING)
    seen = watch(tmp_path / "watched", ["file", str(program)])
    assert seen.code == 0, seen.errors
    assert seen.files == ("home/left-behind",)
    assert any("192.0.2.1" in event for event in seen.heard)
    assert any("events.example.invalid" in event for event in seen.heard)
    if Path("/proc/self/net/udp").exists():
        assert any(row.startswith("udp ") for row in seen.sockets)
    if seen.traced is not None:
        assert any("AF_INET" in call for call in seen.traced)
        assert tmp_path / "watched" / "home" / "left-behind" in (seen.created or ())


def test_onnxruntime_has_one_doorway() -> None:
    class Imports(ast.NodeVisitor):
        """Those that happen at run time."""

        def __init__(self) -> None:
            self.names: set[str] = set()

        def visit_If(self, node: ast.If) -> None:
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                self.generic_visit(node)

        def visit_Import(self, node: ast.Import) -> None:
            self.names |= {alias.name.partition(".")[0] for alias in node.names}

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            self.names.add((node.module or "").partition(".")[0])

    doorways = []
    for path in sorted(SOURCE.rglob("*.py")):
        found = Imports()
        found.visit(ast.parse(path.read_text("utf-8")))
        if "onnxruntime" in found.names:
            doorways.append(path.relative_to(SOURCE).as_posix())
    assert doorways == ["local/runtime.py"]
