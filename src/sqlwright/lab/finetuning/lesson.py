"""The steps of a recipe, run one by one on a question with a teacher in place of its models: it is
told what to reply, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import Turn
from sqlwright.llm.endpoint import Call, PlainMessage
from sqlwright.llm.metering import too_long
from sqlwright.messages import Capabilities, Missing, Reply, Request, Sample
from sqlwright.protocols import Context, Model, ModelsByRole, Run, Step, Workspace
from sqlwright.recipes.loading import Recipe
from sqlwright.running.combinators import Combinator, NamedStep
from sqlwright.running.sequences import OwnView
from sqlwright.schema import SchemaView
from sqlwright.types import Question, State


@dataclass(frozen=True, slots=True)
class Taught:
    """A prompt, and the reply it was given."""

    step: str
    """Name of the step that asked."""
    place: int
    """Number of the prompt among all that steps by that name asked, from 0."""
    messages: tuple[Turn, ...]
    completion: str
    fits: bool = True
    """False for a prompt that the gate would not send: it doesn't fit the context."""


Says = Callable[[str, int], str | None]
"""The reply by the name of the step and the `place` of its prompt; None is none: for the step the
model failed."""


class Teacher:
    """Replies as it is told to; all samples of a prompt are the same. Used from one thread.

    Nothing is sent anywhere, so prompts hold what privacy `full` lets out.
    """

    def __init__(self, says: Says, *, context_tokens: int) -> None:
        """`context_tokens` is what the model to be trained reads; prompts are fitted to it."""
        self.taught: list[Taught] = []
        """The prompts with their replies, in order."""
        self._says = says
        self._places: dict[str, count[int]] = {}
        self._capabilities = Capabilities(
            n=True, logprobs=True, remote=False, context_tokens=context_tokens
        )

    @property
    def name(self) -> str:
        """`provider/model`."""
        return "finetuning/teacher"

    @property
    def capabilities(self) -> Capabilities:
        """Those of a model in this process."""
        return self._capabilities

    def complete(
        self,
        requests: Sequence[Request],
        run: Run,  # noqa: ARG002 - as all models do
        *,
        step: str,
    ) -> list[tuple[Sample, ...]]:
        """The replies. Raises nothing."""
        return [self._reply(request, step) for request in requests]

    def _reply(self, request: Request, step: str) -> tuple[Sample, ...]:
        place = next(self._places.setdefault(step, count()))
        said = self._says(step, place)
        if said is None:
            return (Missing("unavailable", "the teacher has no reply"),) * request.n
        turns = tuple(Turn(message.role, str(message.text)) for message in request.messages)
        sent = tuple(PlainMessage(turn.role, turn.text) for turn in turns)
        call = Call(sent, max_tokens=request.max_tokens)
        unsent = too_long(self.name, call, self._capabilities.context_tokens, self._capabilities)
        self.taught.append(Taught(step, place, turns, said, fits=unsent is None))
        return (Reply(said),) * request.n


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
        return list(named_steps(self.recipe.step))

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
        """The steps of some stages that come before the first one by that name. Those that narrow a
        view of their own, which it doesn't see, are left out."""
        found, _ = _until(name, self.recipe.step)
        return [one for one in found if one.name.split(".")[0] in stages]

    def taught(self, step: Step, state: State, says: Says) -> tuple[State, list[Taught]]:
        """The state after a step, and what it asked, with the replies it was given; without the
        prompts that no model would be sent, since they don't fit its context."""
        teacher = Teacher(says, context_tokens=self.context_tokens)
        context = Context(self.workspace, self.run, _Models(self.embedded, teacher))
        return step(state, context), [one for one in teacher.taught if one.fits]


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


def named_steps(step: Step) -> Iterator[NamedStep]:
    """The steps in it that are no combinators, with their names."""
    if isinstance(step, NamedStep):
        if isinstance(step.step, Combinator):
            yield from named_steps(step.step)
        else:
            yield step
    elif isinstance(step, Combinator):
        for child in step.children:
            yield from named_steps(child)


def _until(name: str, step: Step) -> tuple[list[NamedStep], bool]:
    """The steps in it up to the first one by that name, and whether that is there."""
    if isinstance(step, NamedStep) and not isinstance(step.step, Combinator):
        return ([], True) if step.name == name else ([step], False)
    inner = step.step if isinstance(step, NamedStep) else step
    found: list[NamedStep] = []
    for child in inner.children if isinstance(inner, Combinator) else ():
        more, there = _until(name, child)
        found += more
        if there:
            return found, True
    return ([] if isinstance(inner, OwnView) else found), False
