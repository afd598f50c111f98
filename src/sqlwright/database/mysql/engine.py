"""MySQL and MariaDB inside a worker process.

`GuardedConnection` is one of the two layers that keep generated SQL harmless: a text runs only if
it begins as a query and the server itself, preparing it, says that it gives rows; it runs in a
transaction that can't write, under the server's limits, and everything it began ends with it.

This is the only module that talks to a server. Whatever the server's own settings are, a
session has these: text in utf8mb4; a backslash in quotes
escapes and double quotes hold text, as MySQL has it from the start (no NO_BACKSLASH_ESCAPES, no
ANSI_QUOTES, no PIPES_AS_CONCAT), so that the tree check and the server read one text alike;
ONLY_FULL_GROUP_BY, but for queries whose groups determine what they show; read-only transactions;
limits of time and of waiting for locks. One text is one statement, and no file of this machine is
ever sent.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
import socket
import ssl
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants import COMMAND, FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor

from sqlwright.database.failures import Refused
from sqlwright.database.mysql import LOOSELY
from sqlwright.database.mysql.failures import FAILURES, LOST, error_number, explain_failure
from sqlwright.database.workers.engine import OfServer

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.database.failures import Failure
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

# Cells of MySQL: what each type becomes. Runs in worker processes.
#
# DECIMAL is a Decimal; DATE a date, DATETIME and TIMESTAMP a datetime in the session's zone; TIME a
# timedelta, since it holds spans of up to 838 hours and below zero; BIT a whole number; JSON, ENUM
# and SET their text; binary strings and geometry bytes. Dates that no calendar has (0000-00-00,
# 2024-00-00) stay the text that the server writes.

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)")
_SPAN = re.compile(r"(-?)(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{1,6}))?")


def _date(text: str) -> datetime.date | str:
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else text
    except ValueError:
        return text


def _moment(text: str) -> datetime.datetime | str:
    found = _MOMENT.fullmatch(text)
    try:
        return datetime.datetime.fromisoformat(text) if found else text
    except ValueError:
        return text


def _span(text: str) -> datetime.timedelta | str:
    found = _SPAN.fullmatch(text)
    if found is None:
        return text
    sign, hours, minutes, seconds, fraction = found.groups()
    span = datetime.timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int((fraction or "").ljust(6, "0")),
    )
    return -span if sign else span


def _bits(data: bytes) -> int:
    return int.from_bytes(data)


def make_conversions() -> dict[Any, Any]:
    """PyMySQL's table of conversions, with ours for what it gives otherwise."""
    ours: dict[int, Callable[[Any], object]] = {
        FIELD_TYPE.BIT: _bits,
        FIELD_TYPE.DATE: _date,
        FIELD_TYPE.DATETIME: _moment,
        FIELD_TYPE.TIMESTAMP: _moment,
        FIELD_TYPE.TIME: _span,
    }
    return {**conversions, **ours}


IDLE_SECONDS = 5.0
"""Seconds after which a connection may have been forgotten on the way: whether it is answered is
tried first."""
LOOK_SECONDS = 1.0
"""Seconds that the answer may take then."""
KILL_SECONDS = 1.0
"""The time that stopping a statement may take; the process is killed soon after."""
_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPALIVE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A connection that rests keeps its place in firewalls, and a network that is gone is noticed; as
far as the system knows these."""
_LATE_SECONDS = 0.25
"""The server's own limit of time comes after that of the process that asks: it is the net below."""
_RESET, _PREPARE, _CLOSE_STATEMENT = 0x1F, COMMAND.COM_STMT_PREPARE, COMMAND.COM_STMT_CLOSE
_NO_TLS = 2026
"""The client's number of the error of a connection that can't be encrypted."""
_LEAST = {True: (10, 2, 4), False: (5, 7, 8)}
"""Versions of MariaDB and of MySQL that have all that is set here."""
_GROUPS = "ONLY_FULL_GROUP_BY,"
_MODE = f"{_GROUPS}STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
_SETTINGS = {
    "sql_mode": f"'{_MODE}'",
    "autocommit": "1",
    "lock_wait_timeout": "1",
    "innodb_lock_wait_timeout": "1",
    "group_concat_max_len": "1048576",
}
_SESSION_BYTES = 512 * 1024 * 1024
"""Memory of a session on the server, where that can be limited."""
Fetched = tuple[Any, ...]


