"""Questions of the cases, as roles are given them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.lab.finetuning.roles.role import Asked, Sampled
from sqlwright.protocols import Run, Workspace
from sqlwright.recipes.loading import load_recipe
from tests.scripted import scripted_models

CASES = Path(__file__).parents[1] / "cases" / "finetuning"
JUDGING = CASES / "judging.yaml"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((CASES / "sampled.yaml").read_text("utf-8"))
SKIPPED = [case for case in QUESTIONS if "skipped" in case]
TAUGHT = [case for case in QUESTIONS if "skipped" not in case]


def asked_of(
    case: Mapping[str, Any], workspace: Workspace, *overrides: str, seed: int = 0
) -> tuple[Asked, Counter[str]]:
    """The question of a case, and what is told as skipped."""
    skipped: Counter[str] = Counter()
    embedded = {role: one for role, one in scripted_models().items() if role != "llm"}
    lesson = Lesson(load_recipe(str(JUDGING), overrides), workspace, embedded, 16_000)
    example = Example("q1", "shop", case["question"], case["gold"], Path("shop.sqlite"))
    asked = Asked(
        example, "cases", lesson, Scorer(workspace.database, workspace.schema),
        [sampled(text) for text in case["sampled"]], random.Random(seed),
        lambda reason: skipped.update([reason]),
    )  # fmt: skip
    return asked, skipped


def sampled(text: str) -> Sampled:
    sql = text.removeprefix("hinted: ")
    return Sampled(sql, "small/model", hinted=sql != text)


def by_rule(asked: Asked, sql: str) -> bool:
    """Whether a query gives the rows of the gold one, compared here without the scorer."""
    database = asked.lesson.workspace.database
    rows = [database.execute(one, Run()).rows for one in (sql, asked.example.gold_sql)]
    return sorted(map(repr, rows[0])) == sorted(map(repr, rows[1]))
