"""The state in which a recipe comes to one of its steps."""

from __future__ import annotations

from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.lab.finetuning.roles.choice import REPLIES, Choice
from sqlwright.running.combinators import NamedStep
from sqlwright.types import State

STAGES = ("retrieval", "schema_linking")


def state_before(
    name: str,
    lesson: Lesson,
    *,
    question: str,
    evidence: str,
    choice: Choice | None = None,
) -> State:
    """The state before the first step of that name, after the retrieval and linking before it.

    A step that chooses tables or columns is told the `choice`; without one, linking that asks a
    language model is passed over. Retrieval that asks a language model, as for keywords, does
    without it by its cheaper form. What refuses the question ends it: see `State.refusal`.
    """
    state = lesson.begun(question, evidence)
    for step in lesson.before(name, stages=STAGES):
        if state.refusal is not None:
            break
        state = _after(step, state, lesson, choice)
    return state


def _after(step: NamedStep, state: State, lesson: Lesson, choice: Choice | None) -> State:
    if not step.step.language_models:
        return lesson.taught(step, state, _nothing)[0]
    if choice is not None and step.name in REPLIES:
        said = REPLIES[step.name](choice, lesson.workspace.schema)
        return lesson.taught(step, state, lambda _step, _place: said)[0]
    if step.instead is not None and step.name.startswith("retrieval."):
        return lesson.taught(step.instead, state, _nothing)[0]
    return state


def _nothing(_step: str, _place: int) -> None:
    return None
