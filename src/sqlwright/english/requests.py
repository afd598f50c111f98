"""Recognises requests that are unmistakable orders to change what is stored.

An order begins with its verb, politeness aside, and names what it is about: `delete all orders`,
`could you set the price of tea to 5`. Everything else is no order: `delete requests by week` has no
article where an order would, `remove the duplicates and list the cities` goes on to ask for
something, `create a report of sales` is about what is shown, `Drop Dead Fred` is a title.

What isn't certain is no order. The database can't be written through in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlwright.english.vocabulary import (
    DEEDS,
    FUNCTION_WORDS,
    GENERAL_WORDS,
    KEY_WORDS,
    OPERATION_WORDS,
    POLITE,
    vocabulary,
)
from sqlwright.english.words import singular

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")
_WORD = re.compile(r"\w+(?:[-'’.,]\w+)*")
_BOUNDARY = re.compile(r"[.,;:!?]+(?=\s|$)|\b(?:and|then)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"\s*(?:please|kindly|pls|hi|hello|hey|ok(?:ay)?|thanks|now|next|also|just|go\s+ahead)\b[,.!\s]*",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\s*(?:(?:can|could|would|will)\s+(?:you|we|i)\b|how\s+(?:to\b|(?:do|can|should)\s+(?:i|we)\b)|"
    r"(?:i|we)(?:\s+would|['’]d)?\s+(?:want|like|need|have|wish)\s+(?:you\s+)?to\b|"
    r"let(?:['’]s|\s+us|\s+me)\b|you\s+(?:must|should|need\s+to|have\s+to)\b)\s*",
    re.IGNORECASE,
)
"""Beginnings that only a verb can follow."""
_YEAR = re.compile(r"(?:19|20)\d\d")

_WHOLE = vocabulary("all every each everything everyone everyone's its his her their")
DETERMINERS = _WHOLE | vocabulary("the a an any this that these those my our your both")
_BEFORE = vocabulary("it them")
"""Words for the thing that an earlier sentence was about."""
_SHOWN = vocabulary(
    """answer average blanks breakdown calculation chart comparison condition count diagram
    duplicate duplicates filter filters graph grouping histogram limit list lists missing null nulls
    outliers output overview percentage pivot plot query ranking report result results sorting sum
    summary total totals up"""
)
"""Parts of an answer; nobody stores anything under such names."""
_LAID_OUT = vocabulary("column columns index table view")
_CONTENT = vocabulary("by containing for listing of showing that to which with")
"""Words that follow a table that is to be shown: `a table of`, `a column with`."""
_KEPT = vocabulary("database index trigger")
"""Things that only a database has."""
_NAMED = vocabulary("called named")
_GIFTS = vocabulary("bonus credit discount increase promotion raise refund")
_SHOW = vocabulary(
    """analyse analyze calculate check compare compute count determine display explain fetch find
    get give group ignore identify list look make name plot print provide rank report return round
    see select show sort sum summarise summarize take tell visualise visualize"""
)
_QUESTION = vocabulary(
    """are did do does had has have how if is that was were what what's when where which who whom
    whose why"""
)
_DUPLICATES = vocabulary("blanks duplicate duplicates nulls outliers")
_FURTHER = vocabulary("and as at by for from in into on to until with")
"""Words that say more of what is to be done with a thing."""
_DONE = ("ed", "d", "ing", "er", "or", "ee", "al", "ation", "ion", "ment")
"""Endings of words for what was done, and for who does it or to whom it is done."""
_LINKS = _CONTENT | _QUESTION | vocabulary("about at from in on without")
_LINKS_ON = (_QUESTION - {"do", "if"}) | vocabulary("listing showing that whether")
"""Words that go on to ask or describe."""
_ASKING_VERBS = (
    OPERATION_WORDS | POLITE
    | vocabulary(
        """assume build choose consider define describe draw estimate forecast generate guess
        imagine pick predict prepare produce quite rather recommend sketch suggest write"""
    )
)  # fmt: skip
"""First words that ask for an answer."""


@dataclass(frozen=True)
class _Clause:
    """A part of a request that begins with a verb or a question word."""

    words: tuple[str, ...]
    """As they are written, politeness left out."""
    start: int
    """Character of the text after the first word."""
    greeted: bool
    asked: bool
    """True if its first word can only be a verb."""
    later: bool
    """True if another one comes before it."""

    @property
    def verb(self) -> str:
        return self.words[0].lower()

    @property
    def object(self) -> tuple[str, ...]:
        """The words that follow the verb, in lower case."""
        return tuple(word.lower().replace("’", "'") for word in self.words[1:])


def ordered_change(text: str, names: Collection[str] = frozenset()) -> str | None:
    """The thing that an order would change, in the text's own words; empty where it doesn't say,
    None when the text is no such order. `names` are the words in the singular that tables and
    columns are called by; with them orders in a business's own words are seen, too."""
    plain = _QUOTED.sub(lambda found: "Q".ljust(len(found[0])), text)
    clauses = list(_clauses(plain))
    if not clauses:
        return None
    last = clauses[-1]
    if names and len(clauses) == 1 and last.object and _is_own_order(last, names):
        return ""
    order = _ORDERS.get(last.verb)
    if order is None or not last.object or _is_shown(last.object):
        return None
    if last.later and (clauses[0].verb not in _ORDERS.keys() | _SHOW or _asks(plain, last)):
        return None
    if not order.holds(last):
        return None
    ends = [each.start() for each in _WORD.finditer(plain, last.start) if each[0] in order.until]
    thing = text[last.start : min(ends, default=len(text))].strip(" .!?,;:")
    return "" if order.new or last.object[0] in _BEFORE else thing


