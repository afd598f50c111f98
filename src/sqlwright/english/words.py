"""Rules about words of questions and of schema names: tokens, split_name, singular, stem.

There is one rule of each kind, and everything but the parser follows it; what the parser was
trained on is in `as_trained`. All functions are pure and take English in lower case where they take
a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from sqlwright.english.vocabulary import ABBREVIATIONS, FUNCTION_WORDS, vocabulary

_NAME_PART = re.compile(r"\d+|[^\W\d_]+")
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W_]+(?:['’][^\W_]+)?")
_VOWELS = frozenset("aeiou")

_PLURALS = {
    "men": "man", "feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose",
    "criteria": "criterion", "phenomena": "phenomenon", "alumni": "alumnus", "cacti": "cactus",
    "syllabi": "syllabus", "indices": "index", "matrices": "matrix", "vertices": "vertex",
    "appendices": "appendix", "analyses": "analysis", "axes": "axis", "crises": "crisis",
    "diagnoses": "diagnosis", "hypotheses": "hypothesis", "oases": "oasis", "theses": "thesis",
    "calves": "calf", "halves": "half", "knives": "knife", "leaves": "leaf", "lives": "life",
    "loaves": "loaf", "scarves": "scarf", "shelves": "shelf", "thieves": "thief",
    "wolves": "wolf", "quizzes": "quiz", "gases": "gas", "lenses": "lens", "aliases": "alias",
    "atlases": "atlas", "biases": "bias", "canvases": "canvas", "ads": "ad", "cds": "cd",
    "ids": "id", "kms": "km", "pcs": "pc", "tvs": "tv",
}  # fmt: skip
"""Plurals that no rule tells."""
_COMPOUND_PLURALS = (
    ("people", "person"), ("children", "child"), ("women", "woman"), ("wives", "wife"),
)  # fmt: skip
"""Plurals that end other words too: salespeople, grandchildren, midwives."""
_NO_PLURALS = vocabulary(
    """abdomen acumen omen regimen semen specimen alias asbestos atlas bias canvas chaos christmas
    cosmos ethos gas has kudos lens news pathos series species thermos was"""
)
"""Words in the singular, or of one form, that end as plurals do."""
_IN_E = vocabulary(
    """auntie birdie bookie brownie budgie calorie collie cookie foodie freebie genie goalie groupie
    hippie hoodie indie junkie menagerie movie necktie newbie pixie prairie rookie selfie smoothie
    sortie veggie zombie ache avalanche backache cache cliche creche headache heartache moustache
    mustache niche porsche psyche quiche stomachache toothache tranche crevasse finesse impasse
    mousse posse aloe canoe floe oboe shoe snowshoe horseshoe tiptoe abuse excuse fuse muse recluse
    refuse reuse ruse"""
)
"""Words whose plural only adds an s to -ie, -che, -sse, -oe and -use, unlike city, beach, class,
hero and bus."""
_IN_I_OR_U = vocabulary(
    """alibi api bikini deli kiwi kpi martini rabbi safari ski taxi yeti caribou emu guru menu"""
)
"""Words whose plural ends in -is and -us, as analysis and status do in the singular."""
_ES = re.compile(r"(?:ss|x|ch|sh|zz|tz|o|[^aeou]us)es\Z")
"""Plurals that add es: classes, boxes, beaches, waltzes, heroes, buses, but not houses."""

_VERBS = {
    "written": "write", "wrote": "write", "sold": "sell", "bought": "buy", "paid": "pay",
    "held": "hold", "won": "win", "lost": "lose", "ran": "run", "taught": "teach",
    "taken": "take", "took": "take", "given": "give", "gave": "give", "went": "go", "gone": "go",
    "goes": "go", "left": "leave", "met": "meet", "sent": "send", "spent": "spend",
    "built": "build", "born": "birth", "flew": "fly", "flown": "fly", "drove": "drive",
    "driven": "drive", "began": "begin", "begun": "begin", "led": "lead", "lent": "lend",
    "better": "good", "best": "good", "worse": "bad", "worst": "bad",
}  # fmt: skip
"""Irregular forms of verbs and adjectives with their base, or the noun that columns have for it."""


class Token(NamedTuple):
    """A word or number of a text with its character range."""

    text: str
    """Lower case."""
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    def within(self, span: tuple[int, int]) -> bool:
        """True if it lies in a range of characters."""
        return span[0] <= self.start and self.end <= span[1]


def tokens(text: str) -> list[Token]:
    """Words and numbers in reading order; a possessive's 's is dropped."""
    found = []
    for match in _TOKEN.finditer(text):
        word = match.group().lower().replace("’", "'")
        word = word.removesuffix("'s")
        found.append(Token(word, match.start(), match.end()))
    return found


def name_spans(name: str) -> Iterator[tuple[int, int]]:
    """First character and end of each word of an identifier; it is split at other characters,
    between letters and digits, and at humps (`HTTPServerName` has three)."""
    for run in _NAME_PART.finditer(name):
        start, end = run.span()
        for at in range(start + 1, end):
            if name[at].isupper() and (
                name[at - 1].islower()
                or (name[at - 1].isupper() and at + 1 < end and name[at + 1].islower())
            ):
                yield start, at
                start = at
        yield start, end


@lru_cache(maxsize=65536)
def split_name(name: str) -> tuple[str, ...]:
    """Words of an identifier, lower case: `HomeTeam_ID2` gives home, team, id, 2."""
    return tuple(name[start:end].lower() for start, end in name_spans(name))


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """A noun in the singular; other words as they are, but for verbs that end like plurals.

    >>> [singular(word) for word in ("companies", "movies", "buses", "people", "address")]
    ['company', 'movie', 'bus', 'person', 'address']
    """
    if word in _NO_PLURALS:
        return word
    if word in _PLURALS:
        return _PLURALS[word]
    for plural_ending, ending in _COMPOUND_PLURALS:
        if word.endswith(plural_ending):
            return word.removesuffix(plural_ending) + ending
    if word.endswith("men") and len(word) > 5:
        return word[:-2] + "an"
    if len(word) <= 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word[:-1] in _IN_E or word[:-1] in _IN_I_OR_U:
        return word[:-1]
    if word.endswith(("is", "us")) and not word.endswith("eaus"):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and _ES.search(word):
        return word[:-2]
    return word[:-1]


def plural(words: str) -> str:
    """Words with the last one in the plural, for sentences.

    >>> plural("city"), plural("tax class"), plural("sales person")
    ('cities', 'tax classes', 'sales people')
    """
    if words.endswith("y") and words[-2:-1] not in "aeiou":
        return words[:-1] + "ies"
    if words.endswith(("ss", "x", "ch", "sh", "us")):
        return words + "es"
    if words.endswith(("s", "people", "data", "information", "staff")):
        return words
    return words[:-6] + "people" if words.endswith("person") else words + "s"


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without the endings of plural, past and -ing; two forms of a word share it.

    It is no dictionary form: `driving` and `drive` both give `driv`. Words in other characters than
    letters stay.
    """
    if not word.isalpha():
        return word
    word = singular(_VERBS.get(word, word))
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWELS & set(base):
            word = _base_of_verb(base)
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def _base_of_verb(base: str) -> str:
    """A verb without -ing or -ed as it was before: `stopp` gives stop, `hir` hire, `sell` sell."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "sl":
        return base[:-1]
    first, second, third = (letter in _VOWELS for letter in base[-3:])
    if len(base) == 3 and (first, second, third) == (False, True, False) and base[-1] not in "wxy":
        return base + "e"
    return base


_PARTICIPLES = frozenset(
    """born built done given held left lent lost made met paid read seen sent sold spent taken
    taught won written""".split()  # noqa: SIM905
)


def is_participle(word: str) -> bool:
    """True if a word in lower case is a past participle by its form: `shipped`, `paid`."""
    return word in _PARTICIPLES or (len(word) > 4 and word.endswith("ed"))


@lru_cache(maxsize=65536)
def is_abbreviation(short: str, full: str) -> bool:
    """True if `short` can stand for `full`: its letters in order, the same first letter.

    Three letters or more, at most three quarters as long, and a prefix or without vowels.
    """
    if full in ABBREVIATIONS.get(short, ()):
        return True
    if len(short) < 3 or len(short) * 4 > len(full) * 3 or short[0] != full[0]:
        return False
    if full.startswith(short):
        return True
    rest = iter(full)
    if not all(letter in rest for letter in short):
        return False
    return sum(letter in _VOWELS for letter in short[1:]) == 0


def phrases(
    found: Sequence[Token], longest: int = 3, dull: frozenset[str] = FUNCTION_WORDS
) -> list[tuple[int, int]]:
    """Ranges [first, end) of tokens that neither start nor end with a dull word or number."""
    spans = []
    for first in range(len(found)):
        for end in range(first + 1, min(first + longest, len(found)) + 1):
            edges = (found[first], found[end - 1])
            if any(t.is_number or t.text in dull for t in edges):
                continue
            spans.append((first, end))
    return spans


def readable(names: Iterable[str]) -> str:
    """Identifiers as words, for an embedding: `hire_dt` gives `hire dt`."""
    return " ".join(" ".join(split_name(name)) or name for name in names)


LONGEST_VALUE = 6
"""Words of such a value at most: longer ones are sentences. Chosen."""


def part_of(phrase: str, value: str) -> str:
    """The part of a value that a phrase's words, in the plural or not, are; empty where they don't
    stand in it one after another, behind others."""
    wanted = [singular(word.text) for word in tokens(phrase)]
    held = tokens(value)
    if not len(wanted) < len(held) <= LONGEST_VALUE:
        return ""
    for start in range(1, len(held) - len(wanted) + 1):
        part = held[start : start + len(wanted)]
        if [singular(word.text) for word in part] == wanted:
            return value[part[0].start : part[-1].end]
    return ""
