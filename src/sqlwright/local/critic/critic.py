"""The critic: ranks candidates, gives their confidence, and refuses what the schema can't answer.

Three small models over features that need no answer key (`features.py`; `measures.py` names them):
one ranks the candidates of a question by their author's score and by how right each looks; one
turns a rank into the probability of being right, calibrated on databases nothing was learnt from;
one gives the probability that the schema holds what is asked. The first learns by cross-fitting,
from beams of parsers that never saw a question's database, over many databases; the others from the
few that the parser in use never saw. After MSc-SQL section 4, candidates are judged together, with
their results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from sqlwright.english.words import stem, tokens
from sqlwright.errors import ModelUnavailable
from sqlwright.local.critic.families.zones import Zones
from sqlwright.local.critic.features import (
    Features,
    Order,
    add_ranking,
    candidate_features,
)
from sqlwright.local.embedder.onnx import OnnxEmbedder, WordTable
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.question.schema import SchemaCache
from sqlwright.local.question.support import Senses, Support, senses, support
from sqlwright.protocols import Assessment, Embedder, FloatArray
from sqlwright.types import Candidate, State

BELOW = 0.999
"""Most of the best candidate's probability that another one may have, as a part of it; chosen."""

NEAR = 60
"""Most columns, and most tables, whose names the encoder compares with the question's words;
chosen."""


@dataclass(frozen=True)
class Network:
    """A few small networks over the same features; their mean logit, calibrated by a line."""

    order: Order
    mean: FloatArray
    scale: FloatArray
    members: tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]
    """Per member its layers: weights (in, out) and biases (out,)."""
    slope: float = 1.0
    offset: float = 0.0

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Network:
        """From `critic.json`. Raises KeyError or ValueError when it doesn't have the form."""
        members = tuple(
            tuple((np.array(w, dtype=np.float32), np.array(b, dtype=np.float32)) for w, b in layers)
            for layers in data["members"]
        )
        return cls(
            Order(tuple(data["features"])),
            np.array(data["mean"], dtype=np.float32),
            np.array(data["scale"], dtype=np.float32),
            members,
            float(data["slope"]),
            float(data["offset"]),
        )

    def logits(self, described: Sequence[Features]) -> FloatArray:
        """(n,) before calibration."""
        rows = np.stack([self.order.row(one) for one in described])
        inputs = np.clip((rows - self.mean) / self.scale, -5.0, 5.0)
        total = np.zeros(len(rows), dtype=np.float32)
        for layers in self.members:
            states = inputs
            for place, (weight, bias) in enumerate(layers):
                states = states @ weight + bias
                if place < len(layers) - 1:
                    states = np.maximum(states, 0.0)
            total += states[:, 0]
        return np.asarray(total / max(len(self.members), 1), dtype=np.float32)

    def probabilities(self, described: Sequence[Features]) -> FloatArray:
        """(n,) in [0, 1], calibrated."""
        if not described:
            return np.zeros(0, dtype=np.float32)
        raised = np.clip(self.slope * self.logits(described) + self.offset, -30.0, 30.0)
        return np.asarray(1.0 / (1.0 + np.exp(-raised)), dtype=np.float32)


@dataclass(frozen=True)
class Networks:
    """The critic's three models."""

    ranking: Network
    """Ranks the candidates of a question."""
    right: Network
    """Gives the probability that a candidate is right."""
    answerable: Network
    """Gives the probability that the schema holds what is asked."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Networks:
        """From `critic.json`. Raises KeyError or ValueError when it doesn't have the form."""
        return cls(**{field.name: Network.from_data(data[field.name]) for field in fields(cls)})


JUDGED = ("parser_encoder.onnx", "parser_decoder.onnx", "linker.npz")
"""Files of weights whose scores the critic is fitted to; `critic.json` holds their digests."""

CAUTION = (
    "The critic was fitted to other weights of parser and linker, so how sure it is can't be "
    "relied on. Reinstall sqlwright, or fit it to these in a clone: runs/embedded.sh"
)


