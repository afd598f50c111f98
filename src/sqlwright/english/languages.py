"""Tells a request in another language, by script first, then by the little words of the large ones.

Names are no evidence: quoted text, and capitalised words with the particles between them, are left
out before counting, so that an English question about `El Amor de mi Vida` stays English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

from sqlwright.english.vocabulary import FUNCTION_WORDS, OPERATION_WORDS, vocabulary

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
_WORD = re.compile(r"[^\W\d_]+")

_SCRIPTS = {
    "CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese",
    "HANGUL": "Korean", "CYRILLIC": "a language in Cyrillic script", "ARABIC": "Arabic or Persian",
    "HEBREW": "Hebrew", "GREEK": "Greek", "DEVANAGARI": "Hindi", "THAI": "Thai",
    "BENGALI": "Bengali", "TAMIL": "Tamil", "TELUGU": "Telugu", "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian", "ETHIOPIC": "Amharic", "KHMER": "Khmer", "LAO": "Lao",
    "MYANMAR": "Burmese", "SINHALA": "Sinhala", "GUJARATI": "Gujarati", "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam", "GURMUKHI": "Punjabi",
}  # fmt: skip

# These are everyday English words too, or stand inside many English names.
_ALSO_ENGLISH = vocabulary(
    """a an as at do die den dem hat her it in is me no on or per plus so to was we he i o e y z s
    son pour come dove comment art rot also elk of are see ten land war bring will men his under
    over list lists liste media media number date total name nom ton sans pays prime place type
    mode code note article force avenue page image ville city ha data video audio
    total or die data hall van la los las el de du des santa san en rate rank park an em tai ki ai
    lista menu radio hotel"""
)


def foreign_language(text: str) -> str | None:
    """The language a request seems to be in, or None when it can be read as English."""
    bare = _QUOTED.sub(" ", text)
    return _by_script(bare) or _by_words(bare)


def _by_script(text: str) -> str | None:
    counts: dict[str, int] = {}
    latin = 0
    for letter in text:
        if not letter.isalpha():
            continue
        script = unicodedata.name(letter, "LATIN").split()[0]
        if script in _SCRIPTS:
            counts[script] = counts.get(script, 0) + 1
        else:
            latin += 1
    if sum(counts.values()) <= latin:
        return None
    # Japanese mixes scripts; its own letters decide.
    for kana in ("HIRAGANA", "KATAKANA"):
        if kana in counts:
            return _SCRIPTS[kana]
    return _SCRIPTS[max(counts, key=lambda script: counts[script])]


def _by_words(text: str) -> str | None:
    words = _without_names([match.group() for match in _WORD.finditer(text)])
    english = sum(word in FUNCTION_WORDS or word in OPERATION_WORDS for word in words)
    best, hits = "", 0
    for language, known in _vocabularies().items():
        found = sum(word in known for word in words)
        distinct = len({word for word in words if word in known - _ALSO_ENGLISH})
        if distinct >= 2 and found > hits:
            best, hits = language, found
    return best if hits > english else None


def _without_names(words: list[str]) -> list[str]:
    """Lower-case words that don't belong to a name; everything when nothing is capitalised."""
    if not any(word.islower() for word in words):
        return [word.casefold() for word in words]
    kept = []
    for place, word in enumerate(words):
        first = place == 0
        if word[:1].isupper() and not first:
            continue
        before = place > 1 and words[place - 1][:1].isupper()
        after = next((w for w in words[place + 1 : place + 3] if w[:1].isupper()), None)
        near = place > 1 and any(w[:1].isupper() for w in words[max(1, place - 2) : place])
        if not first and len(word) <= 4 and (before or near) and after:
            continue
        kept.append(word.casefold())
    return kept


@cache
def _vocabularies() -> dict[str, frozenset[str]]:
    """The little words of each language that aren't English ones as well."""
    english = (FUNCTION_WORDS | OPERATION_WORDS) - {"id", "die"}
    text = (files(__package__) / "foreign_words.txt").read_text(encoding="utf-8")
    listed = (entry.partition(":") for entry in text.split("\n\n"))
    return {language: frozenset(words.split()) - english for language, _, words in listed}
