"""A lesson's models: embedded ones as they are, a teacher under any other name."""

from __future__ import annotations

from sqlwright.finetuning.lesson import Lesson
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Workspace
from sqlwright.recipes.loading import load_recipe
from tests.finetuning.asking import JUDGING


def test_the_shipped_models_leave_all_other_names_to_the_teacher(
    shop_workspace: Workspace,
) -> None:
    lesson = Lesson(load_recipe(str(JUDGING)), shop_workspace, EmbeddedModels(), 8_000)
    state, taught = lesson.taught(
        lesson.step("generation.direct"),
        lesson.begun("How many orders are there?"),
        lambda _step, _place: "SELECT count(*) FROM orders",
    )
    assert [one.completion for one in taught] == ["SELECT count(*) FROM orders"]
    assert [one.sql for one in state.candidates] == ["SELECT count(*) FROM orders"]