class Critic:
    """Judges candidates. Safe to share between threads."""

    def __init__(
        self,
        static: Embedder,
        embedder: Embedder,
        networks: Networks,
        *,
        refuse_below: float,
        caution: str = "",
        cache: SchemaCache | None = None,
    ) -> None:
        self._static = static
        self._cache = cache or SchemaCache(static, embedder)
        self._networks = networks
        self.refuse_below = refuse_below
        """A question less probably answerable than this should be refused."""
        self.caution = caution
        """The reason why its judgement can't be relied on, and a remedy; empty when it can."""

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        embedder: OnnxEmbedder | None = None,
        words: WordTable | None = None,
        weights: Mapping[str, str] | None = None,
        cache: SchemaCache | None = None,
    ) -> Critic:
        """Read `critic.json`; a loaded embedder, word table or cache is shared if given.

        `weights` are the digests of the files in use: given, a critic that was fitted to other
        files of JUDGED carries a `caution`.

        Raises ModelUnavailable when a file is missing or damaged.
        """
        try:
            data = json.loads((folder / "critic.json").read_text(encoding="utf-8"))
            networks = Networks.from_data(data)
            refuse_below = float(data["refuse_below"])
            fitted_to = dict(data.get("fitted_to", {}))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailable(
                f"the critic's weights in {folder} can't be read: {error}",
                hint="Reinstall sqlwright; its package brings the weights along.",
            ) from error
        encoder = embedder or OnnxEmbedder.load(folder, words=words)
        static = StaticEmbedder(encoder.front.tokenizer, encoder.front.words)
        stale = weights is not None and any(fitted_to.get(n) != weights.get(n) for n in JUDGED)
        return cls(
            static,
            encoder,
            networks,
            refuse_below=refuse_below,
            caution=CAUTION if stale else "",
            cache=cache,
        )

    def assess(self, state: State, candidates: Sequence[Candidate]) -> Assessment:
        """Judge candidates together, and the question with them.

        The ranking decides which is best; no other is held as probable as that one.
        """
        if not candidates:
            return Assessment((), 0.0)
        described, found, alike = self.describe(state, candidates)
        missing = found.unexplained(alike, _told(state))
        described = add_ranking(described, self._networks.ranking.logits(described), candidates)
        right = self._networks.right.probabilities(described)
        answerable = self._networks.answerable.probabilities([with_right(described, right)])
        best = best_ranked(described)
        sure = np.minimum(right, right[best] * BELOW)
        sure[best] = right[best]
        return Assessment(
            tuple(float(p) for p in sure),
            float(answerable[0]),
            missing,
            with_right(described, right),
        )

    def describe(
        self, state: State, candidates: Sequence[Candidate]
    ) -> tuple[list[Features], Support, Senses]:
        """The features the models look at, and what explains the question's words."""
        schema = state.view.schema
        arrays = self._cache.encode(schema)
        found = support(state.question, arrays, state.values, self._static)
        # On a wide schema only the names that the linker finds near are compared.
        columns = [link.column for link in state.columns] or list(schema.columns)
        tables = [link.table for link in state.tables] or [table.name for table in schema.tables]
        used = [ref for candidate in candidates for ref in candidate.columns]
        alike = senses(found, arrays, [*columns[:NEAR], *used], tables[:NEAR])
        zones = Zones(state.question.text, found, arrays, state.values, used)
        described = candidate_features(state, candidates, found, alike, zones)
        return described, found, alike


def lenient(answerable: float | FloatArray, missing: bool | FloatArray) -> FloatArray:
    """The probability that is compared with the threshold: that of being answerable, 1 where every
    word is explained."""
    return np.where(missing, answerable, 1.0)


def _told(state: State) -> frozenset[str]:
    """The stems of the words that the evidence and the descriptions of tables and columns say."""
    texts = [state.question.evidence]
    for table in state.view.schema.tables:
        texts += (table.label, table.description)
        for column in table.columns:
            texts += (column.label, column.description, column.value_description)
    return frozenset(stem(token.text) for text in texts if text for token in tokens(text))


def best_ranked(described: Sequence[Features]) -> int:
    """The place of the candidate that the ranking puts first; of equals the earlier."""
    return min(range(len(described)), key=lambda place: described[place]["rank behind"])


def with_right(described: Sequence[Features], right: FloatArray) -> Features:
    """The features of the last model: the best candidate's, and its probability of being right."""
    best = best_ranked(described)
    return described[best] | {"right": float(right[best])}
