"""Texts that change with data and definitions on a server: one for all of it, and one for each
table.

The server counts the rows that were inserted, updated and deleted in every table, whoever did it
and whether or not it was undone; the counts only grow, and they are lost together with the times at
which they began. What isn't counted shows in the catalog: TRUNCATE, rewriting and REFRESH give a
table another file, ALTER TABLE another version of its row or its columns' rows.

The counts come late. A session hands them over when it ends or rests, at most once a second, and
what it held back then ten seconds later (`LAG_SECONDS`). A mark is taken before its table is read,
so counts that come later change it: what was read is never held to be newer than it is. But a
change may be missed until its count is there; `settled` tells when none can be on its way.

Not noticed: what a superuser wrote with `track_counts` off for the session, a foreign table's
changes by others, and a cluster that was put back from a copy of its files and then changed by as
many rows.
"""

from __future__ import annotations

import hashlib

from sqlwright.database.reader import DatabaseReader
from sqlwright.schema import Schema

LAG_SECONDS = 10.5
"""Seconds after which a session that rests has handed over its counts."""
_COUNTED = """
    pg_catalog.current_setting('track_counts') = 'on' AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_db_role_setting s
        JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
        WHERE s.setdatabase IN (0, d.oid)
            AND pg_catalog.array_to_string(s.setconfig, ',') ~* '(^|,)track_counts='
    )
"""
"""True where no login writes uncounted."""
_BEGUN = """
    pg_catalog.concat_ws('.', pg_catalog.pg_stat_get_bgwriter_stat_reset_time(),
        pg_catalog.pg_stat_get_db_stat_reset_time(
            (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())))
"""
"""The times at which the counts began: a reset tells the database's, a crash the server's."""
_RELATIONS = """
    e AS MATERIALIZED (
        SELECT pg_catalog.sha256(pg_catalog.convert_to(
            pg_catalog.string_agg(oid::text || '.' || xmin::text, ',' ORDER BY oid), 'UTF8'
        ))::text AS labels FROM pg_catalog.pg_enum
    ), a AS MATERIALIZED (
        SELECT attrelid, pg_catalog.string_agg(xmin::text, ',' ORDER BY attnum) AS columns,
            pg_catalog.max(atttypid) >= 16384 AS own_types
        FROM pg_catalog.pg_attribute WHERE attrelid >= 16384 AND attnum > 0 GROUP BY attrelid
    ), r AS MATERIALIZED (
        SELECT c.oid, c.relkind, c.relname, n.nspname, c.relispartition, c.relrowsecurity,
            pg_catalog.concat_ws('.', c.oid, c.xmin, c.relfilenode,
                pg_catalog.pg_stat_get_tuples_inserted(c.oid),
                pg_catalog.pg_stat_get_tuples_updated(c.oid),
                pg_catalog.pg_stat_get_tuples_deleted(c.oid),
                a.columns, CASE WHEN a.own_types THEN e.labels END) AS state
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        CROSS JOIN e LEFT JOIN a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND n.nspname NOT IN ('pg_catalog', 'information_schema')
            AND n.nspname !~ '^pg_t(oast|emp)'
    )
"""
"""Every relation, and what changes with its rows, its columns, and the labels of enumerations."""
_FINGERPRINT = f"""
    WITH {_RELATIONS}
    SELECT {_COUNTED},
        CASE WHEN pg_catalog.pg_is_in_recovery()
            THEN pg_catalog.pg_last_wal_replay_lsn()::text END,
        {_BEGUN},
        (SELECT pg_catalog.sha256(pg_catalog.convert_to(
            pg_catalog.string_agg(state, ';' ORDER BY oid), 'UTF8'))::text FROM r),
        (SELECT pg_catalog.sha256(pg_catalog.convert_to(
            pg_catalog.string_agg(xmin::text, ',' ORDER BY oid), 'UTF8'))::text
            FROM pg_catalog.pg_rewrite WHERE ev_class >= 16384),
        (SELECT pg_catalog.sha256(pg_catalog.convert_to(
            pg_catalog.string_agg(xmin::text, ',' ORDER BY objoid, classoid, objsubid), 'UTF8'
        ))::text FROM pg_catalog.pg_description WHERE objoid >= 16384)
"""
_TELLS = f"SELECT {_COUNTED} AND NOT pg_catalog.pg_is_in_recovery()"
_MARKS = f"""
    WITH RECURSIVE {_RELATIONS}, tree AS (
        SELECT oid AS root, oid, '' AS link FROM r WHERE NOT relispartition AND relkind <> 'v'
        UNION
        SELECT tree.root, i.inhrelid, i.xmin::text
        FROM tree JOIN pg_catalog.pg_inherits i ON i.inhparent = tree.oid
    )
    SELECT root.nspname, root.relname,
        root.nspname = pg_catalog.current_schema() AND pg_catalog.pg_table_is_visible(root.oid),
        pg_catalog.bool_or(part.relkind = 'f') OR CASE WHEN root.relrowsecurity
            THEN pg_catalog.row_security_active(root.oid) ELSE false END,
        pg_catalog.string_agg(pg_catalog.concat_ws('.', part.state, tree.link,
            CASE WHEN part.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(part.oid) END
        ), ';' ORDER BY part.oid, tree.link),
        {_BEGUN}
    FROM tree JOIN r root ON root.oid = tree.root JOIN r part ON part.oid = tree.oid
    GROUP BY root.oid, root.nspname, root.relname, root.relrowsecurity
"""
"""Every table with all that its rows are kept in: itself, its partitions, tables that inherit."""
_RESTLESS = f"""
    SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity
    WHERE datname = pg_catalog.current_database() AND pid <> pg_catalog.pg_backend_pid()
        AND coalesce(application_name, '') <> 'sqlwright'
        AND coalesce(backend_type, '') NOT IN ('autovacuum worker', 'walsender')
        AND NOT coalesce(state = 'idle' AND state_change < pg_catalog.clock_timestamp()
            - pg_catalog.make_interval(secs => {LAG_SECONDS}), false)
"""
"""Sessions that may hold counts back. One that isn't there any more has handed them over; what
sqlwright's own do isn't counted, and what those of other logins do is hidden from most."""


def read_fingerprint(reader: DatabaseReader) -> str:
    """A text that changes when the stored data may have changed; on a standby with all that it
    replays. Empty where not everything is counted. Raises ReadFailed."""
    counted, replayed, *parts = next(reader.rows(_FINGERPRINT))
    if replayed is not None:
        return str(replayed)
    return _digest(parts) if counted else ""


def read_marks(reader: DatabaseReader, schema: Schema) -> dict[str, str] | None:
    """The marks of all tables and materialised views by their names in the schema; an empty one of
    foreign tables, of what has parts elsewhere, and of tables whose policies decide which rows this
    login sees. None on a standby, and where not everything is counted. Raises ReadFailed."""
    (tells,) = next(reader.rows(_TELLS))
    if not tells:
        return None
    marks: dict[str, str] = {}
    for namespace, own, usual, untold, *state in reader.rows(_MARKS):
        name = str(own) if usual else f"{namespace!s}.{own!s}"
        if schema.table(name) is not None:
            # "a.b" may be one table's name and two.
            marks[name] = "" if untold or name in marks else _digest(state)
    return marks


def settled(reader: DatabaseReader) -> bool:
    """True if no session can hold back counts of what it has changed. Raises ReadFailed."""
    (restless,) = next(reader.rows(_RESTLESS))
    return restless == 0


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:32]
