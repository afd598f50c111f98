"""Cue words of a question: extremes, directions, counts, each, not, bounds, properties.

A group is a tuple of words or phrases in lower case; `whole_words` makes a pattern of a group or of
a regular expression. Who reads a question takes the groups from here and decides what they mean for
a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlwright.english.vocabulary import NUMBERS, ORDINALS, vocabulary


def one_of(words: Iterable[str]) -> str:
    """A regular expression for any of some words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def whole_words(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words, in any case."""
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


MOST = ("highest", "largest", "biggest", "greatest", "most", "maximum")
LEAST = ("lowest", "smallest", "least", "fewest", "minimum")
"""Ends of any scale of amounts."""

HIGH_END = (*MOST, "oldest", "longest", "best", "top", "tallest", "heaviest", "fastest", "richest")
LOW_END = (*LEAST, "youngest", "shortest", "cheapest", "lightest", "slowest", "poorest", "worst")
"""Superlatives of large and of small values. The oldest has the largest age and the smallest date
of birth: which one is meant depends on the column."""

COUNT = ("how many", "number of", "count")
AVERAGE = ("average", "mean", "avg")
TOTAL = ("total", "sum", "altogether")
TIME = (
    "when", "date", "year", "month", "day", "since", "before", "after", "recent", "latest",
)  # fmt: skip
NAME = ("who", "name", "names", "named", "called", "whose")
KEY = ("id", "ids", "identifier", "code", "codes", "identification")
EACH = ("each", "every", "per", "by")
NOT = ("not", "never", "without", "no", "except", "neither")
BOUND = ("more than", "less than", "greater", "above", "below", "over", "under", "at least")
"""Words that ask for a function, a kind of column, a group, a negation and a comparison."""

SHARE = ("percent", "percentage", "share", "ratio", "rate", "proportion", "fraction")
FEW = ("at most", "fewer than", "less than", "no more than", "not more than", "all", "none")
RUN = ("consecutive", "consecutively", "in a row", "previous", "next", "running", "cumulative")
"""Words that ask for a part of a whole, for things that may have no partners, and for neighbours
in an order."""

KINDS = (COUNT, HIGH_END, LOW_END, AVERAGE, TOTAL, TIME, NAME, KEY, EACH, NOT, BOUND)
"""The groups that the linker has an input for each, in the order of its weights."""

COMPARATIVES = vocabulary(
    """bigger cheaper earlier faster heavier higher larger later longer lower newer older richer
    shorter slower smaller taller younger"""
)
"""Words that compare a property that columns hold under another name."""

_UP, _DOWN = one_of(LEAST), one_of(MOST)
_ORDERS = tuple(
    (re.compile(rf"(?<!\w){pattern}", re.IGNORECASE), f"in {order}")
    for pattern, order in (
        (r"(?:from )?z(?: to |-)a\b", "descending alphabetical order"),
        (r"(?:from )?a(?: to |-)z\b", "alphabetical order"),
        (rf"from (?:the )?(?:{_DOWN}) to (?:the )?(?:{_UP})\b", "descending order"),
        (rf"from (?:the )?(?:{_UP}) to (?:the )?(?:{_DOWN})\b", "ascending order"),
        (r"from (?:the )?cheapest to (?:the )?(?:most expensive|dearest)\b",
         "ascending order of price"),
        (r"from (?:the )?(?:most expensive|dearest) to (?:the )?(?:cheapest|least expensive)\b",
         "descending order of price"),
        (rf"(?:{_DOWN}) first\b(?=\s*(?:[.,;?!]|$))", "descending order"),
        (rf"(?:{_UP}) first\b(?=\s*(?:[.,;?!]|$))", "ascending order"),
    )
)  # fmt: skip
"""Phrases that read like an extreme, a letter or a name and ask for an order, with that order in
plain words."""


def orders(text: str) -> list[tuple[int, int, str]]:
    """The phrases that ask for an order: first character, end, that order in plain words."""
    return [(*match.span(), order) for shape, order in _ORDERS for match in shape.finditer(text)]


_ARRANGED = whole_words(
    r"order(?:ed|ing)?|sort(?:ed|ing)?|rank(?:ed|ing)?|alphabetic(?:al(?:ly)?)?"
    r"|(?:a|de)scending(?:ly)?|(?:in|de)creasing|lexicographic(?:al(?:ly)?)?"
    r"|chronological(?:ly)?|reversed?|listed by|starting with|from (?:the )?(?:\w+ )?\w+ to"
)


def asks_for_order(text: str) -> bool:
    """True if a question asks for its answer's rows in some order; in doubt it does."""
    return bool(orders(text) or _ARRANGED.search(text))


_EACH_UNIT = re.compile(r"\b(per|each|every|by)\s+(?:day|week|month)\b", re.IGNORECASE)
_PERIODIC = re.compile(r"\b(?:daily|weekly|monthly|yearly|annually) ?", re.IGNORECASE)
_END = re.compile(r"\W*$")


def each_year(text: str) -> list[tuple[int, int, str]]:
    """The cuts by which a text that asks for something for each day, week or month asks for it for
    each year: first character, end, replacement."""
    cuts = [(*match.span(), f"{match.group(1)} year") for match in _EACH_UNIT.finditer(text)]
    periodic = _PERIODIC.search(text)
    if periodic:
        end = max(_END.search(text).start(), periodic.end())  # type: ignore[union-attr]
        cuts += [(*periodic.span(), ""), (end, end, " in each year")]
    return cuts


NEGATION_BEFORE = re.compile(
    r"(?:\bnot|\bexcept|\bexcluding|\boutside|\bother than|\bneither|\bnor|n['’]t)"
    r"(?:\s+(?:for|of|in|from|at|by|with|be|the|a|an|any))*\s*[\"'“‘]?$",
    re.IGNORECASE,
)
"""Words that end the text before a phrase that is excluded."""

_DONE_BEFORE = re.compile(
    r"\b(?:did|do|does)(?:n['’]t)?\s+(?:(?!ha(?:ve|s)\b|be\b)[^\s,;?]+\s+){1,5}$", re.IGNORECASE
)
_DONE_AFTER = re.compile(
    r"\s*(?:[?.,;!]|$|(?:in|on|at|for|with|to|from|by|during|before|after|since|last|this|each"
    r"|per|most|and)\b)",
    re.IGNORECASE,
)


def is_done(text: str, span: tuple[int, int]) -> bool:
    """True if a phrase is what somebody does: the open of “how many tickets did Ann open?”."""
    before, after = text[: span[0]], text[span[1] :]
    return bool(_DONE_BEFORE.search(before) and _DONE_AFTER.match(after))


BETWEEN_EQUALS = re.compile(
    r"\s*(?:[,/&]|\b(?:and|or|versus|vs|nor|compared|to|with|than|in|from|of|the)\b)"
    r"(?:\s*\b(?:and|or|to|with|than|in|from|of|the|those|also)\b)*[\s\"'“”‘’]*",
    re.IGNORECASE,
)
"""Words between two values that are both meant: “Kenya or Norway”."""

LATER_PLACES = {word: place for word, place in ORDINALS.items() if place > 1}
LATER_PLACE = whole_words(
    rf"(?P<place>{one_of(LATER_PLACES)})[- ](?:most|least|fewest|\w+est|best|worst)"
)
"""“Second most”: an extreme that isn't the first."""

ROUNDED = whole_words(
    rf"round(?:ed)?(?: off)?(?: (?:to|at) (?P<digits>\d|{one_of(NUMBERS)})"
    r"(?: (?:decimals?|digits?|places?))+)?"
)
"""“Rounded to two decimals”."""

SOME_NUMBER = rf"(?:\d+|{one_of(NUMBERS)})"
"""A number in digits or as a word."""

PROPERTIES: dict[str, tuple[str, ...]] = {
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
"""Question words that ask for a quantity or property by another name, with the words of columns
that hold it."""
