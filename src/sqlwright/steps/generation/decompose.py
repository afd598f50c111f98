"""A language model takes the question apart: sub-questions, each with one condition more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, PromptStep, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.types import State, SubQuestion

NAME = "generation.decompose"
LONGEST = 2_000
"""Characters of a sub-question beyond those of the question; what is longer is none. Chosen."""


def _listed(value: Any) -> Any:
    """A list where a model writes nothing, a single text, or objects with one text each."""
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    return [_text(item) for item in items]


def _text(value: Any) -> Any:
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str)]
        return texts[0] if len(texts) == 1 else value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return "" if value is None else value


_Texts = Annotated[list[str], BeforeValidator(_listed)]


class Decomposition(BaseModel):
    """A question taken apart."""

    targets: Annotated[str, BeforeValidator(_text)] = ""
    conditions: Annotated[list[str] | None, BeforeValidator(_listed)] = None
    """None where the reply doesn't speak of conditions."""
    sub_questions: _Texts


REPLY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "targets": {"type": "string"},
        "conditions": {"type": "array", "items": {"type": "string"}},
        "sub_questions": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["targets", "conditions", "sub_questions"],
    "additionalProperties": False,
}
"""The same as JSON schema, without what is taken besides."""


@dataclass(frozen=True)
class Decompose(PromptStep):
    """Has a language model take the question apart into targets and conditions.

    MAG-SQL section 3.2: one call over question and evidence, without the schema. The first
    sub-question asks for the targets under the first condition, each next one adds one, and the
    last is the question itself: whatever the model wrote there is replaced by it. Without
    conditions the question is the only one. It is so, too, where no reply can be used, with a
    warning. However many conditions there are, none is left out.
    """

    prompt: str = "generation/decompose"
    sampling: Sampling = field(default_factory=Sampling)

    purpose: ClassVar[str] = (
        "Takes the question apart into sub-questions that add one condition each, for queries "
        "that are built up in the same way. One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"sub_questions"})

    def calls(self, state: State) -> int:
        """Number of its own calls, and two that must be left for two sub-questions: with fewer
        nothing is gained by it."""
        return 3 if state.question.text.strip() else 0

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip():
            return state
        prompt = Prompt(render(self.prompt, **asked(state, context)), _read, REPLY)
        try:
            (replies,) = ask([prompt], state, context, step=NAME, sampling=self.sampling, leaving=1)
        except (MalformedReply, ModelFailed) as error:
            told = f"the question was not taken apart; it is answered in one go: {error}"
            whole = (SubQuestion(state.question.text),)
            return state.warn("model", told, error).evolve(sub_questions=whole)
        # Of several samples the one that adds most conditions.
        best = max((r for r in replies if r is not None), key=lambda r: len(r.sub_questions))
        return state.evolve(sub_questions=tuple(_sub_questions(best, state.question.text)))


def _sub_questions(reply: Decomposition, question: str) -> Iterator[SubQuestion]:
    """Those before the last, each once and none the question itself; then the question."""
    texts = [_flat(text) for text in reply.sub_questions]
    conditions = [_flat(text) for text in reply.conditions or () if text.strip()]
    aligned = len(conditions) == len(texts)
    several = bool(conditions) or reply.conditions is None
    seen = {"", _flat(question).casefold()}
    for number, text in enumerate(texts[:-1] if several else ()):
        if text.casefold() not in seen and len(text) <= len(question) + LONGEST:
            seen.add(text.casefold())
            yield SubQuestion(text, conditions[number] if aligned else "")
    yield SubQuestion(question, conditions[-1] if conditions and aligned else "")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _read(text: str) -> Decomposition:
    """The decomposition in a reply. Raises MalformedReply, also where there is no sub-question."""
    found = json_from(text, Decomposition)
    if not any(text.strip() for text in found.sub_questions):
        raise MalformedReply("it holds no sub-question")
    return found
