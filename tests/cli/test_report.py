"""`sqlwright report` and `report diff` as somebody types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright.cli.commands.report import with_usual_page
from sqlwright.presentation.html.page import is_page
from tests.evaluation.run_folders import questions, right, run_folder, wrong

Run = Callable[..., Any]


@pytest.fixture
def runs(home: Path) -> Path:
    """The working folder with runs before and after."""
    answered = [right(one) for one in questions(40)]
    run_folder(Path("before"), answered)
    worse = [wrong(one) if n < 12 else one for n, one in enumerate(answered)]
    run_folder(Path("after"), worse, version="0.2.0")
    return Path.cwd()


def test_a_run_is_told_in_a_few_lines(sqlwright: Run, runs: Path) -> None:
    told = sqlwright("report", "before")
    assert told.code == 0
    assert told.out.startswith("own:dev, by chase\n40 questions  40 answered")
    assert "100.0%" in told.out
    assert sqlwright("report", "show", "before").out == told.out
    assert [path.name for path in runs.rglob("*.html")] == []


def test_a_page_goes_beside_the_run_unless_a_file_is_named(sqlwright: Run, runs: Path) -> None:
    for line, place in (
        (["report", "before", "--html"], "before/report.html"),
        (["report", "--html", "after"], "after/report.html"),
        (["report", "before", "--html", "mine.html"], "mine.html"),
        (["report", "--html=other.html", "before"], "other.html"),
        (["report", "before", "after", "--html"], "after/compared.html"),
        (["report", "diff", "--html", "before", "after"], "after/diff.html"),
    ):
        told = sqlwright(*line)
        assert told.code == 0, told.err
        assert f"written to {place}" in told.err
        assert is_page(Path(place))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["x", "--html"], ["x", "--html", ""]),
        (["--html", "--json", "x"], ["--html", "", "--json", "x"]),
        (["--html", ".", "x"], ["--html", "", ".", "x"]),
        (["--html", "page.html", "x"], ["--html", "page.html", "x"]),
    ],
)
def test_a_page_may_have_a_file(given: list[str], read: list[str]) -> None:
    assert with_usual_page(given) == read


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(sqlwright: Run, runs: Path) -> None:
    assert sqlwright("report", "before", "--html", "page.html").code == 0
    assert sqlwright("report", "after", "--html", "page.html").code == 0
    Path("notes.html").write_text("mine")
    told = sqlwright("report", "before", "--html", "notes.html")
    assert (told.code, Path("notes.html").read_text()) == (2, "mine")
    assert "is there already and is no report" in told.err
    told = sqlwright("report", "before", "--html", "nowhere/page.html")
    assert told.code == 2
    assert "there is no folder nowhere" in told.err


def test_json_holds_settings_and_figures(sqlwright: Run, runs: Path) -> None:
    data = json.loads(sqlwright("report", "before", "--json").out)
    assert (data["format"], data["version"], data["finished"]) == ("sqlwright-report", 1, True)
    assert data["run"]["recipe"] == "chase"
    assert data["report"]["execution_accuracy"]["hits"] == 40
    several = json.loads(sqlwright("report", "before", "after", "--json").out)
    assert [one["folder"] for one in several["runs"]] == ["before", "after"]
    assert several["against_first"][0]["lost"] == 12


def test_several_runs_are_told_with_their_differences(sqlwright: Run, runs: Path) -> None:
    told = sqlwright("report", "before", "after")
    lines = told.out.splitlines()
    assert lines[0].split()[:2] == ["before", "100.0%"]
    assert lines[1].split()[:2] == ["after", "70.0%"]
    assert "−30.0 points" in lines[2]
    assert "against before: 0 gained, 12 lost, p 0.00049" in lines[2]


def test_a_difference_is_told_with_what_changed(sqlwright: Run, runs: Path) -> None:
    told = sqlwright("report", "diff", "before", "after")
    assert told.code == 0
    assert told.out.startswith("after is 30.0 points worse (95% interval")
    for text in (
        ": more than chance would do.",
        "version: 0.1.0 → 0.2.0",
        "12 right before, wrong now",
        "How many orders are open?  shop, literal, not retrieved at retrieval.values",
        "before    SELECT COUNT(*) FROM orders WHERE status = 'open'",
        "after     no query",
        "… and 2 more; --html and --json have all of them",
    ):
        assert text in told.out
    data = json.loads(sqlwright("report", "diff", "before", "after", "--json").out)
    assert (data["format"], data["worse"], len(data["changes"])) == (
        "sqlwright-report-diff", True, 12,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("order", "code"), [(("before", "after"), 12), (("after", "before"), 0), (("after",) * 2, 0)]
)
def test_it_fails_on_worse_where_that_is_asked(
    sqlwright: Run, runs: Path, order: tuple[str, str], code: int
) -> None:
    assert sqlwright("report", "diff", *order, "--fail-on-worse").code == code
    assert sqlwright("report", "diff", *order).code == 0


def test_what_is_no_run_is_an_error_without_a_traceback(sqlwright: Run, runs: Path) -> None:
    for line in (["report", "nothing"], ["report", "diff", "before", "nothing"]):
        told = sqlwright(*line)
        assert told.code == 6
        assert "nothing holds no run" in told.err
        assert "Traceback" not in told.err
    told = sqlwright("report")
    assert told.code == 2
    assert "FOLDER" in told.err


def test_a_lone_dash_is_no_fault_of_ours(sqlwright: Run, runs: Path) -> None:
    assert "didn't expect" not in sqlwright("report", "-").err
