"""Choosing worked examples that fit: by features of the question, the schema and what was found.

The features, which the examples name as `fits`:

- of the question's words: `zero` a number for each thing, or things with few or no partners;
  `extreme` the most or least; `share` a part of a whole; `groups` a bound on what is counted or
  averaged; `run` neighbours in an order; `period` a time;
- `evidence` there is some; `not_found` it names something, and no stored value was found;
- of the schema: `one_table`; `two_ends` two keys from one table to another;
  `text_form` numbers, or dates that don't sort, stored as text.

Words are read in English; the others hold for any language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlwright.candidates import normalized_sql
from sqlwright.english import cues
from sqlwright.english.words import tokens
from sqlwright.prompts.demonstrations import WorkedDemonstration
from sqlwright.protocols import Context
from sqlwright.types import Demonstration, State

D = TypeVar("D", bound=WorkedDemonstration)

_WORDS: Mapping[str, re.Pattern[str]] = {
    name: cues.whole_words(cues.one_of(words))
    for name, words in {
        "zero": (*cues.EACH, *cues.NOT, *cues.FEW),
        "extreme": (*cues.HIGH_END, *cues.LOW_END, "latest", "earliest", "first", "last"),
        "share": cues.SHARE,
        "groups": (*cues.BOUND, *cues.AVERAGE),
        "run": cues.RUN,
        "period": cues.TIME,
    }.items()
}
_TEXT_FORMS = frozenset({
    "number_text", "number_grouped", "number_comma", "money", "percent", "time",
    "date_mdy", "date_dmy", "date_ambiguous", "date_words",
})  # fmt: skip


def features_of(state: State, context: Context) -> frozenset[str]:
    """The features of a state's question and of what its view shows."""
    catalog = context.workspace.catalog
    return context.run.once(
        lambda: frozenset(_features(state, context)),
        "demonstrating/features",
        (state.question, state.view, state.values, catalog),
    )


def chosen(
    demonstrations: Sequence[D], features: Collection[str], count: int, least: int | None = None
) -> tuple[D, ...]:
    """At most `count` demonstrations, the most useful first: each next one has most of the features
    that none before it has. Then those that are left, in their own order, until there are `least`;
    None is as many as `count`."""
    left = list(demonstrations)
    open_features = set(features)
    taken: list[D] = []
    while left and len(taken) < count:
        best = max(left, key=lambda one: len(open_features.intersection(one.fits)))
        if least is not None and len(taken) >= least and not open_features.intersection(best.fits):
            break
        left.remove(best)
        taken.append(best)
        open_features.difference_update(best.fits)
    return tuple(taken)


def in_turn(made: Iterable[Demonstration]) -> list[Demonstration]:
    """The examples that several calls made, in turn: the first of each call, then the second. Of
    checked ones with the same query or question only the first stays."""
    seen: set[str] = set()
    kept = []
    for one in sorted(made, key=lambda each: each.turn):
        keys = {normalized_sql(one.sql), " ".join(one.question.casefold().split())}
        if one.checked and keys & seen:
            continue
        kept.append(one)
        seen |= keys
    return kept


def _names_something(text: str) -> bool:
    """True if a text quotes, or has a capital letter behind its first word."""
    quoted = any(mark in text for mark in "\"'“‘«")
    return quoted or any(text[token.start].isupper() for token in tokens(text)[1:])


def _features(state: State, context: Context) -> Iterator[str]:
    text = state.question.text
    yield from (name for name, words in _WORDS.items() if words.search(text))
    if state.question.evidence.strip():
        yield "evidence"
    if not state.values and _names_something(text):
        yield "not_found"
    schema = state.view.visible_schema()
    if len(schema.tables) == 1:
        yield "one_table"
    ends = Counter((key.table, key.target_table) for key in schema.foreign_keys)
    if any(count > 1 for count in ends.values()):
        yield "two_ends"
    catalog = context.workspace.catalog
    profiles = {} if catalog is None else (catalog.steady or catalog).columns
    for ref in schema.columns:
        profile = profiles.get(ref)
        if profile is None or profile.main_storage != "text":
            continue
        if any(form.name in _TEXT_FORMS for form in profile.formats):
            yield "text_form"
            return
