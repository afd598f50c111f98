"""A database that SQLAlchemy reaches and nothing else is written for."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from sqlwright.boundary.accepted import is_accepted
from sqlwright.database.address import FILE_SCHEMES, SERVER_SCHEMES, Address, split_url
from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.functions import no_functions, stored_functions
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.served import ServedDatabase, Told
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.pool import Pool
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Limits, RowReader
from sqlwright.schema import Column, ForeignKey, Schema, Table, fold_name
from sqlwright.sql.declared_types import standard_type
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.guards.rules import NOTHING_OWN, Own, rules_of
from sqlwright.types.functions import OwnFunction

# Functions of the database's own that a setting names, as far as an engine tells them.
#
# Where functions have namespaces a query has to write them: a name alone may be the engine's own.

_STANDARD = """
    SELECT routine_schema, routine_name, '' FROM information_schema.routines
    WHERE routine_type = 'FUNCTION'
"""
_STORED = {
    "clickhouse": "SELECT '', name, create_query FROM system.functions "
    "WHERE origin = 'SQLUserDefined'",
}
"""Statements that list an engine's own functions where there is no standard catalogue of them:
namespace, name and the statement that made each."""
_ARGUMENTS = re.compile(r"\bAS\s+\(?([\w\s,]*?)\)?\s*->")


def named_functions(
    connection: RowReader, names: Collection[str], dialect: str, usual: str, shown: str
) -> tuple[tuple[OwnFunction, ...], Own]:
    """The functions that names mean, and the names that queries may call them by. Raises ReadFailed
    where the engine doesn't tell, and ConfigError."""
    rows = connection.rows(_STORED.get(dialect, _STANDARD))
    told = {(str(space or ""), str(own)): str(about or "") for space, own, about in rows}
    spaces = {space for space, _ in told}
    found = stored_functions(names, told, "" if spaces <= {""} else usual, shown)
    blind = rules_of(dialect_named(dialect)).names == "blind"
    calls = set()
    for space, own in found:
        call = f"{space}.{own}" if space else own
        alike = [
            one for one in told if tuple(map(fold_name, one)) == (fold_name(space), fold_name(own))
        ]
        if blind and len(alike) > 1:
            raise ConfigError(
                f"{shown}: {call} can't be among the functions: there is another of that name in "
                "another case, and queries may not tell them apart."
            )
        calls.add(fold_name(call) if blind else call)
    functions = tuple(
        OwnFunction(own, space, made[1] if (made := _ARGUMENTS.search(told[space, own])) else "...")
        for space, own in found
    )
    return functions, Own(frozenset(calls))


INTROSPECT = "sqlwright:schema"
"""As `connection.INTROSPECT`, which can't be imported without SQLAlchemy."""
START_SECONDS = 60.0
"""Seconds that opening may take; some drivers bring a whole engine."""
DRIVER_BYTES = 2 * 1024 * 1024 * 1024
"""Memory that a driver's own libraries may take, besides that of a query."""
_DIALECTS = {
    "mssql": "tsql", "clickhousedb": "clickhouse", "chdb": "clickhouse", "bigquery": "bigquery",
    "postgresql": "postgres", "awsathena": "athena", "cockroachdb": "postgres", "hana": "postgres",
}  # fmt: skip
"""sqlglot's names of dialects that SQLAlchemy calls otherwise."""
_OWN = {"mssql", "oracle", "postgresql", "mysql"}
"""Dialects that SQLAlchemy itself holds, without their drivers."""
_KEPT = (
    "HOME", "USERPROFILE", "APPDATA", "XDG_", "SSL_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "KRB5",
    "ODBC", "TNS_", "ORA", "NLS_", "PG", "AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "GCLOUD_",
    "SNOWFLAKE_", "DATABRICKS_", "TRINO_", "CLICKHOUSE_",
)  # fmt: skip
"""Beginnings of the variables that drivers look at for certificates, proxies, places of files and
who asks. Keys of language models aren't among them."""


