"""Names in a dialect: quoted where they have to be."""

from __future__ import annotations

import re
from functools import cache

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.tokens import quote_name

_PLAIN = {"lower": r"[a-z_][a-z0-9_]*", "upper": r"[A-Z_][A-Z0-9_]*"}
_ANY_CASE = r"[A-Za-z_][A-Za-z0-9_]*"
_RESERVED = frozenset(
    """
    accessible analyse any anti array asensitive asof asymmetric at authorization bigint binary blob
    both call change char character collation concurrently condition continue convert cube cume_dist
    current_catalog current_role current_schema current_user cursor databases day_hour
    day_microsecond day_minute day_second dec decimal declare delayed dense_rank describe
    deterministic distinctrow div do double dual elseif empty enclosed end escaped exit fetch
    first_value float float4 float8 force freeze fulltext function get grant grouping high_priority
    hour_microsecond hour_minute hour_second ilike infile inout insensitive int int1 int2 int3 int4
    int8 integer interval io_after_gtids io_before_gtids iterate json_table keys kill lag lambda
    last_value lateral lead leading leave linear lines load localtime localtimestamp lock long
    longblob longtext loop low_priority master_bind maxvalue mediumblob mediumint mediumtext
    middleint minute_microsecond minute_second mod modifies no_write_to_binlog nth_value ntile
    numeric only optimize optimizer_costs option optionally out outfile overlaps percent_rank
    persist pivot pivot_longer pivot_wider placing positional precision procedure purge qualify rank
    read reads read_write real repeat require resignal return revoke rlike row_number schema schemas
    second_microsecond semi sensitive separator session_user show signal similar smallint some
    spatial specific sql sql_big_result sql_calc_found_rows sqlexception sql_small_result sqlstate
    sqlwarning ssl starting stored straight_join summarize symmetric system system_user tablesample
    terminated tinyblob tinyint tinytext trailing undo unlock unpack unpivot unsigned usage use user
    utc_date utc_time utc_timestamp varbinary varchar varcharacter variadic varying verbose while
    write xor year_month zerofill
    """.split()  # noqa: SIM905 - a hundred quoted lines say less
)
"""Words that PostgreSQL, DuckDB, MySQL or MariaDB reserve and SQLite doesn't, from their manuals'
lists of keywords."""


@cache
def written_name(dialect: Dialect, name: str) -> str:
    """A name as a query says it. One that the engine would fold to another is quoted."""
    plain = re.fullmatch(_PLAIN.get(dialect.case, _ANY_CASE), name) is not None
    if plain and name.casefold() not in _RESERVED and quote_name(name) == name:
        return name
    return dialect.quoted(name)
