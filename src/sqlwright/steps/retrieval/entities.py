"""Stored values and columns that the keywords of a question resemble."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from rapidfuzz import fuzz

from sqlwright.errors import NotEmbedded
from sqlwright.indexes.folding import soften
from sqlwright.protocols import Context, Embedder, Step, ValueIndex, embedder_role
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.column_names import similar_columns
from sqlwright.steps.retrieval.endpoint_vectors import embedder_of, told_instead
from sqlwright.steps.retrieval.published_index import PublishedIndexes
from sqlwright.steps.retrieval.values import SKIPPED
from sqlwright.types import Question, State, ValueMatch

NAME = "retrieval.entities"
LONGEST = 100
"""Characters of a text that is searched for."""
SHORTEST = 2
"""Characters of a keyword's piece that is searched for."""
_PAIRS = {"'": "'", '"': '"', "`": "`", "(": ")", "[": "]", "“": "”", "‘": "’"}


@dataclass(frozen=True, slots=True)
class Near:
    """A stored value and how near it is to what was searched for."""

    match: ValueMatch
    searched: str
    edit: float
    """Similarity letter by letter, in [0, 1], whatever the case."""
    meaning: float = 0.0
    """Cosine of the embeddings; 1 for texts that are the same but for case and accents."""


@dataclass(frozen=True)
class RetrieveEntities(Step):
    """CHESS section 3.1, retrieve_entity, and appendix A.1: index, edit distance, embedding.

    The three descriptions of it differ, hence `form`. `paper`: of the values the index gives for a
    keyword the `top_k` nearest by embedding that reach `least_meaning`, then of each column the one
    with the smallest edit distance. `code`: values that reach `least_edit` and `least_meaning`;
    over all keywords those of a column within `within` of its best by each measure. `v1`, an
    earlier program: by `least_edit` the best five, by `least_meaning` the best one, and of a column
    those that tie its best edit similarity.

    Deviations: a value equal but for case and accents passes every threshold; similarity is of
    folded texts; the index gives at most `per_column` values of one column.
    """

    form: Literal["paper", "code", "v1"] = "paper"
    values: Literal["index", "minhash"] = "index"
    """Our index, or the paper's (extra `lsh`), which is built in memory when it is first used."""
    library: Literal["datasketch", "rensa"] = "datasketch"
    """The library that computes the paper's signatures: the library it used, or a much faster
    one."""
    top_k: int = 10
    """Values taken from the index for each text searched for."""
    per_column: int = 3
    """Of them, most from one column."""
    least_edit: float = 0.3
    """Least similarity letter by letter (forms `code` and `v1`)."""
    least_meaning: float = 0.6
    """Least cosine similarity."""
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
    embedder: str = ""
    """The embedder: `provider/model`, the paper's is `openai/text-embedding-3-small`; empty is the
    embedded one, which also stands in where the other can't be had or values mayn't be sent."""

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
        return (embedder_role(self.embedder),)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if not state.keywords:
            return state
        index: ValueIndex = context.workspace.values
        if self.values == "minhash":
            index = self._published.of(index, self.library)
        texts = search_texts(state.keywords)
        hits = index.search_many(texts, self.top_k, per_column=self.per_column)
        near = [
            Near(match, text, fuzz.ratio(soften(text), soften(match.value)) / 100)
            for text, matches in zip(texts, hits, strict=True)
            for match in matches
        ]
        form = {"paper": self._paper, "code": self._code, "v1": self._v1}[self.form]
        try:
            chosen = form(near, embedder_of(context, self.embedder, step=NAME, origin="value"))
        except NotEmbedded as error:
            state = state.warn("embedder", told_instead(error), error)
            chosen = form(near, embedder_of(context, "", step=NAME, origin="value"))
        found = matches_of(chosen, state.question)[: self.limit]
        known = {(match.column, match.value) for match in state.values}
        new = tuple(match for match in found if (match.column, match.value) not in known)
        named = similar_columns(
            state.keywords, state.view, least=self.least_name, most=self.columns
        )
        return state.evolve(
            values=(*state.values, *new), similar_columns=named, searched=state.keywords
        )

    def _paper(self, near: Sequence[Near], embedder: Embedder) -> list[Near]:
        kept: list[Near] = []
        for group in grouped(with_meaning(near, embedder), by="searched"):
            ranked = sorted(group, key=lambda hit: -hit.meaning)[: self.top_k]
            alike = [hit for hit in ranked if hit.meaning >= self.least_meaning]
            columns = grouped(alike, by="column")
            kept += [max(column, key=lambda hit: (hit.edit, hit.meaning)) for column in columns]
        return kept

    def _code(self, near: Sequence[Near], embedder: Embedder) -> list[Near]:
        alike = with_meaning([hit for hit in near if hit.edit >= self.least_edit], embedder)
        kept: list[Near] = []
        for group in grouped([n for n in alike if n.meaning >= self.least_meaning], by="column"):
            least = self.within * max(hit.edit for hit in group)
            spelled = [hit for hit in group if hit.edit >= least]
            least = self.within * max(hit.meaning for hit in spelled)
            kept += [hit for hit in spelled if hit.meaning >= least]
        return kept

    def _v1(self, near: Sequence[Near], embedder: Embedder) -> list[Near]:
        alike: list[Near] = []
        for group in grouped([hit for hit in near if hit.edit >= self.least_edit], by="searched"):
            alike += sorted(group, key=lambda hit: -hit.edit)[: self.keep_edit]
        nearest: list[Near] = []
        for group in grouped(with_meaning(alike, embedder), by="searched"):
            ranked = sorted(group, key=lambda hit: -hit.meaning)
            ranked = [hit for hit in ranked if hit.meaning >= self.least_meaning]
            nearest += ranked[: self.keep_meaning]
        kept: list[Near] = []
        for group in grouped(nearest, by="column"):
            best = max(hit.edit for hit in group)
            kept += [hit for hit in group if hit.edit >= best]
        return kept