class _Singly(Pool):
    """No worker is started ahead: some engines let one process alone at their files."""

    def start_ahead(self) -> None:
        pass


class SqlalchemyDatabase(ServedDatabase[Told]):
    """`protocols.Database` by a SQLAlchemy dialect. All methods may be called from any thread."""

    estimates = False
    known_seconds = 60.0
    hint = "Check the URL, that the server runs, and that the driver of its dialect is installed."

    def __init__(
        self,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
        *,
        accepted: bool | None = None,
    ) -> None:
        """`accepted`: somebody says that the login can only read; by default as kept for the
        identity. Raises DatabaseUnavailable and ConfigError."""
        self._accepted = accepted
        self._functions: tuple[OwnFunction, ...] = ()
        self._own = NOTHING_OWN
        self._unread: tuple[tuple[str, str], ...] = ()
        """Names of tables and namespaces and notes on what couldn't be read of them."""
        super().__init__(address, tables, functions, _Singly(lambda: self._request(Limits())))

    def _prepare(self, address: Address) -> None:
        accepted = self._accepted
        if not (is_accepted(address.identity) if accepted is None else accepted):
            raise ConfigError(
                f"{address.url}: nothing but the login itself is sure to keep this engine from "
                "writing.",
                hint="Make a login that can only read, then say so once: "
                f"sqlwright ask {address.url} --accept-login",
            )
        self._open_seconds = START_SECONDS
        self._dialect = _dialect_of(address)
        self._libraries = ("sqlalchemy", *_folders())
        self._environment = {
            name: value for name, value in os.environ.items() if name.startswith(_KEPT)
        }

    def _begin(self, functions: Collection[str]) -> None:
        if functions:
            self._functions, self._own = self._named_functions(functions)
            self._known = None  # without them

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable where SQLAlchemy or the dialect isn't installed."""
        scheme = split_url(address.text).scheme
        kind = scheme.partition("+")[0]
        if kind not in _OWN and not _packages(address):
            known = (*SERVER_SCHEMES, *FILE_SCHEMES, *_OWN)
            if near := difflib.get_close_matches(kind, known, n=1, cutoff=0.75):
                raise DatabaseUnavailable(
                    f"No engine is known by {scheme}://.", hint=f"Did you mean {near[0]}://?"
                )
        if importlib.util.find_spec("sqlalchemy") is None:
            raise DatabaseUnavailable(
                "Other engines are asked by SQLAlchemy, which isn't installed.",
                hint="pip install 'sqlwright[sqlalchemy]', and the dialect's own package",
            )
        if kind not in _OWN and not _packages(address):
            raise DatabaseUnavailable(
                f"No installed package brings a SQLAlchemy dialect for {scheme}://.",
                hint="docs.sqlalchemy.org lists the packages that do under external dialects.",
            )
        _dialect_of(address)

    @property
    def dialect(self) -> str:
        return self._dialect

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        return self._functions

    def schema(self, *, seconds: float = START_SECONDS) -> Schema:
        """Tables, views, columns and keys that the inspector tells, read afresh. Raises
        DatabaseUnavailable."""
        return super().schema(seconds=max(seconds, START_SECONDS))

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        """Notes on tables that are left out and on what the engine failed to tell of others."""
        with self._lock:
            unread = self._unread
        among = (note for name, note in unread if self._tables is None or name in self._tables)
        return (*super().noticed(tables), *among)

    def fingerprint(self) -> str:
        """Empty: no engine is known well enough."""
        return ""

    def _look(self, reader: DatabaseReader) -> Told:
        told = [json.loads(str(row[0])) for row in reader.rows(INTROSPECT)]
        tables = tuple(_table(one, self._dialect) for one in told if one["columns"])
        names = {(table.namespace, table.own_name): table.name for table in tables}
        usual = next((str(one["usual"]) for one in told if one["name"]), "")
        schema = Schema(self._address.name, tables, tuple(_keys(told, names)), self._dialect)
        with self._lock:
            self._unread = tuple(unread_notes(told))
        return Told(schema, self._own, usual, columns_count=True)

    def _named_functions(self, names: Collection[str]) -> tuple[tuple[OwnFunction, ...], Own]:
        """Functions by their names. Raises ConfigError."""
        usual = self._read_known(START_SECONDS).usual
        try:
            with self.reader(seconds=START_SECONDS) as connection:
                return named_functions(connection, names, self._dialect, usual, self.url)
        except READ_FAILURES as error:
            why = f"this engine doesn't tell its own functions ({read_failure(error).message})"
            raise no_functions(self.url, why) from None

    def _request(self, limits: Limits) -> dict[str, Any]:
        request = self._limited(limits)
        memory = request["memory_bytes"] + DRIVER_BYTES
        return request | {
            "memory_bytes": memory,
            "place": Place("generic", self._libraries, "", light_bytes=memory),
            "opening": {"url": self._address.text, "environment": self._environment},
        }


