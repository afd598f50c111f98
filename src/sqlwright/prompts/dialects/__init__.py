"""Rules of writing a query that differ between engines, as prompts state them: `rules.toml`.

A dialect without a part of its own there has `other`, which names it and assumes what standard SQL
says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sqlwright.messages import Text
from sqlwright.sql.dialects import dialect_named

OTHER = "other"


@cache
def dialect_rules(dialect: str) -> Mapping[str, Any]:
    """The variable `written` of a template: `nulls`, `types` (a list), `number` and `writing` (a
    list)."""
    title = dialect_named(dialect).title
    known = _rules()
    told = known.get(dialect, known[OTHER])
    return {name: _texts(value, title) for name, value in told.items()}


def _texts(value: str | list[str], title: str) -> Text | list[Text]:
    if isinstance(value, list):
        return [Text.of(one.replace("{title}", title), "template") for one in value]
    return Text.of(value.replace("{title}", title), "template")


@cache
def _rules() -> dict[str, dict[str, Any]]:
    text = files(__name__).joinpath("rules.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
