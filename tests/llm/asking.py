"""A step that asks a language model about everything a prompt can hold, for tests of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.errors import BudgetSpent, ModelFailed
from sqlwright.messages import Message, Missing, Request, Text
from sqlwright.protocols import Context, Step
from sqlwright.types import Candidate, State


@dataclass(frozen=True)
class AskPlainly(Step):
    """Schema, similar stored values and the question in one prompt; the replies are queries."""

    n: int = 2
    model: str = ""

    reads = frozenset({"question", "view", "values"})
    writes = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        schema = state.view.schema
        names = [f"{ref.table}.{ref.column}" for ref in schema.columns]
        prompt = Text.join(
            "\n",
            [
                Text.of("Write one SQLite query.", "template"),
                *(Text.of(name, "schema") for name in names),
                *(Text.of(f"{m.column} holds '{m.value}'", "value") for m in state.values),
                Text.of(state.question.text, "question"),
            ],
        )
        request = Request(
            (Message("user", prompt),),
            n=self.n,
            temperature=0.7,
            max_tokens=500,
            seed=100 * state.sample,
        )
        (samples,) = context.llm(self.model).complete([request], context.run, step="ask_plainly")
        written = [s.text for s in samples if not isinstance(s, Missing)]
        missing = [s for s in samples if isinstance(s, Missing)]
        if not written and missing[0].kind == "budget":
            raise BudgetSpent(missing[0].message)
        if not written:
            raise ModelFailed(missing[0].message)
        candidates = [
            Candidate(sql, "ask_plainly", sample=k) for k, sql in enumerate(written, start=1)
        ]
        return state.evolve(candidates=(*state.candidates, *candidates))


RECIPE = """
name: plain
steps:
  - retrieval.values
  - tests.llm.asking:AskPlainly
  - repair.execution_guided
  - selection.first_valid
"""
