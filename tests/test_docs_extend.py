"""docs/extend.md: its files are written, its rows added to a copy of the package, its programs run.

A fence that names a file is that file. One that names a file of the package and a table in it is
rows of that table; what a row names and the package lacks is moved there from the working folder.
All else in Python is run in order.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from sqlwright.demo.business import write_business

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text("utf-8")
QUERY = "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'"
OPENINGS = {
    "STEPS": "STEPS: Mapping[str, str] = {\n",
    "RECIPES": "RECIPES: Mapping[str, str] = {\n",
    "PROVIDERS": "    for row in (\n",
    "WIRES": "WIRES: dict[str, str] = {\n",
    "METRICS": "METRICS: Mapping[str, str] = {\n",
    "DATASETS": "DATASETS: Mapping[str, str] = {\n",
    "ENGINES": "ENGINES = {\n",
    "SERVER_SCHEMES": "SERVER_SCHEMES = {\n",
}


class Fence(NamedTuple):
    """A piece of code on the page."""

    language: str
    file: str
    table: str
    text: str


FENCES = [
    Fence(*(*info.split(), "", "")[:3], text)
    for info, text in re.findall(r"^```(\S[^\n]*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
]


class Models(BaseHTTPRequestHandler):
    """Two vendors: one speaks OpenAI's protocol, one that of the page."""

    def do_POST(self) -> None:
        form = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/write"):
            said = {"text": QUERY, "read": 7, "written": 3} if form["text"] else {}
        else:
            choice = {"index": 0, "message": {"content": QUERY}, "finish_reason": "stop"}
            used = {"prompt_tokens": 5, "completion_tokens": 3}
            said = {"model": form["model"], "choices": [choice], "usage": used}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as served:
        threading.Thread(target=served.serve_forever).start()
        yield f"http://127.0.0.1:{served.server_address[1]}"
        served.shutdown()


def copied_package(folder: Path) -> Path:
    """The source tree, its weights by a link."""
    source, copy = ROOT / "src" / "sqlwright", folder / "src" / "sqlwright"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("weights", "__pycache__"))
    (copy / "local" / "weights").symlink_to(source / "local" / "weights")
    return copy


def add_row(package: Path, fence: Fence, folder: Path) -> None:
    """Put the rows at the beginning of their table, and what they name where they say it is."""
    table = package.parents[1] / fence.file
    text = table.read_text("utf-8")
    assert text.count(OPENINGS[fence.table]) == 1
    opening = OPENINGS[fence.table]
    rows = fence.text.rstrip().removesuffix(",") + ",\n"
    table.write_text(text.replace(opening, opening + rows), "utf-8")
    for module in re.findall(r"\"sqlwright\.([\w.]+):\w+\"", fence.text):
        moved = package / f"{module.replace('.', '/')}.py"
        if not moved.exists():
            shutil.copy(folder / moved.name, moved)
    for recipe in re.findall(r"\"(recipes/\w+\.yaml)\"", fence.text):
        shutil.move(folder / Path(recipe).name, package / recipe)


@pytest.mark.slow
def test_every_file_is_written_and_every_program_runs(tmp_path: Path, server: str) -> None:
    folder, package = tmp_path / "here", copied_package(tmp_path)
    folder.mkdir()
    write_business(folder / "shop.sqlite")
    programs = "\n".join(f.text for f in FENCES if f.language == "python" and not f.file)
    for fence in FENCES:
        if fence.table:
            continue
        if fence.file == "pyproject.toml":
            told_of = tomllib.loads(fence.text)["project"]["entry-points"]
            lines = [f"[{group}]" for group in told_of]
            lines += [f"{name} = {at}" for names in told_of.values() for name, at in names.items()]
            told = folder / "house-1.0.dist-info"
            told.mkdir(exist_ok=True)
            (told / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
            with (told / "entry_points.txt").open("a") as announced:
                announced.write("\n".join(lines) + "\n")
        elif fence.file:
            place = tmp_path if fence.file.startswith("src/") else folder
            (place / fence.file).parent.mkdir(exist_ok=True)
            (place / fence.file).write_text(fence.text, "utf-8")
    for fence in FENCES:
        if fence.table:
            add_row(package, fence, folder)
    shutil.copy(package / "recipes" / "three.yaml", folder)  # it is used from here first
    assert len([f for f in FENCES if f.file]) >= 10
    (folder / "page.py").write_text(programs.replace("http://127.0.0.1:8000", server), "utf-8")
    ran = subprocess.run(
        [sys.executable, "page.py"],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": str(tmp_path / "src"), "SQLWRIGHT_HOME": str(tmp_path / "home")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.stderr == ""
    assert ran.returncode == 0


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", PAGE))
    named |= {
        f"src/sqlwright/{n}"
        for n in re.findall(r"`((?:cli|datasets|llm|running|recipes)/[\w/.]+)`", PAGE)
    }
    known = {name for name in named if not re.search(r"NAME|STAGE", name)}
    assert len(known) >= 10
    assert {name for name in known if not (ROOT / name).exists()} == set()
