"""Pieces of questions with the pieces of form they stand for: conditions, orders, lists.

Every choice of words is drawn from the generator that is passed in. A constant that a condition
compares with stands in its words exactly as it is compared, or in another form that the value
index knows ("California" for CA).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from training.embedded.questions.entities import Property, Role

from sqlwright.english.as_trained import NUMBER_WORDS
from sqlwright.english.words import plural
from sqlwright.local.form import nodes as f
from sqlwright.steps.retrieval.other_forms.named import other_forms

COMPARED: dict[f.ComparisonOperator, tuple[str, ...]] = {
    ">": ("above {}", "over {}", "more than {}", "greater than {}", "higher than {}",
          "larger than {}", "exceeding {}"),
    ">=": ("at least {}", "{} or more", "no less than {}", "of at least {}", "{} or above",
           "greater than or equal to {}", "not below {}", "a minimum of {}"),
    "<": ("below {}", "under {}", "less than {}", "lower than {}", "smaller than {}",
          "fewer than {}"),
    "<=": ("at most {}", "{} or less", "no more than {}", "up to {}", "not above {}",
           "less than or equal to {}", "a maximum of {}"),
    "=": ("equal to {}", "{}", "of {}", "of exactly {}"),
    "!=": ("not equal to {}", "different from {}", "other than {}"),
}  # fmt: skip
IN_TIME: dict[f.ComparisonOperator, tuple[str, ...]] = {
    ">": ("after {}", "later than {}"),
    ">=": ("since {}", "in {} or later", "from {} on"),
    "<": ("before {}", "earlier than {}", "prior to {}"),
    "<=": ("up to {}", "in {} or before", "no later than {}"),
    "=": ("in {}", "of {}", "{}"),
    "!=": ("other than {}", "not in {}"),
}
HIGH = {
    "age": ("oldest",), "price": ("most expensive",), "cost": ("most expensive", "costliest"),
    "weight": ("heaviest",), "height": ("tallest",), "length": ("longest",), "size": ("biggest",),
    "population": ("most populous",), "salary": ("best paid",), "duration": ("longest",),
}  # fmt: skip
LOW = {
    "age": ("youngest",), "price": ("cheapest", "least expensive"), "cost": ("cheapest",),
    "weight": ("lightest",), "height": ("shortest",), "length": ("shortest",),
    "size": ("smallest",), "population": ("least populous",), "duration": ("shortest",),
}  # fmt: skip
AGGREGATES: dict[f.AggregateName, tuple[str, ...]] = {
    "avg": ("average", "mean", "average"),
    "sum": ("total", "total", "sum of", "combined", "overall"),
    "min": ("minimum", "lowest", "smallest"),
    "max": ("maximum", "highest", "largest"),
}
_PLACES = frozenset("city country state region nationality province county continent".split())
_CODED = _PLACES | {"sex", "gender", "month", "day", "territory"}
"""Properties whose values go by other names, too."""
_ROUND = (2, 3, 5, 10, 12, 20, 25, 30, 50, 75, 100, 150, 200, 500, 1000, 2000, 5000, 10000, 100000)


@dataclass(frozen=True)
class Said:
    """A condition: of which property, how it goes on after "whose X", and after "with X"."""

    subject: str
    predicate: str
    short: str
    condition: f.Condition
    alone: str = ""
    """Words that say all of it without the property's name, behind a plural."""


def column(one: Property, instance: int = 1) -> f.Column:
    """The property as the form has it."""
    return f.Column(one.ref, instance)


def listed(parts: Sequence[str], rng: random.Random, last: str = "and") -> str:
    """Parts as a list in one of the usual spellings.

    >>> listed(["a", "b", "c"], random.Random(0))
    'a, b and c'
    """
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2 or rng.random() < 0.75:
        comma = "," if len(parts) > 2 and rng.random() < 0.4 else ""
        between = "as well as" if last == "and" and rng.random() < 0.06 else last
        return f"{', '.join(parts[:-1])}{comma} {between} {parts[-1]}"
    return rng.choice((", ".join(parts), f" {last} ".join(parts)))


def number_words(value: float, rng: random.Random) -> str:
    """A number as people write it."""
    spelled = {number: word for word, number in NUMBER_WORDS.items() if number > 1}
    if value in spelled and value <= 12 and rng.random() < 0.4:
        return spelled[int(value)]
    if isinstance(value, int) and value >= 1000 and rng.random() < 0.4:
        return f"{value:,}"
    return str(value)


def sample_number(one: Property, rng: random.Random) -> int | float:
    """A number to compare a property with."""
    if one.role is Role.YEAR:
        years = [int(number) for number in one.numbers if 1500 < number < 2100]
        return rng.choice(years) if years else rng.randint(1950, 2024)
    if one.numbers and rng.random() < 0.7:
        value = rng.choice(one.numbers)
        whole = isinstance(value, int) or float(value).is_integer() or abs(value) > 50
        return abs(int(value)) if whole else abs(round(value, 2))
    return rng.randint(18, 70) if one.words.endswith("age") else rng.choice(_ROUND)


