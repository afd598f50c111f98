"""A column's content in words: how many values, how many missing, of what kind, how written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlwright.boundary.text import counted
from sqlwright.prompts.cells import literal
from sqlwright.types import Cell

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

NUMERIC = frozenset({"integer", "real"})

_WRITTEN = {
    "date_ambiguous": "dates as text, day or month first",
    "date_words": "dates as text, the month in words",
    "number_text": "numbers stored as text",
    "number_grouped": "numbers with marks for thousands, stored as text",
    "number_comma": "numbers with a decimal comma, stored as text",
    "money": "amounts with their currency, stored as text",
    "percent": "percentages with their sign, stored as text",
    "json": "JSON",
}
"""Formats of text columns that a query has to mind, in words."""
_RANGED = {
    "iso_date": "dates",
    "iso_datetime": "dates with times",
    "date_compact": "dates as YYYYMMDD",
    "year_month": "months",
    "year": "years",
}
"""Formats whose values are ordered as they are written."""
_DATES = frozenset({"date_dmy", "date_mdy", "date_ambiguous", "date_words"})
"""Formats of dates whose values aren't."""
_DURATION = re.compile(r"[9+]+(?::[9+]+)+(?:\.[9+]+)?")
"""The shape of a code that is a length of time."""
_PARTED = re.compile(r"\d{1,2}([/.-])\d{1,2}\1(\d{4}|\d{2})(?:([ T])(\d{1,2}:\d\d.*))?")
_CLOCK = re.compile(r"(\d+):\d\d(:\d\d)?(\.\d+)?( ?[AaPp][Mm])?")


def counts(profile: ColumnProfile, *, key: bool, rough: bool = False) -> str:
    """Numbers of different and of missing values of a column; empty when not known.

    A primary key's are all different, whatever a sample had; of other columns a sample tells no
    more than a least number, and what share is missing. Where `rough`, whether there are one or
    many.
    """
    if not profile.rows:
        return ""
    if profile.nulls == profile.rows:
        return "nothing but NULL seen" if profile.sampled else "always NULL"
    about = "" if profile.distinct_exact else "about "
    held = profile.distinct - len(profile.missing)  # missing ones are counted by themselves
    if key or profile.unique:
        different = "all different"
    elif rough:
        different = f"{'many' if held > 1 else held} different" if held > 0 else ""
    elif profile.sampled:
        different = f"at least {held:,} different" if held > 1 else ""
    else:
        different = f"{about}{held:,} different" if held > 0 else ""
    return ", ".join(filter(None, [different, missing(profile, rough=rough)]))


def missing(profile: ColumnProfile, *, nulls: bool = True, rough: bool = False) -> str:
    """Numbers of NULLs (unless they are left out), empty texts and texts such as '-' and 'NULL'; of
    a sample, their share. Where `rough`, that there are some."""
    absent = profile.nulls if nulls else 0
    if rough:
        some = [
            ("NULL", bool(absent)),
            ("empty texts", any(not text for text, _ in profile.missing)),
            ("placeholders", any(text for text, _ in profile.missing)),
        ]
        return ", ".join(f"some {noun}" for noun, there in some if there)
    parts = [("NULL", absent)] if absent else []
    parts += [(literal(text) if text else "empty text", rows) for text, rows in profile.missing]
    return ", ".join(_amount(rows, noun, profile) for noun, rows in parts)


def _amount(rows: int, noun: str, profile: ColumnProfile) -> str:
    plural = noun == "empty text"
    if profile.sampled:
        percent = round(100 * rows / profile.rows)
        return f"about {percent or 'under 1'} % {noun}{'s' if plural else ''}"
    return counted(rows, noun) if plural else f"{rows:,} {noun}"


def mixture(profile: ColumnProfile, *, rough: bool = False) -> str:
    """The kinds of a column's values where they are several: "120 numbers, 3 texts ('N.N.')", or
    where `rough` without numbers and texts. Empty for others; missing values don't count."""
    storage = profile.storage
    held = {
        "number": storage.get("integer", 0) + storage.get("real", 0),
        "text": storage.get("text", 0) - sum(rows for _, rows in profile.missing),
        "blob": storage.get("blob", 0),
    }
    parts = [(rows, noun) for noun, rows in held.items() if rows > 0]
    if len(parts) < 2:
        return ""
    most = max(parts)
    told = []
    for part in parts:
        rows, noun = part
        vague = f"{'mostly' if part == most else 'some'} {noun}s"
        which = ""
        if not rough and noun in {"number", "text"} and part != most:
            which = ", ".join(literal(cell, 20) for cell, _ in profile.odd[:3])
            which = f" ({which})" if which else ""
        told.append((vague if rough or profile.sampled else counted(rows, noun)) + which)
    return ", ".join(told)


