"""Conditions that a run has to meet, and what one met."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from xml.etree import ElementTree as ET

from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation.golden.baseline import Baseline, Changes, changes, taken
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions; each of them may be left out."""

    least: float | None = None
    """Execution accuracy at least, in [0, 1]."""
    baseline: Baseline | None = None
    """No answer that was right in it may be wrong now,"""
    lost: int = 0
    """but for so many."""

    def check(self, asked: Sequence[Example], found: Sequence[Record], rule: str) -> Checked:
        """The outcome of a run. `asked` are the questions that it was to ask: one without an
        answer, because its database or its gold query fails, counts as wrong. In a check that
        nobody watches nothing may drop out unseen."""
        right = sum(record.right(rule) for record in found)
        by_id = {record.id: record for record in found}
        since = None
        if self.baseline is not None:
            ids = [example.id for example in asked]
            since = changes(self.baseline, ids, taken(found, rule))
        return Checked(
            self,
            Share(right, len(asked)),
            since,
            {example.id: example.question for example in asked},
            {example.id: _outcome(by_id.get(example.id), rule) for example in asked},
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a run by a gate."""

    gate: Gate
    share: Share
    """Right answers of all questions of the set."""
    changes: Changes | None
    """None without a baseline."""
    questions: Mapping[str, str]
    """Texts by id."""
    outcomes: Mapping[str, str]
    """Of each question why its answer isn't right, in a few words; empty where it is."""

    @property
    def under(self) -> bool:
        """True if too few answers are right."""
        return self.gate.least is not None and self.share.value < self.gate.least

    @property
    def lost(self) -> bool:
        """True if too many answers that were right aren't any more."""
        return self.changes is not None and len(self.changes.lost) > self.gate.lost

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        since = self.changes
        told = {} if since is None else {
            "lost": [
                {"id": id_, "question": self.questions[id_], "reason": self.outcomes[id_]}
                for id_ in since.lost
            ],
            "mended": [{"id": id_, "question": self.questions[id_]} for id_ in since.mended],
            "rewritten": list(since.rewritten),
            "added": list(since.added),
            "removed": list(since.removed),
        }  # fmt: skip
        return {
            "passed": not (self.under or self.lost),
            "share": self.share.as_dict(),
            "least": self.gate.least,
            "allowed_lost": self.gate.lost,
            "since_baseline": told or None,
        }


def _outcome(record: Record | None, rule: str) -> str:
    _, kind, message = _fault(record, rule) or ("", "", "")
    plain = kind in {"database", "gold", "wrong", message}
    return message if plain else f"{kind}: {message}"


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML can't hold."""
NAME = 200
"""Characters of a question that name its test case; chosen."""


def junit_xml(
    dataset: Dataset, asked: Sequence[Example], found: Sequence[Record], rule: str, *, now: datetime
) -> str:
    """The document. `asked` are the questions that the run was to ask.

    Valid by the schema of Ant and by that of Jenkins. A wrong or refused answer is a failure;
    a question that can't be judged, because its database or its gold query fails, is an error.
    """
    by_id = {record.id: record for record in found}
    seconds = sum(record.seconds for record in found)
    cases = [_case(dataset.name, example, by_id.get(example.id), rule) for example in asked]
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": _text(dataset.name) or "questions",
            "package": "sqlwright",
            "id": "0",
            "hostname": "localhost",
            "timestamp": now.isoformat(timespec="seconds")[:19],
            "tests": str(len(cases)),
            "failures": str(sum(case.find("failure") is not None for case in cases)),
            "errors": str(sum(case.find("error") is not None for case in cases)),
            "skipped": "0",
            "time": f"{seconds:.3f}",
        },
    )
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", {"name": "rule", "value": rule})
    suite.extend(cases)
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: str, example: Example, record: Record | None, rule: str) -> ET.Element:
    name = " ".join(_text(example.question).split())
    case = ET.Element(
        "testcase",
        {
            "name": f"{name[:NAME]} [{_text(example.id)}]",
            "classname": f"{_text(suite)}.{_text(example.db_id)}",
            "time": f"{record.seconds if record else 0.0:.3f}",
        },
    )
    fault = _fault(record, rule)
    if fault is not None:
        tag, kind, message = fault
        node = ET.SubElement(case, tag, {"type": _text(kind), "message": _text(message)})
        node.text = _text(f"\n{_told(example, record)}\n")
    return case


def _fault(record: Record | None, rule: str) -> tuple[str, str, str] | None:
    """The element that says what is wrong, its type and its message; None of a right answer."""
    if record is None:
        return "error", "database", "not asked: its database can't be opened"
    if record.status == "gold":
        return "error", "gold", f"its gold query doesn't run: {record.message}"
    if record.right(rule):
        return None
    if record.status != "answered":
        return "failure", record.status, record.message or record.status
    first: Mapping[str, Any] = next(iter(record.errors or ()), {})
    return "failure", str(first.get("class", "wrong")), str(first.get("shown_by", "other rows"))


def _told(example: Example, record: Record | None) -> str:
    """Question, evidence, gold, query and both results, a line or a few each."""
    told = [("question", example.question), ("evidence", example.evidence)]
    told += [("gold", sql) for sql in example.golds]
    if record is not None and record.status != "gold":
        told += [("query", record.sql or f"none: {record.message or record.status}")]
        told += [(f"result of {name}", _result(one)) for name, one in record.results.items()]
    return "\n".join(f"{name}: {text}" for name, text in told if text)


def _result(shown: Mapping[str, Any]) -> str:
    if "error" in shown:
        return str(shown["error"])
    rows = "\n".join(f"  {row}" for row in shown["rows"])
    more = shown["count"] - len(shown["rows"])
    left = f"\n  and {more:,} more" if more > 0 else ""
    return f"{shown['count']:,} rows of {', '.join(shown['columns'])}\n{rows}{left}".rstrip()


def _text(text: str) -> str:
    """Foreign text with a sign in place of what XML can't hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
