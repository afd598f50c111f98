"""Having a language model mend candidates with faults, and keeping what is better."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from sqlwright.candidates import execute, grounded, history, result_rank
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Text
from sqlwright.prompts.fitting import Fitted
from sqlwright.prompts.replies import Written
from sqlwright.prompts.sampling import ask
from sqlwright.prompts.schema import render_result, render_sql
from sqlwright.prompts.templates import plain_text, schema_text
from sqlwright.protocols import Context
from sqlwright.steps.repair.by_schema import mended
from sqlwright.steps.repair.faults import Fault, FaultRule, query_key, seen
from sqlwright.steps.task import QueryStep
from sqlwright.types import Candidate, ExecutionResult, State

_REASONS = {
    "unexecuted": "it was not executed",
    "error": "it failed",
    "empty": "it found no rows",
    "null": "it found nothing but NULL",
    "some_null": "some of its rows hold NULL",
    "literal": "it compares a column with a text that it doesn't hold",
}

SUB_QUESTION = 100
"""Numbers of a round, for its seed, that two sub-questions are apart."""


class Looked(NamedTuple):
    """A candidate and what is wrong with it."""

    candidate: Candidate
    faults: tuple[Fault, ...]
    wanted: bool
    """True if a model is to look at it."""


class Mending(QueryStep):
    """A step that has a language model mend the candidates for the question or sub-question at
    hand: one call for each that is wanted, what is better takes the old one's place."""

    source: ClassVar[str]
    """The name of the step."""
    rows: ClassVar[int]
    """Rows of a result shown at most."""
    by_schema: bool
    """Mend by the schema what fails, before and after a model is asked, and tell the model which
    tables have a column that isn't where its query looks for it."""

    @property
    @abstractmethod
    def tried_rule(self) -> FaultRule:
        """The faults that are told of what was tried in vain."""

    @abstractmethod
    def looked_at(self, candidate: Candidate, state: State, context: Context) -> Looked:
        """An executed candidate and what is wrong with it."""

    @abstractmethod
    def fitted(self, looked: Looked, state: State, context: Context) -> Fitted:
        """The prompt about it."""

    def about(
        self,
        looked: Looked,
        state: State,
        context: Context,
        *,
        template: str,
        demonstrations: Sequence[Mapping[str, Any]],
        notes: Sequence[Text] = (),
    ) -> Fitted:
        """The prompt with a candidate, what came of it, and what was tried in its place."""
        candidate = looked.candidate
        owners = self._owners(candidate, context)

        def told(listed: float) -> Mapping[str, Any]:
            rows = math.ceil(self.rows * listed)
            return {
                "sql": render_sql(candidate, state.question),
                "outcome": [*outcome(candidate, looked.faults, rows), *owners, *notes],
                "tried": [
                    {
                        "sql": render_sql(tried, state.question),
                        "outcome": outcome(
                            tried, tuple(self.tried_rule.of_result(tried, state.question)), rows
                        ),
                    }
                    for tried in candidate.tried
                ],
            }

        results = [one.result for one in (candidate, *candidate.tried)]
        rows = any(result is not None and result.rows for result in results)
        return self.laid_out(
            template,
            demonstrations,
            state,
            context,
            step=self.source,
            listed=float(rows),
            told=told,
        )

    def better(self, new: Candidate, looked: Looked, state: State, context: Context) -> bool:
        """True if a new candidate, executed, is better than the old one.

        Rows are better than an empty result, an empty result than an error; of two errors the later
        one is, since repairing goes on from it."""
        old = looked.candidate
        if result_rank(new) != result_rank(old):
            return result_rank(new) < result_rank(old)
        return new.result is not None and not new.result.ok

    def by_machine(self, candidate: Candidate, state: State, context: Context) -> Candidate:
        """The executed candidate as it can be mended without a call."""
        return candidate

    def applies(self, state: State, context: Context) -> bool:
        """True if a candidate wasn't executed yet, or a model is to look at it."""
        return any(
            one.result is None or hand.wanted or hand.candidate is not one
            for one in state.candidates
            for hand in (self._at_hand(one, state, context),)
        )

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        executed = execute(state.candidates, context.workspace.database, context.run)
        looked = [self._at_hand(one, state, context) for one in executed]
        done = [one.candidate for one in looked]
        state = state.evolve(candidates=tuple(done))
        work = {place: one for place, one in enumerate(looked) if one.wanted}
        if not work or not state.question.text.strip():
            return state
        fitted = [self.fitted(one, state, context) for one in work.values()]
        for each in fitted:
            state = each.noted(state, self.source)
        prompts = [
            self.prompt_of(each, context, _replies_so_far(one.candidate, state, self.source))
            for one, each in zip(work.values(), fitted, strict=True)
        ]
        try:
            rows = ask(
                prompts, state, context,
                step=self.source, sampling=self.sampling, leaving=1 if state.goal else 0,
            )  # fmt: skip
        except (MalformedReply, ModelFailed) as error:
            state = state.warn("model", f"a query could not be revised: {error}", error)
            rows = [() for _ in work]
        for (place, one), row in zip(work.items(), rows, strict=True):
            reply = next((mended for mended in row if mended is not None), None)
            done[place] = self._revised(one, reply, state, context)
        return state.evolve(candidates=tuple(done))

    def _at_hand(self, candidate: Candidate, state: State, context: Context) -> Looked:
        """`looked_at` for candidates for the question or sub-question at hand."""
        if candidate.goal != state.goal:
            return Looked(candidate, (), wanted=False)
        if self.by_schema and candidate.result is not None:
            candidate = mended(candidate, state, context)
        return self.looked_at(candidate, state, context)

    def _owners(self, candidate: Candidate, context: Context) -> list[Text]:
        """The tables of columns that its query looks for elsewhere, as a model is told."""
        from sqlwright.sql.meant import holders

        result, schema = candidate.result, context.workspace.schema
        if not self.by_schema or result is None or result.ok:
            return []
        return [
            schema_text(f"{column} is a column of {' and of '.join(tables)}.")
            for column, tables in holders(candidate.sql, schema).items()
        ]

    def _revised(
        self, looked: Looked, reply: Written | None, state: State, context: Context
    ) -> Candidate:
        """The candidate that is kept, which remembers the other one."""
        old = looked.candidate
        if reply is None or reply.cannot:
            note = f"declined: {reply.cannot}" if reply else "no usable reply"
            return _with_tried(old, Candidate("", self.source, note=note))
        new = Candidate(
            sql=reply.sql,
            source=self.source,
            score=old.score,
            parent=old,
            goal=old.goal,
            plan=reply.plan,
            sample=old.sample,
            note=_note(looked.faults),
            model=self.sampling.model,
            by_model=True,
        )
        known = dict.fromkeys((*state.values, *old.values))
        new = grounded(new, known, context.workspace.schema)
        if query_key(new) in seen(old):
            return _with_tried(old, replace(new, result=_known_result(new, old)))
        (new,) = execute([new], context.workspace.database, context.run)
        if self.by_schema:
            new = mended(new, state, context)
        new = self.by_machine(new, state, context)
        if self.better(new, looked, state, context):
            return new
        return _with_tried(old, new)


