"""The responder by rules recognises every prompt that ships and answers so that it can be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.answering import Prompt, Responder

from sqlwright.messages import Message
from sqlwright.prompts.sampling import AGAIN
from sqlwright.prompts.templates import model_text, plain_text
from tests.llm.server import Asked

PROMPTS = Path(__file__).parents[1] / "cases" / "prompts"
KINDS = {
    "agent": "agent",
    "agent_calls": "agent",
    "decompose": "decompose",
    "entity_columns": "entities",
    "evaluate_candidate": "verdicts_by_test",
    "evaluate_test": "verdicts",
    "filter_column": "relevant",
    "filter_columns": "filter",
    "generate_tests": "tests",
    "independent_logprobs": "right",
    "independent_prompted": "right",
    "make_examples_by_column": "examples",
    "make_examples_by_feature": "examples",
    "multi_sample_number": "correct",
    "multi_sample_prompted": "correct",
    "pairwise_letter": "pair",
    "pairwise_prompted": "pair",
    "ranker": "best",
    "select_columns": "columns",
    "select_tables": "tables",
    "recall_tables": "tables",
    "summarise_tables": "summaries",
}
NO_PROMPTS = frozenset({"schema_soft"})
NO_QUESTION = frozenset({"examples", "summaries"})
"""What is made once for all questions."""
WITH_SCHEMA = frozenset({"filter", "tests", "verdicts", "columns", "tables", "sql", "revise"})


def replies(messages: Sequence[Message]) -> Sequence[str]:
    """Over HTTP, of a cold model."""
    told = [{"role": message.role, "content": str(message.text)} for message in messages]
    body = {"messages": told, "seed": 1, "temperature": 0}
    return Responder()(Asked("/v1/chat/completions", {}, body, number=0, repeat=0))


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(PROMPTS.glob("*.txt")) if path.stem not in NO_PROMPTS],
    ids=lambda path: path.stem,
)
def test_a_prompt_is_recognised_and_answered(path: Path) -> None:
    text = path.read_text("utf-8")
    prompt = Prompt(text)
    revise = "revise" if path.stem.startswith(("repair_", "refine_")) else "sql"
    assert prompt.kind == KINDS.get(path.stem, revise)
    if prompt.kind not in NO_QUESTION:
        assert prompt.question
    if prompt.kind in WITH_SCHEMA:
        assert prompt.tables
        assert all(table.columns for table in prompt.tables)
    cold = Responder().reply(text, 1, warm=False)
    assert cold
    assert cold == Responder().reply(text, 2, warm=False)
    again = AGAIN.format(problem="it holds no SQL query")
    said = [Message("user", plain_text(text))]
    assert replies(said) == replies(
        [*said, Message("assistant", model_text("Hm.")), Message("user", plain_text(again))]
    )
    if prompt.kind == "sql":
        assert len({Responder().reply(text, seed, warm=True) for seed in range(20)}) > 3
