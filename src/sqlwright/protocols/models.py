"""Protocols of models and the types of their results, one of each for each role.

`Context` hands them out by role. A stand-in for a model has the methods of its protocol and gives
these results; nothing else is asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sqlwright.messages import Capabilities, Request, Sample
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.types import Candidate, ColumnLink, Question, State, TableLink, ValueMatch

if TYPE_CHECKING:
    from pathlib import Path

    from sqlwright.protocols import Run
    from sqlwright.types.candidates import Form
    from sqlwright.types.stored import Formats

FloatArray = npt.NDArray[np.float32]


class GroupLink(NamedTuple):
    """A group of tables, with a score for the question being about it."""

    leader: str
    score: float
    """A logit; meaningful as a difference from another group's."""


class Links(NamedTuple):
    """Every column and table of a schema, those that the question needs most likely first."""

    columns: tuple[ColumnLink, ...]
    tables: tuple[TableLink, ...]
    groups: tuple[GroupLink, ...] = ()
    """Groups of tables, the likeliest first; empty unless the schema has many groups."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """One query that a parser wrote, with the columns, tables and values it uses."""

    sql: str
    score: float
    """Total log probability."""
    columns: tuple[ColumnRef, ...] = ()
    tables: tuple[str, ...] = ()
    values: tuple[ValueMatch, ...] = ()
    form: Form | None = None
    """The query without its joins, as the parser built it; None where it wrote text."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """A critic's judgement of one question and its candidates."""

    probabilities: tuple[float, ...]
    """Per candidate, that it is right, in their order; each in [0, 1]."""
    answerable: float
    """Probability that the database holds what is asked."""
    missing: tuple[str, ...] = ()
    """Words of the question that nothing in the database, its descriptions and the evidence
    explains."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Measures of the best candidate and of the question, by name."""


class Probability(NamedTuple):
    """A probability, and where it may lie for questions of this kind, nine times of ten."""

    value: float
    low: float
    high: float


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors. The role 'embedder'; implementation: `local.embedder.onnx`."""

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), float32, unit length."""
        ...


@runtime_checkable
class KeptTexts(Protocol):
    """The vectors of a database's names and descriptions that preparing it left.
    Implementation: `indexes.text_vectors.PreparedVectors`."""

    def open(self, embedder: Embedder) -> KeptVectors | None:
        """The vectors; None when there are none, or another embedder made them."""
        ...


class KeptVectors(Protocol):
    """Vectors by the hashes of their texts."""

    @property
    def vectors(self) -> npt.NDArray[np.float16]:
        """(texts, dimension)"""
        ...

    def find(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The row of each key, shape (keys,); -1 for one that isn't there."""
        ...


class KeptDescriptions(Protocol):
    """The vectors of a schema's descriptions that preparing a database left.
    Implementation: `indexes.descriptions.StoredVectors`."""

    @property
    def path(self) -> Path: ...

    def load(self, embedder: Embedder) -> npt.NDArray[np.float16] | None:
        """The vectors, (descriptions, dimension); None when they aren't there or don't fit."""
        ...


@runtime_checkable
class Linker(Protocol):
    """A question to scores of tables and columns. The role 'linker'; implementation:
    `local.linker.Linker`."""

    def link(
        self,
        question: Question,
        schema: Schema,
        values: Sequence[ValueMatch] = (),
        prepared: KeptTexts | None = None,
    ) -> Links:
        """Every column and every table with the probability that the question needs it, best first;
        its groups, too, where the schema has many."""
        ...


@runtime_checkable
class Parser(Protocol):
    """A question to ranked queries. The role 'parser'; implementation: `local.parser.Parser`."""

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
    ) -> Sequence[Parsed]:
        """At most `beam` different queries, best first. `enumerations` are all values of columns
        with very few; `dates` tells of columns whether they hold dates, `formats` of those whose
        dates and amounts have to be converted. Raises Cancelled."""
        ...


@runtime_checkable
class Critic(Protocol):
    """Candidates to probabilities that they are right. The role 'critic'; implementation:
    `local.critic.Critic`."""

    @property
    def caution(self) -> str:
        """The reason its judgement can't be relied on, and what to do; empty when it can."""
        ...

    @property
    def refuse_below(self) -> float:
        """Probability: a question less probably answerable than this should be refused."""
        ...

    def assess(self, state: State, candidates: Sequence[Candidate]) -> Assessment:
        """Judge candidates together, and the question with them."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A language model behind the gate: privacy, budget, cache. Implementations: `llm.*`."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def complete(
        self, requests: Sequence[Request], run: Run, *, step: str
    ) -> list[tuple[Sample, ...]]:
        """For each request its `n` samples, in order, whatever happened to each of them.

        Blocks until all are there, the deadline passes or the run is cancelled; a reply missing
        then is a `Missing`. Never raises for an endpoint's failures. The cost is booked on `step`.
        """
        ...


@runtime_checkable
class TellsContext(Protocol):
    """A language model that can ask its server for the size of its context. Implementation:
    `llm.gate.GatedModel`."""

    def context_tokens(self, run: Run) -> int:
        """Tokens of prompt and reply together."""
        ...


def context_tokens(model: LanguageModel, run: Run) -> int:
    """Tokens that a prompt to a model and its reply may have together: by its server's word where
    that tells, else by its capabilities."""
    if isinstance(model, TellsContext):
        return model.context_tokens(run)
    return model.capabilities.context_tokens


@runtime_checkable
class Calibrates(Protocol):
    """Says how sure an answer may be, from what was measured of it. The role 'calibration';
    implementation: `confidence.calibration.Calibration`."""

    def judge(self, measures: Mapping[str, float], question: str) -> Probability:
        """The probability that an answer with these measures to this question is right."""
        ...

    def beside(self, sure: Probability, behind: float) -> float:
        """The probability of another candidate whose score is so many log odds behind that of the
        chosen one, which is `sure`."""
        ...


Model = Linker | Parser | Critic | Calibrates | Embedder | LanguageModel
"""Whatever stands under a role or a name."""
ModelsByRole = Mapping[str, Model]
"""Models by role: 'linker', 'parser', 'critic', 'embedder'; language models under their names
`provider/model`, the one to use by default under 'llm'."""
