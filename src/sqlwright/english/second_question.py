"""Finds the second question of a text, which one query would leave unanswered.

Found are two sentences that each ask, begin as questions do and stand on their own. A request that
goes on ("Give its name", "How old is he?", "What is the title?") is one. When in doubt, it is one.
"""

from __future__ import annotations

import re

from sqlwright.english.vocabulary import FUNCTION_WORDS

READ = 2_000
"""Characters of a text that are looked at; chosen."""
SHOWN = 200
"""Most characters of a question in a note; chosen."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'.{0,300}?'(?!\w)", re.DOTALL)
_SENTENCE = re.compile(r"(?P<text>[^?!.\n;]*(?:[.;](?=\S)[^?!.\n;]*)*)(?P<end>[?!.\n;]|$)")
_CONNECTIVE = re.compile(r"^\W*(?:(?:and|also|but|or|then|next|plus|finally)\b\W*)+", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:(?:in|on|at|of|for|from|to|by|with|since)\s+)?"
    r"(?:who|whom|whose|what|which|where|when|why|how)\b",
    re.IGNORECASE,
)
_ANSWERABLE = re.compile(r"(?:is|are|was|were|do|does|did|has|have)\b", re.IGNORECASE)
_COUNTS = re.compile(r"how (?:many|much)\b", re.IGNORECASE)
# What points back at the sentence before. "There" doesn't after a form of "be".
_POINTS_BACK = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|one|ones|"
    r"same|such|former|latter|both|either|neither|others?|you)\b|\beach(?!\s+\w)|"
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b",
    re.IGNORECASE,
)
_MEANT = re.compile(r"\bthe (\w+)", re.IGNORECASE)
_SUPERLATIVE = re.compile(r"most|least|best|worst|first|last|\w+est")
_WORD = re.compile(r"[\w'’-]+")
_CARRIES_NOTHING = FUNCTION_WORDS | {"now"}
LEAST_WORDS = 4
"""Least words of a second question, since "How many songs?" goes on with the first; chosen."""


def second_question(text: str) -> str:
    """The second question in a text, without what ties it to the first; empty if there is none."""
    asked = False
    for sentence, ended in _sentences(text[:READ]):
        bare = _CONNECTIVE.sub("", sentence).strip()
        counts = bool(_COUNTS.match(bare))
        asks = ended != "." and _ASKS.match(bare) and _stands_alone(bare, counts)
        if asked and asks and not _named_before(bare, text[: text.index(sentence)]):
            return f"{bare[0].upper()}{bare[1:]}{'?' if ended == '?' else ''}"
        begins = _ASKS.match(bare) or _ANSWERABLE.match(bare)
        asked = asked or bool(ended != "." and begins and _content_words(bare))
    return ""


def second_question_note(text: str) -> str:
    """A sentence for whoever asked two questions at once; empty otherwise."""
    second = second_question(text)
    if not second:
        return ""
    shown = second if len(second) <= SHOWN else f"{second[: SHOWN - 1]}…"
    return f"one query answers one question: ask “{shown}” on its own"


def _sentences(text: str) -> list[tuple[str, str]]:
    """Each sentence with the sign that ends it; what stands in quotes ends none."""
    masked = _QUOTED.sub(lambda match: "x" * len(match.group()), text)
    found = []
    for match in _SENTENCE.finditer(masked):
        start, end = match.span("text")
        if text[start:end].strip():
            found.append((text[start:end], match["end"]))
    return found


def _stands_alone(sentence: str, counts: bool) -> bool:
    """True if a question can be understood without the one before."""
    enough = len(_WORD.findall(sentence)) >= LEAST_WORDS
    return enough and _content_words(sentence) >= 2 - counts and not _POINTS_BACK.search(sentence)


def _named_before(sentence: str, before: str) -> bool:
    """True if it goes on about something: "the island" after a question about an island."""
    known = {word.casefold() for word in _WORD.findall(before)}
    meant = (match.casefold() for match in _MEANT.findall(sentence))
    return any(word in known and not _SUPERLATIVE.fullmatch(word) for word in meant)


def _content_words(sentence: str) -> int:
    """The number of different words that name something or say what happens to it."""
    words = {word.casefold() for word in _WORD.findall(sentence)}
    return len(words - _CARRIES_NOTHING)
