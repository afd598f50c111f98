"""The form's functions as SQLite's SQL; `engines/` has those of others."""

from __future__ import annotations

from collections.abc import Mapping

from sqlwright.english.vocabulary import MONTH_NAMES, WEEKDAY_NAMES
from sqlwright.local.form import nodes as f

PRECEDENCE = {
    "||": 3,
    "*": 2,
    "/": 2,
    "%": 2,
    "ratio": 2,
    "percent": 2,
    "+": 1,
    "-": 1,
    "from_dmy": 3,
    "from_mdy": 3,
    "from_compact": 3,
    "from_dmy_time": 3,
    "from_mdy_time": 3,
    "quarter": 2,
    "days_between": 1,
    "seconds_between": 1,
    "from_milliseconds": 4,
}
"""Precedence of operators, and of functions that are written with some; 4 where those are within
parentheses."""
_FROM_SUNDAY = (WEEKDAY_NAMES[-1], *WEEKDAY_NAMES[:-1])
WEEKDAYS = {str(number): names[0].capitalize() for number, names in enumerate(_FROM_SUNDAY)}
"""Names of the days of the week by their numbers."""
MONTHS = {f"{number:02}": names[0].capitalize() for number, names in enumerate(MONTH_NAMES, 1)}
"""Names of the months by their numbers."""


def named(pattern: str, names: Mapping[str, str]) -> str:
    """The template of a part of a date by its name."""
    cases = " ".join(f"WHEN '{number}' THEN '{name}'" for number, name in names.items())
    return f"CASE STRFTIME('{pattern}', {{}}) {cases} END"


_DAY, _MONTH, _LAST = "SUBSTR({0}, 1, 2)", "SUBSTR({0}, 4, 2)", "SUBSTR({0}, 7, 4)"
_DMY, _MDY = (
    f"{_LAST} || '-' || {_MONTH} || '-' || {_DAY}",
    f"{_LAST} || '-' || {_DAY} || '-' || {_MONTH}",
)
_COMPACT_MONTH = "SUBSTR({0}, 1, 4) || '-' || SUBSTR({0}, 5, 2)"
CALLS = {
    "abs": "ABS({})",
    "round": "ROUND({})",
    "round_to": "ROUND({}, {})",
    "upper": "UPPER({})",
    "lower": "LOWER({})",
    "length": "LENGTH({})",
    "trim": "TRIM({})",
    "trim_of": "TRIM({}, {})",
    "replace": "REPLACE({}, {}, {})",
    "substr": "SUBSTR({}, {})",
    "substr_to": "SUBSTR({}, {}, {})",
    "instr": "INSTR({}, {})",
    "real": "CAST({} AS REAL)",
    "integer": "CAST({} AS INTEGER)",
    "text": "CAST({} AS TEXT)",
    "year": "STRFTIME('%Y', {})",
    "month": "STRFTIME('%m', {})",
    "day": "STRFTIME('%d', {})",
    "strftime": "STRFTIME({}, {})",
    "date": "DATE({})",
    "time": "TIME({})",
    "datetime": "DATETIME({})",
    "julianday": "JULIANDAY({})",
    "coalesce": "COALESCE({}, {})",
    "nullif": "NULLIF({}, {})",
    "greatest": "MAX({}, {})",
    "least": "MIN({}, {})",
    "now": "'now'",
    "from_dmy": _DMY,
    "from_mdy": _MDY,
    "from_dmy_time": _DMY + " || SUBSTR({0}, 11)",
    "from_mdy_time": _MDY + " || SUBSTR({0}, 11)",
    "from_compact": _COMPACT_MONTH + " || '-' || SUBSTR({0}, 7, 2)",
    "amount": "CAST(REPLACE(REPLACE(REPLACE({}, '$', ''), '€', ''), ',', '') AS REAL)",
    "amount_comma": (
        "CAST(REPLACE(REPLACE(REPLACE(REPLACE({}, '€', ''), ' ', ''), '.', ''), ',', '.') AS REAL)"
    ),
    "decimal_comma": ("CAST(REPLACE(REPLACE(REPLACE({}, '€', ''), ' ', ''), ',', '.') AS REAL)"),
    "weekday": "STRFTIME('%w', {})",
    "hour": "STRFTIME('%H', {})",
    "minute": "STRFTIME('%M', {})",
    "week": "STRFTIME('%W', {})",
    "year_month": "STRFTIME('%Y-%m', {})",
    "month_day": "STRFTIME('%m-%d', {})",
    "weekday_name": named("%w", WEEKDAYS),
    "month_name": named("%m", MONTHS),
    "quarter": "(CAST(STRFTIME('%m', {}) AS INTEGER) + 2) / 3",
    "from_seconds": "DATETIME({}, 'unixepoch')",
    "from_milliseconds": "DATETIME({} / 1000, 'unixepoch')",
    "start_of_month": "DATE({}, 'start of month')",
    "start_of_year": "DATE({}, 'start of year')",
    "days_between": "JULIANDAY({}) - JULIANDAY({})",
    "seconds_between": "STRFTIME('%s', {}) - STRFTIME('%s', {})",
    "sqrt": "SQRT({})",
    "power": "POWER({}, {})",
    "sign": "SIGN({})",
    "ceiling": "CEIL({})",
    "floor": "FLOOR({})",
}
"""Templates by name."""
AROUND = {
    "days_after": ("+", "days"),
    "days_before": ("-", "days"),
    "months_after": ("+", "months"),
    "months_before": ("-", "months"),
    "years_after": ("+", "years"),
    "years_before": ("-", "years"),
}
"""Sign and unit of what moves a date."""
WHOLE = {
    "stddev": "SQRT((SUM({1} * {1}) - SUM({0}) * SUM({0}) * 1.0 / COUNT({0})) / (COUNT({0}) - 1))",
    "stddev_pop": "SQRT(AVG({1} * {1}) - AVG({0}) * AVG({0}))",
}
"""Aggregates that SQLite lacks, by their operand and their operand as a factor."""
_COMBINED = {
    ("year", "from_dmy"): _LAST,
    ("year", "from_mdy"): _LAST,
    ("year_month", "from_dmy"): f"{_LAST} || '-' || {_MONTH}",
    ("year_month", "from_mdy"): f"{_LAST} || '-' || {_DAY}",
    ("year_month", "from_compact"): _COMPACT_MONTH,
    ("month", "from_dmy"): _MONTH,
    ("month", "from_mdy"): _DAY,
}


def combined(node: f.Function) -> tuple[str, f.Expression] | None:
    """The shorter template of a part of a date that is stored as text, and the text."""
    match node:
        case f.Function(part, (f.Function(source, (text,)),)) if (part, source) in _COMBINED:
            return _COMBINED[part, source], text
    return None