def outcome(candidate: Candidate, faults: Sequence[Fault], rows: int) -> list[Text]:
    """The result, where there is one with rows, then the faults."""
    told = [fault.told for fault in faults]
    result = candidate.result
    if result is not None and result.ok and not result.empty:
        told.insert(0, plain_text("It ran and gave:\n") + render_result(result, rows=rows))
    return told


def _with_tried(candidate: Candidate, tried: Candidate) -> Candidate:
    return replace(candidate, tried=(*candidate.tried, replace(tried, parent=None)))


def _replies_so_far(candidate: Candidate, state: State, source: str) -> int:
    """Replies about the candidate before; those about other sub-questions have numbers apart."""
    replies = sum((one.source == source) + len(one.tried) for one in history(candidate))
    return replies + SUB_QUESTION * max(state.sub_question - 1, 0)


def _known_result(new: Candidate, candidate: Candidate) -> ExecutionResult | None:
    """The result of a query where a candidate's line came to it before."""
    line = [one for each in history(candidate) for one in (each, *each.tried)]
    same = (one.result for one in line if query_key(one) == query_key(new))
    return next(filter(None, same), None)


def _note(faults: Sequence[Fault]) -> str:
    reasons = [_REASONS[fault.kind] for fault in faults]
    return f"revised: {', '.join(dict.fromkeys(reasons))}" if reasons else "revised"
