"""No drift: what a model is trained on is what it is asked, byte by byte, for every role.

Examples are built with a teacher in the place of the models. The same question then goes through
the whole recipe, from `sqlwright.open` to an endpoint behind the gate, and what arrives there is
compared.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.lab.finetuning.roles.generator import GeneratorRole
from sqlwright.lab.finetuning.roles.registry import ROLES, find_role
from sqlwright.lab.finetuning.roles.role import Asked, Role, Sampled
from sqlwright.lab.finetuning.roles.selector import Selector
from sqlwright.llm.endpoint import Call
from sqlwright.llm.metering import PER_MESSAGE, estimated_tokens
from sqlwright.llm.scripted import Asked as Prompted
from sqlwright.llm.scripted import Script, ScriptedEndpoint, ScriptedModel, When
from sqlwright.messages import Capabilities
from sqlwright.protocols import Workspace
from sqlwright.recipes.loading import load_recipe
from tests.llm.gates import gate
from tests.scripted import scripted_models

CASES: Mapping[str, Any] = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "finetuning" / "same_text.yaml").read_text("utf-8")
)
AMPLE = 16_000
"""Tokens of a context that leaves nothing out."""
LEAST = {"linker": 512, "generator": 1_024, "critic": 8, "selector": 8}
"""Tokens that are kept for a reply."""
GENERATORS = ("tuned-generator", "tuned-generator-2", "tuned-generator-3")
MODELS = {
    "linker": ("tuned-linker",),
    "generator": GENERATORS,
    "critic": ("tuned-critic",),
    "selector": ("tuned-selector",),
}
SMALLER = {"chase-tuned": ("samples.count=1", "samples[3].enabled=false")}
"""Overrides that spare time."""
Text = tuple[tuple[str, bytes], ...]
"""The messages of a prompt: who says it, and what."""


class Draw(random.Random):
    """Remembers the seeds that a role gives to the step it trains."""

    def __init__(self, seed: int) -> None:
        self.seeds: list[int] = []
        super().__init__(seed)

    def getrandbits(self, k: int) -> int:
        drawn = super().getrandbits(k)
        if k == 31:
            self.seeds.append(drawn)
        return drawn


@dataclass(frozen=True)
class Case:
    """A question under the options of a recipe."""

    role: str
    recipe: str
    overrides: tuple[str, ...]
    question: Mapping[str, Any]
    part: float = 1.0
    context: int = AMPLE

    @property
    def written(self) -> tuple[str, ...]:
        """The queries of the generators, in their order."""
        return (self.question["gold"], *self.question["others"])


def cases() -> Iterator[Any]:
    for role in MODELS:
        for told in CASES[role]:
            for question in CASES["questions"]:
                overrides = (*SMALLER.get(told["recipe"], ()), *told.get("set", ()))
                part = told.get("part", 1.0)
                one = Case(role, told["recipe"], overrides, question, part)
                name = ",".join(told.get("set", ())) or ("whole" if part == 1 else "part")
                letter = "evidence" if "evidence" in question else "bare"
                yield pytest.param(one, id=f"{role}-{told['recipe']}-{name}-{letter}")


def role_of(case: Case) -> Role:
    """Those of the registry; without noise where facts don't tell what it was."""
    role = find_role(case.role)
    if isinstance(role, GeneratorRole) and "select_tables.enabled=false" not in str(case.overrides):
        return replace(role, distractors="none" if case.recipe == "chess-tuned" else "auto")
    return replace(role, orders="both") if isinstance(role, Selector) else role


@dataclass(frozen=True)
class Built:
    """Examples of a question, and the seeds of the step's own chance."""

    examples: Sequence[TrainingExample]
    seeds: Sequence[int] = field(default=())


def build(case: Case, workspace: Workspace, *further: str) -> Built:
    """The examples that training gets."""
    skipped: list[str] = []
    embedded = {name: one for name, one in scripted_models().items() if name != "llm"}
    recipe = load_recipe(case.recipe, (*case.overrides, *further))
    lesson = Lesson(recipe, workspace, embedded, case.context)
    question = case.question
    example = Example(
        "q1", "shop", question["question"], question["gold"], Path("shop.sqlite"),
        evidence=question.get("evidence", ""),
    )  # fmt: skip
    written = case.written[:2] if case.role == "selector" else case.written
    sampled = [Sampled(sql, "small/model") for sql in written]
    draw = Draw(7)
    scorer = Scorer(workspace.database, workspace.schema)
    asked = Asked(example, "cases", lesson, scorer, sampled, draw, skipped.append)
    examples = role_of(case).examples(asked)
    assert examples, skipped
    return Built(examples, draw.seeds)


def narrow(case: Case, workspace: Workspace) -> int:
    """Tokens of a context that leaves too little room for the whole prompt."""
    sizes = [
        estimated_tokens([turn.text for turn in one.messages]) + PER_MESSAGE * len(one.messages)
        for one in build(case, workspace).examples
    ]
    return LEAST[case.role] + int(case.part * max(sizes))


def text_of(example: TrainingExample) -> Text:
    return tuple((turn.role, turn.text.encode()) for turn in example.messages)


def sent(call: Call) -> Text:
    return tuple((message.role, message.text.encode()) for message in call.messages)