_FORM = r"(?:\w+ )?(?:chart|graph|plot|diagram|histogram|table|spreadsheet|csv|excel)(?: file)?s?"
_PRESENTED = (
    re.compile(r"^\W*(?:please )?(?:plot|chart|graph|visuali[sz]e|draw|export)\b", re.IGNORECASE),
    re.compile(rf"\b(?:an?|the) {_FORM} (?:of|for|with|showing)\b", re.IGNORECASE),
    re.compile(rf"[,\s]+(?:as|in|into|to) (?:(?:an?|the) )?{_FORM}(?=\W*$)", re.IGNORECASE),
)


def without_presentation(text: str, names: Collection[str]) -> str:
    """The text, as long as it is, without words that ask for a form of the answer, a chart or a
    file, which `names`, the words in the singular of tables and columns, have nothing of."""
    for shape in _PRESENTED:
        for match in shape.finditer(text):
            if not any(singular(word.lower()) in names for word in _WORD.findall(match.group())):
                verb = "Show" if shape is _PRESENTED[0] else ""
                said = verb.ljust(len(match.group()))
                text = text[: match.start()] + said + text[match.end() :]
    return text


def _clauses(text: str) -> Iterator[_Clause]:
    """The text cut where an order, a wish to see something or a question begins."""
    starts = [0, *(found.end() for found in _BOUNDARY.finditer(text))]
    begun: list[tuple[int, bool, bool]] = []
    for start in starts:
        at, greeted, asked = _opening(text, start)
        word = _WORD.match(text, at)
        if word is None or (begun and at <= begun[-1][0]):
            continue  # nothing, or a greeting that went on behind a comma
        if not begun or word[0].lower() in _ORDERS.keys() | _SHOW | _QUESTION:
            begun.append((at, greeted, asked))
    for number, (at, greeted, asked) in enumerate(begun):
        end = begun[number + 1][0] if number + 1 < len(begun) else len(text)
        found = list(_WORD.finditer(text, at, end))
        words = tuple(each[0] for each in found)
        yield _Clause(words, found[0].end(), greeted, asked, later=number > 0)


def _opening(text: str, at: int) -> tuple[int, bool, bool]:
    """The character at which the first word after politeness begins, True if there was a greeting,
    and True if only a verb can follow it."""
    greeted = asked = False
    while found := _GREETING.match(text, at) or _ASKING.match(text, at):
        asked = asked or found.re is _ASKING
        greeted = True
        at = found.end()
    while text[at : at + 1].isspace():
        at += 1
    return at, greeted, asked


def _asks(text: str, last: _Clause) -> bool:
    """True if the text before a clause asks or describes, so that the clause may go on with it:
    `users who join and delete their account`."""
    before = _WORD.findall(text.lower(), 0, last.start)
    return not _QUESTION.isdisjoint(before)


def _is_shown(words: Sequence[str]) -> bool:
    """True if the object is an answer rather than something stored."""
    return not _SHOWN.isdisjoint(words) or any(
        word in _LAID_OUT and following in _CONTENT for word, following in pairwise(words)
    )


def _is_own_order(clause: _Clause, names: Collection[str]) -> bool:
    """True of the order of a business: `book a room`, `close task 5`, `archive all tasks`, `remove
    duplicates from customers`. Its first word is a verb by what follows it, or by the names of what
    was done to things."""
    verb, words = clause.verb, clause.object
    if verb in _ORDERS and words[-2:-1] in {("from",), ("in",)} and singular(words[-1]) in names:
        return not _DUPLICATES.isdisjoint(words[:1])
    if not verb.isalpha() or _is_shown(words) or not _LINKS_ON.isdisjoint(words):
        return False
    done, shows = _is_done_here(verb, names), verb in _SHOW | _QUESTION | FUNCTION_WORDS
    thing = words[1:] if words[0] in DETERMINERS else words
    numbered = len(thing) > 1 and any(map(str.isdigit, thing[1])) and thing[0] not in KEY_WORDS
    if numbered and singular(thing[0]) in names and _FURTHER.issuperset(thing[2:3]):
        return not shows and (done or verb in _ORDERS.keys() | DEEDS | GENERAL_WORDS)
    if shows or verb in _ASKING_VERBS:
        return False
    return len(words) > 1 and (words[0] in {"a", "an"} or (words[0] in DETERMINERS and done))


