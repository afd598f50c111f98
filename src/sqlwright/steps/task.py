"""What a prompt that has a query written shows: the question, the schema, values found for it."""

from __future__ import annotations

import random
from typing import Any, Literal

from sqlwright.protocols import Context
from sqlwright.schema_rendering import render_schema, render_values
from sqlwright.steps.asking import asked
from sqlwright.types import State

Style = Literal["ddl", "compact"]


def task(
    state: State,
    context: Context,
    *,
    style: Style = "ddl",
    examples: int = 3,
    shuffle: random.Random | None = None,
) -> dict[str, Any]:
    """The variables of `asked`, and `schema` and `values`; `generation/_task.jinja` lays them out.

    The schema is what the state's view shows, with what the catalog knows and what was found for
    the question in it; `shuffle` puts its tables and columns in another order.
    """
    visible = set(state.view.visible)
    found = tuple(match for match in state.values if match.column in visible)
    return {
        **asked(state),
        "schema": render_schema(
            state.view,
            style=style,
            values=found,
            descriptions=state.descriptions,
            catalog=context.workspace.catalog,
            examples=examples,
            shuffle=shuffle,
        ),
        "values": render_values(found),
    }
