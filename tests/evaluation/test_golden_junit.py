"""JUnit's XML of a run: valid by both schemas in use, and what it says."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation.golden.gate import junit_xml
from sqlwright.lab.evaluation.records import Record

NOW = datetime(2026, 11, 23, 18, 30, 12, 999, tzinfo=UTC)
REQUIRED = {
    "testsuites": set(),
    "testsuite": {
        "name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "time",
    },
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
    "system-err": set(),
}  # fmt: skip
"""Attributes that Ant's schema requires, or allows where it requires none; Jenkins' allows all of
them."""
ALSO = {"testsuite": {"skipped"}}
WITHIN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"properties (testcase )*system-out system-err ",
    "properties": r"(property )*",
    "testcase": r"((failure|error) )?",
}
"""Children in their order, by Ant's schema, which is the stricter one."""
SHAPES = {
    "time": r"\d+\.\d+",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    "tests": r"\d+",
    "failures": r"\d+",
    "errors": r"\d+",
    "skipped": r"\d+",
    "id": r"\d+",
    "name": r"\S.*",
    "hostname": r"\S+",
}


def example(id_: str, question: str, **more: object) -> Example:
    return Example(id_, "shop", question, "SELECT 1", Path("shop.sqlite"), **more)  # type: ignore[arg-type]


def record(id_: str, status: str = "answered", **more: object) -> Record:
    sql = "SELECT 2" if status == "answered" else None
    return Record(id_, "shop", "?", "SELECT 1", sql, status, **more)  # type: ignore[arg-type]


ASKED = (
    example("right", "Who <is> & was there?"),
    example(
        "wrong", "How\nmany\x00 orders?\ud800", evidence="An order is a row.", also=("SELECT 3",)
    ),
    example("refused", "Delete all."),
    example("gold", "Broken?"),
    example("closed", "Not asked?"),
)
FOUND = (
    record("right", verdicts={"bird": True}, seconds=0.25),
    record(
        "wrong",
        verdicts={"bird": False},
        seconds=1.5,
        errors=[{"class": "column", "shown_by": "gold shows a, the query b"}],
        results={
            "gold": {"columns": ["a"], "rows": [[1]], "count": 3},
            "query": {"columns": ["b"], "rows": [["\x1b[31m"]], "count": 1},
        },
    ),
    record("refused", "refused", message="it would change data"),
    record("gold", "gold", message="no such table: t"),
)


def document() -> ET.Element:
    dataset = Dataset("golden", ASKED, rule="bird")
    text = junit_xml(dataset, ASKED, FOUND, "bird", now=NOW)
    text.encode()  # no lone surrogate is left
    return ET.fromstring(text.encode())


def faults(node: ET.Element) -> list[str]:
    """Where an element breaks a schema."""
    allowed = REQUIRED[node.tag] | ALSO.get(node.tag, set())
    found = [f"{node.tag}: {name}" for name in set(node.attrib) ^ allowed]
    found += [
        f"{node.tag}: {name}={value!r}"
        for name, value in node.attrib.items()
        if name in SHAPES and not re.fullmatch(SHAPES[name], value, re.DOTALL)
    ]
    children = "".join(f"{child.tag} " for child in node)
    if not re.fullmatch(WITHIN.get(node.tag, ""), children):
        found.append(f"{node.tag}: children {children}")
    return found + [fault for child in node for fault in faults(child)]


def test_it_is_valid_by_the_schemas_of_ant_and_jenkins() -> None:
    assert faults(document()) == []


def test_the_counts_are_those_of_the_cases() -> None:
    suite = document()[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "2", "errors": "2", "skipped": "0",
    }  # fmt: skip
    assert suite.get("time") == "1.750"
    assert suite.get("timestamp") == "2026-11-23T18:30:12"


def test_each_question_is_a_case_that_says_what_is_wrong_with_it() -> None:
    cases = {str(case.get("name")): case for case in document().iter("testcase")}
    assert list(cases) == [
        "Who <is> & was there? [right]",
        "How many\ufffd orders?\ufffd [wrong]",
        "Delete all. [refused]",
        "Broken? [gold]",
        "Not asked? [closed]",
    ]
    told = [(node.tag, node.get("type"), node.get("message")) for c in cases.values() for node in c]
    assert told == [
        ("failure", "column", "gold shows a, the query b"),
        ("failure", "refused", "it would change data"),
        ("error", "gold", "its gold query doesn't run: no such table: t"),
        ("error", "database", "not asked: its database can't be opened"),
    ]
    (wrong,) = cases["How many\ufffd orders?\ufffd [wrong]"]
    assert (wrong.text or "").split("\n")[2:] == [
        "many\ufffd orders?\ufffd",
        "evidence: An order is a row.",
        "gold: SELECT 1",
        "gold: SELECT 3",
        "query: SELECT 2",
        "result of gold: 3 rows of a",
        "  [1]",
        "  and 2 more",
        "result of query: 1 rows of b",
        "  ['\\x1b[31m']",
        "",
    ]
