"""When a schema is too large to be shown whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Capabilities
from sqlwright.protocols import Context, Run
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.conditions import LARGE_SCHEMA
from sqlwright.types import Question, State
from tests.steps.schema_linking.test_embedded import chain


def described(schema: Schema, words: int) -> Schema:
    """The schema with so many words of description for each column."""
    tables = tuple(
        replace(
            table,
            columns=tuple(replace(c, description="word " * words) for c in table.columns),
        )
        for table in schema.tables
    )
    return replace(schema, tables=tables)


@pytest.mark.parametrize(
    ("schema", "context_tokens", "large"),
    [
        (chain(10), 128_000, False),  # 100 columns
        (chain(16), 128_000, True),  # 160 columns
        (described(chain(10), 200), 128_000, True),
        (chain(10), 1_000, True),
        (described(chain(10), 20), 128_000, False),
        (described(chain(10), 20), 8_000, True),
        (Schema("none", ()), 128_000, False),
    ],
)
def test_a_schema_is_large_by_columns_tokens_or_the_models_context(
    schema: Schema, context_tokens: int, large: bool
) -> None:
    workspace: Any = None
    model = ScriptedModel(Script(), capabilities=Capabilities(context_tokens=context_tokens))
    state = State(Question("?"), SchemaView(schema))
    assert LARGE_SCHEMA(state, Context(workspace, Run(), {"llm": model})) is large


def test_what_the_view_hides_does_not_count_and_no_model_is_needed() -> None:
    schema = chain(16)
    workspace: Any = None
    context = Context(workspace, Run())
    assert LARGE_SCHEMA(State(Question("?"), SchemaView(schema)), context)
    kept = [ref for ref in schema.columns if ref.table in {"t1", "t2"}]
    assert not LARGE_SCHEMA(State(Question("?"), SchemaView(schema).narrowed(kept)), context)