def search_texts(keywords: Iterable[str]) -> list[str]:
    """Each keyword, what begins or ends it at a blank, and what is right of a `=`, each once.

    Of its pieces, single letters and words that mean nothing by themselves are left out.
    """
    found: dict[str, str] = {}
    for keyword in keywords:
        whole = _bare(" ".join(keyword.split())[:LONGEST])
        if whole not in SKIPPED:
            found.setdefault(soften(whole), whole)
        for piece in map(_bare, _pieces(whole)):
            folded = soften(piece)
            if len(piece) >= SHORTEST and folded not in SKIPPED and piece[0] not in "=<>":
                found.setdefault(folded, piece)
    found.pop("", None)
    return list(found.values())


def _pieces(keyword: str) -> Iterator[str]:
    for blank in re.finditer(r" ", keyword):
        yield keyword[: blank.start()]
        yield keyword[blank.end() :]
    if "=" in keyword:
        yield keyword.rsplit("=", 1)[1]


def _bare(text: str) -> str:
    """A text without marks around it and blanks at its ends."""
    text = text.strip(" ,;")
    while len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
        text = text[1:-1].strip(" ,;")
    return text


def grouped(near: Iterable[Near], *, by: Literal["searched", "column"]) -> list[list[Near]]:
    """Matches grouped by text or by column, in order of first appearance."""
    groups: dict[object, list[Near]] = {}
    for hit in near:
        groups.setdefault(hit.searched if by == "searched" else hit.match.column, []).append(hit)
    return list(groups.values())


def with_meaning(near: Sequence[Near], embedder: Embedder) -> list[Near]:
    """The same with the cosine of each pair; texts are embedded once, equal ones not at all."""
    apart = [hit for hit in near if soften(hit.searched) != soften(hit.match.value)]
    texts = list(dict.fromkeys(t for hit in apart for t in (hit.searched, hit.match.value)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    differing = {id(hit) for hit in apart}
    return [
        Near(
            hit.match,
            hit.searched,
            hit.edit,
            float(vectors[hit.searched] @ vectors[hit.match.value])
            if id(hit) in differing
            else 1.0,
        )
        for hit in near
    ]


def matches_of(near: Iterable[Near], question: Question) -> list[ValueMatch]:
    """Each stored value once a column, the nearest first."""
    best: dict[tuple[ColumnRef, str], Near] = {}
    for hit in near:
        key = (hit.match.column, hit.match.value)
        if key not in best or (hit.edit, hit.meaning) > (best[key].edit, best[key].meaning):
            best[key] = hit
    ranked = sorted(
        best.values(),
        key=lambda hit: (-hit.edit, -hit.meaning, str(hit.match.column), hit.match.value),
    )
    return [
        ValueMatch(
            hit.searched,
            hit.match.column,
            hit.match.value,
            round(hit.edit, 4),
            hit.match.row_count,
            _span(hit.searched, question.text),
        )
        for hit in ranked
    ]


def _span(text: str, question: str) -> tuple[int, int] | None:
    """Start and end of the text in the question, as a whole word."""
    found = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, re.IGNORECASE)
    return found.span() if found else None
