"""The words of MySQL and MariaDB for the form's functions."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.local.form.write.engines.postgres import WORDS as POSTGRES
from sqlwright.local.form.write.words import Words

_PICKED = "SUBSTRING_INDEX(GROUP_CONCAT({} ORDER BY {} SEPARATOR '\\n'), '\\n', 1)"
_UNITS = {"days": "DAY", "months": "MONTH", "years": "YEAR"}
_JULIAN = "(TIMESTAMPDIFF(SECOND, '1970-01-01', {}) / 86400e0 + 2440587.5)"

WORDS: Words = replace(
    POSTGRES,
    calls={
        **POSTGRES.calls,
        "length": "CHAR_LENGTH({})",
        "trim_of": "TRIM(BOTH {1} FROM {0})",
        "instr": "INSTR({}, {})",
        "time": "DATE_FORMAT({}, '%H:%i:%S')",
        "date": "DATE({})",
        "now": "UTC_TIMESTAMP()",
        "today": "CURRENT_DATE",
        "julianday": _JULIAN,
        "year_month": "DATE_FORMAT({}, '%Y-%m')",
        "month_day": "DATE_FORMAT({}, '%m-%d')",
        "weekday_name": "DAYNAME({})",
        "month_name": "MONTHNAME({})",
        "from_seconds": "DATE_ADD('1970-01-01', INTERVAL {} SECOND)",
        "from_milliseconds": "DATE_ADD('1970-01-01', INTERVAL {} / 1000 SECOND)",
        "start_of_month": "CAST(DATE_FORMAT({}, '%Y-%m-01') AS DATE)",
        "start_of_year": "CAST(DATE_FORMAT({}, '%Y-01-01') AS DATE)",
        "moments_between": "(TIMESTAMPDIFF(SECOND, {1}, {0}) / 86400e0)",
        "seconds_between": "TIMESTAMPDIFF(SECOND, {1}, {0})",
    },
    parts={
        **{letter: f"DATE_FORMAT({{}}, '%{letter}')" for letter in "YmdHSjw"},
        "M": "DATE_FORMAT({}, '%i')",
        "W": "LPAD(WEEK({}, 5), 2, '0')",
        "s": "CAST(TIMESTAMPDIFF(SECOND, '1970-01-01', {}) AS CHAR)",
    },
    numbers={
        **{letter: POSTGRES.numbers[letter] for letter in "YmdHM"},
        "w": "(DAYOFWEEK({}) - 1)",
        "j": "DAYOFYEAR({})",
        "W": "WEEK({}, 5)",
    },
    aggregates={
        **{name: POSTGRES.aggregates[name] for name in ("total", "stddev", "stddev_pop")},
        "group_concat": "GROUP_CONCAT({}{})",
    },
    number="({} + 0.0)",
    moment="CAST({} AS DATETIME)",
    day="CAST({} AS DATE)",
    text="CAST({} AS CHAR)",
    integer="CAST(TRUNCATE({}, 0) AS SIGNED)",
    small="{}",
    whole="{}",
    real="({} + 0e0)",
    decimal="CAST({} AS DECIMAL(65, 10))",
    fraction="({} + 0e0)",
    quotient="{} DIV {}",
    whole_quotient="{} DIV {}",
    picked=_PICKED,
    picked_number=f"({_PICKED} + 0)",
    like="LIKE",
    backslash=True,
    nulls=False,
    moved={
        unit: (
            f"CAST({{}} {{}} INTERVAL {{}} {word} AS DATE)",
            f"CAST({{}} {{}} INTERVAL {{}} {word} AS DATE)",
        )
        for unit, word in _UNITS.items()
    },
    joined="CONCAT({}, {})",
    days_between="DATEDIFF({}, {})",
    codes={**{letter: f"%{letter}" for letter in "YmdHSjw"}, "M": "%i"},
    pattern="DATE_FORMAT({}, '{}')",
    limits_within=False,
)
