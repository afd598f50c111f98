"""`sqlwright label`: through a pipe and at a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright.cli.views.label.item import item_lines
from sqlwright.cli.views.label.work import ACTIONS, KEYS
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.error_classes.classes import LABELS
from sqlwright.lab.evaluation.error_classes.labels import read_labels
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import write_json
from tests.cli.conftest import Outcome
from tests.cli.hostile import acting
from tests.cli.rendering import look, rendered

COMMAND = "from sqlwright.cli.main import run; run()"
Labelled = Callable[..., Outcome]


def wrong(number: int, error: str = "column", **fields: Any) -> Record:
    shown = {"columns": ["name"], "rows": [["Ada"], [None]], "count": 2}
    return Record(
        f"q{number}",
        "shop",
        f"Who is number {number}?",
        "SELECT name FROM customers",
        "SELECT city FROM customers",
        "answered",
        errors=[
            {"class": error, "shown_by": "gold shows customers.name, the query customers.city"}
        ],
        origin={"kind": "never_generated", "step": "generation", "shown_by": ""},
        results={"gold": shown, "query": {"error": "no such column: city"}},
        **fields,
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder of a run with three wrong answers and a right one."""
    folder = tmp_path / "run"
    folder.mkdir()
    made = [wrong(0), Record("fine", "shop", "?", "g", "s", "answered", verdicts={"spider": True})]
    made += [wrong(1, "join"), wrong(2)]
    for one in made:
        records.append(folder, one)
    write_json(folder / "run.json", {"rule": "spider"})
    write_json(folder / "report.json", summarize(made))
    return folder


@pytest.fixture
def label(sqlwright: Labelled, run: Path, monkeypatch: pytest.MonkeyPatch) -> Labelled:
    """Runs the command with lines piped in."""

    def labelled(*options: object, said: str = "", by: str = "ann") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        return sqlwright("label", run, "--by", by, *options)

    return labelled


def given(run: Path) -> list[tuple[str, str | None]]:
    return [(one.id, one.label) for one in read_labels(run)]


def test_every_label_has_one_key_of_its_own() -> None:
    assert sorted(KEYS.values()) == sorted(LABELS)
    keys = [*KEYS, *ACTIONS.values()]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 1 for key in keys)


def test_labels_are_piped_in_by_word_or_key(label: Labelled, run: Path) -> None:
    done = label(said="column\n\nj\nagree\n")
    assert done.code == 0
    assert given(run) == [("q0", "column"), ("q1", "join"), ("q2", "column")]
    assert "Who is number 1?" in done.out
    assert "no such column: city" in done.out
    assert "3 labelled, 0 left" in done.err
    report = json.loads((run / "report.json").read_text())
    assert report["errors"]["labels"]["labelled"] == 3
    assert report["questions"] == 4


def test_it_goes_on_where_it_was_each_person_for_themselves(label: Labelled, run: Path) -> None:
    first = label(said="column\n")
    assert "1 labelled, 2 left" in first.err
    again = label(said="skip\njoin\n")
    assert "Who is number 0?" not in again.out
    assert given(run) == [("q0", "column"), ("q2", "join")]
    other = label(said="table\n", by="bob")
    assert "Who is number 0?" in other.out
    assert given(run)[-1] == ("q0", "table")
    assert "ann and bob agree on 0 of 1" in other.err


def test_undo_takes_back_and_asks_again(label: Labelled, run: Path) -> None:
    label(said="undo\ncolumn\nundo\ntable\nquit\njoin\n")
    assert given(run) == [("q0", "column"), ("q0", None), ("q0", "table")]


def test_a_word_that_is_no_label_stops_and_what_came_before_is_kept(
    label: Labelled, run: Path
) -> None:
    done = label(said="column\nnonsense\njoin\n")
    assert done.code == 2
    assert "'nonsense' is no label; labels before it are kept (1)" in done.err
    assert given(run) == [("q0", "column")]


def test_only_a_class_and_a_sample(label: Labelled, run: Path) -> None:
    only = label("--only", "join", said="")
    assert "1 of 1  q1" in only.out
    sample = label("--sample", 2, "--seed", 3, said="")
    assert "1 of 2  q" in sample.out
    refused = label("--only", "nonsense")
    assert refused.code == 2
    assert "'nonsense' is no class of errors" in refused.err


def test_the_figures_and_what_is_left(label: Labelled, run: Path) -> None:
    label(said="table\n")
    shown = json.loads(label("--json").out)
    assert [one["id"] for one in shown["left"]] == ["q1", "q2"]
    assert shown["left"][0]["code"][0]["class"] == "join"
    assert shown["errors"]["labels"]["labelled"] == 1
    report = label("--report")
    assert "code says the same of 0 of 1" in report.out
    assert given(run) == [("q0", "table")]


def test_nothing_left_is_said(label: Labelled) -> None:
    label(said="c\nc\nc\n")
    assert "nothing is left to label for ann" in label(said="c\n").err


def test_a_folder_without_a_run_is_refused(sqlwright: Labelled, tmp_path: Path) -> None:
    done = sqlwright("label", tmp_path, "--by", "ann")
    assert done.code == 6
    assert "holds no run" in done.err


def test_nothing_of_a_record_acts_on_the_terminal() -> None:
    bad = "x\x1b[31m\x07\u202e"
    record = Record(
        bad, bad, bad, f"SELECT '{bad}'", None, "failed", message=bad, evidence=bad,
        errors=[{"class": "nothing", "shown_by": bad}],
        origin={"kind": bad, "step": bad, "shown_by": bad},
        results={"gold": {"columns": [bad], "rows": [[bad]], "count": 1}},
    )  # fmt: skip
    text = rendered(item_lines(record, look(80)), 80)
    assert acting(text) <= {"\n"}
    assert "none: x" in text


def test_one_key_each_at_a_terminal(run: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "label", str(run), "--by", "ann"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(theirs)
    # A column; an arrow, which says nothing; no key of ours; undone; as code says; enough.
    os.write(ours, b"c\x1b[Apuyq")
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert given(run) == [("q0", "column"), ("q0", None), ("q0", "column")]
    assert "'p' is no key here" in out.decode()
