"""MSc-SQL with embedded models only: three samples over different views, judged together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlwright import api
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.recipes.loading import load_recipe
from sqlwright.schema import SchemaView
from sqlwright.types import Question, State
from tests.scripted import ScriptedCritic, ScriptedParser, scripted_models

QUESTION = "List the names of the customers."
FIRST = "SELECT name FROM customers"
SECOND = "SELECT name, city FROM customers"


class ByView(ScriptedParser):
    """Writes another query where it is shown less than the whole schema."""

    def parse(self, question, view, values, **options):  # type: ignore[no-untyped-def]
        whole = len(list(view.visible)) == len(list(view.schema.columns))
        self.replies = [FIRST] if whole else [SECOND]
        return super().parse(question, view, values, **options)


def run(workspace: Workspace, parser: ScriptedParser, critic: ScriptedCritic) -> State:
    models = scripted_models(parser=parser, critic=critic)
    state = State(Question(QUESTION), SchemaView(workspace.schema))
    return load_recipe("msc-local").step(state, Context(workspace, Run(seed=1), models))


def test_three_samples_see_less_and_less_and_the_view_stays_whole(
    shop_workspace: Workspace,
) -> None:
    parser = ByView()
    state = run(shop_workspace, parser, ScriptedCritic({SECOND: 0.9, FIRST: 0.2}))
    shown = [set(view.visible) for _, view, _ in parser.asked]
    assert shown[0] == set(shop_workspace.schema.columns)
    assert shown[2] < shown[0]
    assert shown[2] <= shown[1]
    assert set(state.view.visible) == shown[0]
    assert [one.sql for one in state.candidates] == [FIRST, SECOND]


def test_the_critic_judges_all_samples_together_and_may_refuse(shop_workspace: Workspace) -> None:
    sure = ScriptedCritic({SECOND: 0.9, FIRST: 0.2})
    state = run(shop_workspace, ByView(), sure)
    assert state.selected is not None
    assert (state.selected.sql, state.confidence) == (SECOND, 0.9)
    state = run(shop_workspace, ByView(), replace(sure, answerable=0.1))
    assert state.refusal is not None


def test_it_asks_nobody_and_holds_what_local_wrote(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    assert load_recipe("msc-local").asks == ()
    written = {}
    for recipe in ("local", "msc-local"):
        with api.open(
            database_files["shop"], recipe=recipe, home=tmp_path, prepare=False, record=False
        ) as session:
            answer, state = session.run(QUESTION)
            assert answer.status == "answered"
            assert answer.confidence is not None
            written[recipe] = [candidate.sql for candidate in state.candidates]
    assert set(written["local"]) <= set(written["msc-local"])