def written(profile: ColumnProfile, *, ranged: bool = True) -> str:
    """The way a column's values are written, where a query has to mind it; empty for others, and
    unless `ranged` for those that a range or a list of them shows."""
    names = {form.name: form for form in profile.formats}
    if profile.main_storage in NUMERIC:
        if not ranged:
            return ""
        return next((_RANGED[name] for name in ("year", "date_compact") if name in names), "")
    if profile.main_storage != "text":
        return ""
    for name, pattern in (("date_dmy", ("DD", "MM")), ("date_mdy", ("MM", "DD"))):
        if name in names:
            mark, year, time = _parts(profile)
            return f"dates as text, {mark.join((*pattern, year))}{time}"
    if "number_text" in names and "year" not in names and _padded(profile):
        return ""
    if "time" in names or ("code" in names and _DURATION.fullmatch(names["code"].pattern)):
        return f"times as text{_clock(profile, of_day='time' in names)}"
    found = next((_RANGED[name] for name in _RANGED if name in names), "")
    if found:
        return found if ranged else ""
    return next((_WRITTEN[name] for name in _WRITTEN if name in names), "")


def least_and_greatest(profile: ColumnProfile) -> str:
    """The range of numbers and of dates that are ordered as they are written: "from 1 to 9". Empty
    where it isn't known, and for flags."""
    low, high = profile.minimum, profile.maximum
    names = {form.name for form in profile.formats}
    seen = "seen " if profile.sampled else ""
    if profile.main_storage in NUMERIC and not isinstance(low, str) and not isinstance(high, str):
        if low is None or high is None or low == high or "boolean" in names:
            return ""
        return f"{seen}from {number(low)} to {number(high)}"
    if profile.main_storage != "text" or names.isdisjoint(_RANGED) or not _dated(high):
        return ""
    if low == high:
        return ""
    begin = f"from {literal(low)} " if _dated(low) else ""
    return f"{seen}{begin}{'to' if begin else 'up to'} {literal(high)}"


def newest(profile: ColumnProfile) -> str | None:
    """The newest date of a column that holds dates, empty where they aren't ordered as they are
    written; None for a column without any."""
    names = {form.name for form in profile.formats}
    if names.isdisjoint({*_RANGED, *_DATES}):
        return None
    if names.isdisjoint(_RANGED) or not (
        _dated(profile.maximum) or profile.main_storage in NUMERIC
    ):
        return ""
    return str(profile.maximum)


def number(cell: Cell) -> str:
    """A number, without digits that are nothing but noise."""
    text = literal(cell)
    return f"{cell:.6g}" if isinstance(cell, float) and len(text) > 12 else text


def _dated(cell: Cell) -> bool:
    return isinstance(cell, str) and cell[:1].isdigit()


def _parts(profile: ColumnProfile) -> tuple[str, str, str]:
    """The mark between a date's parts, how many digits its year has, and the form of the time
    behind it, which may be empty."""
    texts = [cell.strip() for cell, _ in profile.frequent if isinstance(cell, str)]
    dates = [found for found in map(_PARTED.match, texts) if found]
    if not dates:
        return "/", "YYYY", ""
    times = [f"{found[3]}{_clock_form(clock)}" for found in dates if (clock := _clock_of(found[4]))]
    form = max(times, key=times.count, default="")
    some = form and len(times) < len(dates)
    return dates[0][1], "Y" * len(dates[0][2]), f", some with{form}" if some else form


def _clock_of(text: str | None) -> re.Match[str] | None:
    return _CLOCK.fullmatch(text) if text else None


def _clock_form(time: re.Match[str]) -> str:
    """The form of a time of day."""
    return f"HH:MM{':SS' if time[2] else ''}{' AM/PM' if time[4] else ''}"


def _clock(profile: ColumnProfile, *, of_day: bool) -> str:
    """The form of a column's times, as far as its values tell. Unless all may be times `of_day`,
    two parts are minutes and seconds; so are those with a fraction. Where the first always has two
    digits it is the hour."""
    texts = [cell.strip() for cell, _ in profile.frequent if isinstance(cell, str)]
    times = [found for found in map(_CLOCK.fullmatch, texts) if found]
    if not times:
        return ""
    if any(time[4] for time in times):
        return f", {_clock_form(times[0])}"
    padded = all(len(time[1]) > 1 for time in times)
    first = "HH" if padded else "H"
    if any(time[2] for time in times):
        return f", {first}:MM:SS"
    if not of_day or any(time[3] for time in times):
        return f", {first.replace('H', 'M')}:SS"
    return ", HH:MM" if padded else ", H:MM or M:SS"


def _padded(profile: ColumnProfile) -> bool:
    """True if a value has zeros in front, as codes have them and numbers don't."""
    return any(
        isinstance(cell, str) and len(cell) > 1 and cell[0] == "0" and cell.isdigit()
        for cell, _ in profile.frequent
    )
