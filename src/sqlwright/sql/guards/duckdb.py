"""DuckDB's rules. A text or a name that is no table's may be a file's to it: so only names that
are listed are tables, and a name with a dot in it is none."""

from __future__ import annotations

import re

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.lexicon import standard
from sqlwright.sql.guards.rules import USUAL_FUNCTIONS, USUAL_TYPES, USUAL_WORDS, Rules, words

_FUNCTIONS = words(
    """
    acosh add age aggregate ago any_value apply approx_count_distinct approx_quantile approx_top_k
    arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax
    argmin array_agg array_aggr array_aggregate array_append array_apply array_cat array_concat
    array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
    array_distinct array_dot_product array_extract array_filter array_grade_up array_has
    array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
    array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
    array_position array_prepend array_push_back array_push_front array_reduce array_resize
    array_reverse array_reverse_sort array_select array_slice array_sort array_to_json
    array_to_string array_to_string_comma_default array_transform array_unique array_value
    array_where array_zip asinh atanh bar base64 bin binom bit_and bit_count bit_length bit_or
    bit_position bit_xor bitstring bitstring_agg bool_and bool_or cardinality cbrt century columns
    constant_or_null contains cosh count_if count_star countif current_localtime
    current_localtimestamp damerau_levenshtein date_add date_diff date_part date_sub date_trunc
    datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month
    decade decode divide editdist3 element_at encode ends_with entropy enum_code enum_first
    enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us equi_width_bins era
    even factorial favg fdiv fill filter first flatten fmod format format_bytes
    formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex from_json
    from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts geomean
    geometric_mean get_bit get_current_time get_current_timestamp grade_up greatest_common_divisor
    group_concat hamming hash hex histogram histogram_exact hour ilike_escape instr
    is_histogram_other_bin isfinite isinf isnan isodow isoyear jaccard jaro_similarity
    jaro_winkler_similarity json json_array json_array_length json_contains json_deep_merge
    json_exists json_extract json_extract_path json_extract_path_text json_extract_string
    json_group_array json_group_object json_group_structure json_insert json_keys json_merge_patch
    json_normalize json_object json_pretty json_quote json_remove json_replace json_set
    json_strip_nulls json_structure json_transform json_transform_strict json_type json_valid
    json_value julian kahan_sum kurtosis kurtosis_pop last last_day lcase lcm least_common_multiple
    left_grapheme len length_grapheme levenshtein lgamma like_escape list list_aggr list_aggregate
    list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and
    list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
    list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
    list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up
    list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect
    list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode
    list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend
    list_product list_reduce list_resize list_reverse list_reverse_sort list_select list_sem
    list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
    list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip listagg
    lttb mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz
    map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values max_by md5_number md5_number_lower
    md5_number_upper mean median microsecond millennium millisecond min_by minute mismatches mode
    month monthname multiply nanosecond nextafter nfc_normalize normalized_interval not_ilike_escape
    not_like_escape ord overlay parse_dirname parse_dirpath parse_filename parse_formatted_bytes
    parse_path path_join percentile_cont percentile_disc pg_size_pretty prefix printf product
    quantile quantile_cont quantile_disc quarter random range rank_dense reduce regexp_escape
    regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_split_to_array
    regexp_split_to_table regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy reservoir_quantile right_grapheme round_even roundbankers row_to_json second
    sem set_bit sha1 sha256 signbit sinh skewness split split_part starts_with str_split
    str_split_regex strftime string_agg string_split string_split_regex string_to_array
    strip_accents strlen strpos strptime struct_concat struct_contains struct_extract
    struct_extract_at struct_has struct_indexof struct_insert struct_keys struct_pack
    struct_position struct_update struct_values substring_grapheme subtract suffix sum_no_overflow
    sumkahan switch tanh time_bucket timezone timezone_hour timezone_minute to_base to_base64
    to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia
    to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
    transaction_timestamp translate trunc try try_cast try_strptime typeof ucase unbin unhex unicode
    union_extract union_tag union_value unnest unpivot_list url_decode url_encode uuid
    uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 variant_array_length variant_contains
    variant_exists variant_extract variant_extract_string variant_keys variant_type variant_typeof
    wavg week weekday weekofyear weighted_avg xor year yearweek
    """
)
_TABLE_FUNCTIONS = words("generate_series json_each json_tree range repeat unnest")
_TYPES = words(
    """
    bignum bitstring blob bpchar bytes datetime float4 float8 geometry hugeint int1 int128 int16
    int2 int32 int4 int64 int8 list long map short signed string struct timestamp_ms
    timestamp_ns timestamp_s timestamptz timetz ubigint uhugeint uint128 uint16 uint32 uint64
    uint8 uinteger usmallint utinyint varbinary variant
    """
)
_DANGEROUS = re.compile(
    r"read_.*|glob|getenv|query|query_table|sniff_csv|which_secret|duckdb_.*|pragma_.*|parquet_.*|"
    r"arrow_scan.*|pandas_scan|python_.*|seq_scan|sqlite_.*|postgres_.*|mysql_.*|iceberg_.*|"
    r"delta_.*|st_read.*|read_xlsx|excel.*|current_.*|session_user|user|version|getvariable|"
    r"nextval|currval|setseed|checkpoint|force_checkpoint|write_log|sleep_ms|pg_.*|txid_current|"
    r"inet_.*|has_.*_privilege|col_description|obj_description|shobj_description|format_type|"
    r"json_execute_serialized_sql|json_serialize_.*|json_deserialize_sql|from_substrait.*|"
    r"get_substrait.*|enable_.*|disable_.*|truncate_duckdb_logs|summary|test_all_types|"
    r"test_vector_types|.*external_resource.*|storage_info|table_info|show.*|in_search_path|"
    r"index_key|add_parquet_key|copy_.*|import_.*|load_aws_credentials|http_.*|fts_.*|stats|error|"
    r"invoke|cast_to_type|make_type|get_type|get_block_size|parse_duckdb_log_message|"
    r"icu_calendar_names|assert_true|__.*|.*aggregate_state|finalize|combine"
)
_SUGGESTIONS = {
    "charindex": "strpos(x, 'a')",
    "curdate": "current_date",
    "date_format": "strftime(x, '%Y-%m-%d')",
    "dateadd": "x + interval 1 day",
    "getdate": "now()",
    "iif": "if(a, b, c)",
    "initcap": "upper(x[1]) || lower(x[2:])",
    "isnull": "ifnull(x, y)",
    "julianday": "julian(x)",
    "nvl": "ifnull(x, y)",
    "rand": "random()",
    "str_to_date": "strptime(x, '%Y-%m-%d')",
    "timestampdiff": "date_diff('day', a, b)",
    "to_char": "strftime(x, '%Y-%m-%d')",
    "to_date": "strptime(x, '%Y-%m-%d')",
    "total": "coalesce(sum(x), 0)",
    "unix_timestamp": "epoch(x)",
}
_WORDS = words(
    """
    attach copy current_catalog current_role current_schema current_user describe install pivot
    pragma session_user show summarize unpivot user
    """
)
_OPERATORS = """
    + - * / // % ^ ** < > = == <= >= <> != || ~ !~ ~~ ~~* !~~ !~~* ~* !~* -> ->> @> <@ && & | << >>
    => ^@ @ <=> <->
"""


def rules(dialect: Dialect) -> Rules:
    """The rules of DuckDB."""
    return Rules(
        dialect=dialect,
        lexicon=standard(_OPERATORS, ":: := ( ) [ ] { } , . :", groups=True),
        functions=USUAL_FUNCTIONS | _FUNCTIONS,
        table_functions=_TABLE_FUNCTIONS,
        types=USUAL_TYPES | _TYPES,
        dangerous=_DANGEROUS,
        keywords=words("ilike glob qualify replace row"),
        suggestions=_SUGGESTIONS,
        words=USUAL_WORDS | _WORDS,
        names="blind",
        own_tables=re.compile(r"(duckdb|sqlite|pragma|pg)_.*"),
    )
