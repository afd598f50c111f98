"""A question as arrays: its words and phrases, and how well each word matches names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlwright.english.cues import KINDS, PROPERTIES
from sqlwright.english.vocabulary import FUNCTION_WORDS, OPERATION_WORDS
from sqlwright.english.words import Token, is_abbreviation, phrases, stem, tokens
from sqlwright.local.question.schema import SchemaArrays
from sqlwright.protocols import Embedder, FloatArray
from sqlwright.types import Question

MAX_TOKENS = 80
"""Most words of question and evidence that are compared, the rest is cut; chosen."""

MAX_PHRASES = 40
"""Most phrases that are embedded, besides the question itself; chosen."""


@dataclass(frozen=True, eq=False)
class QuestionArrays:
    """N tokens (question, then evidence), P phrases of the question."""

    tokens: tuple[Token, ...]
    own: int
    """Number of tokens of the question; those of the evidence follow."""
    evidence: str
    """The evidence in lower case."""
    text: str
    """The question in lower case."""
    content: FloatArray
    """(N,) weight of each word: 1 if it should mean something in the schema, 0.3 for numbers and
    words of operations, 0 for the rest."""
    spans: tuple[tuple[int, int], ...]
    """First token and end of each phrase."""
    vectors: FloatArray
    """(1 + P, dimension): the whole question first."""
    static: FloatArray
    """(N, dimension)"""
    asks: FloatArray
    """(len(KINDS) + 3,) 1 for each kind of cue that the question has, then 1 if it has a number,
    the logarithm of its words, 1 if it has evidence."""


def encode_question(
    question: Question, embedder: Embedder | None, static: Embedder
) -> QuestionArrays:
    """Lay a question out as arrays. Without an `embedder` only words are compared."""
    own = tokens(question.text)[:MAX_TOKENS]
    found = (*own, *tokens(question.evidence)[: MAX_TOKENS - len(own)])
    spans = phrases(own)[:MAX_PHRASES]
    texts = [question.text[:2000]]
    texts += [question.text[own[a].start : own[b - 1].end] for a, b in spans]
    text = " ".join(token.text for token in own)
    content = [
        0.0
        if t.text in FUNCTION_WORDS
        else 0.3
        if t.is_number or t.text in OPERATION_WORDS
        else 1.0
        for t in found
    ]
    return QuestionArrays(
        tokens=found,
        own=len(own),
        evidence=question.evidence.casefold(),
        text=question.text.casefold(),
        content=np.array(content, dtype=np.float32),
        spans=tuple(spans),
        vectors=embedder.embed(texts) if embedder else np.zeros((0, 0), dtype=np.float32),
        static=static.embed([token.text for token in found]),
        asks=_asks(text, found, bool(question.evidence)),
    )


def _asks(text: str, found: Sequence[Token], evidence: bool) -> FloatArray:
    padded = f" {text} "
    cues = [float(any(f" {cue} " in padded for cue in group)) for group in KINDS]
    numbers = float(any(token.is_number for token in found))
    return np.array([*cues, numbers, np.log1p(len(found)), float(evidence)], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class WordMatches:
    """The match of each token with each schema word in [0, 1], by five rules; all (N, V) with a
    last column of zeros for 'no word'."""

    exact: FloatArray
    spelling: FloatArray
    short: FloatArray
    cue: FloatArray
    static: FloatArray

    @property
    def best(self) -> FloatArray:
        """The strongest of the rules that need no vectors, (N, V). The factors are chosen: the
        linker was trained with them."""
        parts = (self.exact, 0.9 * self.short, 0.8 * self.spelling, 0.4 * self.cue)
        return np.asarray(np.maximum.reduce(parts), dtype=np.float32)


def match_words(asked: QuestionArrays, schema: SchemaArrays) -> WordMatches:
    """Compare each of N tokens with each of V words of the schema's names."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import cdist

    shape = (len(asked.tokens), len(schema.vocabulary) + 1)
    exact, spelling, short, cue = (np.zeros(shape, dtype=np.float32) for _ in range(4))
    stems = [stem(token.text) for token in asked.tokens]
    for row, token in enumerate(asked.tokens):
        exact[row, schema.by_stem.get(stems[row], [])] = 1.0
        for asks_for in PROPERTIES.get(token.text, ()):
            cue[row, schema.by_stem.get(stem(asks_for), [])] = 1.0
        if token.is_number or token.text in FUNCTION_WORDS:
            continue
        # Abbreviations begin with their word's letter; the usual ones of others follow below.
        for place in schema.by_letter.get(token.text[0], ()):
            word = schema.vocabulary[place]
            if is_abbreviation(word, token.text) or is_abbreviation(token.text, word):
                short[row, place] = 1.0
    for place, meant in schema.short_forms:
        short[[row for row, found in enumerate(stems) if found in meant], place] = 1.0
    # Short words and numbers are alike by chance: an empty text is similar to nothing.
    names = [t.text if len(t.text) > 3 and not t.is_number else "" for t in asked.tokens]
    if names and schema.vocabulary:
        close = cdist(names, schema.vocabulary, scorer=ratio, score_cutoff=78, dtype=np.float32)
        spelling[:, :-1] = close / 100.0 * schema.long_words
    static = np.clip(asked.static @ schema.word_vectors.T, 0.0, 1.0)
    return WordMatches(exact, spelling, short, cue, np.asarray(static, dtype=np.float32))