def compare_number(one: Property, rng: random.Random) -> Said:
    """A number or a year compared."""
    in_time = one.role is Role.YEAR
    table = IN_TIME if in_time else COMPARED
    if rng.random() < 0.14:
        return _between(one, sorted((sample_number(one, rng), sample_number(one, rng))), rng)
    operator: f.ComparisonOperator = rng.choices(
        (">", ">=", "<", "<=", "=", "!="), (28, 18, 22, 12, 16, 4)
    )[0]
    value = sample_number(one, rng)
    said = str(value) if in_time else number_words(value, rng)
    short = rng.choice(table[operator]).format(said)
    # A year is a number in numeric columns and a text in others, as people store it.
    constant = f.Literal(str(value) if one.texts else value)
    condition = f.Comparison(operator, column(one), constant)
    alone = short if in_time and one.words == "year" and short != said else ""
    return Said(one.words, "is " + short.removeprefix("of "), short, condition, alone)


def _between(one: Property, bounds: Sequence[int | float], rng: random.Random) -> Said:
    low, high = (str(bound) for bound in bounds)
    short = rng.choice((f"between {low} and {high}", f"from {low} to {high}"))
    least, most = (f.Literal(str(b) if one.texts else b) for b in bounds)
    return Said(one.words, "is " + short, short, f.Between(column(one), least, most))


def compare_text(one: Property, rng: random.Random) -> Said | None:
    """A stored text: equal, another, one of several, or a piece of it."""
    usable = [t for t in one.texts if t.strip() == t and not _awkward(t)]
    if not usable:
        return None
    way = rng.choices(("is", "not", "one of", "none of", "piece"), (60, 7, 16, 4, 13))[0]
    if way in {"one of", "none of"} and len(usable) > 2:
        return _one_of(one, rng.sample(usable, rng.choices((2, 3, 4), (4, 5, 1))[0])
                       if len(usable) > 3 else usable[:2], way == "none of", rng)  # fmt: skip
    if way == "piece":
        return _piece(one, rng.choice(usable), rng)
    value = rng.choice(usable)
    said = _spoken(one.words, value, rng)
    if way == "not":
        short = rng.choice((f"other than {said}", f"different from {said}"))
        condition = f.Comparison("!=", column(one), f.Literal(value))
        return Said(one.words, f"is not {said}", short, condition)
    alone = ""
    if one.words.split()[-1] in _PLACES and len(one.words.split()) == 1:
        alone = rng.choice((f"from {said}", f"in {said}", f"located in {said}"))
    predicate = rng.choice((f"is {said}", f"is {said}", f"equals {said}"))
    return Said(one.words, predicate, said, f.Comparison("=", column(one), f.Literal(value)), alone)


def _awkward(text: str) -> bool:
    return "'" in text or '"' in text or len(text) > 30 or not text.isascii()


def _spoken(words: str, value: str, rng: random.Random) -> str:
    """A stored text as a question says it: quoted or not, or by its other name."""
    if _CODED.intersection(words.split()) and rng.random() < 0.6:
        others = [o.text for o in other_forms(value)]
        others = [o for o in others if value in {back.text for back in other_forms(o)}]
        if others:
            return rng.choice(others)
    way = rng.random()
    if way < 0.25:
        return f"'{value}'"
    return f'"{value}"' if way < 0.5 else value


def _one_of(one: Property, values: Sequence[str], negated: bool, rng: random.Random) -> Said:
    said = [_spoken(one.words, value, rng) for value in values]
    condition = f.InList(column(one), tuple(map(f.Literal, values)), negated)
    if negated:
        choice = listed(said, rng, "nor")
        return Said(one.words, f"is neither {choice}", f"other than {listed(said, rng)}", condition)
    choice = listed(said, rng, "or")
    predicate = rng.choice((f"is {choice}", f"is either {choice}", f"is one of {choice}"))
    alone = f"from {choice}" if one.words in _PLACES else ""
    return Said(one.words, predicate, choice, condition, alone)


def _piece(one: Property, value: str, rng: random.Random) -> Said:
    words = [word for word in value.split() if len(word) > 3 and word.isalpha()]
    if words and rng.random() < 0.5:
        said = rng.choice(words)
        phrase = rng.choice(
            ("contains '{}'", "contains the word {}", "includes {}", 'has "{}" in it')
        )
        kind: f.LikeKind = "contains"
    elif rng.random() < 0.75:
        said = value[: rng.choice((1, 1, 2, 3))].strip()
        phrase = rng.choice(("starts with {}", "begins with '{}'", 'starts with the letter "{}"'))
        kind = "starts"
    else:
        said = value[-rng.choice((1, 2, 3)) :].strip()
        phrase = rng.choice(("ends with {}", "ends in '{}'", 'ends with the letters "{}"'))
        kind = "ends"
    predicate = phrase.format(said)
    condition = f.Like(kind, column(one), f.Literal(said))
    return Said(one.words, predicate, "that " + predicate, condition)


