"""Texts that change with data and definitions on a server: one for all of it, and one for each
table.

The server tells the second of each table's last change, and what it tells is true of two storage
engines only: InnoDB notes the time when a transaction ends, MyISAM writes its files at once. Aria
tells of a change when its pages reach the disk, MEMORY and others never. Nor is there one where
partitions are emptied or exchanged.

A second is long: what was changed once more in the same one bears the same time. So a time is
believed only when its second has passed. InnoDB keeps the times in memory, for as long as the
server runs and a table stays in its cache of definitions; none is told of a table that wasn't
changed since, and of one that was dropped from the cache after a change. The first is believed only
where nothing can have been dropped, since fewer definitions were ever opened than half of what the
cache holds; partitions count there and aren't counted here.

MariaDB's TRUNCATE leaves the times as they are, so whether a table is held to be empty goes with
them. Not noticed: TRUNCATE of a few rows that the server, since it was started again, holds to be
none, and a file put in the place of a table's (IMPORT TABLESPACE).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.mysql.introspect import Server, places
from sqlwright.database.reader import DatabaseReader

RECENT_SECONDS = 1
"""Whole seconds after that of a change in which its time isn't believed yet: another change may
bear the same one, and be seen a moment later."""
_TELLING = ("InnoDB", "MyISAM")
"""Storage engines whose time of the last change is true."""
_STORED = ("BASE TABLE", "SYSTEM VERSIONED")
_STATE = f"""
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, UPDATE_TIME IS NOT NULL,
        CREATE_OPTIONS LIKE '%partitioned%', GREATEST(COALESCE(UPDATE_TIME, CREATE_TIME),
            COALESCE(CREATE_TIME, UPDATE_TIME)) >= NOW() - INTERVAL {RECENT_SECONDS} SECOND,
        CREATE_TIME, UPDATE_TIME, AUTO_INCREMENT, TABLE_ROWS = 0
    FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({{places}})
    ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_VIEWS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, MD5(VIEW_DEFINITION) FROM information_schema.VIEWS
    WHERE TABLE_SCHEMA IN ({places}) ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_STATUS = {
    "mariadb": "information_schema.GLOBAL_STATUS",
    "mysql": "performance_schema.global_status",
}
_SERVER = """
    SELECT UNIX_TIMESTAMP() - MAX(CASE UPPER(VARIABLE_NAME) WHEN 'UPTIME' THEN
            CAST(VARIABLE_VALUE AS UNSIGNED) END),
        MAX(CASE UPPER(VARIABLE_NAME) WHEN 'OPENED_TABLE_DEFINITIONS' THEN
            CAST(VARIABLE_VALUE AS UNSIGNED) END) < @@GLOBAL.table_definition_cache / 2
    FROM {status} WHERE VARIABLE_NAME IN ('Uptime', 'Opened_table_definitions')
"""
"""The second in which the server started, and whether its cache can have dropped nothing."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes as the server tells of them."""

    fingerprint: str
    """Changes when the stored data may have changed; empty where that can't be told of every
    table."""
    marks: Mapping[tuple[str, str], str]
    """Likewise of each table and view by database and name; empty where it can't be told. Of a
    view it never can: it may show tables that the login doesn't see."""
    passing: bool
    """True if it can't be told only because something was changed a moment ago."""


def read_changes(reader: DatabaseReader, server: Server) -> Changes:
    """Read all of it. Raises ReadFailed."""
    if not server.databases:
        return Changes("", {}, passing=False)
    among = places(server.databases)
    try:
        status = _STATUS[server.dialect]
        ((started, roomy),) = list(reader.rows(_SERVER.format(status=status)))
    except READ_FAILURES as error:
        if read_failure(error).kind not in {"sql", "unsafe"}:
            raise
        started = roomy = None  # the login may not read it
    rows = list(reader.rows(_STATE.format(places=among), server.databases))
    views = list(reader.rows(_VIEWS.format(places=among), server.databases))
    marks: dict[tuple[str, str], str] = {}
    told, passing = started is not None, False
    for base, table, kind, engine, changed, partitioned, recent, *times in rows:
        name = (str(base), str(table))
        if kind == "VIEW":
            marks[name] = ""
        if kind not in _STORED:
            continue
        known = engine in _TELLING and not partitioned and (changed or roomy)
        told, passing = told and bool(known), passing or bool(recent)
        believed = known and not recent and started is not None
        marks[name] = _digest((engine, times, started)) if believed else ""
    state = [row[:4] + row[7:] for row in rows]
    moment = time.time_ns() if passing else None
    fingerprint = _digest((state, views, started, moment)) if told else ""
    return Changes(fingerprint, marks, passing)


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:32]
