"""What changed from one run to another, why, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.lab.evaluation.pages.difference_page import difference_page
from sqlwright.lab.evaluation.pages.differences import (
    RunDifference,
    difference,
    difference_data,
    verdict_words,
)
from sqlwright.lab.evaluation.pages.runs import setting_differences
from sqlwright.lab.evaluation.records import Record
from sqlwright.presentation.html.marked import marked
from sqlwright.sql.pieces import cutting
from tests.cli import hostile
from tests.evaluation.run_folders import measured, questions, right, wrong
from tests.test_html import Reader

ALL_RIGHT = [right(one) for one in questions(40)]


def compared(
    folder: Path, before: Sequence[Record], after: Sequence[Record], **described: Any
) -> RunDifference:
    return difference(measured(folder / "a", before), measured(folder / "b", after, **described))


def spoilt(answered: Sequence[Record], count: int) -> list[Record]:
    """The same answers, the first of them wrong."""
    return [wrong(one) if number < count else one for number, one in enumerate(answered)]


def test_answers_are_gained_lost_or_wrong_in_another_way(tmp_path: Path) -> None:
    before = spoilt(ALL_RIGHT[:6], 4)
    after = [right(before[0]), replace(before[1], sql="SELECT 1"), *before[2:5], wrong(before[5])]
    found = compared(tmp_path, before, after)
    assert [(one.kind, one.after.id) for one in found.changes] == [
        ("lost", "q0005"),
        ("gained", "q0000"),
        ("still_wrong", "q0001"),
    ]
    assert (found.pair.both, found.pair.gained, found.pair.lost, found.pair.neither) == (1, 1, 1, 3)
    assert found.of("gained")[0].reason == "literal, not retrieved at retrieval.values before"
    assert found.of("still_wrong")[0].reason == "shape, not chosen at selection.pairwise"


def test_another_query_that_is_right_too_is_counted_only(tmp_path: Path) -> None:
    after = [replace(ALL_RIGHT[0], sql="SELECT 2"), *ALL_RIGHT[1:]]
    found = compared(tmp_path, ALL_RIGHT, after)
    assert (found.changes, found.rewritten) == ((), 1)
    assert "no difference" in verdict_words(found)


@pytest.mark.parametrize(
    ("lost", "words", "worse"),
    [
        (1, "no more than chance", False),
        (5, "no more than chance", False),
        (6, ": more than", True),
    ],
)
def test_a_difference_is_told_from_chance(
    tmp_path: Path, lost: int, words: str, worse: bool
) -> None:
    found = compared(tmp_path, ALL_RIGHT, spoilt(ALL_RIGHT, lost))
    said = verdict_words(found)
    assert words in said
    assert f"0 gained, {lost} lost" in said
    assert found.worse is worse
    assert not found.better
    assert difference_data(found)["worse"] is worse


def test_the_other_way_round_it_is_better(tmp_path: Path) -> None:
    found = compared(tmp_path, spoilt(ALL_RIGHT, 6), ALL_RIGHT)
    assert found.better
    assert verdict_words(found).startswith("b is 15.0 points better (95% interval +")


def test_questions_that_only_one_has_are_left_out_and_told(tmp_path: Path) -> None:
    other = replace(ALL_RIGHT[3], question="Another text?")
    gone = replace(ALL_RIGHT[4], status="gold")
    found = compared(tmp_path, ALL_RIGHT, [*ALL_RIGHT[:3], other, gone], rule="spider")
    assert found.pair.total == 3
    told = " ".join(found.warnings)
    assert "35 questions are in a alone" in told
    assert "1 questions have the same id" in told
    assert "scored by the rule spider" in told


def test_other_data_are_warned_of_and_settings_told(tmp_path: Path) -> None:
    found = compared(
        tmp_path, ALL_RIGHT, ALL_RIGHT, files={"dev.json": "b" * 64}, jobs=8, recipe="chess",
        models={"selector": {"model": "large"}},
    )  # fmt: skip
    assert "other data: they differ in files dev.json" in " ".join(found.warnings)
    told = {one.name: (one.first, one.second) for one in found.settings}
    assert told["recipe"] == ("chase", "chess")
    assert told["models selector model"] == ("small", "large")
    assert told["models selector reasoning"] == ("low", "")
    assert [one.name for one in found.settings][-1] == "jobs"  # it changes times alone


def test_recipes_differ_step_by_step() -> None:
    def recipe(*steps: object) -> dict[str, object]:
        return {"recipe_content": {"steps": list(steps)}, "ended": str(len(steps))}

    first = recipe("retrieval.values", {"generation.plan": {"count": 3}}, "repair.revise")
    second = recipe(
        "retrieval.values", {"generation.plan": {"count": 5}}, "repair.veto", "repair.veto"
    )
    found = [(one.name, one.first, one.second) for one in setting_differences(first, second)]
    assert found == [
        ("recipe_content steps generation.plan count", "3", "5"),
        ("recipe_content steps repair.revise", "yes", ""),
        ("recipe_content steps repair.veto", "", "yes"),
        ("recipe_content steps repair.veto#2", "", "yes"),
    ]


def test_an_answer_is_told_with_both_queries_and_results(tmp_path: Path) -> None:
    found = compared(tmp_path, ALL_RIGHT[:2], spoilt(ALL_RIGHT[:2], 1))
    change = difference_data(found)["changes"][0]
    assert change["first"]["sql"] == "SELECT COUNT(*) FROM orders WHERE status = 'open'"
    assert change["second"]["sql"] == "SELECT COUNT(*) FROM orders WHERE status = 'Open'"
    assert change["second"]["result"]["count"] == 2
    shown = Reader(difference_page(found).removeprefix("<!doctype html>\n")).text
    for told in ("right before, wrong now", "literal, not retrieved", "Changed answers (1)"):
        assert told.casefold() in shown.casefold()


def test_a_page_of_differences_leaves_text_a_text(tmp_path: Path) -> None:
    def shown(told: str, folder: str) -> Reader:
        one = replace(wrong(ALL_RIGHT[0]), question=told, gold_sql=told, db_id=told, sql=told)
        before = replace(right(one), sql=f"{told} {told}")
        found = compared(tmp_path / folder, [before], [one], version=told)
        return Reader(difference_page(found).removeprefix("<!doctype html>\n"))

    plain = shown("plain", "plain")
    for place, text in enumerate(list(hostile.texts().values())[:12]):
        poisoned = shown(text[:500], str(place))
        assert poisoned.tags == plain.tags
        assert not hostile.acting(poisoned.text) - {"\n", "\t"}


@pytest.mark.parametrize(
    ("first", "second", "only"),
    [
        ("SELECT a FROM t", "select A from t", ([], [])),
        ("SELECT a FROM t", "SELECT b FROM t", (["a"], ["b"])),
        ("SELECT a FROM t WHERE x = 'Open'", "SELECT a FROM t WHERE x = 'open'",
         (["'Open'"], ["'open'"])),
        ("SELECT a FROM t", "SELECT a FROM t LIMIT 5", ([], ["LIMIT 5"])),
        ("SELECT $$it's a$$ b", "SELECT $$it's c$$ b", (["$$it's a$$"], ["$$it's c$$"])),
        ("SELECT a", "<b>", (["SELECT a"], ["&lt;b&gt;"])),
    ],
)  # fmt: skip
def test_what_only_one_of_two_queries_has_is_marked(
    first: str, second: str, only: tuple[list[str], list[str]]
) -> None:
    for shown, sql, expected in zip(
        marked(first, second, cutting("postgres")), (first, second), only, strict=True
    ):
        text = shown.markup
        found = [one.partition("</mark>")[0] for one in text.split("<mark>")[1:]]
        assert [one.replace("&#39;", "'") for one in found] == expected
        assert Reader(text).text.split() == sql.split()
