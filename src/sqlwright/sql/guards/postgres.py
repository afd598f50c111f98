"""PostgreSQL's rules.

x.f calls f(x) where x has no column f and f takes what x is, a file's name for example: so what
stands after a dot is checked, too. Functions that take SQL or names of tables as texts are left
out, as are types that look names up (regclass) or are a table's row.
"""

from __future__ import annotations

import re

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.lexicon import standard
from sqlwright.sql.guards.rules import USUAL_FUNCTIONS, USUAL_TYPES, USUAL_WORDS, Rules, words

_FUNCTIONS = words(
    """
    acosd acosh age any_value array_agg array_append array_cat array_dims array_fill array_length
    array_lower array_ndims array_position array_positions array_prepend array_remove array_replace
    array_reverse array_sample array_shuffle array_sort array_to_json array_to_string array_upper
    asind asinh atan2d atand atanh bit_and bit_count bit_length bit_or bit_xor bool_and bool_or
    btrim cardinality casefold cbrt clock_timestamp convert_from convert_to cosd cosh cotd date_add
    date_bin date_part date_subtract date_trunc daterange decode div encode erf erfc every factorial
    format gamma gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte initcap
    int4range int8range isempty isfinite json_agg json_agg_strict json_array json_array_elements
    json_array_elements_text json_array_length json_arrayagg json_build_array json_build_object
    json_each json_each_text json_exists json_extract_path json_extract_path_text json_object
    json_object_agg json_object_agg_strict json_object_agg_unique json_object_keys json_objectagg
    json_query json_scalar json_serialize json_strip_nulls json_table json_to_record
    json_to_recordset json_typeof json_value jsonb_agg jsonb_agg_strict jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path
    jsonb_extract_path_text jsonb_object jsonb_object_agg jsonb_object_agg_strict jsonb_object_keys
    jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
    jsonb_path_query_first_tz jsonb_path_query_tz jsonb_pretty jsonb_set jsonb_strip_nulls
    jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval lcm
    lgamma lower_inc lower_inf make_date make_interval make_time make_timestamp make_timestamptz
    min_scale mode multirange num_nonnulls num_nulls numnode numrange overlay parse_ident
    percentile_cont percentile_disc pg_size_bytes pg_size_pretty phraseto_tsquery
    plainto_tsquery querytree quote_ident quote_literal quote_nullable random range_agg
    range_intersect_agg range_merge regexp_count regexp_instr regexp_like regexp_match
    regexp_matches regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_to_json scale
    set_bit set_byte setweight sha224 sha256 sha384 sha512 sind sinh split_part starts_with
    statement_timestamp string_agg string_to_array string_to_table strip strpos tand tanh timeofday
    timezone to_ascii to_bin to_char to_date to_hex to_json to_jsonb to_number to_oct to_timestamp
    to_tsquery to_tsvector transaction_timestamp translate trim_array trim_scale trunc ts_delete
    ts_filter ts_headline ts_rank ts_rank_cd tsrange tstzrange unistr unnest upper_inc upper_inf
    uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 websearch_to_tsquery width_bucket
    xmlagg
    """
)
"""Without: if, ifnull, log2 and md5's other names, which PostgreSQL doesn't have."""
_ABSENT = words("if ifnull log2")
_TABLE_FUNCTIONS = words(
    """
    generate_series generate_subscripts json_array_elements json_array_elements_text json_each
    json_each_text json_object_keys json_table json_to_record json_to_recordset
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys
    jsonb_path_query jsonb_path_query_tz jsonb_to_record jsonb_to_recordset regexp_matches
    regexp_split_to_table string_to_table unnest
    """
)
_TYPES = words(
    """
    box bpchar cidr circle citext daterange float4 float8 geography geometry hstore inet int2 int4
    int8 int4range int8range jsonb jsonpath line lseg macaddr macaddr8 money name numrange path
    point polygon serial timestamptz timetz tsquery tsrange tstzrange tsvector varbit
    """
)
_SIZED = words(
    """
    bit bpchar char character dec decimal float interval numeric time timestamp timestamptz timetz
    varbit varchar
    """
)
_DANGEROUS = re.compile(
    r"pg_.*|lo_.*|dblink.*|.*_to_xml.*|.*_to_xmlschema|cursor_to_.*|query_to_.*|inet_(client|server)_.*|txid_.*|"
    r"binary_upgrade_.*|brin_.*|gin_clean_.*|has_.*_privilege|row_security_active|to_reg.*|"
    r"current_.*|session_user|system_user|user|getpgusername|set_config|setval|nextval|currval|"
    r"lastval|setseed|version|loread|lowrite|ts_stat|ts_rewrite|ts_parse|ts_token_type|ts_debug|"
    r"ts_lexize|crosstab.*|connectby|normal_rand|xpath.*|xml.*|file_fdw.*|postgres_fdw.*|"
    r"col_description|obj_description|shobj_description|format_type|acl.*|makeaclitem|mxid_age|"
    r"json_populate_.*|jsonb_populate_.*|amcheck.*|bt_.*|heap_.*|page_.*|get_raw_page|fsm_.*|"
    r"(is_)?normalized?|plpgsql_.*|plpython.*|plperl.*|copy_.*|adminpack.*|uuid_generate_.*|suppress_.*"
)
_SUGGESTIONS = {
    "charindex": "strpos(x, 'a')",
    "curdate": "current_date",
    "date_diff": "a - b",
    "date_format": "to_char(x, 'YYYY-MM-DD')",
    "dateadd": "x + interval '1 day'",
    "datediff": "a - b",
    "datetime": "cast(x AS timestamp)",
    "day": "extract(day FROM x)",
    "getdate": "now()",
    "group_concat": "string_agg(x, ',')",
    "hour": "extract(hour FROM x)",
    "if": "CASE WHEN a THEN b ELSE c END",
    "ifnull": "coalesce(x, y)",
    "iif": "CASE WHEN a THEN b ELSE c END",
    "instr": "strpos(x, 'a')",
    "isnull": "coalesce(x, y)",
    "json_extract": "x ->> 'key'",
    "julianday": "extract(epoch FROM a - b) / 86400",
    "len": "length(x)",
    "listagg": "string_agg(x, ',')",
    "log2": "log(2, x)",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "month": "extract(month FROM x)",
    "monthname": "to_char(x, 'Month')",
    "nvl": "coalesce(x, y)",
    "printf": "format('%s', x)",
    "quarter": "extract(quarter FROM x)",
    "rand": "random()",
    "str_to_date": "to_date(x, 'YYYY-MM-DD')",
    "strftime": "to_char(x, 'YYYY-MM-DD')",
    "timestampdiff": "extract(epoch FROM a - b)",
    "total": "coalesce(sum(x), 0)",
    "try_cast": "cast(x AS type)",
    "typeof": "nothing: columns have their types",
    "unix_timestamp": "extract(epoch FROM x)",
    "week": "extract(week FROM x)",
    "weekday": "extract(isodow FROM x)",
    "year": "extract(year FROM x)",
}
_WORDS = words(
    "current_catalog current_role current_schema current_user session_user system_user user"
)
_OPERATORS = """
    + - * / % ^ < > = <= >= <> != || ~ ~* !~ !~* ~~ ~~* !~~ !~~* -> ->> #> #>> @> <@ ? ?| ?& #- @?
    @@ && & | # << >> @ |/ ||/ -|- &< &> => ^@
"""


def rules(dialect: Dialect) -> Rules:
    """The rules of PostgreSQL."""
    return Rules(
        dialect=dialect,
        lexicon=standard(_OPERATORS, ":: ( ) [ ] , . :", groups=False),
        functions=(USUAL_FUNCTIONS | _FUNCTIONS) - _ABSENT,
        table_functions=_TABLE_FUNCTIONS,
        types=USUAL_TYPES | _TYPES,
        dangerous=_DANGEROUS,
        keywords=words("ilike overlaps row"),
        suggestions=_SUGGESTIONS,
        words=USUAL_WORDS | _WORDS,
        names="lower",
        unsized=(USUAL_TYPES | _TYPES) - _SIZED,
        own_tables=re.compile(r"pg_.*"),
        own_columns=words("cmax cmin ctid tableoid xmax xmin"),
        attributes_call=True,
    )
