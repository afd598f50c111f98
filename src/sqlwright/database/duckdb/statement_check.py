"""The names in a statement, by DuckDB's own parse tree: the first of the two ways in which a
connection holds generated SQL, and it knows nothing of the guard's parser.

The library has no authorizer, so its own parser says (as JSON) which tables and functions a query
names. A kind of node that isn't listed here is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.database.failures import Failure, ReadFailed, Refused

# The SQL functions generated SQL may call through a guarded connection to DuckDB.
#
# An allow-list: a function that isn't here is refused, whatever it does. Left out on purpose are
# functions that read files, settings, secrets or variables, wait, write logs or sequences, run SQL
# from a text (`query`, `json_execute_serialized_sql`), and all that the engine calls for itself.

_NUMBERS = """
    abs acos acosh add asin asinh atan atan2 atanh bin binom bit_count cbrt ceil ceiling cos cosh
    cot degrees divide even exp factorial fdiv floor fmod format_bytes formatReadableDecimalSize
    formatReadableSize gamma gcd get_bit greatest greatest_common_divisor hash hex isfinite isinf
    isnan lcm least least_common_multiple lgamma ln log log10 log2 mod multiply nextafter
    pg_size_pretty pi pow power radians random round round_even roundbankers set_bit sign signbit
    sin sinh sqrt subtract tan tanh to_base to_binary to_hex trunc unbin unhex xor
"""
_TEXT = """
    ascii bar base64 bit_length bit_position bitstring char_length character_length chr concat
    concat_ws contains damerau_levenshtein decode editdist3 encode ends_with format from_base64
    from_binary from_hex hamming ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity
    lcase left left_grapheme len length length_grapheme levenshtein like_escape lower lpad ltrim md5
    md5_number md5_number_lower md5_number_upper mismatches nfc_normalize not_ilike_escape
    not_like_escape octet_length ord overlay parse_dirname parse_dirpath parse_filename
    parse_formatted_bytes parse_path position prefix printf regexp_escape regexp_extract
    regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table repeat replace reverse right right_grapheme rpad rtrim sha1 sha256 split
    split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array
    strip_accents strlen strpos substr substring substring_grapheme suffix to_base64 translate trim
    ucase unicode upper url_decode url_encode gen_random_uuid uuid uuidv4 uuidv7
    uuid_extract_timestamp uuid_extract_version
"""
_TIME = """
    age ago century current_date current_localtime current_localtimestamp date_add date_diff
    date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era
    generate_series get_current_time get_current_timestamp hour isodow isoyear julian last_day
    make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz
    microsecond millennium millisecond minute month monthname nanosecond normalized_interval now
    quarter range second strftime strptime time_bucket timezone timezone_hour timezone_minute
    to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes
    to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp
    try_strptime week weekday weekofyear year yearweek
"""
_CHOICE = """
    coalesce constant_or_null if ifnull nullif pg_typeof switch typeof
"""
_GROUPS = """
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null
    arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and
    bit_or bit_xor bitstring_agg bool_and bool_or corr count count_if count_star countif covar_pop
    covar_samp cume_dist dense_rank entropy favg fill first first_value fsum geomean geometric_mean
    group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop lag last last_value lead
    list listagg lttb mad max max_by mean median min min_by mode nth_value ntile percent_rank
    product quantile quantile_cont quantile_disc rank rank_dense regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile row_number sem
    skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow sumkahan var_pop var_samp
    variance wavg weighted_avg equi_width_bins is_histogram_other_bin percentile_cont
    percentile_disc
"""
_LISTS = """
    aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat
    array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
    array_distinct array_dot_product array_extract array_filter array_grade_up array_has
    array_has_all array_has_any array_indexof array_inner_product array_intersect array_length
    array_negative_dot_product array_negative_inner_product array_pop_back array_pop_front
    array_position array_prepend array_push_back array_push_front array_reduce array_resize
    array_reverse array_reverse_sort array_select array_slice array_sort array_to_string
    array_to_string_comma_default array_transform array_unique array_value array_where array_zip
    cardinality element_at filter flatten generate_subscripts grade_up list_aggr list_aggregate
    list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and
    list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
    list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
    list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up
    list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect
    list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode
    list_negative_dot_product list_negative_inner_product list_pack list_position list_prepend
    list_product list_reduce list_resize list_reverse list_reverse_sort list_select list_sem
    list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg list_sum
    list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip path_join
    reduce unnest unpivot_list
"""
_NESTED = """
    array_to_json enum_code enum_first enum_last enum_range enum_range_boundary from_json
    from_json_strict json json_array json_array_length json_contains json_deep_merge json_exists
    json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
    json_group_object json_group_structure json_insert json_keys json_merge_patch json_normalize
    json_object json_pretty json_quote json_remove json_replace json_set json_strip_nulls
    json_structure json_transform json_transform_strict json_type json_valid json_value map
    map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
    map_extract_value map_from_entries map_keys map_values row row_to_json struct_concat
    struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert
    struct_keys struct_pack struct_position struct_update struct_values to_json union_extract
    union_tag union_value variant_array_length variant_contains variant_exists variant_extract
    variant_extract_string variant_keys variant_type variant_typeof
"""

FUNCTIONS = frozenset(
    name.lower() for name in f"{_NUMBERS}{_TEXT}{_TIME}{_CHOICE}{_GROUPS}{_LISTS}{_NESTED}".split()
)
"""Names of scalar, aggregate and window functions, in lower case. Operators aren't among them."""

TABLE_FUNCTIONS = frozenset(
    {"generate_series", "json_each", "json_tree", "range", "regexp_split_to_table", "unnest"}
)
"""Functions that may be read like tables."""


Tree = Mapping[str, Any]

