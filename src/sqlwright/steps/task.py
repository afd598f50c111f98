"""The context of prompts that have a query written: the question, the schema, values found for
it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

from sqlwright.prompts.schema import SchemaLayout, render_values
from sqlwright.protocols import Catalog, Context
from sqlwright.steps.asking import asked
from sqlwright.types import State, ValueMatch

PER_PHRASE = 5
"""Stored values shown of one phrase; more only where they are as near as the nearest."""

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
    catalog = context.workspace.catalog
    found = context.run.once(
        partial(_found, state, catalog), "task/values", (state.view, state.values, catalog)
    )
    layout = context.run.once(
        lambda: SchemaLayout(
            state.view,
            style=style,
            values=found,
            descriptions=state.descriptions,
            catalog=catalog,
            examples=examples,
        ),
        "task/schema",
        (state.view, found, state.descriptions, catalog),
        (style, examples),
    )
    return {**asked(state), "schema": layout.text(shuffle), "values": render_values(found)}


def _found(state: State, catalog: Catalog | None) -> tuple[ValueMatch, ...]:
    """The stored values that are shown."""
    visible = set(state.view.visible)
    if catalog is not None and catalog.steady is not None:
        # Whether a view's values were found in time differs; its tables have them anyway.
        visible &= set(catalog.steady.columns)
    return _nearest(match for match in state.values if match.column in visible)


def _nearest(matches: Iterable[ValueMatch]) -> tuple[ValueMatch, ...]:
    """The matches, best first, without what is far from its phrase and one of many."""
    ranked = sorted(matches, key=lambda match: -match.score)
    best: dict[str, float] = {}
    counts: Counter[str] = Counter()
    kept = []
    for match in ranked:
        counts[match.phrase] += 1
        nearest = best.setdefault(match.phrase, match.score)
        if counts[match.phrase] <= PER_PHRASE or match.score == nearest:
            kept.append(match)
    return tuple(kept)
