"""One question back, where two or three readings of a question are about as likely and give
different results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from sqlwright.candidates import (
    ResultGroup,
    cell_key,
    facts_of,
    group_by_result,
    is_empty_answer,
    valid,
)
from sqlwright.english import cues
from sqlwright.english.bounds import bound_spans
from sqlwright.english.words import split_name, stem, tokens
from sqlwright.presentation.accounting import LEAST
from sqlwright.presentation.answer import result_words
from sqlwright.protocols import Context, Step
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.calculations import calculations
from sqlwright.sql.facts import Comparison, Term
from sqlwright.steps.selection.readings import (
    Difference,
    Statement,
    Worded,
    Wording,
    difference,
    question_text,
)
from sqlwright.types import Account, Candidate, State
from sqlwright.types.candidates import Choice, QuestionBack

MOST = 3
"""Choices at most: more aren't read."""
RIVALS = 6
"""Other results that are looked at, the likeliest first; chosen."""
ALIKE = 4
"""Queries looked at of those that give one result, the likeliest first; chosen."""
_MOST, _LEAST = (cues.whole_words(cues.one_of(kind)) for kind in (cues.MOST, cues.LEAST))


@dataclass(frozen=True)
class AskBack(Step):
    """Finds the question to ask back: between the selected query and others of other results that
    differ from it in one thing that can be said.

    Works for every author: a query's weight is the probability that the answer would show of it
    or, where nothing was fitted, the share of samples that stands behind its result. Without either
    nothing is asked. A query with a fault, or that leaves out a phrase of the question which the
    selected one answers, is no reading. The answer stays the likeliest reading.
    """

    near: float = 0.6
    """Least weight of another reading, as a share of the selected one's. Chosen: of 502 questions
    19 are asked back, 8 of them right unasked and 12 by a choice; with 0.25 it is 56, for one
    more right answer."""
    least: float = 0.15
    """Least weight of another reading: below it nothing speaks for it."""
    sure: float = 0.85
    """Weight of the selected query from which nothing is asked."""

    reads: ClassVar[frozenset[str]] = frozenset({"question", "candidates", "selected"})
    writes: ClassVar[frozenset[str]] = frozenset({"question_back"})

    def __post_init__(self) -> None:
        for name in ("near", "least", "sure"):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, not {value:g}")

    def __call__(self, state: State, context: Context) -> State:
        if state.selected is None or not valid(state.selected) or state.refusal is not None:
            return state
        weighed = context.weighed(state)
        chosen, weight = weighed.selected or state.selected, _weights(weighed)
        if not 0.0 < weight[chosen.id] < self.sure:
            return state
        rivals = _rivals(weighed, chosen, weight, max(self.near * weight[chosen.id], self.least))
        wording = Wording(state.question, context.workspace.schema, state.values)
        found = _question_back(chosen, rivals, weight, wording)
        return state if found is None else state.evolve(question_back=found)


Weights = Mapping[str, float]
"""Of candidates, by their ids."""


def _weights(state: State) -> Weights:
    """The probability of each candidate or, without one, the share of samples behind its result.

    Where the answer alone has a probability (a language model's, fitted by its user), the samples
    behind other results share what it leaves, and no other is likelier than the answer.
    """
    chosen, sure = state.selected, state.confidence
    found = {
        one.id: (one.share or 0.0) if one.confidence is None else one.confidence
        for one in (*state.candidates, *([chosen] if chosen else []))
    }
    if chosen is None or sure is None or chosen.confidence is not None:
        return found
    part = found[chosen.id]
    left = (1.0 - sure) / (1.0 - part) if part < 1.0 else 0.0
    return {id_: min(share * left, sure) for id_, share in found.items()} | {chosen.id: sure}


def _question_back(
    chosen: Candidate, rivals: Iterator[ResultGroup], weight: Weights, wording: Wording
) -> QuestionBack | None:
    asked: Difference | None = None
    phrase, texts, candidates = "", list[str](), [chosen]
    for group in rivals:
        found = _one_difference(chosen, group, wording)
        if found is None:
            continue
        rival, differing, worded = found
        if asked is None:
            asked, phrase = differing, worded.phrase
            texts, candidates = [worded.one, worded.other], [chosen, rival]
        elif differing.asks == asked.asks and worded.one == texts[0] and worded.other not in texts:
            texts.append(worded.other)
            candidates.append(rival)
        if len(texts) == MOST:
            break
    if asked is None:
        return None
    return QuestionBack(
        question_text(asked.kind, phrase, texts),
        asked.kind,
        phrase,
        tuple(_choices(texts, candidates, weight)),
    )


def _choices(
    texts: Sequence[str], candidates: Sequence[Candidate], weight: Weights
) -> Iterator[Choice]:
    whole = sum(weight[one.id] for one in candidates)
    for text, candidate in zip(texts, candidates, strict=True):
        gives = "" if candidate.result is None else result_words(candidate.result)
        yield Choice(text, gives, weight[candidate.id] / whole, candidate)


