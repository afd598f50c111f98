"""Models whose replies are given beforehand: real small implementations of the models' interfaces.

Steps take them through `Context.models` or `sqlwright.open(..., models=...)`, so that the code
around the models is tested with nothing patched.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.protocols import Assessment, FloatArray, Links, Parsed, Run
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.types import (
    Candidate,
    ColumnLink,
    Question,
    State,
    TableLink,
    ValueMatch,
)
from sqlwright.types.stored import Formats


@dataclass
class ScriptedParser:
    """Gives the queries written for a question, best first, and remembers what it was asked."""

    replies: Mapping[str, Sequence[str]] | Sequence[str] = ()
    asked: list[tuple[Question, SchemaView, int]] = field(default_factory=list)
    before: Callable[[Run | None], None] = lambda run: None

    def parse(
        self,
        question: Question,
        view: SchemaView,
        values: Sequence[ValueMatch],
        *,
        enumerations: Mapping[ColumnRef, Sequence[str]] | None = None,
        dates: Mapping[ColumnRef, bool] | None = None,
        formats: Formats | None = None,
        beam: int = 8,
        run: Run | None = None,
    ) -> list[Parsed]:
        self.asked.append((question, view, beam))
        self.before(run)
        if run is not None:
            run.check()
        replies = self.replies
        queries = replies.get(question.text, ()) if isinstance(replies, Mapping) else replies
        return [
            Parsed(
                sql,
                -0.5 * place,
                columns_used(sql, view.schema),
                tables_used(sql),
                tuple(match for match in values if f"'{match.value}'" in sql),
            )
            for place, sql in enumerate(queries[:beam])
        ]


@dataclass(frozen=True)
class ScriptedLinker:
    """Scores names by whether the question holds them."""

    def link(
        self, question: Question, schema: Schema, values: Sequence[ValueMatch], prepared: Any = None
    ) -> Links:
        text = question.text.casefold()
        named = {match.column for match in values}

        def score(name: str, hit: bool = False) -> float:
            return 0.9 if hit or name.casefold().rstrip("s") in text else 0.1

        columns = [ColumnLink(ref, score(ref.column, ref in named)) for ref in schema.columns]
        tables = [TableLink(table.name, score(table.name)) for table in schema.tables]
        columns.sort(key=lambda link: -link.score)
        tables.sort(key=lambda link: -link.score)
        return Links(tuple(columns), tuple(tables))


@dataclass
class ScriptedCritic:
    """Gives the probability written for a query, else `otherwise`."""

    probabilities: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 0.6
    answerable: float = 1.0
    missing: tuple[str, ...] = ("wombats",)
    refuse_below: float = 0.3
    caution: str = ""

    def assess(self, state: State, candidates: Sequence[Candidate]) -> Assessment:
        sure = tuple(self.probabilities.get(c.sql, self.otherwise) for c in candidates)
        return Assessment(sure, self.answerable, self.missing)


@dataclass
class ScriptedEmbedder:
    """Texts are near where they share groups of three letters, or words that `same` says mean the
    same; remembers what it was given."""

    same: Mapping[str, str] = field(default_factory=dict)
    dimension: int = 256
    embedded: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> FloatArray:
        self.embedded += texts
        out = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            words = [self.same.get(word, word) for word in text.casefold().split()]
            padded = f"  {' '.join(words)} "
            for at in range(len(padded) - 2):
                out[row, zlib.crc32(padded[at : at + 3].encode("utf-8", "replace")) % 256] += 1
        return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), np.float32)


def scripted_models(*sql: str, **replaced: Any) -> dict[str, Any]:
    """All models, the parser giving these queries to every question, the language model the first
    of them where it is to write one, else prose that no step can use."""
    query = sql[0] if sql else "SELECT 1"
    written = [When(step, query) for step in ("generation.direct", "generation.sub_sql")]
    models = {
        "linker": ScriptedLinker(),
        "parser": ScriptedParser(sql),
        "critic": ScriptedCritic(),
        "embedder": ScriptedEmbedder(),
        "llm": ScriptedModel(Script(written, otherwise="I would rather not.")),
    }
    return models | replaced
