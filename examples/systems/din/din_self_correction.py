"""DIN-SQL's self-correction: every query is read once more, whether or not it fails."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from sqlwright import Candidate, Context, State
from sqlwright.prompts.replies import sql_from
from sqlwright.prompts.sampling import Prompt, PromptStep, Sampling, ask
from sqlwright.prompts.templates import model_text, render
from sqlwright.steps.task import task

PROMPT = str(Path(__file__).with_suffix(".jinja"))


@dataclass(frozen=True)
class SelfCorrection(PromptStep):
    """Has a language model proofread each candidate; the old query is the new one's parent."""

    sampling: Sampling = field(default_factory=Sampling)

    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        given = task(state, context)
        prompts = [
            Prompt(render(PROMPT, **given, sql=model_text(one.sql)), parse=sql_from)
            for one in state.candidates
        ]
        replies = ask(prompts, state, context, step="din", sampling=self.sampling)
        return state.evolve(candidates=tuple(map(corrected, state.candidates, replies)))


def corrected(candidate: Candidate, replies: tuple[str | None, ...]) -> Candidate:
    """The candidate as the reply has it; itself where there is none, or the same."""
    sql = next((reply for reply in replies if reply is not None), candidate.sql)
    if sql == candidate.sql:
        return candidate
    return Candidate(sql, "din.self_correction", parent=candidate, by_model=True)
