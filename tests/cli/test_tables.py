"""`sqlwright lab tables`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome
from tests.cli.hostile import acting, texts
from tests.evaluation.finished_runs import run_folder

Run = Callable[..., Outcome]


def test_a_table_has_our_figure_the_papers_and_what_is_missing(
    sqlwright: Run, home: Path, tmp_path: Path
) -> None:
    run_folder(tmp_path / "runs" / "mag", "mag")
    done = sqlwright("lab", "tables", "mag", "--runs", tmp_path / "runs")
    assert done.code == 0
    (line,) = [
        one for one in done.out.split("\n") if one.startswith("MAG-SQL  ") and "61.08" in one
    ]
    assert "75.0 [59.8, 85.8] (n 40)" in line
    assert "ours compare with them only where both are the same" in done.out
    assert "runs/mag: mag with openai/small" in done.out
    assert "sqlwright lab ablate without-linker without-decomposer without-refiner" in done.out


@pytest.mark.parametrize("width", [60, 100, 300])
def test_a_table_too_wide_for_the_terminal_comes_in_parts_and_whole(
    tmp_path: Path, width: int
) -> None:
    from sqlwright.cli.commands.tables import in_parts
    from sqlwright.lab.evaluation.tables.filled import fill, find_runs
    from sqlwright.lab.evaluation.tables.forms import body_of, head_of
    from sqlwright.lab.evaluation.tables.papers import find_paper

    run_folder(tmp_path / "run", "mag")
    table = fill(find_paper("mag"), find_runs([tmp_path])).tables[1]
    body = [head_of(table), *(body_of(table, row) for row in table.rows)]
    parts = list(in_parts(body, width))
    assert (len(parts) > 1) is (width < 300)
    assert all([row[0] for row in part] == [row[0] for row in body] for part in parts)
    whole = [[cell for part in parts for cell in part[line][1:]] for line in range(len(body))]
    assert whole == [list(row[1:]) for row in body]


def test_only_the_commands_are_printed_where_they_are_asked_for(sqlwright: Run, home: Path) -> None:
    done = sqlwright("lab", "tables", "chase", "--missing", "-m", "openai/gpt")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines
    assert {line.split(" ")[1] for line in lines} == {"lab", "evaluate"}
    assert all("-m openai/gpt --no-stand-in" in line for line in lines)
    assert done.err == ""


def test_json_markdown_and_a_page(sqlwright: Run, home: Path, tmp_path: Path) -> None:
    run_folder(tmp_path / "runs" / "mag", "mag")
    as_json = sqlwright("lab", "tables", "mag", "-r", tmp_path / "runs", "--json")
    assert json.loads(as_json.out)["tables"][0]["rows"][0]["cells"][0]["paper"] == 61.08
    markdown = sqlwright("lab", "tables", "mag", "-r", tmp_path / "runs", "--markdown")
    assert "| MAG-SQL | 75.0 [59.8, 85.8] (n 40) | 61.08 |" in markdown.out
    written = sqlwright(
        "lab", "tables", "mag", "-r", tmp_path / "runs", "--html", tmp_path / "mag.html"
    )
    assert written.code == 0
    assert "75.0 [59.8, 85.8] (n 40)" in (tmp_path / "mag.html").read_text("utf-8")
    again = sqlwright("lab", "tables", "mag", "--html", tmp_path / "mag.html")
    assert again.code == 2
    assert "is there already" in again.err


def test_bad_input_gets_a_clear_error(sqlwright: Run, home: Path, tmp_path: Path) -> None:
    unknown = sqlwright("lab", "tables", "ches")
    assert (unknown.code, "unknown paper 'ches'; did you mean 'chess'?" in unknown.err) == (4, True)
    assert "Known: chess, chase, mag, msc." in unknown.err
    absent = sqlwright("lab", "tables", "mag", "--runs", tmp_path / "nowhere")
    assert (absent.code, "there is no folder" in absent.err) == (6, True)
    both = sqlwright("lab", "tables", "mag", "--json", "--markdown")
    assert (both.code, "one form at a time" in both.err) == (2, True)


@pytest.mark.parametrize("text", texts().values(), ids=texts())
def test_what_runs_say_of_themselves_does_nothing(
    sqlwright: Run, home: Path, tmp_path: Path, text: str
) -> None:
    run_folder(tmp_path / "runs" / "mag", "mag", model=text)
    run_folder(tmp_path / "runs" / "other", "mag", dataset=text)
    done = sqlwright("lab", "tables", "mag", "--runs", tmp_path / "runs")
    assert done.code == 0
    assert acting(done.out) <= {"\n"}
    assert acting(done.err) <= {"\n"}