def _is_done_here(verb: str, names: Collection[str]) -> bool:
    """True if names of a schema say that it is done: `closed_at`, `assignee_id`, `bookings`."""
    base = verb.removesuffix("e")
    done = {f"{start}{ending}" for start in (verb, base) for ending in _DONE}
    return verb not in names and not done.isdisjoint(names)


def _is_definite(clause: _Clause) -> bool:
    """True if the first word is a verb beyond doubt, by what follows it."""
    if clause.asked:
        return True
    first, *more = clause.words[1:]
    if _is_name(first) or (_is_name(clause.words[0]) and more and _is_name(more[0])):
        return False  # a title
    if first.lower() in DETERMINERS or (clause.later and first.lower() in _BEFORE):
        return True
    return clause.greeted and _is_numbered(clause)


def _is_name(word: str) -> bool:
    """True if it begins with a capital without being all capitals."""
    return word[0].isupper() and not (len(word) > 1 and word.isupper())


def _is_numbered(clause: _Clause) -> bool:
    """True if the object is a thing with its number: `order 1042`, no year."""
    number = "".join(clause.words[2:3])
    return any(map(str.isdigit, number)) and not _YEAR.fullmatch(number)


def _is_particular(clause: _Clause, before: str) -> bool:
    """True if the object, up to a word, is a whole set, belongs to something, or has a name."""
    words = clause.words[1 : clause.object.index(before) + 1]
    if words and words[0].lower().replace("’", "'") in _WHOLE:
        return True
    return any(
        word.lower() == "of"
        or "'s" in word.replace("’", "'")
        or (place > 0 and (word[0].isupper() or "_" in word or any(c.isdigit() for c in word)))
        for place, word in enumerate(words)
    )


def _becomes(*words: str) -> Callable[[_Clause], bool]:
    """`set the price of tea to 5`: one of the words says what a particular thing is to become."""

    def becomes(clause: _Clause) -> bool:
        object_ = clause.object
        found = next((word for word in object_ if word in words), None)
        if found is None or object_[-1] == found:
            return False
        return _is_definite(clause) and _is_particular(clause, found)

    return becomes


def _marked(clause: _Clause) -> bool:
    """`mark invoice 77 as paid`."""
    return _becomes("as")(clause) or (_is_numbered(clause) and "as" in clause.object)


def _doubled(clause: _Clause) -> bool:
    """`double the stock of product 5`."""
    return _is_definite(clause) and "of" in clause.object


def _begins(clause: _Clause) -> bool:
    """`add a new customer called Bob`, `add Bob to the customers table`: something is to be there
    that wasn't."""
    words = clause.object
    pairs = set(pairwise(words))
    if words[-1] == "table" and not pairs.isdisjoint({("to", "the"), ("into", "the")}):
        return True
    if "column" in words:
        return False  # an answer may have one more
    kept = not _KEPT.isdisjoint(words[1:2]) or not _NAMED.isdisjoint(words)
    return words[0] == "new" or (_is_definite(clause) and (kept or "new" in words[1:2]))


def _given(clause: _Clause) -> bool:
    """`give all employees a raise`: something to someone, who isn't the one who asks."""
    words = clause.object
    place = next((n for n, word in enumerate(words) if n and word in {"a", "an"}), len(words))
    gift = words[place + 1 :]
    better = "new" in gift[:1] or not _GIFTS.isdisjoint(gift[-1:])
    return better and _is_definite(clause) and _LINKS.isdisjoint(words[:place])


@dataclass(frozen=True)
class _Order:
    """The rule by which a clause with a certain verb is an order, and how its object is cut out."""

    holds: Callable[[_Clause], bool]
    until: tuple[str, ...] = ()
    """Words that end the object, in lower case."""
    new: bool = False
    """True if the thing isn't there yet."""


def _becoming(*words: str) -> _Order:
    return _Order(_becomes(*words), words)


def _verbs(verbs: str, order: _Order) -> dict[str, _Order]:
    return dict.fromkeys(verbs.split(), order)


_ORDERS: Mapping[str, _Order] = {
    **_verbs("cancel clear delete destroy drop erase purge remove", _Order(_is_definite)),
    **_verbs("truncate undo wipe", _Order(_is_definite)),
    **_verbs("change move rename set", _becoming("to", "into", "from")),
    **_verbs("decrease increase lower raise reduce", _becoming("by", "to")),
    **_verbs("update", _becoming("by", "to", "with")),
    **_verbs("overwrite replace", _becoming("by", "with")),
    **_verbs("double halve", _Order(_doubled)),
    **_verbs("mark", _Order(_marked, ("as",))),
    **_verbs("add create insert register", _Order(_begins, new=True)),
    **_verbs("give", _Order(_given, new=True)),
}
"""The verbs of orders."""
