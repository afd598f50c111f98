"""A lesson's models: embedded ones as they are, a teacher under any other name."""

from __future__ import annotations

from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Workspace
from sqlwright.recipes.loading import load_recipe, parse_recipe
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


OWN_VIEWS = """
name: own views
steps:
  - retrieval.request
  - own_view:
      steps: [schema_linking.select_tables, generation.direct: {prompt: generation/short}]
  - schema_linking.select_columns
  - parallel: [[retrieval.values], [own_view: {steps: [retrieval.nearest_values]}]]
  - own_view: {steps: [schema_linking.embedded, repair.revise]}
  - selection.pairwise
"""


def test_a_step_comes_after_those_whose_view_it_sees(shop_workspace: Workspace) -> None:
    lesson = Lesson(parse_recipe(OWN_VIEWS), shop_workspace, {}, 8_000)
    expected = {
        "generation.direct": ["retrieval.request", "schema_linking.select_tables"],
        "repair.revise": [
            "retrieval.request", "schema_linking.select_columns", "retrieval.values",
            "schema_linking.embedded",
        ],
        "selection.pairwise": [
            "retrieval.request", "schema_linking.select_columns", "retrieval.values",
        ],
    }  # fmt: skip
    stages = ("retrieval", "schema_linking")
    for name, before in expected.items():
        assert [one.name for one in lesson.before(name, stages=stages)] == before
