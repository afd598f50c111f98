"""The words of each engine for the form's functions; SQLite's stand in `functions.py`."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.local.form.write.functions import CALLS
from sqlwright.local.form.write.words import Words

_NUMBER = r"CAST(SUBSTRING({} FROM '^ *([-+]?[0-9]*\.?[0-9]+)') AS NUMERIC)"
_WEEK = "(EXTRACT(DOY FROM {0}) + 7 - EXTRACT(ISODOW FROM {0})) / 7"

_AS_IN_SQLITE = (
    *("abs", "round", "round_to", "upper", "lower", "length", "trim", "replace", "substr"),
    *("substr_to", "nullif", "coalesce", "sqrt", "power", "sign", "ceiling", "floor"),
)

POSTGRES = Words(
    calls={
        **{name: CALLS[name] for name in _AS_IN_SQLITE},
        "trim_of": "BTRIM({}, {})",
        "last": "RIGHT({}, {})",
        "instr": "STRPOS({}, {})",
        "time": "TO_CHAR({}, 'HH24:MI:SS')",
        "date": "CAST({} AS DATE)",
        "today": "CURRENT_DATE",
        "now": "LOCALTIMESTAMP",
        "julianday": "(EXTRACT(EPOCH FROM {}) / 86400 + 2440587.5)",
        "greatest": "GREATEST({}, {})",
        "least": "LEAST({}, {})",
        "year_month": "TO_CHAR({}, 'YYYY-MM')",
        "month_day": "TO_CHAR({}, 'MM-DD')",
        "weekday_name": "TO_CHAR({}, 'FMDay')",
        "month_name": "TO_CHAR({}, 'FMMonth')",
        "quarter": "EXTRACT(QUARTER FROM {})",
        "from_seconds": "(TO_TIMESTAMP({}) AT TIME ZONE 'UTC')",
        "from_milliseconds": "(TO_TIMESTAMP({} / 1000.0) AT TIME ZONE 'UTC')",
        "start_of_month": "CAST(DATE_TRUNC('month', {}) AS DATE)",
        "start_of_year": "CAST(DATE_TRUNC('year', {}) AS DATE)",
        "moments_between": "(EXTRACT(EPOCH FROM {} - {}) / 86400)",
        "seconds_between": "CAST(EXTRACT(EPOCH FROM {} - {}) AS BIGINT)",
    },
    parts={
        "Y": "TO_CHAR({}, 'YYYY')",
        "m": "TO_CHAR({}, 'MM')",
        "d": "TO_CHAR({}, 'DD')",
        "H": "TO_CHAR({}, 'HH24')",
        "M": "TO_CHAR({}, 'MI')",
        "S": "TO_CHAR({}, 'SS')",
        "j": "TO_CHAR({}, 'DDD')",
        "w": "CAST(EXTRACT(DOW FROM {}) AS TEXT)",
        "W": f"TO_CHAR(TRUNC({_WEEK}), 'FM00')",
        "s": "CAST(CAST(EXTRACT(EPOCH FROM {}) AS BIGINT) AS TEXT)",
    },
    numbers={
        "Y": "EXTRACT(YEAR FROM {})",
        "m": "EXTRACT(MONTH FROM {})",
        "d": "EXTRACT(DAY FROM {})",
        "H": "EXTRACT(HOUR FROM {})",
        "M": "EXTRACT(MINUTE FROM {})",
        "w": "EXTRACT(DOW FROM {})",
        "j": "EXTRACT(DOY FROM {})",
        "W": f"TRUNC({_WEEK})",
    },
    aggregates={
        "group_concat": "STRING_AGG({}{}, ',')",
        "total": "COALESCE(SUM({}{}), 0)",
        "median": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {1})",
        "percentile": "PERCENTILE_CONT({2}) WITHIN GROUP (ORDER BY {1})",
        "stddev": "STDDEV_SAMP({}{})",
        "stddev_pop": "STDDEV_POP({}{})",
    },
    number=_NUMBER,
    moment="CAST(SUBSTRING({} FROM '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T 0-9:.]*') AS TIMESTAMP)",
    day="CAST({} AS DATE)",
    text="CAST({} AS TEXT)",
    integer="CAST(TRUNC({}) AS BIGINT)",
    small="CAST({} AS INTEGER)",
    whole="CAST({} AS INTEGER)",
    real="CAST({} AS DOUBLE PRECISION)",
    decimal="CAST({} AS NUMERIC)",
    fraction="CAST({} AS NUMERIC)",
    quotient="{} / {}",
    whole_quotient="DIV({}, {})",
    picked="(ARRAY_AGG({} ORDER BY {}))[1]",
    picked_number="(ARRAY_AGG({} ORDER BY {}))[1]",
    like="ILIKE",
    escapes=True,
    backslash=False,
    nulls=True,
    moved={
        "days": (
            "CAST({} {} INTERVAL '{} days' AS DATE)",
            "CAST({} {} {} * INTERVAL '1 day' AS DATE)",
        ),
        "months": (
            "CAST({} {} INTERVAL '{} months' AS DATE)",
            "CAST({} {} {} * INTERVAL '1 month' AS DATE)",
        ),
        "years": (
            "CAST({} {} INTERVAL '{} years' AS DATE)",
            "CAST({} {} {} * INTERVAL '1 year' AS DATE)",
        ),
    },
    joined="{} || {}",
    days_between="({} - {})",
    codes={
        "Y": "YYYY",
        "m": "MM",
        "d": "DD",
        "H": "HH24",
        "M": "MI",
        "S": "SS",
        "j": "DDD",
    },
    pattern="TO_CHAR({}, '{}')",
    contains="{1} = ANY ({0})",
    texts="CAST({} AS TEXT[])",
    span="INTERVAL {}",
    instant="TIMESTAMPTZ {}",
)

_SECONDS = "MAKE_TIMESTAMP(CAST({} * 1000000 AS BIGINT))"
_MILLISECONDS = "MAKE_TIMESTAMP(CAST({} * 1000 AS BIGINT))"

DUCKDB = replace(
    POSTGRES,
    calls={
        **POSTGRES.calls,
        "trim_of": "TRIM({}, {})",
        "last": "RIGHT({}, {})",
        "instr": "INSTR({}, {})",
        "time": "STRFTIME({}, '%H:%M:%S')",
        "julianday": "(JULIAN({}) - 0.5)",
        "year_month": "STRFTIME({}, '%Y-%m')",
        "month_day": "STRFTIME({}, '%m-%d')",
        "weekday_name": "DAYNAME({})",
        "month_name": "MONTHNAME({})",
        "from_seconds": _SECONDS,
        "from_milliseconds": _MILLISECONDS,
        "moments_between": "(JULIAN({}) - JULIAN({}))",
        "seconds_between": "CAST(EPOCH({}) - EPOCH({}) AS BIGINT)",
    },
    parts={
        **{letter: f"STRFTIME({{}}, '%{letter}')" for letter in "YmdHMSjwW"},
        "s": "CAST(CAST(EPOCH({}) AS BIGINT) AS TEXT)",
    },
    numbers={
        **{letter: POSTGRES.numbers[letter] for letter in "YmdHMwj"},
        "W": "CAST(STRFTIME({}, '%W') AS INTEGER)",
    },
    aggregates={
        **POSTGRES.aggregates,
        "median": "MEDIAN({1})",
        "percentile": "QUANTILE_CONT({1}, {2})",
    },
    number=r"TRY_CAST(REGEXP_EXTRACT({}, '^ *[-+]?[0-9]*\.?[0-9]+') AS DOUBLE)",
    moment="TRY_CAST({} AS TIMESTAMP)",
    real="CAST({} AS DOUBLE)",
    decimal="{}",
    fraction="{}",
    quotient="{} // {}",
    whole_quotient="{} // {}",
    picked="FIRST({} ORDER BY {})",
    picked_number="FIRST({} ORDER BY {})",
    escapes=False,
    codes={letter: f"%{letter}" for letter in "YmdHMSjwW"},
    pattern="STRFTIME({}, '{}')",
    contains="LIST_CONTAINS({0}, {1})",
    added_spans=("EPOCH({})", "TO_SECONDS({})"),
)

_PICKED = "SUBSTRING_INDEX(GROUP_CONCAT({} ORDER BY {} SEPARATOR '\\n'), '\\n', 1)"
_UNITS = {"days": "DAY", "months": "MONTH", "years": "YEAR"}
_JULIAN = "(TIMESTAMPDIFF(SECOND, '1970-01-01', {}) / 86400e0 + 2440587.5)"

MYSQL = replace(
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


_ENGINES = {"postgres": POSTGRES, "duckdb": DUCKDB, "mysql": MYSQL, "mariadb": MYSQL}


def words_of(name: str) -> Words | None:
    """The words of a dialect; None of one that nothing is written for."""
    return _ENGINES.get(name)