def infer(
    case: Case,
    database: Path,
    home: Path,
    *,
    tables: Sequence[str] = (),
    seed: int = 0,
    json_schema: bool = False,
) -> list[Text]:
    """The prompts that arrive at the endpoints of the role's models, in the order of their names.

    The run's own model says nothing that can be used, as in training, but for the choice of tables
    and columns, of which training knows the right one."""
    can = Capabilities(n=True, logprobs=True, remote=False, json_schema=json_schema)
    chosen = json.dumps({"tables": list(tables)})
    queries = dict(zip(GENERATORS, case.written, strict=True))
    says = {"tuned-linker": chosen, "tuned-critic": "1", "tuned-selector": "A", **queries}
    with ExitStack() as stack:
        endpoints = {}
        models: dict[str, Any] = {
            **scripted_models(),
            "llm": ScriptedModel(own_script(case, chosen)),
        }
        for name, reply in says.items():
            context = case.context if name in MODELS[case.role] else AMPLE
            able = replace(can, context_tokens=context)
            endpoint = ScriptedEndpoint(Script(otherwise=reply), name=name, capabilities=able)
            models[name], endpoints[name] = stack.enter_context(gate(endpoint=endpoint))
        session = stack.enter_context(
            api.open(
                database, recipe=case.recipe, overrides=case.overrides, models=models, seed=seed,
                home=home, prepare=False, record=False, cache=False,
            )
        )  # fmt: skip
        session.ask(case.question["question"], evidence=case.question.get("evidence", ""))
    return [sent(call) for name in MODELS[case.role] for call in endpoints[name].calls]


def own_script(case: Case, tables: str) -> Script:
    """Replies of the run's own model: two different queries, and the columns of the gold one."""
    needed = case.question["columns"].items()
    columns = {"tables": [{"table": table, "columns": names} for table, names in needed]}

    def write(asked: Prompted) -> str:
        return case.written["make a plan" in asked.prompt]

    return Script(
        [
            When("schema_linking.select_tables", tables),
            When("schema_linking.select_columns", json.dumps(columns)),
            When("generation.direct", write),
        ],
        otherwise="I would rather not.",
    )


def shown_tables(example: TrainingExample, case: Case) -> list[str]:
    """The tables that linking left in training: those of the gold query, and the noise."""
    noise = str(example.facts.get("injected_tables", ""))
    return [*case.question["columns"], *filter(None, noise.split(", "))]


@pytest.fixture
def same(shop_workspace: Workspace, database_files: dict[str, Path], tmp_path: Path) -> Any:
    """Both texts of a case, in one order."""

    def both(case: Case, *further: str, **options: Any) -> tuple[list[Text], list[Text]]:
        if case.part != 1:
            case = replace(case, context=narrow(case, shop_workspace))
        built = build(case, shop_workspace, *further)
        ordered = "critic" in case.role
        asked = [
            text
            for seed in (built.seeds if ordered else (0,))
            for text in infer(
                case, database_files["shop"], tmp_path / "home",
                tables=shown_tables(built.examples[0], case), seed=seed, **options,
            )
        ]  # fmt: skip
        return sorted(map(text_of, built.examples)), sorted(set(asked))

    return both


@pytest.mark.parametrize("case", list(cases()))
def test_training_and_inference_show_the_same_bytes(case: Case, same: Any) -> None:
    trained, asked = same(case)
    assert trained
    assert not set(trained) - set(asked)
    if "form=pairs" not in str(case.overrides):  # there pairs of two right queries are asked, too
        assert not set(asked) - set(trained)


OVERRIDES = [(role, told) for role in MODELS for told in CASES[role] if "set" in told]


@pytest.mark.parametrize(("role", "told"), OVERRIDES, ids=str)
def test_an_override_changes_the_text(
    role: str, told: Mapping[str, Any], shop_workspace: Workspace
) -> None:
    """Else nothing would be compared by it."""
    changed = []
    for question in CASES["questions"]:
        case = Case(role, told["recipe"], SMALLER.get(told["recipe"], ()), question)
        texts = [build(case, shop_workspace, *further) for further in ((), told["set"])]
        whole, other = ([text_of(one) for one in built.examples] for built in texts)
        changed.append(whole != other)
    assert any(changed) is not told.get("alike", False)


@pytest.mark.parametrize("part", [0.9, 1.0, 1.05])
@pytest.mark.parametrize("role", MODELS)
def test_a_server_that_holds_replies_to_a_form_is_sent_the_same(
    role: str, part: float, same: Any
) -> None:
    """The form would take room of the prompt."""
    recipe = CASES[role][0]["recipe"]
    case = Case(role, recipe, SMALLER.get(recipe, ()), CASES["questions"][0], part)
    assert same(case) == same(case, json_schema=True)


@pytest.mark.parametrize("case", [one for one in cases() if one.values[0].part < 1])
def test_a_context_that_is_too_small_changes_the_text(case: Any, shop_workspace: Workspace) -> None:
    whole = replace(case, part=1.0)
    narrowed = replace(case, context=narrow(case, shop_workspace))
    one, other = ([*map(text_of, build(c, shop_workspace).examples)] for c in (whole, narrowed))
    assert one != other


@pytest.mark.parametrize(
    ("role", "override"),
    [
        ("linker", "schema_linking.select_tables.examples=3"),
        ("generator", "generation.direct.style=compact"),
        ("critic", "selection.multi_sample.cell=3"),
        ("selector", "selection.pairwise.values=frequent"),
    ],
)
def test_a_builder_with_another_option_is_noticed(role: str, override: str, same: Any) -> None:
    recipe = CASES[role][0]["recipe"]
    case = Case(role, recipe, SMALLER.get(recipe, ()), CASES["questions"][0])
    trained, asked = same(case, override)
    assert not set(trained) & set(asked)


def test_every_role_has_cases() -> None:
    assert set(MODELS) == set(ROLES) <= set(CASES)
