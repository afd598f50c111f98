"""Stored values and columns that the keywords of a question resemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.indexes.column_names import similar_columns
from sqlwright.indexes.folding import soften
from sqlwright.indexes.published import PublishedIndexes
from sqlwright.protocols import Context, Step, ValueIndex
from sqlwright.steps.retrieval.phrases.compared import Compared, compared_texts, is_meant
from sqlwright.steps.retrieval.phrases.keyword_pieces import is_formula, looked_up, names_of
from sqlwright.steps.retrieval.phrases.near import (
    FITTED,
    Near,
    grouped,
    is_short_form,
    is_spelled,
    longest,
    matches_of,
    may_match,
    near_of,
    other_form,
    undisputed,
    unread,
    with_meaning,
)
from sqlwright.steps.retrieval.phrases.years import years_in
from sqlwright.steps.retrieval.values import by_other_forms
from sqlwright.types import State

NAME = "retrieval.entities"
WIDE = 64
"""Values taken from the index for a text that is compared with a column, which others may hold."""
PER_COLUMN = 3
"""Values taken from the index for a text, most from one column."""
LIMIT = 40
"""Most values in all."""


@dataclass(frozen=True)
class RetrieveEntities(Step):
    """Looks the keywords up among the stored values and the names of columns.

    CHESS section 3.1, retrieve_entity, and appendix A.1: index, edit distance, embedding. Of the
    values the index gives for a keyword the `top_k` nearest by embedding that mean nearly the same,
    then of each column the one with the smallest edit distance.

    Deviations: a value also passes that is spelled like the text (`near.is_spelled`) or is another
    form of it (`other_forms`), whatever it means, and one that is an abbreviation of it at less
    likeness; a text that the evidence compares with a column matches that column alone; where a
    text is a stored value, values that only resemble its parts are left out;
    numbers match whole numbers only, and what names a table or column isn't looked up; similarity
    is of folded texts; the index gives at most `PER_COLUMN` values of one column. A year also
    matches the columns of whole numbers that hold it as one.
    """

    values: Literal["index", "minhash"] = "index"
    """Our index, or the paper's (extra `lsh`), whose signatures are kept with what is prepared."""
    library: Literal["datasketch", "rensa"] = "datasketch"
    """The library that computes the paper's signatures: the library it used, or a much faster
    one."""
    top_k: int = 10
    """Values taken from the index for each text searched for."""
    least_meaning: float = FITTED.meaning
    """Least cosine similarity."""

    _published: PublishedIndexes = field(
        default_factory=PublishedIndexes, init=False, repr=False, compare=False, hash=False
    )

    purpose: ClassVar[str] = (
        "Looks up each keyword among the stored values and the names of columns, spelling "
        "mistakes included, so that queries compare with values as they are stored. Run it once "
        "there are keywords. No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "keywords"})
    writes: ClassVar[frozenset[str]] = frozenset(
        {"values", "similar_columns", "searched", "looked_up"}
    )

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedder's."""
        return ("embedder",)

    @property
    def prepared(self) -> frozenset[str]:
        """The signatures of the library, where the paper's index is searched."""
        return frozenset({f"minhash-{self.library}"} if self.values == "minhash" else ())

    def applies(self, state: State, context: Context) -> bool:
        """True once there are keywords."""
        return bool(state.keywords)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if not state.keywords:
            return state
        question = state.question
        compared = compared_texts(question, state.view.schema)
        near = [
            hit for hit in self._near(state, context, compared) if is_meant(hit.match, compared)
        ]
        spelled = undisputed([hit for hit in near if is_spelled(hit)])
        rest = unread(near, spelled)
        alike = self._alike(spelled, rest, context)
        found = matches_of(longest(spelled, alike), question)
        years = years_in(question, state.view, context.workspace.catalog)
        found = [*(year for year in years if is_meant(year, compared)), *found][:LIMIT]
        known = {(match.column, match.value) for match in state.values}
        new = tuple(match for match in found if (match.column, match.value) not in known)
        named = similar_columns(state.keywords, state.view)
        names = names_of(state.view)
        searched = tuple(word for word in state.keywords if not is_formula(word, names))
        return state.evolve(
            values=(*state.values, *new),
            looked_up=(*state.looked_up, NAME),
            similar_columns=named,
            searched=searched,
        )

    def _near(self, state: State, context: Context, compared: Compared) -> list[Near]:
        """Matches of the index for each text that may be meant, and other forms of the texts."""
        names = names_of(state.view)
        phrases = looked_up(state.keywords, state.question, names)
        index: ValueIndex = context.workspace.values
        if self.values == "minhash":
            index = self._published.of(index, self.library, context.run)
        texts = [phrase.text for phrase in phrases]
        hits = index.search_many(texts, self.top_k, per_column=PER_COLUMN)
        if held := [text for text in texts if soften(text) in compared]:
            wide = dict(zip(held, index.search_many(held, WIDE, per_column=1), strict=True))
            hits = [wide.get(text, found) for text, found in zip(texts, hits, strict=True)]
        found = [
            near_of(phrase, match)
            for phrase, matches in zip(phrases, hits, strict=True)
            for match in matches
        ]
        near = [hit for hit in found if may_match(hit, state.question, names)]
        pairs = [(hit.phrase, hit.match) for hit in near]
        return [*near, *(other_form(*pair) for pair in by_other_forms(phrases, index, pairs))]

    def _alike(self, spelled: Sequence[Near], rest: Sequence[Near], context: Context) -> list[Near]:
        """Those of the rest that are near enough in meaning."""
        near = with_meaning(rest, context.embedder)
        short = [hit for hit in near if hit.meaning >= FITTED.short and is_short_form(hit)]
        equal = [hit for hit in spelled if hit.meaning >= 1]
        kept: list[Near] = []
        for group in grouped([*equal, *near], by="searched"):
            ranked = sorted(group, key=lambda hit: -hit.meaning)[: self.top_k]
            alike = [hit for hit in ranked if hit.meaning >= self.least_meaning]
            columns = grouped(alike, by="column")
            kept += [max(column, key=lambda hit: (hit.edit, hit.meaning)) for column in columns]
        return [*kept, *short]
