"""The phrases of a question that ask for something, by what they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlwright.english.bounds import MEASURE, MORE, NUMBER_WORD, bound_spans
from sqlwright.english.cues import (
    AVERAGE,
    HIGH_END,
    LOW_END,
    ROUNDED,
    one_of,
    orders,
    whole_words,
)
from sqlwright.english.vocabulary import NUMBERS, SCALES
from sqlwright.english.words import tokens
from sqlwright.types.candidates import PhraseKind

AMOUNT_AFTER = re.compile(rf"\s+{MEASURE}\b", re.IGNORECASE)

_NEGATIONS = whole_words(
    r"not|never|without|except(?:ing)?(?: for)?|excluding|exclude|other than|apart from|neither"
    r"|nor|no|cannot|\w+n['’]t|dont|doesnt|didnt|arent|isnt|wasnt|werent|havent|hasnt"
    r"|outside(?: of)?|free of|lack(?:s|ing)?"
)
_NO_NEGATION_AFTER = re.compile(
    r"\s*(?:only|just|matter|idea|doubt|\d|know|knows|sure|care|mind|worry|forget|longer\?"
    r"|(?:need|want) to|limited|necessarily|counting)\b|\.\s*\d|\s*[?.]?$",
    re.IGNORECASE,
)
_NO_NEGATION_BEFORE = re.compile(r"\b(?:or|if|why|whether|and)\s+$", re.IGNORECASE)
_BOUND_AFTER = re.compile(
    rf"\s+(?:\w+\s+)?(?:{MORE}|before|after|above|below|over|under|exceed\w*)\b", re.IGNORECASE
)
_REPEATED = re.compile(r"\s+(?:\w+\s+)?(?:repe|duplic|redundan|doubl)", re.IGNORECASE)

_PATTERNS = whole_words(
    r"(?:start|begin|end)(?:s|ing|ning)? (?:with|in|on)(?=\s+(?:the|an?|['\"“‘]|[A-Z]\b))"
    r"|contain(?:s|ing)?(?= (?:the|an?) (?:\w+ )?(?:word|letter|phrase|substring|string|text))"
    r"|contain(?:s|ing)?(?=\s+['\"“‘])"
    r"|(?:the )?(?:first|last|initial) letters?|substring"
)

_EXTREME = whole_words(
    rf"(?<!at )(?:{one_of({*HIGH_END, *LOW_END} - {'top', 'best', 'worst'})})(?! of\b)(?! than\b)"
    r"|(?:the|our|my|its) (?:best|worst)(?=\s+\w)|top(?= \d| (?:two|three|four|five|ten|twenty)\b)"
    r"|most recent(?:ly)?|latest|earliest|newest"
)
_AVERAGE = whole_words(
    rf"{one_of({*AVERAGE} - {'mean'})}"
    r"|(?<!\bi )(?<!you )(?<!we )(?<!does )(?<!that )mean"
    r"(?! (?:the|that|when|which|what|by|it|in)\b)"
)
_COUNT = whole_words(r"how many|number of|count of")
_SUM = whole_words(r"(?:the |in )?total(?! number| count)|sum of|how much|altogether")
_ORDER = whole_words(
    r"(?:sort|rank|order|list)(?:ed|ing)? (?:\w+ ){0,3}?(?:by|in|from|alphabetically)"
    r"(?= (?:\w+ ){0,4}?(?:order|alphabet\w*|ascending|descending|highest|lowest|most|least))"
    r"|in (?:\w+ )?(?:alphabetical|ascending|descending|chronological|lexicographical?) order"
    r"|alphabetically"
)
_OPERATIONS: tuple[tuple[PhraseKind, re.Pattern[str]], ...] = (
    ("average", _AVERAGE),
    ("count", _COUNT),
    ("sum", _SUM),
    ("order", _ORDER),
    ("extreme", _EXTREME),
)

QUOTED = re.compile(
    r"\"(?P<double>[^\"\n]+)\"|[“”](?P<curly>[^“”\n]+)[“”]"
    r"|(?<!\w)['‘](?P<single>[^'’\n]+(?:['’]\w[^'’\n]*)*)['’](?!\w)"
)
NAME = re.compile(
    r"(?<=[a-z,\d] )(?P<name>[A-Z][\w'’&.-]*[\w](?: (?:(?:of|the|de|and|&) )?[A-Z][\w'’&-]*)*)"
)
"""Words written as names inside a sentence."""

_COMPARED_WORD = re.compile(
    rf"(?:at least|at most|more than|less than|fewer than|exactly|over|under|above|below|top|first|"
    rf"last|minimum of|maximum of|up to|equals?|equal to|only)\s+(?P<number>{NUMBER_WORD})\b"
    rf"|\b(?P<before>{NUMBER_WORD})\s+(?:\w+\s+)?(?:or|and)\s+(?:{MORE}|above|up)\b"
    rf"|\b(?P<ranked>{NUMBER_WORD})\s+(?:{one_of({*HIGH_END, *LOW_END} - {'top'})})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A phrase by its kind; `worth` is that of a number."""

    kind: PhraseKind
    span: tuple[int, int]
    worth: float = 0.0


