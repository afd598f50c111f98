"""DuckDB's words for the form's functions."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.local.form.write.engines.postgres import WORDS as POSTGRES
from sqlwright.local.form.write.words import Words

_SECONDS = "MAKE_TIMESTAMP(CAST({} * 1000000 AS BIGINT))"
_MILLISECONDS = "MAKE_TIMESTAMP(CAST({} * 1000 AS BIGINT))"

WORDS: Words = replace(
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
