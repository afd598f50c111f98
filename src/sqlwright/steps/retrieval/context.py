"""Descriptions of columns that are close to what the question and its evidence speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlwright.errors import NotEmbedded
from sqlwright.indexes.descriptions import EXACT, DescriptionIndex
from sqlwright.llm.embedding import BoundEmbedder
from sqlwright.protocols import Context, FloatArray, Step, embedder_role
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.described import DescribedSchemas, SchemaDescriptions
from sqlwright.steps.retrieval.endpoint_vectors import embedder_of, told_instead
from sqlwright.types import DescriptionMatch, Question, State

NAME = "retrieval.context"


@dataclass(frozen=True)
class RetrieveContext(Step):
    """CHESS section 3.1, retrieve_context, and appendix A.2.

    For each keyword the documents nearest to "question keyword" and "evidence keyword". Does
    nothing where a database has no descriptions, or without a question.

    What was prepared with the same embedder is searched whole. Otherwise descriptions are embedded
    when they are first needed and kept; of more than `unprepared`, or `sent` where an endpoint
    embeds them, those that share most words with the question.
    """

    top_k: int = 5
    """Documents per search."""
    whole: bool = True
    """Take everything that describes a column of which one description was found, as the published
    code does (the paper leaves it open), or only what was found."""
    keywords: int = 16
    """Most keywords searched for."""
    unprepared: int = 400
    """Most documents embedded for one question where nothing is prepared."""
    sent: int = 10_000
    """Most documents that an endpoint embeds for one question."""
    exact: int = EXACT
    """Documents up to which search is exact; with more the extra `ann` is used if installed."""
    embedder: str = ""
    """The embedder: `provider/model`, the paper's is `openai/text-embedding-3-small`; empty is the
    embedded one, which also stands in where the other can't be had."""

    _shelf: DescribedSchemas = field(
        default_factory=DescribedSchemas, init=False, repr=False, compare=False, hash=False
    )

    purpose: ClassVar[str] = (
        "Finds descriptions of columns that fit the keywords: what a column means and what its "
        "codes stand for. Run it once there are keywords. No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "keywords"})
    writes: ClassVar[frozenset[str]] = frozenset({"descriptions"})

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedder's."""
        return (embedder_role(self.embedder),)

    def applies(self, state: State, context: Context) -> bool:
        """True if a column in view has a description."""
        described = {one.column for one in self._shelf.of(context.workspace.schema).documents}
        return not described.isdisjoint(state.view.visible)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        queries = searches(state.question, state.keywords[: self.keywords])
        known = self._shelf.of(context.workspace.schema)
        if not queries or not known.documents:
            return state
        words = " ".join((state.question.text, state.question.evidence, *state.keywords))
        try:
            index, vectors = self._index(known, queries, words, context, self.embedder)
        except NotEmbedded as error:
            state = state.warn("embedder", told_instead(error), error)
            index, vectors = self._index(known, queries, words, context, "")
        best: dict[tuple[ColumnRef, str], DescriptionMatch] = {}
        for matches in index.search(vectors, self.top_k):
            for match in matches:
                key = (match.column, match.part)
                if key not in best or match.score > best[key].score:
                    best[key] = match
        found = list(best.values())
        if self.whole:
            found += known.others(found)
        visible = set(state.view.visible)
        found = [match for match in found if match.column in visible]
        found.sort(key=lambda match: (-match.score, str(match.column), match.part))
        state = state.warn("embedder", index.note) if index.note else state
        return state.evolve(descriptions=tuple(found))

    def _index(
        self,
        known: SchemaDescriptions,
        queries: Sequence[str],
        words: str,
        context: Context,
        name: str,
    ) -> tuple[DescriptionIndex, FloatArray]:
        """The index and the queries' vectors. Raises NotEmbedded."""
        stored = context.workspace.descriptions
        embedder = embedder_of(context, name, step=NAME, origin="model")
        if isinstance(embedder, BoundEmbedder):
            documents = known.nearest(words, self.sent)
            if not embedder.permits("value"):
                # What a description says of a column's values may list them.
                documents = [
                    document for document in documents if document.part != "value_description"
                ]
                if not documents:
                    raise NotEmbedded(f"privacy is {context.run.privacy}, and nothing else is told")
            beside = None if stored is None else stored.path.parent
            asked, vectors = known.by_endpoint.of(queries, documents, embedder, beside)
            return DescriptionIndex(documents, vectors, exact=self.exact), asked
        index = known.prepared(stored, embedder, self.exact)
        if index is None:
            index = known.some(words, embedder, self.unprepared, context.run)
        return index, embedder.embed(queries)


def searches(question: Question, keywords: Sequence[str]) -> list[str]:
    """The texts that are searched for: each keyword with the question, and with the evidence."""
    texts = [text for text in (question.text.strip(), question.evidence.strip()) if text]
    return list(dict.fromkeys(f"{text} {word}" for word in keywords or ("",) for text in texts))