def _folders() -> tuple[str, ...]:
    """The folders that this process imports from: only a dialect knows the packages of its driver.
    The one that a program was started in isn't among them."""
    here = os.getcwd()  # noqa: PTH109 - compared with texts
    found = (one for one in sys.path if os.path.isabs(one) and one != here)  # noqa: PTH117
    return tuple(one for one in found if os.path.isdir(one))  # noqa: PTH112


def _packages(address: Address) -> tuple[str, ...]:
    """The packages that bring a dialect for a URL's scheme."""
    scheme = split_url(address.text).scheme
    wanted = {scheme, scheme.partition("+")[0], scheme.replace("+", ".")}
    found = entry_points(group="sqlalchemy.dialects")
    return tuple(dict.fromkeys(one.module.partition(".")[0] for one in found if one.name in wanted))


def _dialect_of(address: Address) -> str:
    """sqlglot's name of a URL's dialect. Raises ConfigError where it has none."""
    scheme = split_url(address.text).scheme.partition("+")[0]
    return dialect_named(_DIALECTS.get(scheme, scheme)).name


def unread_notes(told: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Names of tables and of namespaces, and notes on what the engine failed to tell of them."""
    for one in told:
        if "note" in one:
            yield str(one["namespace"]), str(one["note"])
            continue
        name = _name(one)
        if not one["columns"]:
            yield name, f"{name} is left out: none of its columns can be read."
        elif one["unread"]:
            yield name, f"{name}: its {' and '.join(one['unread'])} can't be read."


def _name(told: dict[str, Any]) -> str:
    """The name by which queries know a table."""
    return f"{told['namespace']}.{told['name']}" if told["namespace"] else str(told["name"])


def _table(told: dict[str, Any], dialect: str) -> Table:
    columns = tuple(
        Column(
            name=column["name"],
            type=standard_type(column["type"], dialect),
            nullable=column["nullable"],
            generated=column["generated"],
            description=column["comment"],
        )
        for column in told["columns"]
    )
    return Table(
        name=_name(told),
        columns=columns,
        primary_key=tuple(told["key"]),
        kind=told["kind"],
        namespace=told["namespace"],
        description=told["comment"],
    )


def _keys(told: list[dict[str, Any]], names: Mapping[tuple[str, str], str]) -> Iterator[ForeignKey]:
    """Keys between tables that are known, by their namespaces and own names. A key says no
    namespace where it points at the usual one, or into its own table's."""
    for one in told:
        own = names.get((one["namespace"], one["name"]))
        if own is None:
            continue
        for near, space, target, far in one["keys"]:
            places = (space, "" if space == one["usual"] else space, one["namespace"])
            found = next((names[at, target] for at in places if (at, target) in names), None)
            if found is not None and near and len(near) == len(far):
                yield ForeignKey(own, tuple(near), found, tuple(far))