def compare_day(one: Property, rng: random.Random) -> Said:
    """A date: its year, or a day."""
    days = [text[:10] for text in one.texts]
    day = rng.choice(days) if days else f"{rng.randint(1990, 2023)}-{rng.randint(1, 12):02d}-15"
    timed = any(len(text) > 10 for text in one.texts)
    operator: f.ComparisonOperator = rng.choices((">", ">=", "<", "<=", "="), (25, 10, 25, 5, 35))[
        0
    ]
    if timed or rng.random() < 0.65:
        short = rng.choice(IN_TIME[operator]).format(day[:4])
        left: f.Expression = f.Function("year", (column(one),))
        condition = f.Comparison(operator, left, f.Literal(day[:4]))
    else:
        short = rng.choice(IN_TIME[operator]).format(day).replace("in ", "on ")
        condition = f.Comparison(operator, column(one), f.Literal(day))
    alone = "" if one.words not in {"date", "day"} or short.startswith("2") else short
    return Said(one.words, "is " + short.removeprefix("of "), short, condition, alone)


def compare(one: Property, rng: random.Random) -> Said | None:
    """A condition on a property; None where it has nothing to compare with."""
    if one.role is not Role.CODE and rng.random() < 0.03:
        negated = rng.random() < 0.4
        words = ("is known", "given") if negated else ("is missing", "missing")
        return Said(one.words, *words, f.IsNull(column(one), negated))
    if one.role in {Role.MEASURE, Role.YEAR}:
        return compare_number(one, rng)
    if one.role is Role.DAY:
        return compare_day(one, rng)
    return compare_text(one, rng) if one.texts else None


def modifiers(said: Sequence[Said], rng: random.Random, *, either: bool = False) -> str:
    """Conditions as words behind a plural: "whose age is above 20 and whose city is Paris"."""
    word = "or" if either else "and"
    if len(said) == 1 and said[0].alone and rng.random() < 0.8:
        return said[0].alone
    style = rng.choices(("whose", "with", "where", "that have"), (40, 40, 12, 8))[0]
    clauses = any(one.short.startswith(("that", "missing", "given")) for one in said)
    if clauses or style in {"whose", "where"}:
        head = "the " if style == "where" else ""
        style = "whose" if style in {"with", "that have"} else style
        again = style + " " if style == "whose" and rng.random() < 0.5 else ""
        parts = [f"{again}{head}{one.subject} {one.predicate}" for one in said]
        return f"{'' if again else style + ' '}{f' {word} '.join(parts)}"
    parts = [f"{one.subject} {one.short}" for one in said]
    return f"{style} {listed(parts, rng, word)}"


def joined(said: Sequence[Said], *, either: bool = False) -> f.Condition | None:
    """Conditions as one."""
    parts = tuple(one.condition for one in said)
    if len(parts) < 2:
        return parts[0] if parts else None
    return f.Or(parts) if either else f.And(parts)


def superlative(one: Property, descending: bool, rng: random.Random) -> tuple[str, str]:
    """A word before the noun or words behind it: ("oldest", ""), ("", "with the lowest X")."""
    last = one.words.split()[-1]
    short = (HIGH if descending else LOW).get(last, ())
    if short and one.words == last and rng.random() < 0.6:
        return rng.choice(short), ""
    words: tuple[str, ...]
    if one.role in {Role.YEAR, Role.DAY}:
        words = ("latest", "most recent") if descending else ("earliest", "oldest")
    else:
        words = ("highest", "largest", "greatest") if descending else ("lowest", "smallest")
    return "", f"with the {rng.choice(words)} {one.words}"


def ordered_by(one: Property, descending: bool, rng: random.Random) -> str:
    """Words that ask for all rows in an order; never for the first one alone."""
    plain = ["sorted by {}", "ordered by {}", "in order of {}", "sort by {}"]
    if one.role in {Role.YEAR, Role.DAY}:
        ways = ["newest {} first", "latest {} first"] if descending else ["earliest {} first"]
    elif one.role is Role.MEASURE:
        ways = (
            ["highest {} first", "largest {} first", "from the highest {} to the lowest",
             "starting with the highest {}"]
            if descending
            else ["lowest {} first", "smallest {} first", "from the lowest {} to the highest"]
        )  # fmt: skip
    elif one.role is Role.CODE:
        ways = plain if not descending else ["in descending order of {}"]
    elif descending:
        ways = ["in reverse alphabetical order of {}"]
    else:
        ways = ["in alphabetical order of {}", "alphabetically by {}"]
    last = one.words.split()[-1]
    idiom = (HIGH if descending else LOW).get(last, ())
    if idiom and one.words == last and rng.random() < 0.3:
        return f"{rng.choice(idiom)} first"
    if rng.random() < 0.5:
        return rng.choice(ways).format(one.words)
    words = rng.choice(plain).format(one.words)
    if not descending:
        return words + rng.choice(("", "", " in ascending order", " ascending"))
    return words + rng.choice((" in descending order", " descending", " from high to low"))


def many(words: str, rng: random.Random) -> str:
    """A property's name, in the plural or not."""
    return plural(words) if rng.random() < 0.4 else words
