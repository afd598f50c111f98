"""Dates and times in a dialect: parts of them, differences, days moved.

A column of dates is read by the engine's own functions; a text that holds one is cut where its
parts stand, or read as a date where that isn't enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.write.functions import AROUND
from sqlwright.local.form.write.kinds import MOMENTS, Kinds, is_date, is_moment, is_timestamp
from sqlwright.local.form.write.words import Words

LETTERS = {
    "year": "Y",
    "month": "m",
    "day": "d",
    "hour": "H",
    "minute": "M",
    "weekday": "w",
    "week": "W",
}
"""Letters of STRFTIME's patterns by the form's names."""
_PART_CUTS = {"Y": (1, 4), "m": (6, 2), "d": (9, 2), "H": (12, 2), "M": (15, 2), "S": (18, 2)}
_WHOLE_CUTS = {"year_month": (1, 7), "month_day": (6, 5), "date": (1, 10), "time": (12, 8)}
_PATTERN_CUTS = {
    "%Y-%m": (1, 7),
    "%Y-%m-%d": (1, 10),
    "%m-%d": (6, 5),
    "%H:%M": (12, 5),
    "%H:%M:%S": (12, 8),
}
"""The first character and the length of each part of a text that holds a date."""
_GREATEST = {"m": 12, "d": 31, "H": 24, "M": 60, "w": 6, "j": 366, "W": 53}
_BEFORE_TIME = 11
"""Characters that stand before a time of day, where a day does."""
_CALLS = frozenset(
    {"weekday_name", "month_name", "quarter", "start_of_month", "start_of_year", "julianday"}
)
_SOURCES = ("from_seconds", "from_milliseconds")
NOW = f.Function("now")


class MomentWriter:
    """Writes functions of dates; `text` and `number` write their arguments."""

    def __init__(
        self,
        words: Words,
        kinds: Kinds,
        text: Callable[[f.Expression], str],
        number: Callable[[f.Expression], str],
    ) -> None:
        self._words = words
        self._kinds = kinds
        self._text = text
        self._number = number

    def function(self, node: f.Function) -> str | None:
        """A function of dates as SQL; None for one of something else."""
        name, arguments = node.name, node.arguments
        if name == "now":
            return self._words.calls["now"]
        if name in LETTERS:
            return self._part(LETTERS[name], arguments[0])
        if name == "strftime":
            return self._pattern(arguments[0], arguments[1])
        if name in _WHOLE_CUTS:
            return self._cut_whole(name, arguments[0])
        if name == "datetime":
            return self.moment(arguments[0])
        if name in _CALLS:
            return self._words.calls[name].format(self.moment(arguments[0]))
        if name in _SOURCES:
            return self._words.calls[name].format(self._number(arguments[0]))
        if name in AROUND:
            return self._moved(node)
        if name == "days_between":
            return self._days(*arguments)
        if name == "seconds_between":
            moments = [self.moment(one, timed=True) for one in arguments]
            return self._words.calls[name].format(*moments)
        return None

    def number_of(self, node: f.Expression) -> str | None:
        """A part of a date as a number; None where it isn't one, or stands in a text."""
        letter = letter_of(node)
        inner = node.arguments[-1] if isinstance(node, f.Function) and node.arguments else None
        if letter is None or inner is None or letter not in self._words.numbers:
            return None
        if not is_moment(inner, self._kinds) and letter in _PART_CUTS:
            return None
        return self._words.numbers[letter].format(self.moment(inner))

    def moment(self, node: f.Expression, *, timed: bool = False) -> str:
        """An expression as a date or a time of one; `timed` for the latter only."""
        kind = self._kinds.of(node)
        if kind == "timestamp" or (kind == "date" and not timed):
            return self._text(node)
        if isinstance(node, f.Literal) and isinstance(node.value, str):
            if is_date(node.value) and not timed:
                return self._words.day.format(self._text(node))
            if is_date(node.value) or is_timestamp(node.value):
                return self._as_timestamp(self._text(node))
        if kind == "date":
            return self._as_timestamp(self._text(node))
        return self._words.moment.format(self._as_text(node))

    def _as_timestamp(self, text: str) -> str:
        word = "DATETIME" if "DATETIME" in self._words.moment else "TIMESTAMP"
        return f"CAST({text} AS {word})"

    def _as_text(self, node: f.Expression) -> str:
        kind = self._kinds.of(node)
        if kind == "text":
            return self._text(node)
        if kind in {"span", "array"}:
            raise UnsupportedQuery(f"no date is read of a value of kind {kind}")
        return self._words.text.format(self._text(node))

    def _part(self, letter: str, node: f.Expression) -> str:
        if letter not in self._words.parts:
            raise UnsupportedQuery(f"%{letter} of a date has no equal in this dialect")
        if letter in _PART_CUTS and not is_moment(node, self._kinds):
            return self._cut(node, *_PART_CUTS[letter])
        return self._words.parts[letter].format(self.moment(node))

    def _cut(self, node: f.Expression, start: int, length: int) -> str:
        text = self._as_text(node)
        if self._kinds.of(node) == "time":
            start -= _BEFORE_TIME
        elif start > _BEFORE_TIME:
            # A day without a time is its beginning.
            text = self._words.joined.format(text, "' 00:00:00'")
        return self._words.calls["substr_to"].format(text, start, length)

    def _cut_whole(self, name: str, node: f.Expression) -> str:
        if name == "date" and node == NOW:
            return self._words.calls["today"]
        kind = self._kinds.of(node)
        if name == "date" and kind == "date":
            return self._text(node)
        if not is_moment(node, self._kinds):
            return self._cut(node, *_WHOLE_CUTS[name])
        if name == "date" and isinstance(node, f.Literal):
            return self._words.day.format(self._text(node))
        return self._words.calls[name].format(self.moment(node, timed=name == "time"))

    def _pattern(self, pattern: f.Expression, node: f.Expression) -> str:
        if not (isinstance(pattern, f.Literal) and isinstance(pattern.value, str)):
            raise UnsupportedQuery("a pattern of a date has to be a constant")
        text = pattern.value.replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S")
        if text in _PATTERN_CUTS and not is_moment(node, self._kinds):
            return self._cut(node, *_PATTERN_CUTS[text])
        parts: list[tuple[str, str]] = re.findall(r"%(.)|([^%]+)", text)
        if all(
            letter in self._words.codes or re.fullmatch(r"[-/:., ]+", plain)
            for letter, plain in parts
        ):
            codes = "".join(plain or self._words.codes[letter] for letter, plain in parts)
            return self._words.pattern.format(self.moment(node), codes)
        return self._put_together(parts, node)

    def _put_together(self, parts: Sequence[tuple[str, str]], node: f.Expression) -> str:
        texts = [
            self._text(f.Literal(plain or "%"))
            if plain or letter == "%"
            else self._part(letter, node)
            for letter, plain in parts
        ]
        whole = texts[0] if texts else self._text(f.Literal(""))
        for text in texts[1:]:
            whole = self._words.joined.format(whole, text)
        return f"({whole})" if len(texts) > 1 else whole

    def _moved(self, node: f.Function) -> str:
        sign, unit = AROUND[node.name]
        start, count = node.arguments
        by_constant, by_value = self._words.moved[unit]
        base = self._words.calls["today"] if start == NOW else self.moment(start)
        if isinstance(count, f.Literal) and type(count.value) is int and count.value >= 0:
            return by_constant.format(base, sign, count.value)
        text = self._number(count)
        if isinstance(count, f.Arithmetic):
            text = f"({text})"
        return by_value.format(base, sign, text)

    def _days(self, later: f.Expression, earlier: f.Expression) -> str:
        pair = (later, earlier)
        if all(self._kinds.of(one) == "date" for one in pair):
            return self._words.days_between.format(*map(self.moment, pair))
        moments = [self.moment(one, timed=True) for one in pair]
        return self._words.calls["moments_between"].format(*moments)


def letter_of(node: f.Expression) -> str | None:
    """The letter of STRFTIME's pattern of one part of a date; None of anything else."""
    match node:
        case f.Function("strftime", (f.Literal(str(pattern)), _)):
            return pattern[1] if re.fullmatch("%[YmdHMwjW]", pattern) else None
        case f.Function(name):
            return LETTERS.get(name)
    return None


def greatest_part(node: f.Expression) -> float:
    """The greatest number that a part of a date can be compared with in earnest."""
    return _GREATEST.get(letter_of(node) or "", math.inf)


def fits_as_moment(value: str | float, kind: str) -> bool:
    """True of a constant that an engine reads as a date beside one."""
    if not isinstance(value, str):
        return False
    if kind == "date":
        return is_date(value)
    return kind in MOMENTS and (is_date(value) or is_timestamp(value))
