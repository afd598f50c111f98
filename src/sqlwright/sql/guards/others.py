"""Rules of a dialect that nothing is written for: functions that are harmless by their names in
every engine that the parser knows, and what all of them cut alike."""

from __future__ import annotations

import re

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.lexicon import plain
from sqlwright.sql.guards.rules import (
    USUAL_FUNCTIONS,
    USUAL_TYPES,
    USUAL_WORDS,
    Names,
    Rules,
    words,
)

_FUNCTIONS = words(
    """
    add_months any_value approx_count_distinct approx_distinct array_agg array_contains
    array_distinct array_join array_length array_size array_sort arrayjoin avgif bit_and bit_or
    bit_xor bool_and bool_or btrim cardinality cbrt char charindex choose contains convert
    count_big count_if countif curdate date_add date_diff date_format date_part date_sub
    date_trunc dateadd datediff datefromparts datename datepart datetime datetrunc day
    day_of_month day_of_week day_of_year dayname dayofmonth dayofweek dayofyear days decode
    editdistance ends_with endswith eomonth every flatten format format_date format_datetime
    from_unixtime getdate group_concat hour hours_between iff iif initcap instr isnull
    json_array_length json_extract json_extract_scalar json_extract_string json_query json_value
    last_day lcase len levenshtein listagg locate make_date max_by maxif mean median min_by
    minif minute mode month monthname months_between nvl nvl2 parse_date patindex
    percentile_approx percentile_cont percentile_disc quantile quarter rand random
    regexp_contains regexp_count regexp_extract regexp_instr regexp_like regexp_substr replicate
    safe_divide second sha1 sha256 soundex space split split_part square starts_with startswith
    stdev stdevp str_to_date strftime string_agg strpos substring_index substr sumif time_bucket
    timestamp timestamp_diff timestamp_trunc timestampadd timestampdiff to_char to_date
    to_number to_timestamp tostring totypename toyear tomonth todayofmonth tostartofmonth
    tostartofyear tostartofday tostartofweek tostartofquarter tostartofhour toyyyymm toyyyymmdd
    todate todatetime toint32 toint64 tofloat64 today translate truncate trunc try_cast
    try_to_date try_to_number typeof uniq uniqexact unix_timestamp unnest upper utc_timestamp
    var varp week weekday weekofyear width_bucket year year_of_week yearofweek zeroifnull argmax
    argmin groupuniqarray grouparray multiif empty notempty length lengthutf8 lowerutf8
    upperutf8 formatdatetime parsedatetime quantileexact quantiles any anylast
    """
)
_TYPES = words(
    """
    array binary bytes date32 datetime datetime2 datetime64 fixedstring float32 float64 int128 int16
    int256 int32 int64 int8 list long lowcardinality map money nchar nullable number nvarchar
    nvarchar2 short signed string struct timestamp_ltz timestamp_ntz timestamp_tz timestampltz
    timestampntz timestamptz timetz tuple uint128 uint16 uint256 uint32 uint64 uint8 unsigned
    varbinary varchar2 variant
    """
)
_WORDS = words(
    """
    attach call copy current_account current_available_roles current_catalog current_client
    current_database current_ip_address current_region current_role current_schema current_schemas
    current_session current_statement current_transaction current_user current_version
    current_warehouse describe exec execute format grant handler install
    kill load lock openquery openrowset opendatasource outfile pivot pragma prewhere procedure
    readonly session_user settings show summarize system_user unpivot use
    """
) - {"format"}
_USER = words("exasol fabric oracle redshift teradata tsql")
"""Dialects in which USER without quotes is the login's name."""
_OPERATORS = "+ - * / % ^ < > = == <= >= <> != || && & | ~ << >> ! -> ->> => <=>"
_FOLDED: dict[str, Names] = {"lower": "lower", "upper": "blind", "blind": "blind"}
_SUGGESTIONS: dict[str, str] = {}


def rules(dialect: Dialect) -> Rules:
    """The rules of any other dialect that the parser reads."""
    from sqlglot import Dialect as Parser

    parser = Parser.get_or_raise(dialect.parser)
    identifiers = parser.tokenizer_class._IDENTIFIERS
    exact = parser.NORMALIZATION_STRATEGY.name == "CASE_SENSITIVE"
    return Rules(
        dialect=dialect,
        lexicon=plain(_OPERATORS, ":: ( ) [ ] , . :", brackets="[" in identifiers),
        functions=USUAL_FUNCTIONS | _FUNCTIONS,
        table_functions=words("unnest"),
        types=USUAL_TYPES | _TYPES,
        dangerous=re.compile(
            r"sleep.*|file|url|s3|remote.*|mysql|postgresql|sqlite|mongodb|odbc|jdbc|hdfs|input|"
            r"executable|cluster.*|numbers.*|dictget.*|getsetting|hostname|version|current.*|"
            r"xp_.*|sp_.*|fn_.*|utl_.*|dbms_.*|sys.*|openrowset|openquery|load.*|read.*|query.*|"
            r"get_lock|benchmark|pg_.*|java_method|reflect.*|ai_.*|external_query|result_scan"
        ),
        keywords=words("except ilike match qualify regexp rlike row top"),
        suggestions=_SUGGESTIONS,
        words=USUAL_WORDS | _WORDS | (words("user") if dialect.name in _USER else words("")),
        names="exact" if exact else _FOLDED[dialect.case],
        empty_tables=words("dual"),
        names_call=dialect.name == "oracle",
        members_read=True,
        own_tables=re.compile(r"(pg|sqlite|duckdb|sys|v\$|all|dba|user|gv|svv|stl|stv)_.*"),
    )
