"""The rules of MySQL and MariaDB.

A name of a table is what is written, since servers differ in whether case tells tables apart. A
text may stand in double quotes (engines are told not to take these for names) and ends where it
does with and without escapes.
"""

from __future__ import annotations

import re

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.lexicon import backslashed
from sqlwright.sql.guards.rules import USUAL_FUNCTIONS, USUAL_TYPES, USUAL_WORDS, Rules, words

_FUNCTIONS = words(
    """
    adddate addtime any_value bin binary bit_and bit_count bit_length bit_or bit_xor char compress
    conv convert convert_tz crc32 curdate curtime date_add date_format date_sub datediff day dayname
    dayofmonth dayofweek dayofyear elt export_set extractvalue field find_in_set format from_base64
    from_days from_unixtime get_format group_concat hex hour inet6_aton inet6_ntoa inet_aton
    inet_ntoa insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 isnull json_array
    json_array_append json_array_insert json_arrayagg json_compact json_contains json_contains_path
    json_depth json_detailed json_equals json_exists json_extract json_insert json_keys json_length
    json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_object
    json_objectagg json_overlaps json_pretty json_query json_quote json_remove json_replace
    json_search json_set json_table json_type json_unquote json_valid json_value last_day lcase
    locate make_set makedate maketime match median microsecond mid minute month monthname oct ord
    percentile_cont percentile_disc period_add period_diff point quarter quote rand regexp_instr
    regexp_like regexp_substr row_count_over sec_to_time second sha sha1 sha2 soundex space st_area
    st_astext st_contains st_distance st_distance_sphere st_geomfromtext st_intersects st_length
    st_within st_x st_y std str_to_date strcmp subdate substring_index subtime sysdate time
    time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_char to_days
    to_seconds truncate ucase uncompress uncompressed_length unhex unix_timestamp utc_date utc_time
    utc_timestamp uuid values week weekday weekofyear weight_string year yearweek
    """
) - {"row_count_over", "values", "insert"}
_MARIADB = words("add_months chr crc32c lengthb natural_sort_key nvl nvl2 sformat")
"""Functions of MariaDB's alone: in MySQL such a name is a stored function's."""
_ABSENT = words("chr corr covar_pop covar_samp trunc")
_TABLE_FUNCTIONS = words("json_table")
_TYPES = words(
    "binary datetime fixed inet4 inet6 nchar signed unsigned varbinary year longtext mediumtext"
)
_DANGEROUS = re.compile(
    r"load_file|sleep|benchmark|get_lock|release_.*|is_free_lock|is_used_lock|master_.*|source_.*|"
    r"wait_.*|gtid_.*|uuid_short|last_insert_id|found_rows|row_count|connection_id|user|"
    r"current_user|session_user|system_user|current_role|database|schema|version|sys_.*|lib_.*|"
    r"updatexml|name_const|lastval|nextval|setval|encrypt|decode|encode|aes_.*|des_.*|password|"
    r"old_password|procedure|ps_.*|format_bytes|format_pico_time|statement_digest.*|random_bytes|"
    r"roles_graphml|can_access_.*|get_dd_.*|internal_.*|wsrep_.*|spider_.*|load_.*|query_.*|"
    r"group_replication_.*|asynchronous_.*|mysql_.*|http_.*|collation|coercibility|charset|icu_version"
)
_SUGGESTIONS = {
    "age": "timestampdiff(YEAR, a, b)",
    "array_agg": "json_arrayagg(x)",
    "charindex": "locate('a', x)",
    "chr": "char(x)",
    "date_part": "extract(YEAR FROM x)",
    "date_trunc": "date_format(x, '%Y-%m-01')",
    "dateadd": "date_add(x, INTERVAL 1 DAY)",
    "getdate": "now()",
    "iif": "if(a, b, c)",
    "julianday": "to_days(x)",
    "len": "char_length(x)",
    "listagg": "group_concat(x)",
    "nvl": "ifnull(x, y)",
    "printf": "concat(x, y)",
    "random": "rand()",
    "split_part": "substring_index(x, ',', 1)",
    "string_agg": "group_concat(x)",
    "strftime": "date_format(x, '%Y-%m-%d')",
    "strpos": "locate('a', x)",
    "to_date": "str_to_date(x, '%Y-%m-%d')",
    "total": "coalesce(sum(x), 0)",
    "trunc": "truncate(x, 0)",
}
_WORDS = words(
    """
    analyse call current_role current_user dumpfile load outfile procedure sql_calc_found_rows
    sql_no_cache sql_cache sql_buffer_result sql_big_result sql_small_result straight_join
    high_priority
    """
)
_OPERATORS = """
    + - * / % ^ < > = <= >= <=> <> != || && & | ~ << >> ! -> ->>
"""


def rules(dialect: Dialect) -> Rules:
    """The rules of MySQL or MariaDB."""
    return Rules(
        dialect=dialect,
        lexicon=backslashed(_OPERATORS, "( ) , ."),
        functions=(USUAL_FUNCTIONS | _FUNCTIONS) - _ABSENT
        | (_MARIADB if dialect.name == "mariadb" else words("")),
        table_functions=_TABLE_FUNCTIONS,
        types=USUAL_TYPES | _TYPES,
        dangerous=_DANGEROUS,
        keywords=words("div match mod regexp rlike row xor"),
        suggestions=_SUGGESTIONS,
        words=USUAL_WORDS | _WORDS,
        names="exact",
        blind_functions=True,
        not_reserved=words("array cube materialized notnull offset only overlaps rollup similar"),
        empty_tables=words("dual"),
    )
