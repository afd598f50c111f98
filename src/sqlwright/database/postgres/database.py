"""A PostgreSQL database that can't be written through: schema, guarded queries, trusted reading."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlencode

from sqlwright.boundary.text import counted
from sqlwright.database.address import SEARCH_PATHS, Address, search_path, split_url
from sqlwright.database.functions import Name, stored_functions
from sqlwright.database.guarded import SCHEMA_SECONDS, LoginRights, require_own
from sqlwright.database.postgres.introspect import Known, read_called, read_known, stored
from sqlwright.database.postgres.marks import LAG_SECONDS, read_fingerprint, read_marks, settled
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.served import OPEN_SECONDS, ServedDatabase
from sqlwright.database.workers.engine import Place
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost

EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE)"
PAGES = """
    SELECT n.nspname, c.relname, c.reltuples,
        greatest(c.relpages::int8, pg_catalog.pg_relation_size(c.oid) / 8192)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm') AND (n.nspname || '.' || c.relname) IN ({places})
"""
"""Rows of some tables, as they were counted last, and pages: those counted, or what there are now
where that is more, since nothing is counted before the first ANALYZE."""
_PAGE_BYTES = 8192
"""Bytes of a page, unless the server was built otherwise."""
_DEEPEST = 10
"""Levels of a plan that are indented."""
_BLOCKING = frozenset({"Sort", "Hash", "Materialize", "Memoize", "Aggregate", "HashAggregate"})
"""Steps that take all of what is below them before they give anything."""
_KEEPING = frozenset({"Hash", "Materialize"})
"""Steps that keep what is below them, and so run it once."""
_DETAILS = ("Index Cond", "Filter", "Hash Cond", "Merge Cond", "Join Filter")


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of a table: how often, and the part of the table."""

    table: str
    rows: float
    """Rows that it gives in all, however often it runs."""
    times: float
    share: float
    whole: bool
    """True if it goes through the table from its beginning."""


def read_cost(text: str, connection: DatabaseReader) -> QueryCost:
    """The estimate that a plan, as JSON, stands for. Raises ReadFailed."""
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    scans = list(_scans(plan, 1.0, 1.0))
    sizes = _sizes(connection, {scan.table for scan in scans if scan.table})
    rows = size = 0.0
    for scan in scans:
        stored, pages = sizes.get(scan.table, (0.0, 0.0))
        read = max(stored * scan.times, scan.rows) * scan.share if scan.whole else scan.rows
        rows += read
        if stored > 0 and not scan.whole:
            # An index finds rows one by one: a page for each, and never more than all.
            size += min(read, pages) * _PAGE_BYTES
        else:
            size += pages * _PAGE_BYTES * scan.share
    return QueryCost(
        rows=float(plan["Plan Rows"]),
        scanned_rows=rows,
        scanned_bytes=size,
        units=float(plan["Total Cost"]),
        outline=tuple(_outline(plan, 0)),
    )


def _scans(node: Mapping[str, Any], share: float, times: float) -> Iterator[Scan]:
    kind = str(node["Node Type"])
    if kind == "Limit":
        share *= _limited(node)
    elif kind in _BLOCKING:
        share = 1.0
        times = 1.0 if kind in _KEEPING else times
    if "Relation Name" in node:
        table = f"{node.get('Schema', '')}.{node['Relation Name']}"
        whole = kind in {"Seq Scan", "Sample Scan"}
        given = float(node["Plan Rows"]) * times
        yield Scan(table, given * (1.0 if whole else share), times, share, whole)
    below = list(node.get("Plans", ()))
    for number, child in enumerate(below):
        # The second part of a nested loop runs for each row of the first.
        again = kind == "Nested Loop" and number == 1
        yield from _scans(child, share, times * (float(below[0]["Plan Rows"]) if again else 1.0))


def _limited(limit: Mapping[str, Any]) -> float:
    """The share of what is below a limit that is done, were it done evenly."""
    below = limit["Plans"][0]
    run = float(below["Total Cost"]) - float(below["Startup Cost"])
    if run <= 0:
        return 1.0
    return max(0.0, min(1.0, (float(limit["Total Cost"]) - float(below["Startup Cost"])) / run))


def _sizes(connection: DatabaseReader, tables: set[str]) -> dict[str, tuple[float, float]]:
    if not tables:
        return {}
    sql = PAGES.format(places=", ".join("?" for _ in tables))
    return {
        f"{namespace!s}.{name!s}": (max(float(str(rows)), 0.0), float(str(pages)))
        for namespace, name, rows, pages in connection.rows(sql, sorted(tables))
    }


