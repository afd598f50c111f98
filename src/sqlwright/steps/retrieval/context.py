"""Descriptions of columns that are close to what the question and its evidence speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlwright.indexes.descriptions import DescriptionIndex
from sqlwright.protocols import Context, FloatArray, Step
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.described import DescribedSchemas, SchemaDescriptions
from sqlwright.types import DescriptionMatch, Question, State

NAME = "retrieval.context"
KEYWORDS = 16
"""Most keywords searched for."""
UNPREPARED = 400
"""Most documents embedded for one question where nothing is prepared."""


@dataclass(frozen=True)
class RetrieveContext(Step):
    """CHESS section 3.1, retrieve_context, and appendix A.2.

    For each keyword the documents nearest to "question keyword" and "evidence keyword". Of a
    column of which one description is found all are taken, as by the published code. Does nothing
    where a database has no descriptions, or without a question.

    What was prepared with the same embedder is searched whole. Otherwise descriptions are embedded
    when they are first needed and kept; of more than `UNPREPARED` those that share most words with
    the question.
    """

    top_k: int = 5
    """Documents per search."""

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
        return ("embedder",)

    def applies(self, state: State, context: Context) -> bool:
        """True if a column in view has a description."""
        described = {one.column for one in self._shelf.of(context.workspace.schema).documents}
        return not described.isdisjoint(state.view.visible)

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        queries = searches(state.question, state.keywords[:KEYWORDS])
        known = self._shelf.of(context.workspace.schema)
        if not queries or not known.documents:
            return state
        words = " ".join((state.question.text, state.question.evidence, *state.keywords))
        index, vectors = self._index(known, queries, words, context)
        best: dict[tuple[ColumnRef, str], DescriptionMatch] = {}
        for matches in index.search(vectors, self.top_k):
            for match in matches:
                key = (match.column, match.part)
                if key not in best or match.score > best[key].score:
                    best[key] = match
        found = list(best.values())
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
    ) -> tuple[DescriptionIndex, FloatArray]:
        """The index and the queries' vectors."""
        stored = context.workspace.descriptions
        embedder = context.embedder
        index = known.prepared(stored, embedder)
        if index is None:
            index = known.some(words, embedder, UNPREPARED, context.run)
        return index, embedder.embed(queries)


def searches(question: Question, keywords: Sequence[str]) -> list[str]:
    """The texts that are searched for: each keyword with the question, and with the evidence."""
    texts = [text for text in (question.text.strip(), question.evidence.strip()) if text]
    return list(dict.fromkeys(f"{text} {word}" for word in keywords or ("",) for text in texts))
