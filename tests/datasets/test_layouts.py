"""Folders in each layout: what loaders make of them, and what they refuse."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.errors import ConfigError, DatasetError, UserError
from sqlwright.lab.datasets.defog import MOST, accepted_queries
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.registry import DATASETS, dataset_names, find_loader, load_dataset
from sqlwright.lab.datasets.selection import Selection

CASES = Path(__file__).parents[1] / "cases" / "datasets"
LAYOUTS, REFUSED, BRACES = (
    yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
    for name in ("layouts", "refused", "braces")
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(folder: Path, case: dict[str, Any]) -> Path:
    """The case's files; what is given to the loader."""
    folder.mkdir(exist_ok=True)
    for name, text in case["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder / case.get("folder", ".")


def read(folder: Path, case: dict[str, Any]) -> Dataset:
    selection = Selection(**case.get("selection", {}))
    return load_dataset(case["data"], write(folder, case), selection)


def shown(example: Example, fields: list[str], folder: Path) -> dict[str, Any]:
    """Some fields of a question as the cases write them."""
    found = {
        "also": list(example.also),
        "database": Path(os.path.relpath(example.database, folder)).as_posix(),
        "results": [
            [list(one.columns), [list(row) for row in one.rows], one.ordered]
            for one in example.results
        ],
    }
    return {name: found.get(name, getattr(example, name)) for name in fields}


@pytest.mark.parametrize("case", LAYOUTS, ids=lambda case: case["name"])
def test_each_layout_is_read(tmp_path: Path, case: dict[str, Any]) -> None:
    folder = tmp_path / "set"
    if "error" in case:
        with pytest.raises(DatasetError) as caught:
            read(folder, case)
        assert case["error"] in str(caught.value)
        return
    dataset = read(folder, case)
    assert [
        shown(one, list(wanted), folder)
        for one, wanted in zip(dataset.examples, case["examples"], strict=True)
    ] == case["examples"]
    assert dataset.name == case.get("dataset", dataset.name)
    assert dataset.rule == case.get("rule", dataset.rule)
    assert list(dataset.left_out) == case.get("left_out", [])
    described = {
        db_id: sorted(path.name for path in place.iterdir())
        for db_id, place in dataset.descriptions.items()
    }
    assert described == case.get("descriptions", {})
    texts = [
        file.read_text() for place in dataset.descriptions.values() for file in place.iterdir()
    ]
    assert all(line in "".join(texts).splitlines() for line in case.get("described", []))


def test_every_data_set_of_the_table_has_a_case() -> None:
    assert {case["data"] for case in LAYOUTS} == set(DATASETS)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["says"])
def test_other_layouts_are_refused(tmp_path: Path, case: dict[str, Any]) -> None:
    with pytest.raises(DatasetError) as caught:
        read(tmp_path / "set", case)
    assert case["says"] in str(caught.value)


@pytest.mark.parametrize("case", BRACES, ids=lambda case: case["cell"])
def test_accepted_queries_are_written_out(case: dict[str, Any]) -> None:
    assert accepted_queries(case["cell"]) == case["queries"]


def test_braces_are_written_out_to_so_many_at_most() -> None:
    columns = ", ".join(f"c{number}" for number in range(40))
    found = accepted_queries(f"SELECT {{{columns}}} FROM t")
    assert len(found) == MOST
    assert found[0] == f"SELECT {columns} FROM t"


def test_files_are_on_record(tmp_path: Path) -> None:
    dataset = read(tmp_path / "set", {**LAYOUTS[0], "files": {**LAYOUTS[0]["files"]}})
    text = LAYOUTS[0]["files"]["dev.json"].encode()
    assert dataset.files == {
        "dev.json": hashlib.sha256(text).hexdigest(),
        "database/zoo/zoo.sqlite": f"0:{hashlib.sha256(b'').hexdigest()}",
    }


def test_a_large_database_has_a_digest_of_a_sample(tmp_path: Path) -> None:
    case, place = LAYOUTS[0], tmp_path / "set" / "database" / "zoo" / "zoo.sqlite"
    read(tmp_path / "set", case)
    digests = []
    for last in (b"a", b"b"):
        with place.open("wb") as file:
            file.truncate(20_000_000)
            file.seek(19_999_999)
            file.write(last)
        loaded = load_dataset("spider", tmp_path / "set")
        digests.append(loaded.files["database/zoo/zoo.sqlite"])
    assert digests[0].startswith("20000000:")
    assert digests[0] != digests[1]


def test_descriptions_are_written_once_and_anew_when_they_change(
    tmp_path: Path, home: Path
) -> None:
    (case,) = [case for case in LAYOUTS if "the columns described" in case["name"]]
    (first,) = read(tmp_path / "set", case).descriptions.values()
    (again,) = read(tmp_path / "set", case).descriptions.values()
    assert first == again
    changed = {**case, "files": {**case["files"]}}
    changed["files"]["KaggleDBQA_tables.json"] = case["files"]["KaggleDBQA_tables.json"].replace(
        "its state", "its health"
    )
    (other,) = read(tmp_path / "set", changed).descriptions.values()
    assert other != first
    assert len(list((home / "descriptions").iterdir())) == 2


def test_descriptions_that_cant_be_written_are_told(tmp_path: Path, home: Path) -> None:
    (case,) = [case for case in LAYOUTS if "the columns described" in case["name"]]
    home.write_text("not a folder")
    with pytest.raises(UserError) as caught:
        read(tmp_path / "set", case)
    assert "SQLWRIGHT_HOME" in caught.value.hint


def test_a_name_that_isnt_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="did you mean 'spider'") as caught:
        find_loader("spidr")
    assert all(name in caught.value.hint for name in dataset_names())


def test_a_folder_that_isnt_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="isn't there"):
        load_dataset("bird", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("folder", "split", "release"),
    [
        ("dev_20240627", None, "20240627"),
        ("set", "dev_20251106", "20251106"),
        ("set", None, ""),
        ("dev_120240627", None, ""),
    ],
)
def test_a_release_is_read_off_the_name_of_the_folder_or_the_file(
    folder: str, split: str | None, release: str, tmp_path: Path
) -> None:
    (tmp_path / folder).mkdir()
    row = {"question": "How many?", "SQL": "SELECT 1", "db_id": "shop"}
    (tmp_path / folder / f"{split or 'dev'}.json").write_text(json.dumps([row]))
    assert load_dataset("bird", tmp_path / folder, Selection(split=split)).release == release


def test_an_installed_package_adds_a_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "house-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[sqlwright.lab.datasets]\nhouse = house_set:load\n")
    (tmp_path / "house_set.py").write_text(
        "from sqlwright.lab.datasets.example import Dataset, Example\n"
        "def load(folder, selection):\n"
        "    return Dataset('house', (Example('1', 'a', 'Q?', 'SELECT 1', folder / 'a.sqlite'),))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert dataset_names()[-1] == "house"
    (example,) = load_dataset("house", tmp_path).examples
    assert example.question == "Q?"
