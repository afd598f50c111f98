"""The responder by rules recognises every prompt that ships and answers so that it can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.answering import Prompt, Responder

PROMPTS = Path(__file__).parents[1] / "cases" / "prompts"
KINDS = {
    "evaluate_candidate": "verdicts_by_test",
    "evaluate_test": "verdicts",
    "filter_column": "relevant",
    "filter_columns": "filter",
    "generate_tests": "tests",
    "select_columns": "columns",
    "select_tables": "tables",
}
WITH_SCHEMA = frozenset({"filter", "tests", "verdicts", "columns", "tables", "sql", "revise"})


@pytest.mark.parametrize("path", sorted(PROMPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_a_prompt_is_recognised_and_answered(path: Path) -> None:
    text = path.read_text("utf-8")
    prompt = Prompt(text)
    revise = "revise" if path.stem.startswith("repair_") else "sql"
    assert prompt.kind == KINDS.get(path.stem, revise)
    assert prompt.question
    if prompt.kind in WITH_SCHEMA:
        assert prompt.tables
        assert all(table.columns for table in prompt.tables)
    cold = Responder().reply(text, 1, warm=False)
    assert cold
    assert cold == Responder().reply(text, 2, warm=False)
    if prompt.kind == "sql":
        assert len({Responder().reply(text, seed, warm=True) for seed in range(20)}) > 3
