"""Words of questions and of schema names, and how they can mean the same: pure functions.

English only, as is everything the embedded models read. Small tables of general knowledge
(irregular plurals, common abbreviations in column names, which adjective asks for which quantity)
stand here in the open; nothing in them comes from any data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

_NAME_PART = re.compile(r"\d+|[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])")
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W_]+(?:['’][^\W_]+)?")


def vocabulary(words: str) -> frozenset[str]:
    """Blank-separated words as a set."""
    return frozenset(words.split())


FUNCTION_WORDS = vocabulary(
    """a an the this that these those there here it its they them their theirs he him his she her
    hers we us our you your i me my mine who whom whose which what when where why how is are was
    were be been being am do does did done doing have has had having can could may might must shall
    should will would of in on at by for from to with without within into onto over under about
    above below between among through during before after since until till against per via as
    than then and or nor but if so because while whether either neither both not no yes also too
    very just only even still yet already again once please kindly let lets 's s t don doesn didn
    isn aren wasn weren all any some each every other another such same own more most less least
    many much few several out up down off along across around near toward towards upon
    ever never always it's what's who's there's im i'm id thats one ones them"""
)
"""Words that join others and name nothing in a database."""

OPERATION_WORDS = vocabulary(
    """find show list give tell return display get fetch retrieve print report provide state
    identify determine calculate compute select search look want need like know see name names
    named called count number numbers amount total totals sum average avg mean median maximum max
    minimum min highest lowest largest smallest biggest greatest top bottom first last best worst
    most least fewest more less fewer greater smaller larger higher lower equal exactly above below
    different distinct unique duplicate order ordered sort sorted rank ranked ranking ascending
    descending alphabetical alphabetically asc desc increasing decreasing reverse group grouped
    respectively corresponding percentage percent ratio share proportion rate difference compare
    compared including include includes included excluding except exclude contain contains
    containing start starts starting begin begins beginning end ends ending letter string word
    substring value values information info details detail data record records entry entries row
    rows item items thing things kind kinds type types associated related belong belongs belonging
    available exist exists existing currently current given following together overall least
    use uses used using make makes made take takes taken happen happened occur occurred result
    results question answer query database table tables column columns field fields attribute
    attributes least times time frequently often common commonly rarely popular latest earliest
    newest oldest youngest recent recently new old young year years month months day days date
    dates week weeks daily weekly monthly yearly annually today yesterday tomorrow ago next
    previous past future long short big small
    large high low good bad longest shortest cheapest expensive common single multiple pair pairs
    half double twice thrice zero two three four five six seven eight nine ten hundred thousand
    million billion second third fourth fifth ones none nothing anything everything someone anyone
    everyone people person whole entire complete full list lists many much"""
)
"""Words that ask for an operation or frame a request; they need no counterpart in a schema."""

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
         "august aug", "september sep sept", "october oct", "november nov", "december dec"), 1
    )
    for name in names.split()
}  # fmt: skip
"""The number of each month by its name."""

_IRREGULAR = {
    "people": "person", "persons": "person", "children": "child", "men": "man", "women": "woman",
    "feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose", "criteria": "criterion",
    "phenomena": "phenomenon", "analyses": "analysis", "bases": "base", "indices": "index",
    "matrices": "matrix", "staffs": "staff", "lives": "life", "wives": "wife", "knives": "knife",
    "leaves": "leaf", "shelves": "shelf", "movies": "movie", "cookies": "cookie",
    "series": "series", "species": "species", "status": "status", "bus": "bus", "buses": "bus",
    "gas": "gas", "campus": "campus", "address": "address", "addresses": "address",
    "cds": "cd", "dvds": "dvd", "written": "write", "wrote": "write", "sold": "sell",
    "bought": "buy", "paid": "pay", "held": "hold", "won": "win", "lost": "lose", "ran": "run",
    "taught": "teach", "taken": "take", "took": "take", "given": "give", "gave": "give",
    "went": "go", "gone": "go", "left": "leave", "met": "meet", "sent": "send", "spent": "spend",
    "built": "build", "born": "birth", "flew": "fly", "flown": "fly", "drove": "drive",
    "driven": "drive", "began": "begin", "begun": "begin", "led": "lead", "lent": "lend",
    "better": "good", "best": "good", "worse": "bad", "worst": "bad",
}  # fmt: skip

_KEEP_S = ("ss", "us", "is", "os")
_VOWELS = frozenset("aeiou")


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
        """Whether it lies in a range of characters."""
        return span[0] <= self.start and self.end <= span[1]


