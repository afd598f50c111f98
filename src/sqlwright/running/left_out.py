"""Words of a question that nothing in a language model's query stands for."""

from __future__ import annotations

import re

from sqlwright.presentation.accounting import LEAST
from sqlwright.protocols.embedded import account_of
from sqlwright.schema import Schema
from sqlwright.types import Candidate, Note, State

_WORD = re.compile(r"perhaps ('[^\W\d_]{5,}.*')")
_KINDS = frozenset({"value", "quotation", "name", "number"})
"""Kinds of phrases that a query names in so many words; others it may put in many ways."""


def left_out(state: State, chosen: Candidate, schema: Schema) -> tuple[Note, ...]:
    """A note on each value, name, quoted text and number of the question that a language model's
    query leaves out, where no step has accounted for it. Whether one is stored isn't looked up."""
    if not chosen.by_model or chosen.account is not None:
        return ()
    found = account_of(state.question, schema, state.values, chosen)
    phrases = [] if found is None else [one for one in found.phrases if one.kind in _KINDS]
    return tuple(
        Note("unanswered", f"nothing in this query stands for “{one.text}”{_unless(one.answer)}")
        for one in phrases
        if one.doubt >= LEAST or _unless(one.answer)
    )


def _unless(answer: str) -> str:
    """Part of a sentence on a whole word that stands in the query in a phrase's place: a short one
    may be its code."""
    found = _WORD.fullmatch(answer)
    return f", unless {found[1]} does" if found else ""
