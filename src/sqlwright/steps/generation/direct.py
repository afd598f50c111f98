"""A language model writes candidates, each in one call."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any, ClassVar

from sqlwright.prompts.demonstrations import demonstration_names, load_demonstrations, texts
from sqlwright.prompts.sampling import Sampling, ask
from sqlwright.prompts.templates import model_text
from sqlwright.protocols import Context
from sqlwright.steps.demonstrating import chosen, features_of, in_turn
from sqlwright.steps.showing import Style
from sqlwright.steps.task import QueryStep
from sqlwright.types import State

SOURCE = "generation.direct"
SYNTHETIC = "synthetic_examples"
"""The name of worked examples that were made for the question, by `generation.make_examples`."""
FORM, MOST = 2, 4
"""Worked examples that show the form of a reply, and those shown at most; chosen."""
MADE = ("question", "evidence", "sql")
"""The fields of those."""


@dataclass(frozen=True)
class DirectGeneration(QueryStep):
    """Has a language model write a candidate query for the question.

    One prompt, a candidate for each reply to it (CHESS section 3.1, generate_candidate_query).
    The prompts `generation/divide_and_conquer`, `generation/query_plan` and its short form
    `generation/query_plan_short` come with worked examples, `generation/zero_shot` with
    instructions only, `generation/fine_tuned` bare for models trained on the task,
    `generation/chain_of_thought` is the papers' baseline.

    For many samples the step runs inside of `samples` at a temperature such as 0.5; a single one
    is best at 0. A reply in which no query can be found is asked for again, then raised; a query
    that is wrong SQL is a candidate like any other, and its error is what a repair goes by. A
    reply that declines (`CANNOT:`) is one of the state's `declines`, and isn't asked for again;
    where it does so in sentences alone, it is once.
    """

    prompt: str = "generation/divide_and_conquer"
    """A name under `steps/`, or the path of a file that ends in .jinja. Its worked examples are
    those of its last name, if any; of `synthetic_examples` those that `generation.make_examples`
    made for the question."""
    shots: int | None = None
    """Worked examples shown, those that fit the question best; the paper shows seven by divide and
    conquer and six query plans. None goes by the question: two, and at most four where it has more
    features that none of them shows. Of those made for the question, the first."""
    style: Style = "ddl"
    """The schema as CREATE TABLE statements, or in one line per column."""
    shuffle: bool = True
    """True shows every sample but the first tables and columns in another order, by the seed."""
    examples: int = 3
    """Stored values shown beside a column at most."""
    sampling: Sampling = field(default_factory=Sampling)

    purpose: ClassVar[str] = (
        "Writes a query for the question from the view, the stored values and the descriptions. "
        "Run it once these are found. One call for each query."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "declines"})

    def __post_init__(self) -> None:
        for option in ("examples", "shots"):
            if (getattr(self, option) or 0) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip() or not any(True for _ in state.view.visible):
            return state
        fitted = self.laid_out(
            self.prompt,
            self._demonstrations(state, context),
            state,
            context,
            step=SOURCE,
            order=partial(self._order, state, context),
        )
        state = fitted.noted(state, SOURCE)
        prompt = self.prompt_of(fitted, context)
        (replies,) = ask([prompt], state, context, step=SOURCE, sampling=self.sampling)
        return self.added(replies, state, context, step=SOURCE, prompt=self.prompt)

    def _demonstrations(self, state: State, context: Context) -> list[Mapping[str, Any]]:
        """The worked examples that the prompt may show, the most useful first."""
        name = PurePath(self.prompt).stem
        most, least = (MOST, FORM) if self.shots is None else (self.shots, self.shots)
        if name == SYNTHETIC:
            made = in_turn(state.demonstrations)[:most]
            return [{key: model_text(getattr(one, key)) for key in MADE} for one in made]
        dialect = state.view.schema.dialect
        known = load_demonstrations(name, dialect) if name in demonstration_names() else ()
        fitting = chosen(known, features_of(state, context), most, least) if known else ()
        return [texts(each) for each in fitting]

    def _order(self, state: State, context: Context) -> random.Random | None:
        """The order of a sample: another one for each question and each prompt, so that neither
        samples nor generators see the same. The first keeps the stored order, in which a prefix
        cache may know the prompt."""
        if not self.shuffle or state.sample <= 1:
            return None
        purpose = f"{SOURCE}/order/{self.prompt}/{state.sample}/{state.question.text}"
        return context.run.random(purpose)