def tokens(text: str) -> list[Token]:
    """Words and numbers in reading order; a possessive's 's is dropped."""
    found = []
    for match in _TOKEN.finditer(text):
        word = match.group().lower().replace("’", "'")
        word = word.removesuffix("'s")
        found.append(Token(word, match.start(), match.end()))
    return found


@lru_cache(maxsize=65536)
def split_name(name: str) -> tuple[str, ...]:
    """Words of an identifier, lower case: `HomeTeam_ID2` gives home, team, id, 2."""
    return tuple(
        word.lower() for part in _NAME_PART.findall(name) for word in _CAMEL.split(part) if word
    )


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem: plural, past and -ing endings removed. Two forms of a word share it.

    It is no dictionary form: `driving` and `drive` both give `driv`.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    word = singular(word)
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWELS & set(base):
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "sl":
                base = base[:-1]
            word = base
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def singular(word: str) -> str:
    """A word without its plural ending, by rule."""
    if not word.endswith("s") or word.endswith(_KEEP_S):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def content_tokens(text: str) -> list[Token]:
    """Tokens that are neither function words nor numbers."""
    return [t for t in tokens(text) if not t.is_number and t.text not in FUNCTION_WORDS]


ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    "acct": ("account",), "addr": ("address",), "amt": ("amount",), "approx": ("approximate",),
    "attr": ("attribute",), "avg": ("average",), "bal": ("balance",), "bday": ("birthday",),
    "cat": ("category",), "cd": ("code",), "chg": ("change",), "cnt": ("count",),
    "co": ("company",), "comp": ("company",), "coord": ("coordinate",), "ctry": ("country",),
    "cust": ("customer",), "def": ("definition",), "dept": ("department",),
    "desc": ("description",), "dest": ("destination",), "dim": ("dimension",),
    "dist": ("distance", "district"), "dob": ("birth", "birthday"), "doc": ("document",),
    "dt": ("date",), "emp": ("employee",), "est": ("estimate",), "fname": ("first", "name"),
    "freq": ("frequency",), "gen": ("gender",), "govt": ("government",), "grp": ("group",),
    "hp": ("horsepower",), "hr": ("hour",), "hrs": ("hours",), "img": ("image",),
    "info": ("information",), "inst": ("institution",), "instr": ("instructor",),
    "inv": ("invoice", "inventory"), "lang": ("language",), "lat": ("latitude",),
    "lname": ("last", "name"), "lng": ("longitude",), "loc": ("location",), "lon": ("longitude",),
    "long": ("longitude",), "max": ("maximum",), "mfr": ("manufacturer",), "mgr": ("manager",),
    "min": ("minimum",), "mpg": ("mile", "gallon"), "msg": ("message",), "nat": ("nationality",),
    "nbr": ("number",), "no": ("number",), "num": ("number",), "org": ("organization",),
    "ord": ("order",), "pct": ("percent", "percentage"), "perc": ("percent",),
    "ph": ("phone",), "pop": ("population",), "pos": ("position",), "prev": ("previous",),
    "prod": ("product",), "prof": ("professor",), "pts": ("points",), "pub": ("publication",),
    "pwd": ("password",), "qty": ("quantity",), "ref": ("reference",), "reg": ("region",),
    "rest": ("restaurant",), "rev": ("revenue",), "sal": ("salary",), "sem": ("semester",),
    "sex": ("gender",), "spd": ("speed",), "std": ("standard",), "stu": ("student",),
    "stuid": ("student",), "tel": ("telephone", "phone"), "temp": ("temperature",),
    "tm": ("team",), "tot": ("total",), "trans": ("transaction",), "univ": ("university",),
    "usr": ("user",), "val": ("value",), "vol": ("volume",), "wt": ("weight",), "yr": ("year",),
}  # fmt: skip
"""Usual short forms in column names."""

