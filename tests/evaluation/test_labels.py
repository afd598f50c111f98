"""Labels as data: appended, read back, taken back, counted, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.error_classes.figures import error_figures
from sqlwright.lab.evaluation.error_classes.labels import (
    FILE,
    Label,
    append_label,
    by_person,
    kappa,
    label_now,
    read_labels,
    settled,
    to_label,
)
from sqlwright.lab.evaluation.records import Record


def wrong(id_: str, *classes: str, sql: str = "SELECT 1") -> Record:
    errors = [{"class": name, "shown_by": "..."} for name in classes]
    origin = {"kind": "never_generated", "step": "generation", "shown_by": ""}
    return Record(id_, "d", "q", "g", sql, "answered", errors=errors, origin=origin)


def said(id_: str, label: str | None, by: str = "ann", sql: str = "SELECT 1") -> Label:
    return Label(id_, label, by, "2026-01-01T00:00:00+00:00", sql)


def test_labels_are_lines_of_json_that_come_back(tmp_path: Path) -> None:
    given = [label_now(wrong("1", "column"), "join", "ann"), said("2", None, "böb")]
    for one in given:
        append_label(tmp_path, one)
    assert read_labels(tmp_path) == given
    first = json.loads((tmp_path / FILE).read_text("utf-8").splitlines()[0])
    assert set(first) == {"id", "label", "by", "at", "sql", "format"}
    assert first["format"] == 1
    assert first["at"].endswith("+00:00")
    assert read_labels(tmp_path / "elsewhere") == []


def test_a_last_line_that_a_kill_cut_short_is_left_out(tmp_path: Path) -> None:
    append_label(tmp_path, said("1", "join"))
    whole = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(whole + whole[:20])
    assert len(read_labels(tmp_path)) == 1
    append_label(tmp_path, said("2", "join"))
    assert [one.id for one in read_labels(tmp_path)] == ["1", "2"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"id": "1"}', r"line 1 isn't a label: label"),
        ('{"id": "1", "label": "x", "by": "a", "at": "t", "format": 2}', "isn't a label: format"),
        ('{"id": "1", "label": "nonsense", "by": "a", "at": "t"}', "unknown label 'nonsense'"),
        ("[1]", "isn't a label"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / FILE).write_text(f"{line}\n{line}\n")
    with pytest.raises(DatasetError, match=complaint):
        read_labels(tmp_path)


def test_a_label_taken_back_and_one_of_another_query_count_no_more() -> None:
    records = [wrong("1"), wrong("2"), wrong("3")]
    labels = [
        said("1", "join"), said("1", "table"), said("2", "join"), said("2", None),
        said("3", "join", sql="SELECT 2"), said("4", "join"),
    ]  # fmt: skip
    assert by_person(labels, records) == {"ann": {"1": "table"}}


def test_of_several_labels_that_of_most_people_counts_then_the_last() -> None:
    records = [wrong("1"), wrong("2")]
    labels = [
        said("1", "join", "ann"), said("1", "table", "bob"), said("1", "join", "cem"),
        said("2", "join", "ann"), said("2", "table", "bob"),
    ]  # fmt: skip
    assert settled(labels, records) == {"1": "join", "2": "table"}


def test_the_report_goes_by_labels_and_says_how_often_code_agrees() -> None:
    records = [wrong("1", "column"), wrong("2", "table", "column"), wrong("3", "join")]
    labels = [said("1", "column"), said("2", "column"), said("3", "right")]
    plain = error_figures(records, "spider")
    figures = error_figures(records, "spider", labels)
    assert plain["labels"] == {}
    assert plain["classes"]["column"]["main"]["hits"] == 1
    assert figures["classes"]["column"]["main"]["hits"] == 2
    assert figures["classes"]["right"]["main"]["hits"] == 1
    assert figures["split"]["right"]["hits"] == 1
    assert figures["labels"]["code_says_the_same"]["hits"] == 1
    assert figures["labels"]["code_says_it_among_others"]["hits"] == 2
    assert figures["labels"]["by"] == {"ann": 3}
    doubted = error_figures(records, "spider", [said("1", "gold")])
    assert doubted["split"]["gold_doubtful"]["hits"] == 1


def test_two_labellers_are_compared_on_what_both_labelled() -> None:
    records = [wrong(str(n), "column") for n in range(5)]
    labels = [said(str(n), label) for n, label in enumerate(["join", "join", "table", "table"])]
    labels += [
        said(str(n), label, "bob") for n, label in enumerate(["join", "table", "table", "table"])
    ]
    labels.append(said("4", "join", "bob"))
    (pair,) = error_figures(records, "spider", labels)["labels"]["between"]
    assert (pair["first"], pair["second"]) == ("ann", "bob")
    assert (pair["same"]["hits"], pair["same"]["total"]) == (3, 4)
    # By chance 0.5 * 0.25 + 0.5 * 0.75 = 0.5 of them; (0.75 - 0.5) / (1 - 0.5).
    assert pair["kappa"] == pytest.approx(0.5)


def test_kappa_of_chance_and_of_nothing() -> None:
    assert kappa([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]) == 0.0
    assert kappa([("a", "b"), ("b", "a")]) == -1.0
    assert kappa([]) is None
    assert kappa([("a", "a"), ("a", "a")]) is None


def test_a_sample_is_the_same_for_everybody_and_a_class_is_taken_first() -> None:
    records = [wrong(str(n), "column", *(["join"] if n % 2 else [])) for n in range(40)]
    records.append(Record("right", "d", "q", "g", "s", "answered", verdicts={"spider": True}))
    first = to_label(records, "spider", sample=7, seed=1)
    assert first == to_label(records, "spider", sample=7, seed=1)
    assert first != to_label(records, "spider", sample=7, seed=2)
    assert len(first) == 7
    assert [int(r.id) for r in first] == sorted(int(r.id) for r in first)
    assert len(to_label(records, "spider", only="join")) == 20
    assert len(to_label(records, "spider", only="join", sample=90)) == 20
    assert len(to_label(records, "spider")) == 40
