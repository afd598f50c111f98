"""The code page of a text that isn't UTF-8, by how its words read in each."""

from __future__ import annotations

import re

_PAGES = (
    "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "mac-roman",
    "cp850", "cp437",
)  # fmt: skip
"""Of two in which a text reads equally well the first is taken."""
_COMMON = frozenset("äöüßéèêëàâçñáíóúôîïåæøÄÖÜÉÅØÆÁÓÍÚÀÈÇãõąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůýžČŘŠŽőűğışİŞĞ")
"""Letters that languages of these pages write often."""
_COMMONEST = frozenset("äöüßéñóáøåæÄÖÜÅÉ")
_SIGNS = frozenset("€£°§²³µ–—“”‘’„…™®©·•½«»\xa0")
"""Signs that stand beside words and numbers."""
_CLOSE = 0.15
"""Points of a letter by which a page may be worse and still be meant."""


def best_page(words: bytes) -> tuple[str, str, list[tuple[str, str]]]:
    """The page in which words (one a line) read best, the first of them that reads otherwise in
    another that is about as good, and those others with what they make of it."""
    told = words.split(b"\n")[:2_000]
    scores: dict[str, float] = {}
    for page in _PAGES:
        try:
            scores[page] = sum(_score(word.decode(page)) for word in told)
        except UnicodeDecodeError:
            continue
    if not scores:
        return "latin-1", "", []
    best = max(scores, key=lambda page: scores[page])
    near = scores[best] - _CLOSE * max(len(words) - words.count(b"\n"), 1)
    others = []
    first = ""
    for page, score in scores.items():
        differ = [word for word in told if word.decode(page) != word.decode(best)]
        if page != best and score >= near and differ:
            first = first or differ[0].decode(best)
            others.append((page, differ[0].decode(page)))
    if best == "windows-1252" and not re.search(rb"[\x80-\x9f]", words):
        best = "latin-1"  # DuckDB reads it by itself
    return best, first, others[:2]


def _score(word: str) -> float:
    """The degree to which a word reads like one: letters of one script, small after large ones, no
    sign between them; letters beyond ASCII are rare side by side but in other scripts than Latin.
    What stands alone tells nothing: it may be a letter or a sign.
    """
    if len(word) < 2:
        return 0.0
    score = 0.0
    before = ""
    scripts = set()
    for letter in word:
        script = "" if not letter.isalpha() else "L" if letter < "\u0370" else (
            "G" if letter < "\u0400" else "C"
        )  # fmt: skip
        if script:
            scripts.add(script)
        if letter > "\x7f":
            score += 0.1 * (letter in _COMMONEST) + 0.2 * (not before and letter.isupper())
            score += 1.0 if script in {"G", "C"} or letter in _COMMON else 0.3 if script else (
                0.2 if letter in _SIGNS and not before.isalpha() else -1.0
            )  # fmt: skip
            score -= script == "L" and before > "\x7f" and before.isalpha()
        score -= letter.isupper() and before.islower()
        before = letter
    return score - 2 * (len(scripts) > 1)
