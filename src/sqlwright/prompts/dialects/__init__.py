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
from sqlwright.protocols import Catalog
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import dialect_named

OTHER = "other"


def rules_for(schema: Schema, catalog: Catalog | None = None) -> Mapping[str, Any]:
    """The variable `written` of a template: `nulls`, `types` (a list), `number` and `writing` (a
    list), for queries over a schema. By the catalog's profiles, also for texts that are JSON."""
    kinds = set()
    for table in schema.tables:
        for column in table.columns:
            kind = kind_of(column.type)
            if not kind and catalog is not None:
                profile = catalog.columns.get(ColumnRef(table.name, column.name))
                formats = () if profile is None else profile.formats
                kind = "json_text" if any(one.name == "json" for one in formats) else ""
            kinds.add(kind)
    return dialect_rules(schema.dialect, frozenset(kinds))


def kind_of(declared: str) -> str:
    """The kind of a type that rules may speak of: "array", "interval" or "json"; else empty."""
    name = declared.casefold()
    if name.endswith("]"):
        return "array"
    return next((kind for kind in ("interval", "json") if name.startswith(kind)), "")


@cache
def dialect_rules(dialect: str, kinds: frozenset[str] = frozenset()) -> Mapping[str, Any]:
    """The same for a dialect, with the rules on some kinds of types."""
    title = dialect_named(dialect).title
    known = _rules()
    told = dict(known.get(dialect, known[OTHER]))
    further = [rule for kind, rule in told.pop("of", {}).items() if kind in kinds]
    told["writing"] = [*told["writing"], *further]
    return {name: _texts(value, title) for name, value in told.items()}


def _texts(value: str | list[str], title: str) -> Text | list[Text]:
    if isinstance(value, list):
        return [Text.of(one.replace("{title}", title), "template") for one in value]
    return Text.of(value.replace("{title}", title), "template")


@cache
def _rules() -> dict[str, dict[str, Any]]:
    text = files(__name__).joinpath("rules.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