_EXPRESSIONS = frozenset({
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY",
    "TYPE", "WINDOW",
})  # fmt: skip
_OTHERS = frozenset({
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "BASE_TABLE", "EMPTY",
    "EXPRESSION_LIST", "JOIN", "PIVOT", "SUBQUERY", "TABLE_FUNCTION", "ORDER_MODIFIER",
    "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER",
})  # fmt: skip
"""Kinds of queries, of what they read and of what stands after them."""
_CONSTANT = frozenset({"value", "literal"})
"""Parts of a constant: data, not SQL."""


@dataclass(frozen=True)
class Names:
    """The names that a statement may use; all folded."""

    tables: frozenset[tuple[str, str]]
    """Namespace and name of each table and view."""
    defined: frozenset[str] = frozenset()
    """Functions that the database itself defines: they take the place of others of that name."""
    named: frozenset[tuple[str, str]] = frozenset()
    """Namespace and name of those among them that may be called."""
    usual: str = "main"
    """The namespace of names without one."""
    catalog: str = ""
    """The name by which the file is known to the connection."""


def check_tree(tree: Tree, names: Names) -> None:
    """Raise Refused unless every part of a query is allowed, and ReadFailed for a table that isn't
    there or may not be read, which is told apart by nothing."""
    waiting: list[tuple[Any, frozenset[str]]] = [(tree.get("statements"), frozenset())]
    while waiting:
        part, known = waiting.pop()
        if isinstance(part, list):
            waiting += ((one, known) for one in part)
        elif isinstance(part, dict):
            waiting += _parts(part, known, names)


def tables_read(tree: Tree) -> set[tuple[str, str]]:
    """Namespace and name of every table that a query names, its own expressions included."""
    tables = (part for part in _nodes(tree) if part.get("type") == "BASE_TABLE")
    return {(_folded(part, "schema_name"), _folded(part, "table_name")) for part in tables}


def functions_called(tree: Tree) -> set[tuple[str, str]]:
    """Folded namespaces and names of the functions that a query calls."""
    called = (part for part in _nodes(tree) if isinstance(part.get("function_name"), str))
    return {(_folded(part, "schema"), _folded(part, "function_name")) for part in called}


def _nodes(tree: Tree) -> Iterator[Tree]:
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            yield part
            waiting += part.values()


def _parts(
    part: dict[str, Any], known: frozenset[str], names: Names
) -> Iterable[tuple[Any, frozenset[str]]]:
    """The parts of a node that are left to check, each with the names of common table expressions
    that it sees."""
    kind, group = part.get("type"), part.get("class")
    if isinstance(group, str):
        _require(group, _EXPRESSIONS)
        if group in {"FUNCTION", "WINDOW"}:
            _check_function(part, FUNCTIONS, names)
        if group == "CONSTANT":
            return [(v, known) for k, v in part.items() if k not in _CONSTANT]
    elif isinstance(kind, str) and not _is_plain(part):
        _require(kind, _OTHERS)
        if kind == "BASE_TABLE":
            _check_table(part, known, names)
        elif kind == "TABLE_FUNCTION":
            called = part.get("function") or {}
            _check_function(called, TABLE_FUNCTIONS, names)
            return [(called.get("arguments") or called.get("children"), known)]
    expressions = part.get("cte_map")
    if not isinstance(expressions, dict):
        return [(value, known) for value in part.values()]
    seen = known
    waiting: list[tuple[Any, frozenset[str]]] = []
    for entry in expressions.get("map") or []:
        waiting.append((entry.get("value"), seen))
        seen |= {str(entry.get("key", "")).lower()}
    for key, value in part.items():
        if key == "right" and kind == "RECURSIVE_CTE_NODE":
            # Only what is repeated sees itself; what it begins with sees a stored table.
            waiting.append((value, seen | {_folded(part, "cte_name")}))
        elif key != "cte_map":
            waiting.append((value, seen))
    return waiting


def _is_plain(part: Mapping[str, Any]) -> bool:
    """True for what says more about a type or a sample, and names nothing."""
    kind = str(part["type"])
    if kind in _OTHERS or kind.endswith(("_NODE", "_MODIFIER", "_REF")):
        return False
    return kind.endswith("_TYPE_INFO") or not {"query_location", "modifiers", "alias"} & part.keys()


def _require(kind: str, allowed: Collection[str]) -> None:
    if kind not in allowed:
        raise Refused(f"{kind.replace('_', ' ').lower()} is not allowed in a query")


def _check_function(part: Mapping[str, Any], allowed: Collection[str], names: Names) -> None:
    name = _folded(part, "function_name")
    space = _folded(part, "schema") or names.usual
    if (space, name) in names.named and _folded(part, "catalog") in {"", names.catalog}:
        return
    if name in names.defined:
        raise Refused(f"the function {name} is the database's own and not allowed")
    if name in allowed or not any(map(str.isalnum, name)) or name == "!__postfix":
        return
    raise Refused(f"the function {name} is not allowed")


def _check_table(part: Mapping[str, Any], known: frozenset[str], names: Names) -> None:
    catalog, space = _folded(part, "catalog_name"), _folded(part, "schema_name")
    own = _folded(part, "table_name")
    if part.get("at_clause"):
        raise Refused("reading an earlier state is not allowed")
    if not catalog and not space and own in known:
        return
    if catalog in {"", names.catalog} and (space or names.usual, own) in names.tables:
        return
    written = ".".join(
        str(part[key]) for key in ("catalog_name", "schema_name", "table_name") if part.get(key)
    )
    message = f"Table with name {part.get('table_name')} does not exist!"
    raise ReadFailed(Failure("sql", message, "unknown_table", written))


def _folded(part: Mapping[str, Any], key: str) -> str:
    return str(part.get(key) or "").lower()
