"""The account of a candidate, and the phrases that it leaves unanswered as vetoes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlwright.local.left_out.account import GRAVE, written_account
from sqlwright.local.left_out.reading import Reading
from sqlwright.presentation.accounting import unanswered_words
from sqlwright.types import Account, AskedPhrase, Candidate, ValueMatch, Veto

NEAREST = 3
"""Stored values named for a name that none of them is."""
ALIKE = 0.5
"""Least similarity, in [0, 1], of these; chosen."""


def accounted(candidate: Candidate, read: Reading) -> Candidate:
    """The candidate with its account; as it is where it can't be read."""
    state = read.state
    found = written_account(state.question, read.schema, state.values, candidate, read.today)
    if found is None:
        return candidate
    found = Account(tuple(_with_nearest(one, read) for one in found.phrases))
    return replace(candidate, account=found)


def vetoed(candidate: Candidate) -> Candidate:
    """The candidate with a veto for each grave phrase that nothing in it answers and none of its
    vetoes is about."""
    if candidate.account is None:
        return candidate
    known = [veto.message.casefold() for veto in candidate.vetoes]
    new = tuple(_vetoes(candidate.account.unanswered, known))
    return replace(candidate, vetoes=(*candidate.vetoes, *new)) if new else candidate


def _vetoes(left: Iterable[AskedPhrase], known: Iterable[str]) -> Iterator[Veto]:
    for one in left:
        if one.doubt >= GRAVE and not any(one.text.casefold() in text for text in known):
            yield Veto("unanswered", unanswered_words(one))


def _with_nearest(phrase: AskedPhrase, read: Reading) -> AskedPhrase:
    """A name that nothing stored is called, with the values that are spelled most like it."""
    if phrase.answer or phrase.value is not None or phrase.kind not in {"quotation", "name"}:
        return phrase
    best: dict[str, ValueMatch] = {}
    for match in read.search(phrase.text):
        if match.score >= ALIKE:
            best.setdefault(match.value.casefold(), match)
    return replace(phrase, nearest=tuple(best.values())[:NEAREST])
