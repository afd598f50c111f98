"""Every agent and tool of the papers: what it is told, what it leaves in the state.

A case is a row of a paper's table of tools. Its recipe runs over a small database with replies
written beforehand, and what is named of prompts and state must be there. Then it runs with the tool
replaced by a step that does nothing: then neither prompts nor state may be what was wanted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.answering import Responder

from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Step, Workspace
from sqlwright.recipes.loading import load_recipe
from sqlwright.running.combinators import Combinator, NamedStep
from sqlwright.schema import Detail, SchemaView
from sqlwright.types import Question, State
from tests.scripted import scripted_models

FILE = Path(__file__).parents[1] / "cases" / "every_tool.yaml"
CASES: list[dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))["cases"]
ROWS = {
    "CHASE": {"value retrieval", "DC", "QP", "OS", "fixer", "selector"},
    "MAG": {
        "value retrieval", "summariser", "linker", "soft schema", "decomposer", "generator",
        "refiner",
    },
    "MSc": {"value index", "table selector", "generators", "result formatter", "critic"},
    "CHESS": {
        "extract_keywords", "retrieve_entity", "retrieve_context", "filter_column",
        "select_tables", "select_columns", "generate_candidate", "revise", "generate_unit_test",
        "evaluate", "agent driver",
    },
}  # fmt: skip
"""What the papers name."""
QUICK = ("stand_in.enabled=false", "second_opinion.enabled=false")
MODELS = ("llm", "second", "third")


@dataclass(frozen=True)
class Nothing(Step):
    """Leaves the state as it is, in the place of a step."""

    instead_of: Step

    @property
    def reads(self) -> frozenset[str]:
        return self.instead_of.reads

    @property
    def writes(self) -> frozenset[str]:
        return self.instead_of.writes

    def __call__(self, state: State, context: Context) -> State:
        return state


@dataclass
class Ran:
    """What a recipe came to."""

    state: State
    prompts: list[tuple[str, str, str]]
    """Step, model and prompt of each reply that was asked for."""


def replaced(step: Any, tool: str, place: int, seen: list[str]) -> Any:
    """A recipe's step with the `place`-th step of a name in it, or all of them, doing nothing."""
    if isinstance(step, NamedStep) and step.name == tool:
        seen.append(tool)
        return NamedStep(tool, Nothing(step.step)) if place in {0, len(seen)} else step
    if isinstance(step, tuple):
        return tuple(replaced(one, tool, place, seen) for one in step)
    if not isinstance(step, NamedStep | Combinator):
        return step
    parts = {one.name: getattr(step, one.name) for one in fields(step) if one.init}
    return replace(step, **{n: replaced(part, tool, place, seen) for n, part in parts.items()})


def run(case: Mapping[str, Any], workspace: Workspace, *, without: bool = False) -> Ran:
    """The case's recipe, or the same with the tool replaced."""
    undone = case.get("undone") or ()
    recipe = load_recipe(
        case["recipe"], [*QUICK, *case.get("overrides", ()), *(undone if without else ())]
    )
    step, seen = recipe.step, list[str]()
    if without and not undone:
        step = replaced(step, case["step"], case.get("place", 0), seen)
        assert seen
    prompts: list[tuple[str, str, str]] = []
    responder = Responder(faulty=0.0)

    def reply(name: str, asked: Asked) -> str:
        prompts.append((asked.step, name, asked.prompt))
        for rule in case.get("replies", ()):
            heard = (rule["step"], rule.get("model", name), rule.get("sample", asked.sample))
            if heard == (asked.step, name, asked.sample) and rule.get("has", "") in asked.prompt:
                said = rule["says"]
                return said if isinstance(said, str) else json.dumps(said)
        return responder.scripted(asked)

    models = {
        name: ScriptedModel(Script(otherwise=lambda asked, name=name: reply(name, asked)))
        for name in MODELS
    }
    context = Context(workspace, Run(seed=3), scripted_models(**models))
    question = Question(case["question"], case.get("evidence", ""))
    state = step(State(question, SchemaView(workspace.schema)), context)
    return Ran(state, prompts)


def written(state: State, field: str) -> list[str]:
    """A field of the state as lines."""
    match field:
        case "keywords":
            return list(state.keywords)
        case "values":
            return [f"{one.column} = {one.value}" for one in state.values]
        case "examples":
            return [f"{one.column}: {', '.join(map(str, one.values))}" for one in state.examples]
        case "full" | "brief" | "hidden":
            detail = Detail[field.upper()]
            return [str(c) for c in state.view.schema.columns if state.view.detail(c) is detail]
        case "summaries":
            return [f"{one.table}: {one.text}" for one in state.summaries]
        case "descriptions":
            return [f"{one.column}" for one in state.descriptions]
        case "sub_questions":
            return [f"{one.text} [{one.condition}]" for one in state.sub_questions]
        case "demonstrations":
            return [f"{one.question} {one.sql}" for one in state.demonstrations]
        case "candidates":
            return [one.sql for one in state.candidates]
        case "plans":
            return [one.plan for one in state.candidates]
        case "tests":
            return [f"{one.text} {list(one.passed or ())}" for one in state.tests]
        case "selected":
            return [] if state.selected is None else [state.selected.sql]
    raise KeyError(field)


def check_prompts(case: Mapping[str, Any], ran: Ran) -> None:
    """All that the case says of prompts."""
    for wanted in case["told"]:
        prompts = [
            prompt
            for step, model, prompt in ran.prompts
            if step == wanted["step"]
            and wanted.get("of", "") in prompt
            and wanted.get("model", model) == model
        ]
        assert prompts
        assert len(prompts) == wanted.get("times", len(prompts))
        for prompt in prompts:
            asked = prompt[prompt.rfind(wanted["from"]) :] if "from" in wanted else prompt
            for piece in wanted.get("shows", ()):
                assert piece in asked
            for piece in wanted.get("hides", ()):
                assert piece not in asked


def check_state(case: Mapping[str, Any], ran: Ran) -> None:
    """All that the case says of the state."""
    for field, lines in case["state"].items():
        assert written(ran.state, field) == lines


@pytest.fixture(scope="module")
def workspaces(
    shop_workspace: Workspace,
    database_files: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Workspace]]:
    """The shop, and the shop with descriptions beside it."""
    folder = tmp_path_factory.mktemp("described")
    shutil.copy(database_files["shop"], folder / "shop.sqlite")
    (folder / "database_description").mkdir()
    (folder / "database_description" / "orders.csv").write_text(
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "total,,amount of money that the customer pays,,\n",
        encoding="utf-8",
    )
    described = open_workspace(str(folder / "shop.sqlite"), folder=folder / "absent")
    yield {"shop": shop_workspace, "described": described}
    described.database.close()


def test_every_tool_of_every_paper_has_a_case() -> None:
    named = {paper: {c["row"] for c in CASES if c["paper"] == paper} for paper in ROWS}
    assert named == ROWS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_tool_is_told_and_leaves_what_it_should(
    case: dict[str, Any], workspaces: dict[str, Workspace]
) -> None:
    workspace = workspaces[case.get("database", "shop")]
    checks = [check_prompts, *([check_state] if "state" in case else [])]
    good, idle = run(case, workspace), run(case, workspace, without=True)
    for check in checks:
        check(case, good)
        with pytest.raises(AssertionError):
            check(case, idle)
