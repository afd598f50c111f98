"""Stored values and columns that the keywords of a question resemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.indexes.published import PublishedIndexes
from sqlwright.protocols import Context, Step, ValueIndex
from sqlwright.steps.retrieval.column_names import similar_columns
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


@dataclass(frozen=True)
class RetrieveEntities(Step):
    """Looks the keywords up among the stored values and the names of columns.

    CHESS section 3.1, retrieve_entity, and appendix A.1: index, edit distance, embedding. The three
    descriptions of it differ, hence `form`. `paper`: of the values the index gives for a keyword
    the `top_k` nearest by embedding that reach `least_meaning`, then of each column the one with
    the smallest edit distance. `code`: values that reach `least_edit` and `least_meaning`; over all
    keywords those of a column within `within` of its best by each measure. `v1`, an earlier
    program: by `least_edit` the best five, by `least_meaning` the best one, and of a column those
    that tie its best edit similarity.

    Deviations: in each form a value also passes that is spelled like the text (`near.is_spelled`)
    or is another form of it (`other_forms`), whatever it means, and one that is an abbreviation of
    it at less likeness; where a text is a stored value, values that only resemble its parts are
    left out; numbers match whole numbers only, and what names a table or column isn't looked up;
    similarity is of folded texts; the index gives at most `per_column` values of one column. A year
    also matches the columns of whole numbers that hold it as one.
    """

    form: Literal["paper", "code", "v1"] = "paper"
    values: Literal["index", "minhash"] = "index"
    """Our index, or the paper's (extra `lsh`), whose signatures are kept with what is prepared."""
    library: Literal["datasketch", "rensa"] = "datasketch"
    """The library that computes the paper's signatures: the library it used, or a much faster
    one."""
    top_k: int = 10
    """Values taken from the index for each text searched for."""
    per_column: int = 3
    """Of them, most from one column."""
    least_edit: float = 0.3
    """Least similarity letter by letter (forms `code` and `v1`)."""
    least_meaning: float | None = None
    """Least cosine similarity; None is what is fitted to the embedder."""
    least_short: float | None = None
    """The same for a word and a value that may be its abbreviation."""
    within: float = 0.9
    """Share of a column's best similarity that others must reach (form `code`)."""
    keep_edit: int = 5
    """Values of a text kept by edit similarity (form `v1`)."""
    keep_meaning: int = 1
    """Of these, values kept by embedding (form `v1`)."""
    limit: int = 40
    """Most values in all."""
    least_name: float = 0.9
    """Least similarity of a column's name."""
    columns: int = 20
    """Most columns found by name."""

    _published: PublishedIndexes = field(
        default_factory=PublishedIndexes, init=False, repr=False, compare=False, hash=False
    )

    purpose: ClassVar[str] = (
        "Looks up each keyword among the stored values and the names of columns, spelling "
        "mistakes included, so that queries compare with values as they are stored. Run it once "
        "there are keywords. No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "keywords"})
    writes: ClassVar[frozenset[str]] = frozenset({"values", "similar_columns", "searched"})

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedder's."""
        return ("embedder",)

    def applies(self, state: State, context: Context) -> bool:
        """True once there are keywords."""
        return bool(state.keywords)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if not state.keywords:
            return state
        question = state.question
        near = self._near(state, context)
        spelled = undisputed([hit for hit in near if is_spelled(hit)])
        rest = unread(near, spelled)
        alike = self._alike(spelled, rest, context)
        found = matches_of(longest(spelled, alike), question)
        found = [*years_in(question, state.view, context.workspace.catalog), *found][: self.limit]
        known = {(match.column, match.value) for match in state.values}
        new = tuple(match for match in found if (match.column, match.value) not in known)
        named = similar_columns(
            state.keywords, state.view, least=self.least_name, most=self.columns
        )
        names = names_of(state.view)
        searched = tuple(word for word in state.keywords if not is_formula(word, names))
        return state.evolve(values=(*state.values, *new), similar_columns=named, searched=searched)

    def _near(self, state: State, context: Context) -> list[Near]:
        """Matches of the index for each text that may be meant, and other forms of the texts."""
        names = names_of(state.view)
        phrases = looked_up(state.keywords, state.question, names)
        index: ValueIndex = context.workspace.values
        if self.values == "minhash":
            index = self._published.of(index, self.library, context.run)
        hits = index.search_many(
            [phrase.text for phrase in phrases], self.top_k, per_column=self.per_column
        )
        found = [
            near_of(phrase, match)
            for phrase, matches in zip(phrases, hits, strict=True)
            for match in matches
        ]
        near = [hit for hit in found if may_match(hit, state.question, names)]
        pairs = [(hit.phrase, hit.match) for hit in near]
        return [*near, *(other_form(*pair) for pair in by_other_forms(phrases, index, pairs))]

    def _alike(self, spelled: Sequence[Near], rest: Sequence[Near], context: Context) -> list[Near]:
        """Those of the rest that are near enough in meaning, by the form asked for."""
        least = FITTED.meaning if self.least_meaning is None else self.least_meaning
        least_short = FITTED.short if self.least_short is None else self.least_short
        near = with_meaning(rest, context.embedder)
        short = [hit for hit in near if hit.meaning >= least_short and is_short_form(hit)]
        form = {"paper": self._paper, "code": self._code, "v1": self._v1}[self.form]
        equal = [hit for hit in spelled if hit.meaning >= 1]
        return [*form([*equal, *near], least), *short]

    def _paper(self, near: Sequence[Near], least: float) -> list[Near]:
        kept: list[Near] = []
        for group in grouped(near, by="searched"):
            ranked = sorted(group, key=lambda hit: -hit.meaning)[: self.top_k]
            alike = [hit for hit in ranked if hit.meaning >= least]
            columns = grouped(alike, by="column")
            kept += [max(column, key=lambda hit: (hit.edit, hit.meaning)) for column in columns]
        return kept

    def _code(self, near: Sequence[Near], least: float) -> list[Near]:
        alike = [hit for hit in near if hit.edit >= self.least_edit and hit.meaning >= least]
        kept: list[Near] = []
        for group in grouped(alike, by="column"):
            best = self.within * max(hit.edit for hit in group)
            spelled = [hit for hit in group if hit.edit >= best]
            best = self.within * max(hit.meaning for hit in spelled)
            kept += [hit for hit in spelled if hit.meaning >= best]
        return kept

    def _v1(self, near: Sequence[Near], least: float) -> list[Near]:
        nearest: list[Near] = []
        for group in grouped([hit for hit in near if hit.edit >= self.least_edit], by="searched"):
            spelled = sorted(group, key=lambda hit: -hit.edit)[: self.keep_edit]
            ranked = sorted(spelled, key=lambda hit: -hit.meaning)
            nearest += [hit for hit in ranked if hit.meaning >= least][: self.keep_meaning]
        kept: list[Near] = []
        for group in grouped(nearest, by="column"):
            best = max(hit.edit for hit in group)
            kept += [hit for hit in group if hit.edit >= best]
        return kept