@lru_cache(maxsize=64)
def cues(text: str) -> tuple[Asked, ...]:
    """The phrases that ask for a part of a text, a comparison, an exclusion or an operation."""
    parts = (Asked("pattern", match.span()) for match in _PATTERNS.finditer(text))
    amounts = (Asked("bound", span) for span in bound_spans(text))
    return (*parts, *amounts, *negations(text), *_operations(text))


def negations(text: str) -> Iterator[Asked]:
    """The words that exclude something; turns such as “not only” and “no more than” aside."""
    for match in _NEGATIONS.finditer(text):
        after, before = text[match.end() :], text[: match.start()]
        if _NO_NEGATION_AFTER.match(after) or _NO_NEGATION_BEFORE.search(before):
            continue
        if _BOUND_AFTER.match(after) or _REPEATED.match(after):
            continue
        yield Asked("negation", match.span())


def _operations(text: str) -> Iterator[Asked]:
    """The phrases that ask for an operation."""
    read = [(start, end) for start, end, _ in orders(text)]
    yield from (Asked("order", span) for span in read)
    for kind, shape in _OPERATIONS:
        for match in shape.finditer(text):
            if match.start() > 0 and match.group()[0].isupper():
                continue
            if not any(low < match.end() and match.start() < high for low, high in read):
                yield Asked(kind, match.span())


@lru_cache(maxsize=64)
def numbers(text: str) -> tuple[Asked, ...]:
    """The numbers in digits, and as words where something is compared with them or counted by
    them. Parts of names such as A4 and numbers of decimals aside."""
    return tuple(_numbers(text))


def _numbers(text: str) -> Iterator[Asked]:
    rounded = ROUNDED.search(text)
    for token in tokens(text):
        if not token.is_number or (rounded and token.within(rounded.span())):
            continue
        if text[token.start - 1 : token.start].isalpha() or text[token.end : token.end + 1] == "s":
            continue
        worth = _worth(text[token.start : token.end])
        if not worth or _RANK.match(text, token.end):
            continue
        more = _SCALED.match(text, token.end)
        yield Asked("number", (token.start, more.end() if more else token.end), worth)
    for match in _COMPARED_WORD.finditer(text):
        name = match.lastgroup or ""
        worth = NUMBERS[match[name].casefold()]
        # “At least one” is what a join says.
        if worth > 1 or not match.group().casefold().startswith(("at least", "one")):
            yield Asked("number", match.span(name), float(worth))


_SCALED = re.compile(rf"\s*(?:{one_of(SCALES)}|k|m|bn|%|percent)\b|\s*%", re.IGNORECASE)
_RANK = re.compile(r"(?:st|nd|rd|th)\s+(?:percentile|quartile|decile|quantile)", re.IGNORECASE)
"""The rest of “90th percentile”, whose number is the operation's."""


def _worth(text: str) -> float | None:
    """The number that digits write, thousands separated or not; None for other shapes."""
    plain = re.sub(r",(?=\d{3}\b)", "", text)
    return float(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None
