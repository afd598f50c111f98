"""docs/python.md: every example runs, and every name there is to know is in it."""

from __future__ import annotations

import inspect
import json
import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest

import sqlwright
from sqlwright import errors
from sqlwright.errors import SqlwrightError
from sqlwright.messages import Privacy
from sqlwright.protocols import Limits
from sqlwright.schema import ColumnRef
from sqlwright.types import (
    Answer,
    Candidate,
    ExecutionError,
    ExecutionResult,
    Refusal,
    StepTime,
    Usage,
    ValueMatch,
)
from tests.conftest import DATABASES, build_database

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "python.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    """The text under a heading, up to the next."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def missing(names: set[str], text: str) -> set[str]:
    """Names that stand nowhere in the text as code, alone or with what is called on them."""
    words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", code)}
    return names - words


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_database(DATABASES / "shop.sql", tmp_path / "shop.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    assert len(EXAMPLES) >= 10
    script = tmp_path / "examples.py"
    script.write_text("\n".join(EXAMPLES), encoding="utf-8")
    runpy.run_path(str(script))


def test_every_argument_of_open_and_ask_is_named() -> None:
    assert missing({*inspect.signature(sqlwright.open).parameters}, section("Open")) == set()
    asked = {*inspect.signature(sqlwright.Session.ask).parameters} - {"self", "question"}
    assert missing(asked, section("Ask")) == set()
    assert {f.name for f in fields(Limits)} <= {*re.findall(r"\w+", section("Open"))}
    for choice in Privacy.__args__:  # type: ignore[attr-defined]
        assert f'`"{choice}"`' in section("Open")


def test_every_part_of_a_comparison_is_named() -> None:
    text = section("Compare recipes")
    asked = {*inspect.signature(sqlwright.compare).parameters} - {"session"}
    assert missing(asked, text) == set()
    for kind in (
        sqlwright.Comparison,
        sqlwright.ComparedRecipe,
        sqlwright.QueryDifference,
        sqlwright.StageCost,
    ):
        assert missing({f.name for f in fields(kind)} | public(kind), text) == set(), kind


def test_every_method_of_a_session_is_named() -> None:
    assert missing(public(sqlwright.Session), TEXT) == set()


def test_every_field_of_an_answer_is_named() -> None:
    text = section("The answer")
    for kind in (Answer, Candidate, ExecutionResult, ExecutionError, ValueMatch, StepTime, Usage):
        assert missing({f.name for f in fields(kind)}, text) == set(), kind
    assert missing({*ColumnRef._fields}, text) == set()
    assert missing(public(ExecutionResult), text) == set()
    assert missing(public(Answer), text + section("JSON and CSV")) == set()
    reasons = inspect.get_annotations(Refusal, eval_str=True)["reason"].__args__
    kinds = inspect.get_annotations(ExecutionError, eval_str=True)["kind"].__args__
    assert missing({*reasons, *kinds}, text) == set()


def test_every_key_of_the_json_is_named() -> None:
    column = ColumnRef("orders", "status")
    result = ExecutionResult(("n",), ((1,),), ExecutionError("sql", "no"))
    answer = Answer(
        "answered",
        "q",
        "SELECT 1",
        "sqlite",
        rows=((b"\0",),),
        alternatives=(Candidate("SELECT 2", "step", result=result),),
        values=(ValueMatch("open", column, "open", 1.0),),
        used_columns=(column,),
        times=(StepTime("step", 0.1),),
    )
    keys: set[str] = set()

    def note(pairs: list[tuple[str, object]]) -> None:
        keys.update(name for name, _ in pairs)

    json.loads(answer.to_json(), object_pairs_hook=note)
    assert "base64" in keys
    assert missing(keys, section("JSON and CSV")) == set()


def test_every_error_is_told_with_its_exit_code() -> None:
    kinds = {
        kind.__name__: kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, SqlwrightError)
    }
    rows = re.findall(r"^\| (?:– )?`(\w+)` \|.*\| (\d+) \|$", section("Errors"), re.MULTILINE)
    assert {name: int(code) for name, code in rows} == kinds
    under = re.findall(r"^\| – `(\w+)` \|", section("Errors"), re.MULTILINE)
    assert all(getattr(errors, name).__base__ is not SqlwrightError for name in under)