CUES: dict[str, tuple[str, ...]] = {
    "when": ("date", "time", "year", "day", "start", "datetime", "timestamp"),
    "where": ("location", "city", "country", "address", "place", "state", "venue"),
    "who": ("name", "person", "author", "owner"),
    "old": ("age", "birth", "birthday", "dob", "year", "date", "founded"),
    "oldest": ("age", "birth", "birthday", "dob", "year", "date", "founded"),
    "older": ("age", "birth", "year"),
    "young": ("age", "birth", "birthday", "dob"),
    "youngest": ("age", "birth", "birthday", "dob"),
    "younger": ("age", "birth"),
    "newest": ("date", "year", "time", "created", "built"),
    "latest": ("date", "year", "time", "created"),
    "recent": ("date", "year", "time", "created"),
    "recently": ("date", "year", "time", "created"),
    "earliest": ("date", "year", "time", "start"),
    "last": ("date", "year", "time"),
    "expensive": ("price", "cost", "amount", "fee", "rent"),
    "cheap": ("price", "cost", "amount", "fee", "rent"),
    "cheapest": ("price", "cost", "amount", "fee", "rent"),
    "cost": ("price", "cost", "amount", "fee"),
    "costs": ("price", "cost", "amount", "fee"),
    "tall": ("height",), "taller": ("height",), "tallest": ("height",), "shortest": ("height",
    "length", "duration"), "heavy": ("weight",), "heavier": ("weight",), "heaviest": ("weight",),
    "lightest": ("weight",), "long": ("length", "duration", "distance", "time"),
    "longest": ("length", "duration", "distance", "time", "runtime"),
    "longer": ("length", "duration", "distance"), "high": ("height", "elevation", "altitude"),
    "deep": ("depth",), "deepest": ("depth",), "wide": ("width",), "widest": ("width",),
    "fast": ("speed", "time"), "faster": ("speed", "time"), "fastest": ("speed", "time"),
    "slowest": ("speed", "time"), "far": ("distance",), "farthest": ("distance",),
    "hot": ("temperature",), "hottest": ("temperature",), "cold": ("temperature",),
    "coldest": ("temperature",), "rich": ("salary", "income", "wealth", "worth", "gdp"),
    "richest": ("salary", "income", "wealth", "worth", "gdp"), "poorest": ("income", "gdp"),
    "paid": ("salary", "payment", "amount"), "earn": ("salary", "income", "earnings"),
    "earns": ("salary", "income", "earnings"), "earned": ("salary", "income", "earnings"),
    "earning": ("salary", "income", "earnings"), "populous": ("population",),
    "populated": ("population",), "inhabitants": ("population",), "live": ("city", "address",
    "population", "country"), "lives": ("city", "address", "country"), "living": ("city",
    "address", "population"), "big": ("size", "area", "population"), "biggest": ("size", "area",
    "population"), "large": ("size", "area", "population", "capacity"), "largest": ("size", "area",
    "population", "capacity"), "small": ("size", "area", "population"), "smallest": ("size",
    "area", "population", "capacity"), "born": ("birth", "birthday", "dob"), "male": ("gender",
    "sex"), "female": ("gender", "sex"), "men": ("gender", "sex"), "women": ("gender", "sex"),
    "boys": ("gender", "sex"), "girls": ("gender", "sex"), "popular": ("popularity", "votes",
    "rating", "views"), "rated": ("rating", "score", "stars"), "successful": ("wins", "revenue",
    "profit"), "profitable": ("profit", "margin", "revenue"), "called": ("name", "title"),
    "named": ("name", "title"), "nation": ("country",), "nations": ("country",),
    "citizens": ("nationality", "citizenship", "country"), "email": ("mail",),
    "titled": ("title",), "founded": ("founded", "year", "opening"), "opened": ("opening", "open"),
    "hired": ("hire", "date"), "joined": ("join", "date", "start"), "released": ("release", "date",
    "year"), "published": ("publish", "publication", "year", "date"), "capacity": ("capacity",
    "seating"), "worth": ("value", "price", "amount"), "spent": ("amount", "cost", "price"),
    "spend": ("amount", "cost", "price"), "weigh": ("weight",), "weighs": ("weight",),
    "revenue": ("sales", "amount", "total", "price", "payment"), "turnover": ("sales", "revenue",
    "amount", "total", "price"), "sales": ("amount", "total", "price", "revenue"), "income":
    ("amount", "revenue", "earnings", "salary"), "earnings": ("income", "salary", "revenue"),
    "duration": ("length", "time", "milliseconds", "seconds", "minutes", "hours", "runtime"),
    "length": ("duration", "milliseconds", "seconds", "minutes", "runtime"), "size": ("bytes",
    "area", "capacity"), "age": ("birth", "birthday", "dob", "born"), "weekday": ("date", "time",
    "timestamp", "datetime"), "weekdays": ("date", "time", "timestamp", "datetime"), "weekend":
    ("date", "time", "timestamp", "datetime"), "weekends": ("date", "time", "timestamp",
    "datetime"), "hour": ("time", "timestamp", "datetime"), "aged": ("age",),
    "located": ("location", "city", "country", "address", "state"),
}  # fmt: skip
"""Question words that ask for a quantity or property by another name."""


@lru_cache(maxsize=65536)
def is_abbreviation(short: str, full: str) -> bool:
    """Whether `short` can stand for `full`: its letters in order, the same first letter.

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


def initials(words: Sequence[str]) -> str:
    """First letters: `date of birth` gives `dob`."""
    return "".join(word[0] for word in words)


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
