"""Shared by several dialects: functions, types and words by the same names."""

from __future__ import annotations

from sqlwright.sql.guards.rules import words

FUNCTIONS = words(
    """
    abs acos ascii asin atan atan2 avg cast ceil ceiling char_length character_length chr coalesce
    concat concat_ws corr cos cot count covar_pop covar_samp cume_dist current_date current_time
    current_timestamp date degrees dense_rank exp extract first_value floor greatest grouping if
    ifnull lag last_value lead least left length ln localtime localtimestamp log log10 log2 lower
    lpad ltrim max md5 min mod now nth_value ntile nullif octet_length percent_rank pi position pow
    power radians rank regexp_replace repeat replace reverse right round row row_number rpad rtrim
    sign sin sqrt stddev stddev_pop stddev_samp substr substring sum tan trim upper var_pop var_samp
    variance
    """
)
TYPES = words(
    """
    bigint bit bool boolean bytea char character date dec decimal double float int integer interval
    json numeric real smallint text time timestamp tinyint uuid varchar
    """
)
WORDS = words("delete insert into merge returning table update")
"""Words that stand in no query unless quoted."""
