"""What is measured of a recipe's parts besides linking: what each found, kept, mended, told."""

import json
from dataclasses import asdict

import pytest

from sqlwright.cli.commands.evaluate import summary_lines
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.pages.run_page import run_page
from sqlwright.lab.evaluation.pages.runs import read_run
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from tests.cli.rendering import look, rendered
from tests.evaluation.sets import GERMAN, SWEDISH, answering, spider_set

MUNICH = "SELECT name FROM customers WHERE city = 'München'"
ERROR = "SELECT nme FROM customers"
NOBODY = "SELECT name FROM customers WHERE id = 99"
KEYWORDS = {"retrieval.extract_keywords": '["Munchen", "customers"]'}
WRITER = "generation.direct"


def examples(asked):
    """An example, another one with its query, and one that fails; of each kind its own."""
    kind = "like" if "like those above" in asked.prompt else "free"
    named = [("Who?", "name"), ("Who is it?", "name"), ("Who is where?", "name, town")]
    made = [
        {"question": f"{question} ({kind})", "sql": f"SELECT {columns} FROM customers"}
        for question, columns in named
    ]
    return json.dumps({"examples": made})


TAKEN_APART = json.dumps(
    {"targets": "", "conditions": ["a", "b"], "sub_questions": ["Who is German?", "Who?"]}
)


def judged(asked):
    """Of the two queries the German one passes the first test, both the second."""
    verdict = "passed" if "The second." in asked.prompt else "failed"
    first, second = ("passed", verdict)
    if asked.prompt.rfind(GERMAN[-9:]) > asked.prompt.rfind(SWEDISH[-8:]):
        first, second = second, first
    both = [{"number": 1, "verdict": first}, {"number": 2, "verdict": second}]
    return json.dumps({"reasoning": "", "verdicts": both})


CASES = {
    "a value that the question misspells": (
        "chess-ir-ss-cg", (), MUNICH, {**KEYWORDS, WRITER: MUNICH}, {"values found": (1, 1)},
    ),
    "a value that the question doesn't name": (
        "chess-ir-ss-cg", (), GERMAN, {**KEYWORDS, WRITER: GERMAN}, {"values found": (0, 1)},
    ),
    "values that are shown as examples": (
        "msc", (), GERMAN, {WRITER: GERMAN}, {"values found": (1, 1)},
    ),
    "no retrieval": ("baseline", (), GERMAN, {WRITER: GERMAN}, {}),
    "a repair that helps": (
        "chess-ir-ss-cg", (), GERMAN,
        {**KEYWORDS, WRITER: ERROR, "repair.revise": GERMAN},
        {"values found": (0, 1), "repair.revise helped": (1, 1), "repair.revise hurt": (0, 1)},
    ),
    "a repair that hurts, where nothing is right": (
        "chess-ir-ss-cg", (), NOBODY,
        {**KEYWORDS, WRITER: NOBODY, "repair.revise": GERMAN},
        {"repair.revise helped": (0, 1), "repair.revise hurt": (1, 1)},
    ),
    "a repair that isn't kept, and comes to the same again": (
        "chess-ir-ss-cg", (), NOBODY,
        {**KEYWORDS, WRITER: NOBODY, "repair.revise": ERROR},
        {"repair.revise helped": (0, 2), "repair.revise hurt": (0, 2)},
    ),
    "examples that can't be used": (
        "chase", ("samples.count=1",), NOBODY,
        {**KEYWORDS, WRITER: GERMAN, "generation.make_examples": examples},
        {"examples kept": (2, 6)},
    ),
    "tests that divide": (
        "chess-ir-cg-ut", ("samples.count=1",), GERMAN,
        {
            **KEYWORDS, WRITER: [GERMAN, SWEDISH],
            "selection.generate_tests": '{"reasoning": "", "tests": ["The first.", "The second."]}',
            "selection.evaluate_tests": judged,
        },
        {"values found": (0, 1), "tests that divide": (1, 2), "tests for the right": (1, 1)},
    ),
}  # fmt: skip


@pytest.fixture
def measured(tmp_path, database_files):
    """The summary and the record of one question."""

    def run(recipe, overrides, gold, replies):
        folder = spider_set(tmp_path / "set", database_files["shop"], {"Who is in Munchen?": gold})
        settings = EvaluationSettings(
            recipe=recipe,
            overrides=overrides,
            models=answering(replies),
            home=tmp_path / "home",
            stand_in=False,
        )
        summary = evaluate(load_spider(folder), settings, tmp_path / "out")
        (record,) = records.read(tmp_path / "out")
        return summary, record

    return run


@pytest.mark.parametrize("case", CASES)
def test_the_work_of_a_part_is_counted(case, measured):
    recipe, overrides, gold, replies, parts = CASES[case]
    summary, record = measured(recipe, overrides, gold, replies)
    assert {name: tuple(counts) for name, counts in record.parts.items()} == parts
    told = {name: (share["hits"], share["total"]) for name, share in summary["parts"].items()}
    assert told == parts


def test_a_question_is_taken_apart(measured):
    replies = {"generation.decompose": TAKEN_APART, "generation.sub_sql": GERMAN}
    summary, record = measured("mag", (), GERMAN, replies)
    assert record.sub_questions == 2
    assert summary["sub_questions"]["value"] == 2.0


def test_report_and_page_tell_it(measured, tmp_path):
    recipe, overrides, gold, replies, _ = CASES["a repair that helps"]
    summary, _ = measured(recipe, overrides, gold, replies)
    text = " ".join(rendered(summary_lines(summary, look(120)), 120).split())
    assert "repair.revise helped: 1 of 1, 100.0%" in text
    assert "Work of the parts" in run_page(read_run(tmp_path / "out"))


def test_records_of_earlier_versions_have_none(measured):
    _, record = measured("baseline", (), GERMAN, {WRITER: GERMAN})
    summary = summarize([records.Record(**asdict(record) | {"parts": {}})])
    assert (summary["parts"], summary["sub_questions"]) == ({}, None)
