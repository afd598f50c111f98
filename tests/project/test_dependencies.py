"""What the package brings along: bounded on both sides, pinned for development, and known."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements-dev.lock").read_text("utf-8")
NEVER_USED = ("huggingface_hub", "hf_xet", "tqdm", "fsspec", "filelock", "requests", "urllib3")
"""Installed because `tokenizers` asks for `huggingface_hub`."""
SPY = """
import sys
from sqlwright.cli.main import main
code = main(sys.argv[1:])
print("loaded:", *(name for name in %r if name in sys.modules), file=sys.stderr)
raise SystemExit(code)
"""


def requirements() -> list[Requirement]:
    """All that pyproject.toml names, what it is built with included."""
    groups = [PROJECT["project"]["dependencies"], PROJECT["build-system"]["requires"]]
    groups += PROJECT["project"]["optional-dependencies"].values()
    return [Requirement(text) for group in groups for text in group]


def locked(text: str = LOCK) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each package in the lock file."""
    entries = re.split(r"\n(?=[a-z])", text[text.index("\n") + 1 :])
    found = {}
    for entry in entries:
        name, version = re.match(r"(\S+)==([^\s;]+)", entry).groups()  # type: ignore[union-attr]
        found[canonicalize_name(name)] = version, entry.count("--hash=sha256:")
    return found


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_is_bounded_on_both_sides(requirement: Requirement) -> None:
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators in ({"=="}, {">=", "<"})


def test_the_lock_file_fits_and_has_hashes() -> None:
    pinned = locked()
    assert all(hashes for _, hashes in pinned.values())
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *extras["dev"]]
    for requirement in map(Requirement, wanted):
        version, _ = pinned[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(Version(version)), str(requirement)


def test_the_server_that_tests_run_against_has_hashes() -> None:
    pinned = locked((ROOT / "requirements-engines.lock").read_text("utf-8"))
    (wanted,) = map(Requirement, PROJECT["project"]["optional-dependencies"]["engines"])
    version, hashes = pinned[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(Version(version))
    assert hashes


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="nothing brought them")
def test_what_tokenizers_brings_is_never_loaded(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    environ = {**os.environ, "SQLWRIGHT_HOME": str(tmp_path)}
    for words in (["ask", "{}", "How many customers are there?"], ["prepare", "{}"], ["doctor"]):
        line = [word.format(database_files["shop"]) for word in words]
        done = subprocess.run(
            [sys.executable, "-c", SPY % (NEVER_USED,), *line],
            env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr.rstrip("\n").split("\n")[-1].strip() == "loaded:", done.stderr


def test_the_spy_notices() -> None:
    code = "import tqdm\n" + SPY % (NEVER_USED,)
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False
    )
    assert done.stderr.split() == ["loaded:", "tqdm"]


def test_the_bill_of_materials_names_everything_that_is_brought() -> None:
    made = [
        subprocess.run(
            [sys.executable, ROOT / "scripts" / "sbom.py"], capture_output=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert made[0] == made[1]
    bill = json.loads(made[0])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = {part["name"] for part in bill["components"]}
    direct = {canonicalize_name(Requirement(d).name) for d in PROJECT["project"]["dependencies"]}
    assert direct <= names
    assert "huggingface-hub" in names
    assert not names & {"pytest", "mypy", "anthropic"}
    assert all(part["licenses"] for part in bill["components"])
    unknown = [p["name"] for p in bill["components"] if "unknown" in json.dumps(p["licenses"])]
    assert unknown == []
    references = {part["bom-ref"] for part in (bill["metadata"]["component"], *bill["components"])}
    assert {one["ref"] for one in bill["dependencies"]} == references
    assert {other for one in bill["dependencies"] for other in one["dependsOn"]} <= references


WITHOUT_A_MODEL = (
    "asyncio",
    "httpx2",
    "sqlwright.llm.gate",
    "sqlwright.llm.prices",
    "sqlwright.llm.vendors.providers",
    "sqlwright.running.agent",
)
"""What only a language model needs."""


def test_an_embedded_answer_loads_nothing_for_language_models(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SPY % (WITHOUT_A_MODEL,), "ask", str(database_files["shop"]),
         "How many customers are there?"],
        env={**os.environ, "SQLWRIGHT_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "loaded:\n" in done.stderr or done.stderr.endswith("loaded:")
