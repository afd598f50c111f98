"""A language model picks the words and phrases of a question that are worth searching for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.replies import items_from
from sqlwright.prompts.sampling import Prompt, PromptStep, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.retrieval.question_words import question_words
from sqlwright.types import State

NAME = "retrieval.extract_keywords"
LONGEST = 200
"""Characters of a keyword; what is longer is no keyword."""
MOST = 30
"""Most keywords kept."""
REPLY = {
    "type": "object",
    "properties": {"keywords": {"type": "array", "items": {"type": "string"}}},
    "required": ["keywords"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class ExtractKeywords(PromptStep):
    """CHESS section 3.1, extract_keywords: one call with three demonstrations.

    Of several samples all keywords are taken. Where the model gives nothing usable the words of
    the question are taken instead, with a warning.
    """

    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.2))
    """The published configuration has temperature 0.2; the paper doesn't say."""
    prompt: str = "retrieval/extract_keywords"

    purpose: ClassVar[str] = (
        "Lists the words and phrases of the question that may be stored values or names of "
        "columns. The other retrieval tools look up what it finds, so it comes first. One call."
    )
    cheaper: ClassVar[str] = "retrieval.question_words"
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"keywords"})

    def calls(self, state: State) -> int:
        """Number of its own calls, and one that must be left for writing the query."""
        return 2 if state.question.text.strip() else 0

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip():
            return state
        prompt = Prompt(render(self.prompt, **asked(state, context)), _keywords, REPLY)
        try:
            (replies,) = ask([prompt], state, context, step=NAME, sampling=self.sampling, leaving=1)
        except (MalformedReply, ModelFailed) as error:
            warning = f"the question's own words were taken for keywords: {error}"
            noted = state.warn("model", warning, error)
            return noted.evolve(keywords=question_words(state.question))
        found = dict.fromkeys(word for reply in replies if reply for word in reply)
        return state.evolve(keywords=tuple(found)[:MOST])


def _keywords(text: str) -> tuple[str, ...]:
    """The keywords of a reply. Raises MalformedReply when there are none."""
    found = tuple(item for item in items_from(text) if len(item) <= LONGEST)
    if not found:
        raise MalformedReply("it names no keywords")
    return found
