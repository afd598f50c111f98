"""A run as a page: it shows what its figures say and leaves out what they lack."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.pages.run_page import run_page
from sqlwright.lab.evaluation.pages.runs import MeasuredRun, read_run, read_runs
from sqlwright.lab.evaluation.pages.sections.wrong import ANSWERS
from sqlwright.lab.evaluation.pages.several_page import several_page
from tests.cli import hostile
from tests.evaluation.run_folders import CASES, measured, questions, record, run_folder, wrong
from tests.test_html import Reader

NEW = json.loads((CASES / "every_key.json").read_text("utf-8"))
ONLY_NEW = (
    "Drawn again by whole databases: 41.0% to 74.0%",
    "By what the gold query has",
    "By language",
    "Tiers of agreement",
    "soft_f1",
    "Risk against coverage",
    "Calibration",
    "90% right from a confidence of 79% on",
    "Reliability score with a penalty of 10: −3.03",
    "Generators with a right candidate",
    "Selection closes 42.0% of the gap",
    "What selection could make of the candidates",
    "A right candidate of each generator alone",
    "57.5%",
    "the judge chooses the right one in 64.0% (55.0% to 72.0%, 96 of 150)",
    "it chooses the same one in 81.0%",
    "Notes on examples for the prompt at 7 questions, the first: the model made no examples",
    "a question costs",
)
"""Texts of a page that nothing but the new keys of a report can give."""
ALWAYS = (
    "By difficulty",
    "By database",
    "Where questions are lost",
    "The first thing lost",
    "Columns kept by each step",
    "Columns kept, by database",
    "Accuracy against cost",
    "Tokens by step",
    "Time by step",
    "Wrong answers",
    "openai/gpt-4.1",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> MeasuredRun:
    """A run whose report has every key."""
    place = tmp_path_factory.mktemp("runs") / "every"
    return measured(place, questions(60), every_key=True)


def seen(text: str) -> Reader:
    return Reader(text.removeprefix("<!doctype html>\n"))


def test_a_page_shows_what_the_report_has(run: MeasuredRun) -> None:
    text = seen(run_page(run)).text
    assert [told for told in (*ALWAYS, *ONLY_NEW) if told not in text] == []


def test_a_report_without_the_newer_figures_shows_none_of_them(run: MeasuredRun) -> None:
    old = {key: value for key, value in run.summary.items() if key not in {*NEW, "fresh"}}
    text = seen(run_page(replace(run, summary=old))).text
    assert [told for told in ALWAYS if told not in text] == []
    assert [told for told in ONLY_NEW if told in text] == []


def test_whatever_key_is_missing_or_damaged_the_rest_is_shown(run: MeasuredRun) -> None:
    short = replace(run, records=run.records[:8])
    for key in run.summary:
        for value in (None, [], {"x": None}):
            damaged = replace(short, summary={**run.summary, key: value})
            assert "Wrong answers" in run_page(damaged), key
    assert "No question was scored" in run_page(replace(run, summary={}))


def test_the_headline_is_the_accuracy_with_its_interval(run: MeasuredRun) -> None:
    share = run.summary["execution_accuracy"]
    headline = re.search(r'<p class="headline">(.*?)</p>', run_page(run))
    assert headline is not None
    for figure in (share["value"], share["low"], share["high"]):
        assert f"{figure:.1%}" in headline[1]


def test_each_figure_has_its_numbers_and_each_drawing_a_text(run: MeasuredRun) -> None:
    shown = run_page(run)
    figures = re.findall(r"<figure .*?</figure>", shown, re.DOTALL)
    assert len(figures) > 12
    assert [one for one in figures if "The numbers" not in one or "<table>" not in one] == []
    for opening in re.findall(r"<svg[^>]*>", shown):
        inner = 'class="anchor"' in opening or 'class="stretched"' in opening
        assert inner or "aria-hidden" in opening or 'role="img" aria-label="' in opening


def test_links_lead_to_places_of_the_page(run: MeasuredRun) -> None:
    shown = run_page(run)
    targets = re.findall(r'<a href="#([^"]+)">', shown)
    assert len(targets) == 8
    assert [one for one in targets if f'id="{one}"' not in shown] == []
    assert re.findall(r'href="(?!#)', shown) == []
    places = re.findall(r' id="([^"]+)"', shown)
    assert len(places) == len(set(places))


def test_the_policy_lets_the_one_script_run_and_nothing_else(run: MeasuredRun) -> None:
    shown = seen(run_page(run))
    policy = next(one for one in shown.attributes["content"] if "default-src" in one)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; ")
    assert len(re.findall("'sha256-[^']+'", policy)) == 1
    assert run_page(run).count("<script>") == 1


def test_a_wrong_answer_stands_beside_gold_with_its_evidence(tmp_path: Path) -> None:
    shown = seen(run_page(measured(tmp_path / "run", [wrong(record(0))]))).text
    for told in (
        "gold compares orders.status with 'open', the query with 'Open'",
        "not retrieved at retrieval.values",
        "SELECT COUNT(*)",
        "Ben & Söhne",
        "… 12 more rows",
        "Evidence given: open means that the status is 'open'",
    ):
        assert told in shown


def test_many_wrong_answers_are_counted_and_a_page_stays_small(tmp_path: Path) -> None:
    answered = [wrong(one) for one in questions(1_000)]
    shown = run_page(measured(tmp_path / "run", answered))
    assert shown.count('<li data-class="') == ANSWERS
    assert f"{1_000 - ANSWERS} more wrong answers are in predictions.jsonl" in shown
    assert len(shown.encode()) < 3_000_000


@pytest.mark.parametrize("name", ["a < b", *list(hostile.texts())[:12]])
def test_stored_text_stays_text(name: str, tmp_path: Path) -> None:
    text = hostile.texts().get(name, "</script><script>alert(1)</script>")[:500]

    def page_of(told: str, folder: str) -> Reader:
        one = replace(
            wrong(record(1)),
            db_id=told, question=told, gold_sql=told, sql=told, difficulty=told, evidence=told,
            message=told, errors=[{"class": told, "shown_by": told}],
            origin={"kind": told, "step": told, "shown_by": told}, tags={told: told},
            results={"gold": {"columns": [told], "rows": [[told]], "count": 1},
                     "query": {"error": told}},
        )  # fmt: skip
        run = measured(tmp_path / folder, [one, record(2)], recipe=told, dataset=told)
        return seen(run_page(run))

    plain, poisoned = page_of("plain", "one"), page_of(text, "two")
    assert poisoned.tags == plain.tags
    assert poisoned.attributes.keys() == plain.attributes.keys()
    assert not hostile.acting(poisoned.text) - {"\n", "\t"}


def test_an_unfinished_run_is_told_as_one(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", questions(7), finished=False, questions=40)
    assert not run.finished
    assert "This run isn't finished: 7 of 40 questions so far." in seen(run_page(run)).text


def test_a_run_that_went_on_after_its_report_is_summed_up_again(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", questions(7))
    more = run_folder(tmp_path / "more", questions(9))
    (folder / "predictions.jsonl").write_bytes((more / "predictions.jsonl").read_bytes())
    assert read_run(folder).summary["questions"] == 9


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no run"):
        read_run(tmp_path)
    empty = run_folder(tmp_path / "empty", [], finished=False)
    with pytest.raises(DatasetError, match="no answers yet"):
        read_run(empty)
    other = run_folder(tmp_path / "other", questions(1), finished=False)
    (other / "predictions.jsonl").write_text('{"of": "another version"}\n')
    with pytest.raises(DatasetError, match="isn't a record"):
        read_run(other)


def test_several_runs_are_set_against_the_first(tmp_path: Path) -> None:
    runs = [
        measured(tmp_path / "one", questions(60)),
        measured(tmp_path / "worse", [wrong(one) for one in questions(60)], recipe="chess"),
        measured(tmp_path / "less", questions(40)),
    ]
    text = seen(several_page(runs)).text
    for told in (
        "Accuracy against cost",
        "US dollars a question",
        "Question by question",
        "20 questions are in one alone",
        "no more than chance",
        "worse",
        "chess",
    ):
        assert told in text


def test_runs_are_told_apart_by_as_much_of_their_path_as_that_takes(tmp_path: Path) -> None:
    places = [tmp_path / "one" / "dev", tmp_path / "other" / "dev", tmp_path / "last"]
    for place in places:
        run_folder(place, questions(2))
    assert [run.name for run in read_runs(places[1:])] == ["dev", "last"]
    names = [run.name for run in read_runs(places)]
    assert names == ["one/dev", "other/dev", f"{tmp_path.name}/last"]
    assert len({run.name for run in read_runs([places[0]] * 2)}) == 1


def test_runs_without_a_question_in_common_are_refused(tmp_path: Path) -> None:
    runs = [
        measured(tmp_path / "one", questions(5)),
        measured(tmp_path / "other", [replace(one, id=f"x{one.id}") for one in questions(5)]),
    ]
    with pytest.raises(DatasetError, match="no question in common"):
        several_page(runs)