def _rivals(
    state: State, chosen: Candidate, weight: Weights, least: float
) -> Iterator[ResultGroup]:
    """The candidates of each other result that is likely enough, the likeliest result first."""
    ours = [
        one for one in state.for_question
        if valid(one) and not one.vetoes and weight[one.id] >= least
        and not _leaves_out(one.account, chosen.account)
    ]  # fmt: skip
    ours.sort(key=lambda one: -weight[one.id])
    groups = group_by_result([chosen, *ours])
    others = (group for group in groups[1:] if _tells_apart(chosen, group.best))
    yield from islice(others, RIVALS)


def _leaves_out(account: Account | None, other: Account | None) -> bool:
    """True if a query leaves out a phrase of the question, of which a person would be told, that
    another one answers."""
    if account is None or other is None:
        return False
    answered = {one.span for one in other.phrases if one.answer}
    return any(one.doubt >= LEAST and one.span in answered for one in account.unanswered)


def _tells_apart(one: Candidate, other: Candidate) -> bool:
    """True if the rows differ in more than their order, and the other has some."""
    if is_empty_answer(other) or one.result is None or other.result is None:
        return False
    rows = [
        Counter(tuple(map(cell_key, row)) for row in r.rows) for r in (one.result, other.result)
    ]
    return rows[0] != rows[1]


def _one_difference(
    chosen: Candidate, group: ResultGroup, wording: Wording
) -> tuple[Candidate, Difference, Worded] | None:
    """The likeliest query of a result that differs from the chosen one in one thing that can be
    said and that nothing settles. Calculations stand in no fact: they have to be the same."""
    ours = facts_of(chosen, wording.schema)
    if ours is None:
        return None
    dialect = wording.schema.dialect
    worked_out = calculations(chosen.sql, dialect)
    for rival in group.candidates[:ALIKE]:
        theirs = facts_of(rival, wording.schema)
        if theirs is None or calculations(rival.sql, dialect) != worked_out:
            continue
        differing = difference(ours, theirs)
        if differing is None:
            continue
        worded = wording.worded(differing)
        if worded.told and not is_settled(differing, worded, wording):
            return rival, differing, worded
    return None


def is_settled(differing: Difference, worded: Worded, wording: Wording) -> bool:
    """True if both readings tell of the same things, if the question's own words say which is
    meant, if the other one adds a condition of which they say nothing, if the evidence names what
    one of them goes by, or if descriptions say which of two columns is called so."""
    if _tell_the_same(differing, wording.schema) or _is_said(differing, wording.question.text):
        return True
    if _adds_unasked(differing, worded, wording):
        return True
    evidence = _words(wording.question.evidence)
    if differing.columns is not None:
        names = [{*map(stem, split_name(ref.column))} for ref in differing.columns]
        named = [bool(name) and name <= evidence for name in names]
        if named[0] != named[1]:
            return True
        phrase = _words(worded.phrase)
        told = [_described(ref, phrase, wording.schema) for ref in differing.columns]
        return told[0] != told[1]
    marks = [set(_marks(said)) for said in differing.sides]
    return any(mark <= evidence for mark in marks[0] ^ marks[1])


def _is_said(differing: Difference, question: str) -> bool:
    """True if a question says which end of an order it means, or how it compares."""
    if differing.kind == "direction":
        return bool(_MOST.search(question)) is not bool(_LEAST.search(question))
    return differing.kind == "bound" and any(bound_spans(question))


def _adds_unasked(differing: Difference, worded: Worded, wording: Wording) -> bool:
    """True if the other query has a condition more, and no word of the question stands for a column
    or a constant of it."""
    if differing.kind != "condition" or differing.one is not None or worded.phrase:
        return False
    asked = _words(wording.question.text) | _words(wording.question.evidence)
    return not any(mark & asked for mark in _marks(differing.other))


def _tell_the_same(differing: Difference, schema: Schema) -> bool:
    """True if one query shows or groups by the key of what the other one takes another column
    of."""
    said = differing.one
    if differing.columns is None or said is None or said.place not in {"shown", "grouping"}:
        return False
    if not isinstance(said.fact, Term) or said.fact.column is None:
        return False
    keys = [ref for ref in differing.columns if ref in schema.all_keys]
    if len(keys) != 1:
        return False
    (named,) = (ref for ref in differing.columns if ref not in keys)
    return named.table in _known_by(keys[0], schema)


def _known_by(key: ColumnRef, schema: Schema) -> set[str]:
    """The tables whose rows a column of a key stands for."""
    table = schema.table(key.table)
    own = {key.table} if table is not None and table.primary_key == (key.column,) else set()
    return own | {far.table for near, far in schema.key_pairs if near == key}


def _marks(said: Statement | None) -> Iterator[frozenset[str]]:
    """The words of each column and constant of a condition."""
    if said is None or not isinstance(said.fact, Comparison):
        return
    for term in (said.fact.left, *said.fact.right):
        names = [*(ref.column for ref in term.columns), *(one.text for one in term.constants)]
        for name in names:
            if words := frozenset(stem(word) for word in split_name(name)):
                yield words


def _words(text: str) -> set[str]:
    return {stem(word.text) for word in tokens(text)}


def _described(ref: ColumnRef, phrase: set[str], schema: Schema) -> bool:
    """True if a column's description, not its name, has all words of a phrase."""
    table = schema.table(ref.table)
    column = None if table is None else table.column(ref.column)
    if column is None or not phrase:
        return False
    return phrase <= _words(f"{column.label} {column.description}")
