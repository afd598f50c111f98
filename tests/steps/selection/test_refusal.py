"""Refusals name what really wasn't found, and what stands on what was found is no refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.candidates import valid
from sqlwright.local.models import EmbeddedModels

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "refusals" / "unexplained.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def models() -> EmbeddedModels:
    return EmbeddedModels()


@pytest.mark.parametrize("case", CASES, ids=[case["question"] for case in CASES])
def test_unexplained_words(
    case: dict[str, Any], models: EmbeddedModels, database_files: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "descriptions"
    for table, text in case.get("descriptions", {}).items():
        folder.mkdir(exist_ok=True)
        (folder / f"{table}.csv").write_text(text, encoding="utf-8")
    given = {"descriptions": folder} if folder.exists() else {}
    with api.open(database_files["desk"], home=tmp_path, models=models, **given) as session:
        answer, state = session.run(case["question"], evidence=case.get("evidence", ""))
        ran = [one for one in state.candidates if valid(one)]
        assert list(models["critic"].assess(state, ran).missing) == case["unexplained"]
    if not case["unexplained"]:
        assert answer.status == "answered"
    if answer.status == "refused":
        assert all(word in answer.message for word in case["unexplained"])


def test_a_refusal_names_what_was_not_found(
    models: EmbeddedModels, database_files: dict[str, Path], tmp_path: Path
) -> None:
    with api.open(database_files["desk"], home=tmp_path, models=models) as session:
        answer = session.ask("What is the horsepower and blood type of each printer?")
    assert answer.status == "refused"
    assert "horsepower" in answer.message
    assert "blood" in answer.message