class MySQLSession:
    """A connection that is renewed when it was lost. Not thread-safe, but `stop` may come from
    another thread."""

    def __init__(self, opening: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        """`seconds` tells the time that a statement may take now. Connects; raises PyMySQL's
        errors."""
        self._opening = opening
        self._seconds = seconds
        self._conversions = make_conversions()
        self._connection: Any = None
        self._who: Fetched = ()
        self._cursor: Any = None
        self._begun = time.monotonic()
        self.connect()

    @property
    def version(self) -> str:
        """The server's, as it says."""
        return str(self._connection.server_version)

    def connect(self) -> None:
        """Connect anew."""
        self.close()
        connection = self._open(self._opening["seconds"])
        try:
            _require_version(str(connection.server_version))
            self._who = _identity(connection)
            connection._read_timeout = connection._write_timeout = None
            _keep_alive(connection._sock)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def begin(self, *, transaction: bool) -> None:
        """Make the session ready for a statement; `transaction`: in one of its own that can't
        write. A connection that was lost meanwhile is renewed."""
        before, self._begun = self._begun, time.monotonic()
        try:
            if self._begun - before > IDLE_SECONDS:
                self._look()
            self._begin(transaction)
        except pymysql.MySQLError as error:
            if error_number(error) not in LOST:
                raise
            self.connect()
            self._begin(transaction)

    def group_loosely(self) -> None:
        """Let a query show what isn't in its GROUP BY, until the session is reset."""
        self._connection.query(f"SET SESSION sql_mode = '{_MODE.removeprefix(_GROUPS)}'")

    def columns(self, sql: str) -> int:
        """The number of columns that a statement gives, as the server prepares it; nothing of it
        runs. Statements that aren't queries give none, queries that write what they find (INTO)
        neither. A second statement is a syntax error."""
        connection = self._connection
        connection._execute_command(_PREPARE, sql)
        number, columns, parameters = struct.unpack(
            "<IHH", connection._read_packet().get_all_data()[1:9]
        )
        for following in (parameters, columns):
            for _ in range(following + 1 if following else 0):  # one more ends the list
                connection._read_packet()
        connection._execute_command(_CLOSE_STATEMENT, struct.pack("<I", number))
        return int(columns)

    def stream(self, sql: str) -> tuple[tuple[str, ...], Iterator[Fetched]]:
        """Run a statement: names of columns, and rows as they come from the server. Where the
        connection is lost meanwhile, the statement is ended there."""
        cursor = self._cursor = self._connection.cursor(SSCursor)
        with self._ending(sql):
            cursor.execute(sql)
        names = tuple(str(column[0]) for column in cursor.description or ())
        return names, self._rows(cursor, sql)

    def escaped(self, value: object) -> str:
        """A value as a literal."""
        return str(self._connection.escape(value))

    def end(self) -> None:
        """End the running statement, if one does, and read what is left of it."""
        cursor, self._cursor = self._cursor, None
        connection = self._connection
        if cursor is None or connection is None:
            return
        if not connection.open:  # it was lost on the way
            self.close()
            return
        result = connection._result
        if result is not None and result.unbuffered_active and not self.stop():
            self.close()
            return
        try:
            cursor.close()  # reads to the end, which comes soon once it is stopped
        except pymysql.MySQLError as error:
            if error_number(error) in LOST:
                self.close()

    def reset(self) -> None:
        """End everything that statements have begun: transaction, user variables, locks, settings.
        Where that can't be done the connection is closed, which does it too."""
        self.end()
        if self._connection is None:
            return
        try:
            self._connection._execute_command(_RESET, b"")
            self._connection._read_ok_packet()
        except pymysql.MySQLError:
            self.close()

    def stop(self) -> bool:
        """Stop the running statement by another connection, from any thread; True if the server
        has done so, or there is none."""
        if self._connection is None:
            return True
        return self._by_another(KILL_SECONDS, lambda other, mine: other.query(f"KILL QUERY {mine}"))

    def close(self) -> None:
        """Close at once. Safe to call twice."""
        connection, self._connection = self._connection, None
        self._cursor = None
        if connection is not None:
            result = connection._result
            if result is not None:
                result.unbuffered_active = False  # else it would read on
            with contextlib.suppress(pymysql.MySQLError):
                connection.close()

    def _by_another(self, seconds: float, act: Callable[[Any, int], object]) -> bool:
        """Act by another connection, which is given the number of this one; false where that can't
        be done. Each answer may take so many seconds."""
        mine = self._who
        try:
            other = self._open(seconds)
        except (pymysql.MySQLError, OSError):
            return False
        try:
            # A balancer may have led elsewhere, where the number is another's.
            if _identity(other)[1:] != mine[1:]:
                return False
            act(other, int(mine[0]))
        except (pymysql.MySQLError, OSError):
            return False
        finally:
            with contextlib.suppress(pymysql.MySQLError, OSError):
                other.close()
        return True

    @contextlib.contextmanager
    def _ending(self, sql: str) -> Iterator[None]:
        """Have the server end a statement whose connection is lost: it would notice by its own
        limit of time alone. The error stays what it was."""
        try:
            yield
        except pymysql.MySQLError as error:
            left = self._begun + self._seconds() - time.monotonic()
            if error_number(error) in LOST and left > 0:
                self._by_another(
                    min(KILL_SECONDS, left / 2), lambda other, mine: _end_lost(other, mine, sql)
                )
            raise

    def _rows(self, cursor: SSCursor, sql: str) -> Iterator[Fetched]:
        with self._ending(sql):
            while (row := cursor.fetchone()) is not None:
                yield row

    def _look(self) -> None:
        """Raise an error of `LOST` unless the connection is answered soon."""
        connection = self._connection
        if connection is None:
            return
        connection._read_timeout = min(LOOK_SECONDS, self._seconds() / 2)
        connection.ping(reconnect=False)
        connection._read_timeout = None

    def _begin(self, transaction: bool) -> None:
        if self._connection is None:
            self.connect()
        self._connection.query(self._settings())
        if transaction:
            self._connection.query("START TRANSACTION READ ONLY")

    def _settings(self) -> str:
        mariadb, version = _read_version(str(self._connection.server_version))
        settings = dict(_SETTINGS)
        seconds = self._seconds() + _LATE_SECONDS
        if mariadb:
            settings["max_statement_time"] = f"{seconds:.3f}"
            settings["max_session_mem_used"] = str(_SESSION_BYTES)
        else:
            settings["max_execution_time"] = str(math.ceil(seconds * 1000))
        new = not mariadb and version >= (8, 0, 0)
        settings["transaction_read_only" if new else "tx_read_only"] = "1"
        if new:  # times of changes and sizes of now, not of a day ago
            settings["information_schema_stats_expiry"] = "0"
        written = ", ".join(f"@@SESSION.{name} = {value}" for name, value in settings.items())
        return f"SET NAMES utf8mb4, {written}"

    def _open(self, seconds: float) -> Any:
        """A connection; reaching the server and each of its answers may take so long."""
        opening = self._opening
        return pymysql.connect(
            host=opening["host"],
            port=opening["port"],
            user=opening["user"] or None,
            password=opening["password"].encode(),
            database=opening["database"] or None,
            unix_socket=opening["unix_socket"] or None,
            connect_timeout=seconds,
            read_timeout=seconds,
            write_timeout=seconds,
            conv=self._conversions,
            autocommit=None,
            local_infile=False,
            program_name="sqlwright",
            **_protection(opening["tls"]),
        )


def _identity(connection: Any) -> Fetched:
    """The number of a connection, and what tells its server from others."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID(), @@hostname, @@port, @@server_id")
        found: Fetched = cursor.fetchone()
        return found


def _end_lost(other: Any, number: int, sql: str) -> None:
    """Have a connection end the one of a number, if it still runs a statement: a server that was
    started again gives numbers anew."""
    with other.cursor() as cursor:
        cursor.execute("SHOW FULL PROCESSLIST")
        names = [str(column[0]).lower() for column in cursor.description]
        for row in cursor.fetchall():
            told = dict(zip(names, row, strict=True))
            if told["id"] == number and str(told["info"]).strip("; \n") == sql.strip("; \n"):
                cursor.execute(f"KILL CONNECTION {number}")


def _keep_alive(connected: socket.socket) -> None:
    """Have the system look now and then whether a connection by TCP is there; PyMySQL has asked for
    it, the system's own times are hours."""
    if connected.family == socket.AF_UNIX:
        return
    for name, value in _ALIVE.items():
        with contextlib.suppress(OSError, AttributeError):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _read_version(text: str) -> tuple[bool, tuple[int, ...]]:
    """True for MariaDB, and the version's numbers."""
    text = text.removeprefix("5.5.5-")  # MariaDB says so in front, for old clients
    return "mariadb" in text.lower(), tuple(int(n) for n in re.findall(r"\d+", text)[:3])


def _require_version(text: str) -> None:
    mariadb, version = _read_version(text)
    least = _LEAST[mariadb]
    if version < least:
        name = "MariaDB" if mariadb else "MySQL"
        needed = ".".join(map(str, least))
        raise pymysql.OperationalError(2002, f"{name} {needed} is the oldest that can be asked")


def _protection(tls: Mapping[str, str]) -> dict[str, Any]:
    """PyMySQL's arguments for the encryption that is asked for."""
    mode = tls["mode"]
    if mode == "disabled":
        return {"ssl_disabled": True}
    if mode == "preferred":
        return {}
    try:
        context = ssl.create_default_context(cafile=tls.get("ssl_ca"))
        # Certificates that MySQL and MariaDB make for themselves don't hold to the strict rules.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = mode == "verify_identity"
        if mode == "required":
            context.verify_mode = ssl.CERT_NONE
        if "ssl_cert" in tls:
            context.load_cert_chain(tls["ssl_cert"], keyfile=tls.get("ssl_key"))
    except (OSError, ValueError) as error:
        message = f"the certificates that the URL names can't be read ({error})"
        raise pymysql.OperationalError(_NO_TLS, message) from None
    return {"ssl": context}


SQL_BYTES = 1_000_000
"""UTF-8 bytes of a statement at most."""
AGAIN_SECONDS = 0.05
"""Seconds after which a query is stopped once more."""
EXPLAIN = "EXPLAIN FORMAT=JSON"
_BLANK = re.compile(
    r"(?:\s|\(|/\*.*?\*/|--(?=[\s\x00-\x1f])[^\n]*(?:\n|$)|#[^\n]*(?:\n|$))*", re.DOTALL
)
_FIRST = re.compile(r"(?:SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE)
_VERSIONED = re.compile(r"/\*M?!")
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`|\?", re.DOTALL
)


class GuardedConnection:
    """A connection that only answers queries. Not thread-safe, but `interrupt` may come from
    another thread."""

    def __init__(self, opening: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        self._session = MySQLSession(opening, seconds)
        self._phase: Literal["prepare", "run"] = "prepare"

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached."""
        return self._phase

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain`, those of the query's plan.
        Raises Refused or PyMySQL's errors."""
        self._phase = "prepare"
        _require_query(sql)
        if explain not in {"", EXPLAIN, LOOSELY}:
            raise Refused("this plan can't be asked for")
        self._session.begin(transaction=True)
        if explain == LOOSELY:
            self._session.group_loosely()
            explain = ""
        if not self._session.columns(sql):
            raise Refused("only a plain query may run")
        self._phase = "run"
        return self._session.stream(f"{explain} {sql}" if explain else sql)

    def finish(self) -> None:
        """End the transaction and whatever the query left in the session."""
        self._session.reset()

    def interrupt(self) -> None:
        """Stop the running query on the server, from any thread."""
        self._session.stop()
        # It may have come between two statements, before the query itself.
        time.sleep(AGAIN_SECONDS)
        self._session.stop()

    def close(self) -> None:
        """Close at once."""
        self._session.close()


class TrustedConnection:
    """A read-only connection for SQL that sqlwright itself wrote; a parameter's place is `?`."""

    def __init__(self, opening: Mapping[str, Any], seconds: Callable[[], float]) -> None:
        self._session = MySQLSession(opening, seconds)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one. Raises PyMySQL's errors."""
        self._session.end()
        self._session.begin(transaction=False)
        return self._session.stream(self._filled(sql, parameters))[1]

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Nothing: no table shows what others hold."""
        del tables
        return {}

    def interrupt(self) -> None:
        """Stop the running statement on the server, from any thread."""
        self._session.stop()

    def close(self) -> None:
        """Close at once."""
        self._session.close()

    def _filled(self, sql: str, parameters: Sequence[Cell]) -> str:
        if not parameters:
            return sql
        waiting = iter(parameters)

        def literal(found: re.Match[str]) -> str:
            return self._session.escaped(next(waiting)) if found[0] == "?" else found[0]

        return _LITERAL.sub(literal, sql)


def _require_query(sql: str) -> None:
    """Refuse what doesn't begin as a query, and comments that the server would run."""
    if "\0" in sql:
        raise Refused("the text contains a NUL character")
    if len(sql) > SQL_BYTES or len(sql.encode()) > SQL_BYTES:
        raise Refused("the text is too long")
    if _VERSIONED.search(sql):
        raise Refused("comments that the server runs are not allowed")
    blank = _BLANK.match(sql)
    assert blank is not None
    if not _FIRST.match(sql, blank.end()):
        raise Refused("only a plain query may run")


class _Mysql(OfServer):
    """`workers.engine.Engine` for MySQL and MariaDB servers."""

    failures = FAILURES
    idle_bytes = 96 * 1024 * 1024
    addresses = 256 * 1024 * 1024

    def __init__(self) -> None:
        self._seconds = 0.0

    def guarded(self, opening: Mapping[str, Any]) -> GuardedConnection:
        return GuardedConnection(opening, lambda: self._seconds)

    def trusted(self, opening: Mapping[str, Any]) -> TrustedConnection:
        return TrustedConnection(opening, lambda: self._seconds)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take."""
        self._seconds = seconds


ENGINE = _Mysql()
