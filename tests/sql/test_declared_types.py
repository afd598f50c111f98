"""Types of engines that nothing is written for, in names that everything else knows."""

from __future__ import annotations

import pytest

from sqlwright.catalog.statements.columns import family_of
from sqlwright.local.form.write.kinds import kind_of_type
from sqlwright.sql.declared_types import standard_type

CASES = """
clickhouse  Nullable(Float64)                     real       number
clickhouse  LowCardinality(Nullable(String))      text       text
clickhouse  SimpleAggregateFunction(sum, UInt64)  integer    number
clickhouse  DateTime64(3, 'UTC')                  timestamp  date
clickhouse  Date32                                date       date
clickhouse  UInt32                                integer    number
clickhouse  Decimal(10, 2)                        decimal    number
clickhouse  Enum8('a' = 1)                        text       text
clickhouse  FixedString(3)                        text       text
clickhouse  Bool                                  boolean    boolean
clickhouse  Array(String)                         other      nested
clickhouse  UUID                                  other      uuid
snowflake   NUMBER(38, 0)                         decimal    number
snowflake   FLOAT                                 real       number
snowflake   TIMESTAMP_NTZ(9)                      timestamp  date
snowflake   TIMESTAMP_LTZ                         timestamp  date
snowflake   VARIANT                               other      nested
bigquery    INT64                                 integer    number
bigquery    BIGNUMERIC                            decimal    number
bigquery    STRING                                text       text
bigquery    DATETIME                              timestamp  date
bigquery    STRUCT<a INT64>                       other      nested
tsql        NVARCHAR(max)                         text       text
tsql        DATETIME2                             timestamp  date
tsql        SMALLMONEY                            decimal    number
tsql        TINYINT                               integer    number
tsql        HIERARCHYID                           other      other
oracle      VARCHAR2(20 CHAR)                     text       text
oracle      NUMBER(10, 2)                         decimal    number
oracle      BINARY_DOUBLE                         real       number
oracle      CLOB                                  text       text
oracle      RAW                                   other      blob
trino       TIMESTAMP(3) WITH TIME ZONE           timestamp  date
trino       ROW(a integer)                        other      nested
databricks  LONG                                  integer    number
redshift    CHARACTER VARYING(20)                 text       text
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_types_are_told_by_standard_names(case: str) -> None:
    dialect, rest = case.split(None, 1)
    declared, kind, family = rest.rsplit(None, 2)
    found = standard_type(declared.strip(), dialect)
    assert (kind_of_type(found), family_of(found)) == (kind, family), found
