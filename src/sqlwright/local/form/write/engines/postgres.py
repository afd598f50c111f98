"""PostgreSQL's words for the form's functions."""

from __future__ import annotations

from sqlwright.local.form.write.functions import CALLS
from sqlwright.local.form.write.words import Words

_NUMBER = r"CAST(SUBSTRING({} FROM '^ *([-+]?[0-9]*\.?[0-9]+)') AS NUMERIC)"
_WEEK = "(EXTRACT(DOY FROM {0}) + 7 - EXTRACT(ISODOW FROM {0})) / 7"

_AS_IN_SQLITE = (
    *("abs", "round", "round_to", "upper", "lower", "length", "trim", "replace", "substr"),
    *("substr_to", "nullif", "coalesce", "sqrt", "power", "sign", "ceiling", "floor"),
)

WORDS = Words(
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
