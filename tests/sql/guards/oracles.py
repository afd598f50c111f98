"""Engines as judges of the tree check: what a text reads and calls, by the engine's own analysis of
it. Nothing of a text runs.

Each oracle has the tables of the cases besides functions of the database's own that have names of
words: a check that takes such a call for something else shows.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from sqlwright.schema import fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.guards.rules import Rules, rules_of, words
from tests.sql.guards import SETUP

OWN_FUNCTIONS = words(
    "evil system columns bernoulli reservoir by array cube rollup offset only similar overlaps "
    "materialized escape isnull notnull sets filter over within zone match against exclude serial "
    "citext geometry hstore any_name value key some_name division lateral_name"
)
"""Names of functions that the database defines; what an engine doesn't take is left out."""
COLUMNS = words(
    "id name email city country signed_up birth_year active notes category price tags attributes "
    "weight customer_id ordered_at shipped_at status total discount data order_id product_id "
    "quantity unit_price manager_id department salary hired happened_at kind payload month region "
    "amount Order"
) | {'a "b', "a `b"}
"""The columns of the tables that may be read."""


_LOOKED_UP = words("regclass regproc regprocedure regoper regoperator regtype regrole")
"""Types whose texts are names that the server looks up."""


class PostgresOracle:
    """PostgreSQL, by the tree that it keeps of a view."""

    dialect = "postgres"
    _FUNCTION = re.compile(r"\{FUNCEXPR :funcid (\d+) .*?:funcformat (\d)")
    _GROUP = re.compile(r":(?:aggfnoid|winfnoid|tsmhandler) (\d+)")
    _TABLE = re.compile(r":rtekind 0 :relid (\d+)")
    _TYPE = re.compile(r":(?:consttype|resulttype|funcresulttype) (\d+)")
    _TYPES = re.compile(r":(?:coltypes|funccoltypes) \(o ([\d ]+)\)")
    _BY_SYNTAX = words(
        "btrim ltrim rtrim extract overlay position substring timezone normalize is_normalized "
        "like_escape similar_to_escape bernoulli system xmlagg json_object json_array"
    )

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._rules = rules_of(dialect_named(self.dialect))
        for kind in ("int", "anyelement", "orders"):
            for name in OWN_FUNCTIONS:
                with contextlib.suppress(Exception):
                    connection.execute(
                        f'CREATE FUNCTION "{name}"(x {kind}) RETURNS text LANGUAGE sql '
                        "AS $$ SELECT max(password) FROM secrets $$"
                    )

    def problem(self, sql: str, told: Collection[str]) -> str | None:
        """What the check doesn't know of; empty for nothing, None for what can't be analysed."""
        run = self._connection.execute
        run("BEGIN")
        try:
            run(f"CREATE TEMP VIEW v AS SELECT EXISTS (\n{sql}\n)".encode())
            (tree,) = run(
                "SELECT ev_action::text FROM pg_rewrite WHERE ev_class = 'pg_temp.v'::regclass"
            ).fetchone()
            return "; ".join(self._found(tree, set(told)))
        except Exception:  # whatever the server says of random texts
            return None
        finally:
            run("ROLLBACK")

    def _found(self, tree: str, told: set[str]) -> Iterator[str]:
        for relation in set(self._TABLE.findall(tree)):
            space, name = self._row(
                "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n "
                f"ON n.oid = relnamespace WHERE c.oid = {relation}"
            )
            if space == "pg_temp" or {name, f"{space}.{name}"} & told:
                continue
            if not space.startswith("pg_temp"):
                yield f"reads {space}.{name}"
        called = set(self._FUNCTION.findall(tree))
        called |= {(number, "0") for number in self._GROUP.findall(tree)}
        known = self._rules.functions | self._rules.table_functions | self._rules.types
        for number, form in called:
            name, own = self._row(f"SELECT proname, oid >= 16384 FROM pg_proc WHERE oid = {number}")
            if own or (form == "0" and name not in known | self._BY_SYNTAX):
                yield f"calls {name}"
        types = set(self._TYPE.findall(tree))
        types |= {number for listed in self._TYPES.findall(tree) for number in listed.split()}
        for number in types:
            (name,) = self._row(f"SELECT typname FROM pg_type WHERE oid = {number}")
            if name in _LOOKED_UP or (int(number) >= 16384 and name == "secrets"):
                yield f"has the type {name}"
        if "SQLVALUEFUNCTION :op 1" in tree and re.search(r"VALUEFUNCTION :op 1[0-5]", tree):
            yield "tells the login"
        if ":hasForUpdate true" in tree or ":hasModifyingCTE true" in tree:
            yield "locks or writes"

    def _row(self, sql: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._connection.execute(sql).fetchone()
        return row


_KEPT = (
    "SELECT VIEW_DEFINITION FROM information_schema.VIEWS "
    "WHERE TABLE_SCHEMA = database() AND TABLE_NAME = 'fuzzed'"
)
"""Names of tables with their database's, which SHOW CREATE VIEW leaves out."""


class MariadbOracle:
    """MariaDB, by the text that it keeps of a view."""

    dialect = "mariadb"
    _STRING = re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
    _CALL = re.compile(r"(`[^`]+`(?:\.`[^`]+`)?|\b\w+)\(")
    _WORDS = words(
        "select exists from join on and or not in as using when then else if case where having by "
        "over union all except intersect values between is like cast distinct any filter with "
        "recursive coalesce concat trim date interval limit straight_join left right columns "
        "decimal char varchar binary unsigned nested path group_concat order separator"
    )

    def __init__(self, connection: Any, database: str) -> None:
        self._connection, self._database = connection, database
        self._table = re.compile(rf"`{database}`\.`((?:[^`]|``)+)`(?![.(])")
        others = "mysql|information_schema|performance_schema|sys"
        self._elsewhere = re.compile(rf"`({others})`\.`")
        self._rules = rules_of(dialect_named(self.dialect))
        for name in OWN_FUNCTIONS:
            with contextlib.suppress(Exception):
                self._run(f"CREATE FUNCTION `{name}`(x INT) RETURNS INT RETURN 1")

    def problem(self, sql: str, told: Collection[str]) -> str | None:
        try:
            self._run(f"CREATE OR REPLACE VIEW fuzzed AS SELECT EXISTS (\n{sql}\n) AS x")
            text = str(self._run(_KEPT)[0][0])
        except Exception:  # whatever the server says of random texts
            return None
        text = self._STRING.sub("''", text)
        found = [f"reads {name}" for name in self._table.findall(text) if name not in told]
        found += [f"reads {space}.x" for space in self._elsewhere.findall(text)]
        known = self._rules.functions | self._rules.types | self._rules.table_functions
        known |= {fold_name(name) for name in told}  # before the columns of an expression
        for name in set(self._CALL.findall(text)):
            own = name.rpartition(".")[2].strip("`")
            unknown = fold_name(name) not in known | self._WORDS | _MARIADB_NAMES
            if own in OWN_FUNCTIONS if name.startswith("`") else unknown:
                found.append(f"calls {name}")
        return "; ".join(sorted(set(found)))

    def _run(self, sql: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


_MARIADB_NAMES = words(
    "add_seconds addtime to_seconds char_length octet_length curtime curdate current_timestamp "
    "regexp_replace json_compact date_add_interval date_sub_interval concat_ws lcase ucase ifnull "
    "isnull nullif mod div sysdate rand st_geometryfromtext st_geomfromtext uuid convert st_astext "
    "st_pointfromtext geometryfromtext point match against row interval std stddev variance "
    "var_pop least greatest cot degrees regexp rlike add_months to_char sformat conv"
)
"""Other names by which the server writes functions that are on the list."""


class DuckdbOracle:
    """DuckDB, by its own parse tree."""

    dialect = "duckdb"
    _BY_SYNTAX = words(
        "row struct_pack list_value array_slice array_extract struct_extract unnest map main "
        "is_histogram_other_bin not_ilike_escape like_escape ilike_escape not_like_escape "
        "list_filter list_apply constant_or_null operator between current_localtime if "
        "current_localtimestamp regexp_full_match list_contains contains date_part md5 mode"
    )

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        rules: Rules = rules_of(dialect_named(self.dialect))
        self._known = rules.functions | rules.table_functions | rules.types | self._BY_SYNTAX
        for statement in SETUP["duckdb"]["statements"]:
            connection.execute(statement)
        for name in OWN_FUNCTIONS:
            with contextlib.suppress(Exception):
                connection.execute(
                    f'CREATE MACRO "{name}"(x) AS (SELECT max(password) FROM secrets)'
                )

    def problem(self, sql: str, told: Collection[str]) -> str | None:
        try:
            (text,) = self._connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
            tree = json.loads(text)
            if tree.get("error"):
                return None
            read = {fold_name(name) for name in self._connection.get_table_names(sql)}
        except Exception:  # whatever the library says of random texts
            return None
        names = {fold_name(name.rpartition(".")[2]) for name in told} | set(map(fold_name, told))
        found = [f"reads {name}" for name in sorted(read - names)]
        called = {fold_name(name) for name in _called(tree) if any(map(str.isalpha, name))}
        return "; ".join((*found, *(f"calls {name}" for name in sorted(called - self._known))))


def _called(tree: object) -> Iterator[str]:
    if isinstance(tree, list):
        for one in tree:
            yield from _called(one)
    elif isinstance(tree, dict):
        if isinstance(tree.get("function_name"), str):
            yield tree["function_name"]
        for one in tree.values():
            yield from _called(one)
