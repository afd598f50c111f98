"""Baselines: kept, read, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.golden.baseline import (
    Baseline,
    KeptAnswer,
    changes,
    read_baseline,
    taken,
    write_baseline,
)
from sqlwright.lab.evaluation.records import Record


def answered(id_: str, sql: str | None = "SELECT 1", *, right: bool = True) -> Record:
    status = "refused" if sql is None else "answered"
    return Record(id_, "shop", "?", "SELECT 1", sql, status, {"spider": right, "bird": right})


def test_a_baseline_is_a_line_a_question_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = [answered("b"), answered("a", right=False), answered("c", None, right=False)]
    kept = taken(run, "bird")
    write_baseline(tmp_path / "last.json", kept)
    assert read_baseline(tmp_path / "last.json", "bird") == Baseline(
        "bird", dict(sorted(kept.answers.items()))
    )
    lines = (tmp_path / "last.json").read_text().splitlines()
    ours = [line for line in lines if '"right"' in line]
    assert [line[:24] for line in ours] == [
        '"a": {"right": false, "q',
        '"b": {"right": true, "qu',
        '"c": {"right": false, "q',
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "last.json"]


def test_one_answer_that_changed_is_one_line_that_changed(tmp_path: Path) -> None:
    run = [answered("a"), answered("b"), answered("c")]
    write_baseline(tmp_path / "one.json", taken(run, "bird"))
    write_baseline(
        tmp_path / "two.json", taken([run[2], answered("b", "SELECT 2"), run[0]], "bird")
    )
    one, two = ((tmp_path / f"{n}.json").read_text().splitlines() for n in ("one", "two"))
    assert len(one) == len(two)
    assert sum(a != b for a, b in zip(one, two, strict=True)) == 1


def test_blanks_outside_quotes_make_no_other_query() -> None:
    one, two, three = (
        taken([answered("a", sql)], "bird").answers["a"].query
        for sql in ("SELECT  1\n", "SELECT 1;", "SELECT 2")
    )
    assert one == two != three


def test_what_became_of_answers_since_a_baseline() -> None:
    before = Baseline(
        "bird",
        {
            "same": KeptAnswer(True, "x"),
            "broken": KeptAnswer(True, "x"),
            "not asked": KeptAnswer(True, "x"),
            "never right": KeptAnswer(False, "x"),
            "never asked": KeptAnswer(False, "x"),
            "mended": KeptAnswer(False, "x"),
            "rewritten": KeptAnswer(True, "x"),
            "gone": KeptAnswer(True, "x"),
        },
    )
    now = Baseline(
        "bird",
        {
            "same": KeptAnswer(True, "x"),
            "broken": KeptAnswer(False, "y"),
            "never right": KeptAnswer(False, "x"),
            "mended": KeptAnswer(True, "y"),
            "rewritten": KeptAnswer(True, "y"),
            "new": KeptAnswer(False, "y"),
        },
    )
    ids = [id_ for id_ in before.answers if id_ != "gone"] + ["new"]
    found = changes(before, ids, now)
    assert found.lost == ("broken", "not asked")
    assert found.mended == ("mended",)
    assert found.rewritten == ("rewritten",)
    assert found.added == ("new",)
    assert found.removed == ("gone",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no baseline"),
        ("[]", "is no baseline"),
        ('{"format": "sqlwright-baseline"}', "version"),
        (
            '{"format": "sqlwright-baseline", "version": 2, "rule": "bird", "questions": {}}',
            "version",
        ),
        (
            '{"format": "sqlwright-baseline", "version": 1, "rule": "bird",'
            ' "questions": {"a": {"right": 1}}}',
            "questions.a.right",
        ),
        (
            '{"format": "sqlwright-baseline", "version": 1, "rule": "spider", "questions": {}}',
            "judged by the rule 'spider'",
        ),
        ('{"execution_accuracy": {}}', "is no baseline"),
    ],
)
def test_what_is_no_baseline_is_refused_with_the_place(
    tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "last.json").write_text(text)
    with pytest.raises(DatasetError, match=told) as caught:
        read_baseline(tmp_path / "last.json", "bird")
    assert caught.value.hint


def test_a_missing_file_and_a_folder_without_a_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is missing"):
        read_baseline(tmp_path / "none.json", "bird")
    with pytest.raises(DatasetError, match="holds no run"):
        read_baseline(tmp_path, "bird")


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "last.json").mkdir()
    with pytest.raises(DatasetError, match="can't be written"):
        write_baseline(tmp_path / "last.json", Baseline("bird", {}))
    assert list(tmp_path.iterdir()) == [tmp_path / "last.json"]


def test_a_run_folder_and_its_predictions_are_baselines(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"rule": "spider"}))
    rows = [{**vars_of(answered("a"))}, {**vars_of(answered("b", right=False))}]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for path in (tmp_path, tmp_path / "predictions.jsonl"):
        found = read_baseline(path, "bird").answers
        assert {id_: one.right for id_, one in found.items()} == {"a": True, "b": False}
    with pytest.raises(DatasetError, match="wasn't judged by the rule 'other'"):
        read_baseline(tmp_path, "other")


def vars_of(record: Record) -> dict[str, object]:
    return {
        name: getattr(record, name) for name in ("id", "db_id", "question", "gold_sql", "sql")
    } | {
        "status": record.status,
        "verdicts": dict(record.verdicts),
    }
