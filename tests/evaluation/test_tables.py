"""The papers' tables: described in keeping with the ablations, filled from runs, and no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.evaluation.ablation import ablate
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.run import EvaluationSettings
from sqlwright.lab.evaluation.tables.filled import (
    Cell,
    Choice,
    FilledPaper,
    FilledTable,
    Found,
    fill,
    find_runs,
    resolved,
)
from sqlwright.lab.evaluation.tables.forms import (
    beneath,
    body_of,
    cell_text,
    commands_for,
    head_of,
    to_dict,
    to_markdown,
)
from sqlwright.lab.evaluation.tables.page import to_html
from sqlwright.lab.evaluation.tables.papers import PAPERS, data_sets, find_paper
from sqlwright.llm.scripted import Asked, Says
from sqlwright.recipes.ablation_lists import ablations, find_ablation
from tests.evaluation.finished_runs import run_folder
from tests.evaluation.sets import GERMAN, SWEDISH, answering, bird_set

EMPTY = {name: fill(find_paper(name), Found()) for name in PAPERS}


def filled(paper: str, *folders: Path, **choice: str) -> FilledPaper:
    return fill(find_paper(paper), find_runs(folders), Choice(**choice))


def table(paper: FilledPaper, name: str) -> FilledTable:
    return next(one for one in paper.tables if one.table.name == name)


def cell(paper: FilledPaper, name: str, row: str, column: str) -> Cell:
    found = table(paper, name)
    place = [one.name for one in found.table.columns].index(column)
    return next(one for one in found.rows if one.label == row).cells[place]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_is_described_in_keeping_with_what_ships(paper: str) -> None:
    for one in EMPTY[paper].tables:
        assert one.table.data in data_sets()
        assert one.rows, one.table.name
        for row in one.table.rows:
            assert len(row.paper) <= len(one.table.columns), row.label
        for wanted in one.missing:
            listed = find_ablation(wanted.name)
            assert resolved(listed.recipe, (*listed.overrides, *wanted.set)) is not None, wanted


@pytest.mark.parametrize(
    ("name", "paper", "number", "figure"),
    [
        (name, one.listed, match[1], float(match[2]))
        for name, one in ablations().items()
        if (match := re.match(r"table (\d+)(?:, table \d+)?, ([\d.]+)", one.paper))
    ],
)
def test_a_figure_beside_an_ablation_is_that_of_the_table(
    name: str, paper: str, number: str, figure: float
) -> None:
    cells = [
        cell
        for one in EMPTY[paper].tables
        if re.fullmatch(rf"table {number}[ab]?", one.table.name)
        for cell in one.cells
        if cell.wanted and cell.paper is not None
    ]
    one = find_ablation(name)
    steps = resolved(one.recipe, one.overrides)
    shown = {
        cell.paper
        for cell in cells
        if cell.wanted
        and (other := find_ablation(cell.wanted.name))
        and resolved(other.recipe, (*other.overrides, *cell.wanted.set)) == steps
    }
    if name in {"msc-majority", "msc-independent", "msc-independent-embedded"}:
        shown = {cell.paper for cell in cells}  # the paper's are of three models
    assert figure in shown


def test_every_ablation_with_a_place_in_a_table_is_in_one() -> None:
    wanted = {one.name for paper in EMPTY.values() for t in paper.tables for one in t.missing}
    placed = [n for n, o in ablations().items() if re.search(r"\b(table|figure) \d", o.paper)]
    other = {"selector-independent", "msc-cut-values"}  # another paper's; a figure of a prompt
    assert [name for name in placed if name not in wanted | other] == []


def test_an_unknown_paper_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown paper 'ches'; did you mean 'chess'") as caught:
        find_paper("ches")
    assert caught.value.hint == "Known: chess, chase, mag, msc."


@pytest.fixture
def measured(tmp_path: Path, database_files: dict[str, Path]) -> Path:
    """Real runs over the shop: MAG-SQL without its decomposer, the whole of it, and one call."""
    asked = [
        {"question": f"Who is {land}?", "SQL": gold, "difficulty": level}
        for land, gold, level in (
            ("German", GERMAN, "simple"),
            ("Swedish", SWEDISH, "simple"),
            ("from Germany", GERMAN, "challenging"),
        )
    ]
    dataset = load_bird(bird_set(tmp_path / "set", database_files["shop"], asked))
    models = answering({"generation.direct": GERMAN, "generation.sub_sql": GERMAN})
    settings = EvaluationSettings(models=models, home=tmp_path / "home")
    ablate(dataset, ["without-decomposer", "baseline"], settings, tmp_path / "runs")
    return tmp_path / "runs"


def test_real_runs_fill_their_cells_and_no_others(measured: Path) -> None:
    mag = filled("mag", measured)
    assert cell_text(cell(mag, "table 1", "GPT-4 alone", "EX")) == "66.7 [20.8, 93.9] (n 3)"
    agents = table(mag, "table 2")
    assert head_of(agents)[1:3] == ["simple", "simple, paper"]
    by_label = {row.label: body_of(agents, row) for row in agents.rows}
    assert by_label["without the decomposer"][-2:] == ["66.7 [20.8, 93.9] (n 3)", "55.6"]
    assert by_label["without the decomposer"][1] == "50.0 [9.5, 90.5] (n 2)"
    assert by_label["without the decomposer"][3] == "—"
    assert by_label["without the refiner"][-2:] == ["—", "48.31"]
    assert [one.name for one in agents.missing] == ["without-linker", "without-refiner"]
    assert table(mag, "table 4").runs == []


def test_a_real_run_of_chase_fills_pair_accuracy_and_tells_its_generators_apart(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    """Two generators are right, the third is wrong, once before the fixer and once after it; the
    judge takes what is shown first, so it is right on every other pair."""

    def writes(asked: Asked) -> str:
        wrong = "make a plan as the database's engine" in asked.prompt
        return SWEDISH.replace("name", "names") if wrong else GERMAN

    row = {"question": "Who is German?", "SQL": GERMAN, "difficulty": "simple"}
    dataset = load_bird(bird_set(tmp_path / "set", database_files["shop"], [row]))
    replies: dict[str, Says] = {
        "retrieval.extract_keywords": '{"keywords": ["German"]}',
        "generation.direct": writes,
        "repair.revise": SWEDISH,
        "selection.pairwise": '{"reasoning": "the first", "better": "A"}',
    }
    settings = EvaluationSettings(models=answering(replies), home=tmp_path / "home")
    ablate(dataset, ["chase"], settings, tmp_path / "runs")
    chase = filled("chase", tmp_path / "runs")
    three = table(chase, "figure 3")
    both = "generation/divide_and_conquer + generation/synthetic_examples"
    assert {row.label: cell_text(row.cells[0]) for row in three.rows} == {both: "1 (n 1)"}
    pairs = cell(chase, "table 5", "a prompted judge (paper: Gemini 1.5 Pro)", "pairs").figure
    assert pairs is not None
    assert (pairs.value, pairs.total) == (0.5, 2)
    (run,) = three.runs
    assert run.report["judging"]["orders_agree"]["hits"] == 0
    assert run.report["judging"]["first_shown"]["value"] == 1.0
    assert run.report["by_generator"]["generation/query_plan"]["oracle"]["hits"] == 0
    assert run.report["by_generator"]["generation/query_plan"]["candidates"] == 7
    told = " ".join(beneath(three, chase.choice))
    assert "notes on examples for the prompt at 1 question" in told


def test_what_only_answers_tell_is_counted(measured: Path) -> None:
    runs = find_runs([measured]).runs
    counted = next(run for run in runs if run.recipe == "baseline").figures["counted"]
    assert counted["oracle_by_difficulty"]["simple"] == Share(1, 2).as_dict()
    assert counted["oracle_by_database"] == {"shop": Share(2, 3).as_dict()}


def test_missing_commands_ask_for_what_isnt_there_and_nothing_else(measured: Path) -> None:
    mag = filled("mag", measured, model="vllm/my model")
    (command,) = commands_for([table(mag, "table 2")], mag.choice, "mag", out="my runs")
    assert command == (
        "sqlwright lab ablate without-linker without-refiner --data bird:FOLDER "
        "-m 'vllm/my model' --no-stand-in --prepare --out 'my runs/mag/bird-dev' --resume"
    )
    whole, one_call = commands_for([table(mag, "table 1")], mag.choice, "mag")
    assert whole.startswith("sqlwright evaluate --recipe mag --data bird:FOLDER ")
    assert "--metric ves --metric r_ves --out runs/mag/bird-dev-ves-r_ves/mag" in whole
    assert one_call.startswith("sqlwright evaluate --recipe baseline ")


def test_the_same_steps_are_the_same_run_however_they_are_spelled(tmp_path: Path) -> None:
    spelled = ["selection.pairwise.enabled=false", "selection.largest_cluster.enabled=true"]
    run_folder(tmp_path / "own", "chase", *spelled, ablation="")
    chase = filled("chase", tmp_path)
    chosen = cell(chase, "table 7", "self-consistency instead of the agent", "EX")
    assert chosen.run is not None
    assert (chosen.run.folder, chosen.paper) == (tmp_path / "own", 68.84)
    assert cell(chase, "table 7", "all", "EX").run is None


def test_overrides_of_row_and_column_make_a_run_of_their_own(tmp_path: Path) -> None:
    run_folder(tmp_path / "five", "msc-five-warm")
    run_folder(tmp_path / "two", "msc-five-warm", "samples[1].count=2")
    run_folder(tmp_path / "greedy", "msc-single")
    msc = filled("msc", tmp_path)
    places = {"5": "five", "2": "two"}
    for label, folder in places.items():
        run = cell(msc, "table 3", label, "T = 0.5").run
        assert run is not None
        assert run.folder.name == folder
    assert cell(msc, "table 3", "3", "T = 0.5").figure is None
    greedy = [cell(msc, "table 3", str(n), "T = 0").run for n in range(1, 6)]
    assert {run and run.folder.name for run in greedy} == {"greedy"}


def test_of_several_runs_most_questions_count_then_the_newest(tmp_path: Path) -> None:
    few = {"questions": 4, "execution_accuracy": Share(4, 4).as_dict()}
    run_folder(tmp_path / "old", "mag", ended=1_000)
    run_folder(tmp_path / "new", "mag", ended=2_000)
    run_folder(tmp_path / "newest", "mag", ended=3_000, report=few)
    mag = filled("mag", tmp_path)
    chosen = cell(mag, "table 1", "MAG-SQL", "EX")
    assert chosen.run is not None
    assert chosen.run.folder.name == "new"
    told = " ".join(beneath(table(mag, "table 1"), mag.choice))
    assert "/new: mag with openai/small, dev by the rule 'bird', 40 questions" in told


def test_the_revision_of_the_data_and_what_went_otherwise_stand_beside_a_run(
    tmp_path: Path,
) -> None:
    files = {"dev.json": "4f2a9c81" + "0" * 56, "dev_databases/a/a.sqlite": f"8192:{'1' * 64}"}
    notes = {
        "parameter": {"questions": 40, "first": "m doesn't take 'temperature'"},
        "tied": {"questions": 3, "first": "two are equal"},
    }
    described = {"files": files, "release": "20240627", "report": {"notes": notes}}
    run_folder(tmp_path / "run", "mag", **described)
    mag = filled("mag", tmp_path)
    told = " ".join(beneath(table(mag, "table 1"), mag.choice))
    assert "dev (release 20240627, dev.json 4f2a9c81) by the rule 'bird'" in told
    assert (
        "parameters that the model refused at 40 questions, the first: m doesn't take 'temperature'"
        in told
    )
    assert "two are equal" not in told
    (run,) = to_dict(mag, "mag")["tables"][0]["runs"]
    assert run["revision"] == "release 20240627, dev.json 4f2a9c81"


def test_runs_that_arent_whole_or_cant_be_read_are_told(tmp_path: Path) -> None:
    (run_folder(tmp_path / "half", "mag") / "report.json").unlink()
    (run_folder(tmp_path / "torn", "mag") / "report.json").write_text('{"questions"')
    run_folder(tmp_path / "first", "mag", shard="1/4")
    run_folder(tmp_path / "other", "mag", report={"stood_in": Share(1, 3).as_dict()})
    mag = filled("mag", tmp_path)
    assert cell(mag, "table 1", "MAG-SQL", "EX").figure is None
    assert sorted(note.rpartition("/")[2] for note in mag.notes) == [
        "first is a part of a run",
        "half isn't finished",
        "other fills nothing: 3 answers by embedded models (--no-stand-in forbids them)",
        "torn can't be read",
    ]
    with pytest.raises(DatasetError, match="there is no folder"):
        find_runs([tmp_path / "nowhere"])


def test_a_recipe_of_somebodys_own_is_never_loaded_for_a_table(tmp_path: Path) -> None:
    own = tmp_path / "mag.yaml"
    own.write_text("name: mag\nsteps: [retrieval.request]\n")
    run_folder(tmp_path / "run", "mag", recipe=str(own))
    (run,) = find_runs([tmp_path]).runs
    assert run.step is None


def test_another_data_set_fills_nothing_unless_it_is_named(tmp_path: Path) -> None:
    run_folder(tmp_path / "run", "mag", dataset="questions")
    mag = filled("mag", tmp_path)
    assert cell(mag, "table 1", "MAG-SQL", "EX").figure is None
    assert "left out: questions (1); --dataset NAME" in mag.notes[0]
    named = filled("mag", tmp_path, data="questions")
    assert cell_text(cell(named, "table 1", "MAG-SQL", "EX")) == "75.0 [59.8, 85.8] (n 40)"
    told = " ".join(beneath(table(named, "table 1"), named.choice))
    assert "not the paper's data set" in told


@pytest.mark.parametrize(
    ("dataset", "rule", "fits"),
    [
        ("dev", "bird", {"table 1"}),
        ("dev", "spider", {"table 4"}),
        ("dev, no evidence", "bird", set()),
        ("train_spider:dev", "spider", set()),
        ("test", "spider", {"table 4"}),
    ],
)
def test_data_sets_are_told_apart_by_name_and_rule(
    tmp_path: Path, dataset: str, rule: str, fits: set[str]
) -> None:
    run_folder(tmp_path / "run", "mag", dataset=dataset, rule=rule)
    mag = filled("mag", tmp_path)
    assert {one.table.name for one in mag.tables if one.runs} - {"table 2", "table 3"} == fits


def test_chess_on_its_subset_is_not_chess_on_all(tmp_path: Path) -> None:
    run_folder(tmp_path / "sds", "all-tools", dataset="dev, sds, seed 0")
    chess = filled("chess", tmp_path)
    assert cell(chess, "table 4", "all tools", "EX").figure is not None
    assert table(chess, "table 2").runs == []


def test_runs_of_two_models_are_told_and_one_can_be_named(tmp_path: Path) -> None:
    run_folder(tmp_path / "a", "mag", model="openai/a")
    run_folder(tmp_path / "b", "baseline", model="openai/b")
    assert "several models (openai/a, openai/b): --model" in filled("mag", tmp_path).notes[0]
    named = filled("mag", tmp_path, model="openai/b")
    assert cell(named, "table 1", "MAG-SQL", "EX").figure is None
    assert cell(named, "table 1", "GPT-4 alone", "EX").figure is not None


def test_sums_are_shown_per_question_and_absent_figures_as_dashes(tmp_path: Path) -> None:
    usage = {"in all": {"prompt_tokens": 200_000, "calls": 100}}
    run_folder(tmp_path / "run", "mag", report={"usage": usage})
    mag = filled("mag", tmp_path)
    assert cell_text(cell(mag, "table 1", "MAG-SQL", "tokens")) == "5,000 (n 40)"
    assert cell_text(cell(mag, "table 1", "MAG-SQL", "calls")) == "2.5 (n 40)"
    assert cell_text(cell(mag, "table 1", "MAG-SQL", "soft F1")) == "—"


def test_a_metric_that_wasnt_taken_is_missing(tmp_path: Path) -> None:
    ves = {"ves": {"value": 0.5, "low": 0.4, "high": 0.6, "total": 40}}
    run_folder(tmp_path / "with", "mag", report={"measures": ves}, ended=1_000)
    run_folder(tmp_path / "without", "mag", ended=2_000)
    mag = filled("mag", tmp_path)
    assert cell_text(cell(mag, "table 1", "MAG-SQL", "VES")) == "50.0 [40.0, 60.0] (n 40)"
    shown = cell(mag, "table 1", "MAG-SQL", "EX").run
    assert shown is not None
    assert shown.folder.name == "without"
    assert {one.metric for one in table(mag, "table 1").missing if one.name == "mag"} == {"r_ves"}


def test_rows_that_a_report_names_come_from_it(tmp_path: Path) -> None:
    views = {
        step: {"columns_by_database": {"shop": 12.0, "desk": 7.5}, "table_recall": 0.97}
        for step in ("whole schema", "schema_linking.select_tables")
    }
    run_folder(tmp_path / "run", "all-tools", report={"views": views})
    run_folder(tmp_path / "sds", "all-tools", dataset="dev, sds, seed 0", report={"views": views})
    chess = filled("chess", tmp_path)
    assert [row.label for row in table(chess, "figure 5").rows] == ["shop", "desk"]
    assert cell_text(cell(chess, "figure 5", "desk", "select_tables")) == "7.5 (n 40)"
    assert cell_text(cell(chess, "table 5", "select_tables", "tables recall")) == "97.0 (n 40)"
    assert [row.label for row in table(EMPTY["chess"], "figure 5").rows] == ["each"]


def test_what_nothing_can_fill_is_said_and_has_no_command() -> None:
    seven = table(EMPTY["chess"], "table 7")
    told = " ".join(beneath(seven, Choice()))
    assert "with the columns of the gold query: not run, gold never enters a pipeline" in told
    assert [one.name for one in seven.missing] == ["all-tools"]
    hidden = cell(EMPTY["chess"], "table 1", "CHESS (IR, CG, UT)", "test EX")
    assert (hidden.paper, hidden.wanted) == (71.10, None)


def test_all_missing_commands_name_each_run_once() -> None:
    for name, paper in EMPTY.items():
        commands = commands_for(paper.tables, paper.choice, name)
        assert len(set(commands)) == len(commands)
        folders = [re.findall(r"--out (\S+)", command)[0] for command in commands]
        assert len(set(folders)) == len(folders)


def test_a_recipe_of_embedded_models_is_asked_without_a_language_model() -> None:
    commands = commands_for(EMPTY["msc"].tables, Choice(), "msc")
    local = [one for one in commands if "--recipe msc-local " in one]
    assert local
    assert not any(" -m " in one for one in local)
    assert all(" -m MODEL --no-stand-in " in one for one in commands if one not in local)


Form = Callable[[FilledPaper, str], str]


@pytest.mark.parametrize("form", [to_markdown, to_html])
def test_stored_text_is_data_in_every_form(tmp_path: Path, form: Form) -> None:
    hostile = "<script>|x*\x1b[31m"
    run_folder(tmp_path / "run", "mag", model=hostile, dataset=hostile)
    shown = form(filled("mag", tmp_path, data=hostile), "mag")
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "75.0 [59.8, 85.8] (n 40)" in shown
    assert "61.08" in shown


def test_plain_data_has_figures_and_where_they_come_from(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", "mag")
    first = to_dict(filled("mag", tmp_path), "mag")["tables"][0]
    ours = first["rows"][0]["cells"][0]
    assert ours["ours"]["value"] == 0.75
    assert (ours["paper"], ours["run"]) == (61.08, str(folder.resolve()))
    assert first["rows"][1]["cells"][0] == {"ours": None, "paper": 46.35, "run": None}
    assert first["runs"][0]["overrides"] == []
