"""Dialects of SQL: the differences between engines before a query is read, written or run.

`Schema.dialect` and `Database.dialect` name one. What a dialect's functions are called stands in
`local/form/write/`, what a query may not do in `sql/guards/`, both by the same names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from sqlwright.errors import ConfigError
from sqlwright.sql.tokens import quote_name, quote_text

if TYPE_CHECKING:
    from sqlwright.schema import Schema, Table

Case = Literal["blind", "lower", "upper"]
Nulls = Literal["small", "large", "last"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's SQL. Frozen; `dialect_named` gives it."""

    name: str
    """Name in schemas, traces and JSON."""
    title: str
    """Name for people and in prompts."""
    parser: str
    """sqlglot's name of it."""
    quotes: tuple[str, str] = ('"', '"')
    """Around a name that is quoted. The closing one is written twice within it."""
    case: Case = "blind"
    """Treatment of a name without quotes: "lower" and "upper" fold it and then look for exactly
    that; "blind" looks for it whatever its case, quoted or not."""
    namespace: str = ""
    """The namespace that names without one are looked for in, where no server tells it."""
    has_one_usual: bool = False
    """True if every database looks in that namespace first. On a server a login may look in another
    one first: `orders` and `public.orders` may be two tables there."""
    catalogs: tuple[str, ...] = ()
    """Namespaces of the engine's own tables, folded: no query may read them."""
    integer_division: bool = True
    """1 / 2 is 0."""
    nulls: Nulls = "small"
    """Place of NULL in an order: as the least value, the greatest one, or always last."""
    plan: str = ""
    """Words before a query that ask for its plan, nothing of which runs."""

    def quoted(self, name: str) -> str:
        """A name in quotes."""
        opening, closing = self.quotes
        return f"{opening}{name.replace(closing, closing * 2)}{closing}"

    def text(self, text: str) -> str:
        """A text as a literal, whose backslashes may escape. SQL ends it at a NUL; what may hold
        one goes by `local.form.write`."""
        if self.name == "sqlite":
            return quote_text(text)
        from sqlglot import exp

        return exp.Literal.string(text).sql(dialect=self.parser)

    def table(self, table: Table) -> str:
        """A table as a query names it, quoted, with its namespace where it isn't the usual one."""
        own = self.quoted(table.own_name)
        return f"{self.quoted(table.namespace)}.{own}" if table.namespace else own


SQLITE = Dialect(
    "sqlite", "SQLite", "sqlite", namespace="main", has_one_usual=True, plan="EXPLAIN QUERY PLAN",
)  # fmt: skip
POSTGRES = Dialect(
    "postgres", "PostgreSQL", "postgres", case="lower", namespace="public",
    catalogs=("pg_catalog", "information_schema", "pg_toast"), nulls="large",
    plan="EXPLAIN (FORMAT JSON)",
)  # fmt: skip
DUCKDB = Dialect(
    "duckdb", "DuckDB", "duckdb", namespace="main", has_one_usual=True,
    catalogs=("pg_catalog", "information_schema", "system", "temp"), integer_division=False,
    nulls="last", plan="EXPLAIN (FORMAT JSON)",
)  # fmt: skip
MYSQL = Dialect(
    "mysql", "MySQL", "mysql", ("`", "`"),
    catalogs=("mysql", "information_schema", "performance_schema", "sys"), integer_division=False,
    plan="EXPLAIN FORMAT=JSON",
)  # fmt: skip
MARIADB = Dialect(
    "mariadb", "MariaDB", "mysql", ("`", "`"),
    catalogs=MYSQL.catalogs, integer_division=False,
    plan="EXPLAIN FORMAT=JSON",
)  # fmt: skip

DIALECTS = {one.name: one for one in (SQLITE, POSTGRES, DUCKDB, MYSQL, MARIADB)}
"""Dialects that something is written for, by their names."""


def dialect_named(name: str) -> Dialect:
    """A dialect; for a name that nothing is written for, what its parser says of it. Raises
    ConfigError when the parser doesn't know it either."""
    known = DIALECTS.get(name)
    return _parsers_own(name) if known is None else known


def dialect_of(schema: Schema) -> Dialect:
    """The dialect that queries over a schema are written in."""
    return dialect_named(schema.dialect)


def written_table(schema: Schema, name: str) -> str:
    """A table of a schema as a query names it, by its stored name."""
    dialect, table = dialect_of(schema), schema.table(name)
    return dialect.quoted(name) if table is None else dialect.table(table)


def _parsers_own(name: str) -> Dialect:
    from sqlglot import Dialect as Parser

    try:
        parser = Parser.get_or_raise(name)
    except ValueError:
        raise ConfigError(
            f"queries in the dialect {name!r} can't be read", hint="Known: " + ", ".join(DIALECTS)
        ) from None
    tokenizer = parser.tokenizer_class
    opening, closing = next(iter(tokenizer._IDENTIFIERS.items()), ('"', '"'))
    folding = parser.NORMALIZATION_STRATEGY.name
    cases: dict[str, Case] = {"LOWERCASE": "lower", "UPPERCASE": "upper"}
    orders: dict[str, Nulls] = {"nulls_are_large": "large", "nulls_are_last": "last"}
    return Dialect(
        name, name.capitalize(), name, (opening, closing), cases.get(folding, "blind"),
        catalogs=("information_schema", "system", "sys", "pg_catalog"),
        integer_division=not parser.TYPED_DIVISION, nulls=orders.get(parser.NULL_ORDERING, "small"),
    )  # fmt: skip


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