def _outline(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    words = [str(node["Node Type"])]
    if "Index Name" in node:
        words.append(f"by {node['Index Name']}")
    if "Relation Name" in node:
        words.append(f"on {node['Relation Name']}")
    words += [f"{what}: {node[what]}" for what in _DETAILS if what in node]
    words.append(f"(about {counted(node['Plan Rows'], 'row')})")
    yield "  " * min(depth, _DEEPEST) + " ".join(words)
    for child in node.get("Plans", ()):
        yield from _outline(child, depth + 1)


MOST_NAMES = 20
"""Names of tables, namespaces or functions that are listed of each kind."""
_FLAGS = {
    "it is a superuser: nothing on the server is out of its reach": "r.rolsuper",
    "it may create roles": "r.rolcreaterole",
    "it may create databases": "r.rolcreatedb",
    "it may replicate the whole server": "r.rolreplication",
    "it ignores row security": "r.rolbypassrls",
    "it may create namespaces": (
        "pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"
    ),
}
_ROLE = f"""
    SELECT r.rolname, {", ".join(_FLAGS.values())}
    FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""
_ROLES = """
    SELECT r.rolname FROM pg_catalog.pg_roles r
    WHERE r.rolname IN ('pg_read_server_files', 'pg_write_server_files',
            'pg_execute_server_program', 'pg_signal_backend', 'pg_write_all_data',
            'pg_maintain', 'pg_checkpoint', 'pg_create_subscription')
        AND pg_catalog.pg_has_role(r.oid, 'MEMBER') ORDER BY 1
"""
_WRITABLE = """
    SELECT n.nspname || '.' || c.relname
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname !~ '^pg_t(oast|emp)' AND NOT c.relispartition
        AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
            OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
        {more}
    ORDER BY n.nspname, c.relname
"""
_CREATES = """
    SELECT n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND pg_catalog.has_schema_privilege(n.oid, 'CREATE') ORDER BY 1
"""
_FUNCTIONS = """
    SELECT DISTINCT p.proname FROM pg_catalog.pg_proc p
    LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
        AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND (
            p.proname IN (
                'pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import',
                'lo_export', 'pg_reload_conf', 'pg_rotate_logfile', 'pg_switch_wal', 'pg_promote',
                'pg_stat_reset', 'pg_file_write')
            OR p.proname LIKE 'dblink%'
            OR (n.nspname <> 'pg_catalog' AND NOT l.lanpltrusted AND l.lanname NOT IN
                ('c', 'internal')))
    ORDER BY 1
"""
"""Functions that reach beyond the database or change the server, and those in languages that
may do anything."""
_LISTS = {
    "it has the roles": _ROLES,
    "it may write to": _WRITABLE.format(more=""),
    "it owns": _WRITABLE.format(more="AND pg_catalog.pg_has_role(c.relowner, 'USAGE')"),
    "it may create tables in": _CREATES,
    "it may call": _FUNCTIONS,
}


def read_login(connection: DatabaseReader) -> LoginRights:
    """The rights of the login that the connection has. Raises ReadFailed."""
    name, *flags = next(connection.rows(_ROLE))
    held = [words for words, holds in zip(_FLAGS, flags, strict=True) if holds]
    return LoginRights(str(name), (*held, *_listed(connection)))


def _listed(connection: DatabaseReader) -> Iterator[str]:
    for words, sql in _LISTS.items():
        names = [str(name) for (name,) in connection.rows(sql)]
        if names:
            more = " and more" if len(names) > MOST_NAMES else ""
            yield f"{words} {', '.join(names[:MOST_NAMES])}{more}"


LEAST_SECONDS = 2
"""Seconds for a host that PostgreSQL's own library gives at least."""
_KEPT = ("HOME", "USERPROFILE", "APPDATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "KRB5CCNAME",
         "KRB5_CONFIG")  # fmt: skip
"""Variables that say where certificates, tickets and the files of passwords and services are."""
_ALIVE = {"keepalives_idle": "60", "keepalives_interval": "10", "keepalives_count": "3"}
"""A session that rests keeps its place in firewalls, and a network that is gone is noticed."""
_NAMES = (
    "host hostaddr port dbname user password passfile require_auth channel_binding service "
    "connect_timeout client_encoding options application_name fallback_application_name keepalives "
    "keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode krbsrvname "
    "gsslib gssdelegation requirepeer target_session_attrs load_balance_hosts sslmode ssl "
    "requiressl sslnegotiation sslcompression sslcert sslkey sslpassword sslcertmode sslrootcert "
    "sslcrl sslcrldir sslsni ssl_min_protocol_version ssl_max_protocol_version"
)
_PARAMETERS = {name.replace("_", ""): name for name in _NAMES.split()}
"""The library's parameters by their names without underscores, as JDBC writes some of them."""
_MODES = {"no-verify": "require", "required": "require"}
"""Modes of encryption as other clients call them."""


def divided(address: Address) -> tuple[dict[str, str], list[str]]:
    """The URL's parameters that PostgreSQL's library knows, and the names of other clients' ones,
    which are left out. Raises DatabaseUnavailable for one that may ask for encryption."""
    known, others = dict[str, str](), list[str]()
    for pair in filter(None, split_url(address.text).query.split("&")):
        written, _, value = map(unquote, pair.partition("="))  # a plus sign is one, as there
        name = _PARAMETERS.get(written.lower().replace("_", ""))
        if name is not None:
            lower = value.lower()
            known[name] = _MODES.get(lower, lower) if name == "sslmode" else value
        elif written.lower().startswith(("ssl", "tls")):
            raise DatabaseUnavailable(
                f"{address.url}: the address has an option that isn't known: {written}.",
                hint="Encryption is asked for by sslmode, sslrootcert, sslcert and sslkey.",
            )
        elif written.lower() not in SEARCH_PATHS:
            others.append(written)
    return known, others


def opening_of(address: Address) -> dict[str, Any]:
    """All that a worker needs to connect. It may hold a password, and goes through a pipe alone."""
    rest = address.text.partition("://")[2].partition("?")[0]
    parameters = urlencode(divided(address)[0], quote_via=quote)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or (name.startswith("PG") and name.isupper())
    }
    defaults = {"client_encoding": "UTF8", "application_name": "sqlwright", **_ALIVE}
    if "PGAPPNAME" in environment:
        del defaults["application_name"]
    if not _asked(address):
        defaults["connect_timeout"] = str(max(int(OPEN_SECONDS) // _hosts(address), LEAST_SECONDS))
    return {
        "text": f"postgresql://{rest}?{parameters}",
        "environment": environment,
        "defaults": defaults,
        "path": search_path(split_url(address.text).query),
    }


def open_seconds(address: Address) -> float:
    """The time that connecting may take, whatever the number of hosts: `connect_timeout` for each
    of them where it is given, else one for all."""
    asked = _asked(address)
    if not asked:
        return max(OPEN_SECONDS, LEAST_SECONDS * _hosts(address))
    return float(max(asked, LEAST_SECONDS) * _hosts(address))


def _asked(address: Address) -> int:
    """The seconds for each host that somebody asks for; 0 for none."""
    said = _given(address).get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT", "")
    try:
        return max(int(float(said)), 0)
    except (ValueError, OverflowError):
        return 0


def _hosts(address: Address) -> int:
    named = unquote(split_url(address.text).netloc.rpartition("@")[2])
    given = _given(address)
    said = named or given.get("hostaddr") or given.get("host") or os.environ.get("PGHOST", "")
    return said.count(",") + 1


def _given(address: Address) -> dict[str, str]:
    return divided(address)[0]


_HINTS: Mapping[ErrorCause, str] = {
    **ServedDatabase.hints,
    "bad_address": "Write postgresql://user@host:5432/database?sslmode=require, and %40 for an @ "
    "in a password.",
    "refused": "Is the server running there, and is the port right? "
    "Write postgresql://user@host:5432/database.",
    "unknown_host": "Is the host's name right, and does the network reach it?",
    "not_admitted": "Give user and password in the URL, or in PGUSER and PGPASSWORD or the file "
    "~/.pgpass, and check that the server admits this user from here.",
    "no_database": "`psql -l` lists the server's databases.",
    "not_encrypted": "Check sslmode and sslrootcert in the URL: "
    "postgresql://user@host/database?sslmode=require.",
    "crowded": "The server, or this login, has no connection free: end others, raise "
    "max_connections or the login's CONNECTION LIMIT, or put a pooler such as PgBouncer before it.",
    "conflict": "Try again. A standby stops queries that keep it from replaying changes; "
    "max_standby_streaming_delay says how long it waits for them.",
    "starting": "The server is starting, recovering or stopping: try again in a moment.",
    "slow": "The server or the network is slow, or a firewall drops what is sent: try again, or "
    "check host and port.",
}
GRACE_SECONDS = 0.4
"""Seconds that the server may take to stop a query before the worker is killed."""
_LIBRARIES = ("psycopg", "psycopg_binary", "psycopg_c", "typing_extensions")
_EXPLAIN_LIMITS = Limits(seconds=5.0, cell_bytes=8 * 1024 * 1024)
_SIZE = """
    SELECT coalesce(sum(pg_catalog.pg_table_size(c.oid)), 0)::int8 FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname !~ '^pg_t(oast|emp)'
"""


class PostgresDatabase(ServedDatabase[Known]):
    """`protocols.Database` on a server. All methods may be called from any thread. With a list of
    tables a view that reads one which may not be read is a ConfigError."""

    hints = _HINTS
    hint = "Check that the server is running and admits this login."
    look_seconds = 5.0

    def _prepare(self, address: Address) -> None:
        self._opening = opening_of(address)
        self._place = Place(
            "postgres",
            tuple(name for name in _LIBRARIES if importlib.util.find_spec(name)),
            "",
            grace=GRACE_SECONDS,
        )
        self._functions: tuple[Name, ...] = ()
        self._open_seconds = open_seconds(address)
        self.ignored = tuple(divided(address)[1])

    def _begin(self, functions: Collection[str]) -> None:
        if functions:
            there, usual = self._read(stored)
            self._functions = stored_functions(functions, there, usual, self.url)
        with self.reader(seconds=self._open_seconds):
            pass

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable when the driver isn't installed."""
        if importlib.util.find_spec("psycopg") is None:
            raise DatabaseUnavailable(
                f"{address.url}: PostgreSQL needs a driver that isn't installed.",
                hint="Run: pip install 'sqlwright[postgres]'",
            )

    @property
    def dialect(self) -> str:
        return "postgres"

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        return self._known_now().functions.named if self._functions else ()

    def rights(self) -> LoginRights:
        """The rights of the login besides reading. Raises DatabaseUnavailable."""
        return self._read(read_login, SCHEMA_SECONDS)

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed, within seconds; some milliseconds. Empty
        where the server counts nothing. What foreign tables show isn't in it."""
        return self._read(read_fingerprint)

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """Marks by the server's counts and its catalog; see `marks`. None on a standby, where not
        everything is counted, and where they can't be read."""
        if stop is not None:
            stop()
        try:
            return self._read(lambda reader: read_marks(reader, schema))
        except DatabaseUnavailable:  # a table is locked, say, and its size can't be told
            return None

    def settle(self, stop: StopReading, *, kept: bool) -> None:
        """Wait until no session holds back counts, at most as long as one that rests does. Where
        nothing is kept there is no need: what comes late changes the marks of now."""
        if kept:
            self._wait(lambda: self._read(settled), LAG_SECONDS, stop)

    def size(self) -> int | None:
        """Bytes of all tables, indexes not included."""
        (size,) = self._read(lambda reader: next(reader.rows(_SIZE)))
        return size if isinstance(size, int) else None

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The server's estimate of a query, nothing of which runs. Every failure is in it."""
        plan = self._answer(sql, run, _EXPLAIN_LIMITS, EXPLAIN)
        if plan.error is not None:
            return QueryCost(error=plan.error)
        left = min(run.remaining(), self._open_seconds)
        return self._read(lambda reader: read_cost(str(plan.rows[0][0]), reader), left)

    def _request(self, limits: Limits) -> dict[str, Any]:
        return self._limited(limits) | {"place": self._place, "opening": self._opening}

    def _connect(self, seconds: float | None, stop: StopReading | None = None) -> DatabaseReader:
        reader = super()._connect(seconds, stop)
        try:
            with self._reading_errors(), reader.within(self._open_seconds):
                list(reader.rows("SELECT 1"))
        except BaseException:
            reader.close()
            raise
        return reader

    def _look(self, reader: DatabaseReader) -> Known:
        return read_known(reader, self._functions)

    def _named(self, tables: Collection[str]) -> tuple[str, ...]:
        """Tables by their names in the schema. Raises ConfigError."""
        known = self._read_known(SCHEMA_SECONDS)
        named = super()._named(tables)
        called = self._read(lambda reader: read_called(reader, self._functions))
        for name in named:
            hidden, refused = known.hidden(name, named), f"{name} can't be among the tables"
            if hidden:
                require_own({name: hidden})
            if name in called:
                raise ConfigError(
                    f"{refused}: it calls {called[name]}, which may read others",
                    hint=f"Leave {name} out, or name the function among functions if it is the "
                    "database's own.",
                )
        self._known = (time.monotonic(), known.only(named))
        return named
