"""The lists of one dialect, as data: names and words that a query may say. Those that several
dialects share stand at the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Literal

from sqlwright.schema import fold_name
from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.lexicon import Lexicon

Readable = Collection[str | tuple[str, ...]]
"""Names of tables, in parts or with dots between these."""
Names = Literal["lower", "upper", "blind", "exact"]
NOTHING = re.compile(r"(?!)")


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Rules:
    """One dialect's lists. Every name in them is in lower case."""

    dialect: Dialect
    lexicon: Lexicon
    functions: frozenset[str]
    """Functions that a query may call."""
    table_functions: frozenset[str]
    """Those that may be read like tables."""
    types: frozenset[str]
    """Words that types begin with, or consist of."""
    dangerous: re.Pattern[str]
    """Functions that are there and refused: an attempt rather than a mistake."""
    keywords: frozenset[str]
    """Words of this dialect that may stand before a parenthesis without calling anything."""
    suggestions: Mapping[str, str]
    """Words to write in place of functions that other dialects have."""
    words: frozenset[str]
    """Words that may not stand unquoted anywhere but after a dot."""
    names: Names
    """The comparison of two names: after folding one without quotes, whatever their case, or as
    they are written."""
    not_reserved: frozenset[str] = field(default=frozenset())
    """Words that others may write before a parenthesis, and that are names of functions here."""
    unsized: frozenset[str] = field(default=frozenset())
    """Types that have no size, so what stands in parentheses after one of them is a call's."""
    own_tables: re.Pattern[str] = NOTHING
    """Tables of the engine's own, without a namespace."""
    own_columns: frozenset[str] = field(default=frozenset())
    """Columns that the engine adds to each table, which aren't data."""
    empty_tables: frozenset[str] = field(default=frozenset())
    """Names without quotes that stand for no table at all."""
    blind_functions: bool = False
    """Functions are looked for whatever their case, though tables aren't."""
    attributes_call: bool = False
    """x.f may call f(x)."""
    names_call: bool = False
    """A name that is no column's may call a function without parameters."""
    members_read: bool = False
    """x IN (name) may read a table."""


@dataclass(frozen=True, slots=True)
class Own:
    """Functions and types of the database's own, by the names that queries may use for them: "f"
    where a name alone means that and nothing else, "sales.f" with the namespace. They are as
    stored, but folded in dialects that look for them whatever their case; in MySQL the function's
    part is."""

    functions: frozenset[str] = frozenset()
    """Functions that may be called."""
    types: frozenset[str] = frozenset()
    """Enumerations, which may be cast to."""
    others: frozenset[str] = frozenset()
    """Functions that a name alone may reach and that may not be called, folded: some bear the name
    of one of the engine's."""
    of_rows: frozenset[str] = frozenset()
    """Functions that take a row, which PostgreSQL calls for t.f, too; folded."""
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Columns of functions that are read like tables; the functions' names are folded."""
    harmless: frozenset[str] = frozenset()
    """Functions of the engine's own, in lower case, of which its catalogue says that they depend on
    nothing but their arguments. Those that the dialect calls dangerous aren't called all the
    same."""

    def folded(self) -> Own:
        """The same with all names in lower case."""
        names, types = (frozenset(map(fold_name, one)) for one in (self.functions, self.types))
        return replace(self, functions=names, types=types)


NOTHING_OWN = Own()


def may_call(name: str, rules: Rules, own: Own) -> bool:
    """True for a name without a namespace that means a function of the engine's own which a query
    may call."""
    harmless = name in own.harmless and not rules.dangerous.fullmatch(name)
    return harmless or name in rules.functions


_MODULES = {"postgres": "postgres", "duckdb": "duckdb", "mysql": "mysql", "mariadb": "mysql"}


@cache
def rules_of(dialect: Dialect) -> Rules:
    """The rules of a dialect."""
    module = import_module(f"sqlwright.sql.guards.{_MODULES.get(dialect.name, 'others')}")
    found: Rules = module.rules(dialect)
    return found


USUAL_FUNCTIONS = words(
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
USUAL_TYPES = words(
    """
    bigint bit bool boolean bytea char character date dec decimal double float int integer interval
    json numeric real smallint text time timestamp tinyint uuid varchar
    """
)
USUAL_WORDS = words("delete insert into merge returning table update")
"""Words that stand in no query unless quoted."""
