"""The rules about words that the parser was trained on, kept as they were until its next training.

They turn a question and the names of a schema into the parser's inputs, so they may not change
under its weights: stems match otherwise than by `words.stem` ("movies" isn't "movie"), and short
forms are written out by a smaller list. Only the parser and training use them; everything else
follows `words` and `vocabulary`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

WORD = re.compile(r"\d[\d.,:/-]*\d|[^\W_]+(?:['’.@&_-][^\W_]+)*|\S")
"""A number or date, a word with its inner marks, or one sign."""

NAME_PART = re.compile(r"[^\W\d_]+|\d+")
CAMEL_BORDER = re.compile(r"(?<=[^\W\dA-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Parts of snake_case, camelCase and ALLCAPS names; other scripts stay whole."""

MAX_WORDS = 128
"""Words of a question, and of its evidence, that the parser reads; as in its training."""

STOP_WORDS = frozenset(
    """a all an and any are as at be been by can count did do does each every find for from give
    had has have how i in is it its list many me more most much not of on or please return show
    tell than that the their them there these they this those to was were what when where which
    who whose will with you""".split()  # noqa: SIM905
)

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1000, "million": 10**6}

ABBREVIATIONS = {
    "addr": "address",
    "amt": "amount",
    "avg": "average",
    "cnt": "count",
    "cust": "customer",
    "dept": "department",
    "desc": "description",
    "dob": "date of birth",
    "emp": "employee",
    "fname": "first name",
    "lname": "last name",
    "lang": "language",
    "lat": "latitude",
    "lng": "longitude",
    "max": "maximum",
    "mgr": "manager",
    "min": "minimum",
    "nbr": "number",
    "num": "number",
    "org": "organization",
    "pct": "percent",
    "pos": "position",
    "prof": "professor",
    "qty": "quantity",
    "stu": "student",
    "tel": "telephone",
    "temp": "temperature",
    "univ": "university",
    "yr": "year",
}


class Word(NamedTuple):
    """A word of the question (or of its evidence) and where it stands in that text."""

    text: str
    start: int
    end: int
    evidence: bool = False


def split_words(text: str, *, evidence: bool = False) -> list[Word]:
    """The words and signs of a text in order, at most MAX_WORDS."""
    found = WORD.finditer(text)
    return [
        Word(match.group(), match.start(), match.end(), evidence)
        for match, _ in zip(found, range(MAX_WORDS), strict=False)
    ]


def split_name(name: str) -> list[str]:
    """Lower-case words of a stored name, usual abbreviations written out.

    >>> split_name("StuID"), split_name("dept_name")
    (['student', 'id'], ['department', 'name'])
    """
    parts = [word.lower() for part in NAME_PART.findall(name) for word in CAMEL_BORDER.split(part)]
    words = " ".join(ABBREVIATIONS.get(part, part) for part in parts).split()
    return words or [name.strip().lower() or "?"]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without case and common endings; only ever compared with other stems."""
    word = word.lower()
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


@lru_cache(maxsize=8192)
def akin(left: str, right: str) -> bool:
    """True if two stems are equal, or one begins with the other and has five letters or more."""
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    return len(short) >= 5 and long.startswith(short)


def phrase_matches(question: Sequence[str], name: Sequence[str]) -> list[range]:
    """The places at which the stems of a name follow one another among the question's stems."""
    length = len(name)
    return [
        range(start, start + length)
        for start in range(len(question) - length + 1)
        if all(question[start + offset] == name[offset] for offset in range(length))
    ]
