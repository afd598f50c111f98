"""Other forms of what people call a thing: Florida and FL, Dutch and Netherlands, female and F.

A value index finds what is spelled alike; these are not, and people mix them freely: countries,
states and provinces, cities known by letters, months, days, sex, yes and no, and words that are
often abbreviated. The lists stand in `english.geography` and `english.vocabulary`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, product

from sqlwright.english.geography import cities, countries, provinces
from sqlwright.english.vocabulary import MONTH_NAMES, WEEKDAY_NAMES, WRITTEN_SHORT
from sqlwright.english.words import singular
from sqlwright.indexes.folding import soften
from sqlwright.schema import ColumnRef


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing that forms name, and the marks of a column of such things."""

    named: tuple[str, ...] = ()
    """Words of which one stands in the column's name."""
    beside: tuple[str, ...] = ()
    """Values that the column all holds, whatever its name."""


@dataclass(frozen=True, slots=True)
class OtherForm:
    """Another way to write a phrase.

    A `short` one could mean many things: it counts only in a column that is known to be of its
    kind.
    """

    text: str
    kind: Kind
    short: bool = False


_COUNTRY = Kind(("country", "countries", "nation", "citizen"))
_STATE = Kind(("state", "province", "region", "territory"))
_CITY = Kind(("city", "town"))
_TIME = Kind(("month", "day"))
_SEX = Kind(("sex", "gender"), ("M", "F"))
_YES = Kind(beside=("Y", "N"))
_TRUE = Kind(beside=("T", "F"))
_WORDING = Kind()
_CODE = ("code", "iso", "abbr")

_PEOPLE = (
    (("male", "males", "man", "men", "boy", "boys"), "M", ("male", "man", "boy")),
    (("female", "females", "woman", "women", "girl", "girls"), "F", ("female", "woman", "girl")),
)

_LONGEST_CODE = 4
"""Letters of a code at most; chosen."""
_MOST_CHANGED = 3
"""Words of one phrase at most that are abbreviated or written out; chosen."""
_SAID = frozenset({"US", "UK", "USA", "UAE"})
"""Codes of countries that people say and store for names."""
_COMMON = frozenset(
    "chad chile china georgia guinea jersey jordan mali may march mar oman polish sun sat "  # noqa: SIM905
    "swiss thai togo turkey wed mon".split()
)
"""Names that are names only with a capital."""
_WORDLIKE = frozenset("ID IN OR ME HI OK OH MA PA AL LA".split())  # noqa: SIM905
"""Codes of states that mean something else in questions."""


def other_forms(phrase: str) -> tuple[OtherForm, ...]:
    """Other forms that a phrase of a question may be stored in; empty for nearly all phrases.

    Codes are recognised in capitals only ("US", not "us").
    """
    bare = phrase.strip().replace(".", "")
    key = soften(bare)
    if bare.isupper() and len(bare) <= _LONGEST_CODE:
        return _table().get(bare, ())
    if key in _COMMON and not bare[:1].isupper():
        return ()
    found = _table().get(key) or _table().get(singular(key)) or ()
    return (*found, *_reworded(key))


def is_of_kind(form: OtherForm, column: ColumnRef) -> bool:
    """True if the names of a column and its table say that it holds things of the form's kind."""
    table, name = column.table.casefold(), column.column.casefold()
    if any(word in name for word in form.kind.named):
        return True
    return any(word in name for word in _CODE) and any(word in table for word in form.kind.named)


def _reworded(key: str) -> Iterator[OtherForm]:
    """The phrase with some of its words abbreviated, or written out."""
    words = key.replace(",", " ").split()
    choices = [
        [word, *(WRITTEN_SHORT.get(word) or WRITTEN_SHORT.get(singular(word), ()))]
        for word in words
    ]
    changing = sum(len(choice) > 1 for choice in choices)
    if len(words) > 1 and 0 < changing <= _MOST_CHANGED:
        for chosen in islice(product(*choices), 1, 16):
            yield OtherForm(" ".join(chosen), _WORDING)


@cache
def _table() -> dict[str, tuple[OtherForm, ...]]:
    """Forms by phrase: names in lower case, codes in capitals."""
    found: dict[str, dict[OtherForm, None]] = {}

    def add(phrase: str, *forms: OtherForm) -> None:
        known = found.setdefault(phrase, {})
        known.update((form, None) for form in forms if form.text.casefold() != phrase.casefold())

    for codes, names, forms in _named():
        for phrase in (*map(soften, names), *codes):
            if phrase not in _WORDLIKE or forms[0].kind is _CITY:
                add(phrase, *forms)
    for said, letter, stored in _PEOPLE:
        sexes = [*(OtherForm(name, _SEX) for name in stored), OtherForm(letter, _SEX, short=True)]
        for phrase in (*said, letter):
            add(phrase, *sexes)
    for word, letter, other, initial in (("yes", "Y", "true", "T"), ("no", "N", "false", "F")):
        answers = [OtherForm(word, _YES), OtherForm(letter, _YES, short=True)]
        answers += [OtherForm(other, _TRUE), OtherForm(initial, _TRUE, short=True)]
        add(word, *answers)
        add(other, *answers)
    return {phrase: tuple(forms) for phrase, forms in found.items()}


def _named() -> Iterator[tuple[list[str], list[str], list[OtherForm]]]:
    """Codes of a thing as people say them, its names, and all its forms."""
    for country in countries():
        every = [*country.names, *country.peoples]
        forms = [OtherForm(name, _COUNTRY) for name in every]
        forms += [OtherForm(code, _COUNTRY, code not in _SAID) for code in country.codes]
        yield [code for code in country.codes if len(code) > 2 or code in _SAID], every, forms
    for province in provinces():
        forms = [OtherForm(name, _STATE) for name in province.names]
        forms += [OtherForm(code, _STATE, short=True) for code in province.codes]
        yield [*province.codes], [*province.names], forms
    for city in cities():
        yield [*city.codes], [], [OtherForm(name, _CITY) for name in city.names]
    for names_of_one in (*MONTH_NAMES, *WEEKDAY_NAMES):
        every = [name.capitalize() for name in names_of_one]
        yield [], every, [OtherForm(form, _TIME) for form in every]
