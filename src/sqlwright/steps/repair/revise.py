"""Has a language model mend candidates with faults, given their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlwright.candidates import is_empty_answer, result_rank, valid
from sqlwright.caveats import Look, expected
from sqlwright.messages import Span, Text
from sqlwright.prompts.demonstrations import load_revisions, texts
from sqlwright.prompts.fitting import Fitted
from sqlwright.prompts.sampling import Sampling
from sqlwright.prompts.templates import plain_text, schema_text
from sqlwright.protocols import Context
from sqlwright.protocols.embedded import checked_by_machine
from sqlwright.steps.demonstrating import chosen, features_of
from sqlwright.steps.repair.faults import FaultRule, settled, unknown_texts
from sqlwright.steps.repair.literals import ALIKE, mend
from sqlwright.steps.repair.mending import Looked, Mending
from sqlwright.steps.showing import Style
from sqlwright.types import CAVEATS, Candidate, Note, State

SOURCE = "repair.revise"

SHOTS = 3
"""Worked examples shown, those that fit the fault and the question best."""
_RESULTS = FaultRule(literals=False)


@dataclass(frozen=True)
class Revise(Mending):
    """Has a language model mend candidates that fail, find nothing or ask for unknown texts.

    One call for each candidate with a fault (CHESS section 3.1, revise; `faults.py` says what one
    is), shown with what came of it. The new query is executed and takes the old one's place, which
    stays its parent, only if it is better:

    - rows are better than an empty result, an empty result than an error;
    - of two alike, the one with fewer texts that aren't stored;
    - of two errors the later one, since repairing goes on from it; of two empty results the first,
      since being empty may be right and nothing speaks for the other.

    What was tried in vain is remembered and shown the next time. A reply that repeats a query of
    the same line, unless the candidate fails with an error, and one that can't be used, settle the
    candidate: `no_fault` holds for it, and it isn't asked about again. `no_fault` goes by the
    default options here: with one switched off, a loop may come round without a call. `always`
    needs no loop; it is a step of its own before it.
    """

    prompt: str = "repair/revise"
    style: Style = "ddl"
    """The schema as CREATE TABLE statements, or in one line per column."""
    examples: int = 3
    """Stored values shown beside a column at most."""
    empty: bool = True
    """Look again at queries that find no rows."""
    nulls: bool = True
    """Look again at queries that find nothing but NULL."""
    literals: bool = True
    """Look again at queries with texts that their columns don't hold. Like `machine`, of recipes
    that look stored values up for the question, only."""
    machine: bool = True
    """Replace texts of queries that find nothing first, without a call."""
    always: bool = False
    """Look at every query, with its result (CHESS appendix A.4). A query with rows
    may then be replaced by another one with rows."""
    by_schema: bool = True
    """Mend by the schema what fails, and tell the model which tables have a column that it looks
    for elsewhere; not in the paper."""
    sampling: Sampling = field(default_factory=Sampling)

    source: ClassVar[str] = SOURCE
    rows: ClassVar[int] = 20
    purpose: ClassVar[str] = (
        "Mends queries that failed, found nothing or compare with texts that aren't stored; a "
        "new query is kept only if it is better. Run it where a query has such a fault, again "
        "while it helps. One call for each of them."
    )
    cheaper: ClassVar[str] = "repair.literals"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __post_init__(self) -> None:
        if self.examples < 0:
            raise ValueError(f"examples must not be negative, not {self.examples}")

    @property
    def rule(self) -> FaultRule:
        """The faults that count by these options."""
        return FaultRule(self.empty, self.nulls, self.literals)

    @property
    def tried_rule(self) -> FaultRule:
        """The faults that a result alone shows, whatever the options."""
        return _RESULTS

    def looked_at(self, candidate: Candidate, state: State, context: Context) -> Looked:
        """The candidate, mended by machine where that goes, and what is still wrong with it."""
        if settled(candidate) or candidate.result is None:
            return Looked(candidate, (), wanted=False)
        faults = tuple(self.rule.faults(candidate, state, context))
        mended = self.by_machine(candidate, state, context)
        if mended is not candidate:
            candidate = mended
            faults = tuple(self.rule.faults(candidate, state, context))
        wanted = bool(faults) or (self.always and valid(candidate))
        return Looked(candidate, faults, wanted)

    def by_machine(self, candidate: Candidate, state: State, context: Context) -> Candidate:
        """The executed candidate as a machine can mend it, which costs no call."""
        if not (self.machine and is_empty_answer(candidate)):
            return candidate
        unknown = unknown_texts(candidate.sql, state, context, ALIKE)
        return mend(candidate, unknown, state, context)

    def better(self, new: Candidate, looked: Looked, state: State, context: Context) -> bool:
        """As of any mending; of two alike the one with fewer unknown texts is better, and with
        `always` the later of two with rows."""
        if result_rank(new) == result_rank(looked.candidate):
            before = sum(fault.kind == "literal" for fault in looked.faults)
            after = before and len(unknown_texts(new.sql, state, context))
            if after != before:
                return after < before
            if self.always and result_rank(new) == 0:
                return True
        return super().better(new, looked, state, context)

    def fitted(self, looked: Looked, state: State, context: Context) -> Fitted:
        """The prompt about it, with worked examples that fit its faults."""
        candidate = looked.candidate
        look = Look.at(context.workspace, context.run)
        notes = (*checked_by_machine(candidate, context.workspace), *expected(candidate.sql, look))
        return self.about(
            looked,
            state,
            context,
            template=self.prompt,
            demonstrations=self._demonstrations(looked, bool(notes), state, context),
            notes=list(map(_noticed, notes)),
        )

    def _demonstrations(
        self, looked: Looked, noticed: bool, state: State, context: Context
    ) -> list[Mapping[str, Any]]:
        """Worked examples for the candidate's faults first, then for the question."""
        features: set[str] = {fault.kind for fault in looked.faults}
        features |= {"finding"} if noticed else set()
        features |= features_of(state, context) & {"text_form"}
        if not looked.faults:
            features.add("rows")
        known = load_revisions(dialect=state.view.schema.dialect)
        return [texts(one) for one in chosen(known, features, SHOTS)]


def _noticed(note: Note) -> Text:
    """A finding of the machine's own checks: tables and columns, and of caveats stored values."""
    told = schema_text(f"{note.text}.")
    if note.kind in CAVEATS:
        less = "NULL or text decides its order, comparison or sum."
        told = Text((Span(f"{note.text}.", "value", less),))
    return plain_text("Noticed by machine: ") + told
