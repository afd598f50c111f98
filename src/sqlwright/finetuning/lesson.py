"""The steps of a recipe, run one by one on a question with a teacher in place of its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlwright.errors import ConfigError
from sqlwright.finetuning.teacher import Says, Taught, Teacher
from sqlwright.protocols import Context, Model, ModelsByRole, Run, Step, Workspace
from sqlwright.recipes.loading import Recipe
from sqlwright.running.combinators import Combinator, NamedStep
from sqlwright.schema import SchemaView
from sqlwright.types import Question, State


@dataclass(frozen=True)
class Lesson:
    """A recipe over an open database."""

    recipe: Recipe
    workspace: Workspace
    embedded: ModelsByRole
    """The embedded models that its steps use."""
    context_tokens: int
    """Tokens that the model to be trained reads."""
    run: Run = field(default_factory=Run)

    def begun(self, question: str, evidence: str = "") -> State:
        """The state in which a recipe begins."""
        return State(Question(question, evidence), SchemaView(self.workspace.schema))

    def steps(self) -> list[NamedStep]:
        """The steps of the recipe that are no combinators, in its order, with their names."""
        return list(_named(self.recipe.step))

    def step(self, name: str) -> NamedStep:
        """The first step by that name. Raises ConfigError."""
        found = next((one for one in self.steps() if one.name == name), None)
        if found is None:
            raise ConfigError(
                f"the recipe {self.recipe.name} has no step {name}, which is to be trained",
                hint="Name a recipe that has it with --recipe.",
            )
        return found

    def before(self, name: str, *, stages: tuple[str, ...] = ("retrieval",)) -> list[NamedStep]:
        """The steps of some stages that come before the first one by that name."""
        found = []
        for one in self.steps():
            if one.name == name:
                break
            if one.name.split(".")[0] in stages:
                found.append(one)
        return found

    def taught(self, step: Step, state: State, says: Says) -> tuple[State, list[Taught]]:
        """The state after a step, and what it asked, with the replies it was given."""
        teacher = Teacher(says, context_tokens=self.context_tokens)
        context = Context(self.workspace, self.run, _Models(self.embedded, teacher))
        return step(state, context), teacher.taught


class _Models(Mapping[str, Model]):
    """The embedded models, and a teacher under any other name."""

    def __init__(self, embedded: ModelsByRole, teacher: Teacher) -> None:
        self._embedded = embedded
        self._teacher = teacher

    def __getitem__(self, role: str) -> Model:
        return self._embedded[role] if role in set(self._embedded) else self._teacher

    def __iter__(self) -> Iterator[str]:
        yield from (*self._embedded, "llm")

    def __len__(self) -> int:
        return len(self._embedded) + 1


def _named(step: Step) -> Iterator[NamedStep]:
    if isinstance(step, NamedStep):
        if isinstance(step.step, Combinator):
            yield from _named(step.step)
        else:
            yield step
    elif isinstance(step, Combinator):
        for child in step.children:
            yield from _named(child)
