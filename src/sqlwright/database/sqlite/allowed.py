"""The SQL functions generated SQL may call through a guarded connection.

An allow-list: a function that isn't here is refused, whatever it does. Left out on purpose are
functions that load code, write logs, expose the connection's state or parse internal structures
(`load_extension`, `sqlite_log`, `fts3_tokenizer`, `rtreecheck`, `changes`, ...) and the ones that
only make bytes (`zeroblob`, `randomblob`).
"""

from __future__ import annotations

_NUMBERS = """
    abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10
    log2 mod pi pow power radians random round sign sin sinh sqrt tan tanh trunc
"""
_TEXT = """
    char concat concat_ws format glob hex instr length like lower ltrim match octet_length printf
    quote regexp replace rtrim soundex substr substring trim unhex unicode unistr unistr_quote upper
"""
_TIME = """
    current_date current_time current_timestamp date datetime julianday strftime time timediff
    unixepoch
"""
_CHOICE = """
    coalesce if ifnull iif likelihood likely max min nullif typeof unlikely
"""
_GROUPS = """
    avg count cume_dist dense_rank first_value group_concat lag last_value lead median nth_value
    ntile percent_rank percentile percentile_cont percentile_disc rank row_number string_agg sum
    total
"""
_JSON = """
    -> ->> json json_array json_array_length json_each json_error_position json_extract
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
    json_remove json_replace json_set json_tree json_type json_valid jsonb jsonb_array
    jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
    jsonb_remove jsonb_replace jsonb_set subtype
"""
_SEARCH = "bm25 highlight snippet"

FUNCTIONS = frozenset(
    f"{_NUMBERS}{_TEXT}{_TIME}{_CHOICE}{_GROUPS}{_JSON}{_SEARCH}".split(),
)
"""Names as SQLite's authorizer gives them, in lower case."""

TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "jsonb_each", "jsonb_tree"})
"""Table-valued functions, read like tables."""

SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema"})
"""Readable, as they tell no more than `schema()` does. Other sqlite_* tables aren't."""
