"""The words of a question that are worth searching for, told without a language model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.protocols import Context, Step
from sqlwright.steps.retrieval.values import SKIPPED, Phrase, phrases_of
from sqlwright.types import Question, State

LONGEST = 4
"""Words of a phrase, quoted text and names apart."""
MOST = 24
"""Most keywords."""
LONGEST_NAME = 6
"""Words of a name."""

_COMPARED = re.compile(
    r"(?:[\w.]+|\"[^\"\n]+\"|`[^`\n]+`)\s*(?:<>|!=|>=|<=|=|<|>)\s*"
    r"(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.%-]*[\w%])"
)
_IDENTIFIER = re.compile(r"\b[^\W_]+(?:_[^\W_]+)+\b")
_MARKS = frozenset("'\"`();=<>?!:")


def question_words(question: Question) -> tuple[str, ...]:
    """Phrases of the question and its evidence, those first that are surest to mean something:
    quoted text, comparisons, capitalised names, runs of content words, then single words."""
    ranked: list[tuple[int, int, str]] = []
    for offset, text in ((0, question.text), (len(question.text) + 1, question.evidence)):
        ranked += [
            (rank, offset + start, phrase) for rank, start, phrase in _ranked(text) if phrase
        ]
    ordered = [phrase for _, _, phrase in sorted(ranked)]
    distinct = {phrase.casefold(): phrase for phrase in reversed(ordered)}
    return tuple(reversed(distinct.values()))[:MOST]


def _ranked(text: str) -> list[tuple[int, int, str]]:
    """Phrases with how sure they are (0 is surest) and where they begin."""
    found = [(1, m.start(), " ".join(m[0].split())) for m in _COMPARED.finditer(text)]
    found += [(1, m.start(), m[0]) for m in _IDENTIFIER.finditer(text)]
    names: list[Phrase] = []
    joined: list[Phrase] = []
    runs: list[Phrase] = []
    for phrase in phrases_of(text, LONGEST_NAME):
        words = phrase.text.split()
        if phrase.whole or (
            len(words) > LONGEST
            and not phrase.quoted
            and not (_is_name(words) or not _small(words))
        ):
            continue
        if phrase.quoted:
            found.append((0, phrase.span[0], phrase.text))
        elif len(words) == 1:
            found.append((4, phrase.span[0], phrase.text))
            if phrase.capitalised and phrase.span[0]:
                names.append(phrase)
        elif _MARKS.isdisjoint(phrase.text):
            if not _small(words):
                names.append(phrase)
            elif _is_name(words):
                joined.append(phrase)
            elif not any(word.casefold() in SKIPPED for word in words):
                runs.append(phrase)
    found += [
        (2, phrase.span[0], phrase.text) for some in (names, joined) for phrase in _longest(some)
    ]
    found += [(3, phrase.span[0], phrase.text) for phrase in _longest(runs)]
    return found


def _small(words: Sequence[str]) -> set[str]:
    """The words that begin with neither a capital nor a digit."""
    return {word for word in words if not (word[:1].isupper() or word[:1].isdigit())}


def _is_name(words: Sequence[str]) -> bool:
    """True if words may be a name with small words within it: Gone with the Wind."""
    small = _small(words)
    return small <= SKIPPED and {words[0].casefold(), words[-1].casefold()}.isdisjoint(SKIPPED)


def _longest(phrases: Iterable[Phrase]) -> Iterator[Phrase]:
    """The phrases that no other phrase contains."""
    covered = 0
    for phrase in sorted(phrases, key=lambda phrase: (phrase.span[0], -phrase.span[1])):
        if phrase.span[1] > covered:
            yield phrase
            covered = phrase.span[1]


@dataclass(frozen=True)
class QuestionWords(Step):
    """The step: `question_words` as keywords. Does nothing without a question."""

    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"keywords"})

    def __call__(self, state: State, context: Context) -> State:
        return state.evolve(keywords=question_words(state.question))
