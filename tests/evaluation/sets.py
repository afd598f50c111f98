"""A small data set over the shop, in both layouts, and models whose replies are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlwright.llm.scripted import Says, Script, ScriptedModel, When
from tests.scripted import scripted_models

GERMAN = "SELECT name FROM customers WHERE country = 'Germany'"
SWEDISH = "SELECT name FROM customers WHERE country = 'Sweden'"


def spider_set(folder: Path, shop: Path, asked: Mapping[str, str], *, databases: int = 1) -> Path:
    """A folder in Spider's layout: the questions with their gold queries, of each of some copies of
    the shop (shop1, shop2)."""
    items = []
    for number in range(1, databases + 1):
        place = folder / "database" / f"shop{number}"
        place.mkdir(parents=True)
        (place / f"shop{number}.sqlite").write_bytes(shop.read_bytes())
        items += [
            {"question": question, "query": sql, "db_id": f"shop{number}"}
            for question, sql in asked.items()
        ]
    (folder / "dev.json").write_text(json.dumps(items))
    return folder


def bird_set(folder: Path, shop: Path, rows: list[dict[str, str]]) -> Path:
    """A folder in BIRD's layout over the shop."""
    place = folder / "dev_databases" / "shop"
    place.mkdir(parents=True)
    (place / "shop.sqlite").write_bytes(shop.read_bytes())
    (folder / "dev.json").write_text(json.dumps([{"db_id": "shop", **row} for row in rows]))
    return folder


def answering(replies: Mapping[str, Says], **models: Any) -> dict[str, Any]:
    """Models of which the language model replies so to each step."""
    script = Script(
        [When(step, says) for step, says in replies.items()], otherwise="I'd rather not."
    )
    return scripted_models(llm=ScriptedModel(script), **models)
