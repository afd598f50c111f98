"""Functions of the database's own: which of them a query may call, and by what names.

PostgreSQL looks for `f(x)` in all namespaces of the search path at once, its own first, and takes
what fits the arguments best. So a name alone may be called only where everything by that name that
it may reach is named, or on the guard's list; otherwise the namespace has to be written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlwright.database.functions import Name
from sqlwright.protocols import RowReader
from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Own
from sqlwright.types.functions import OwnFunction

OF_EXTENSION = """EXISTS (
    SELECT 1 FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
)"""
_REACHED = f"""
    SELECT n.nspname, p.proname, pg_catalog.bool_and({OF_EXTENSION}),
        pg_catalog.bool_or(p.pronargs > 0 AND p.pronargs - p.pronargdefaults <= 1
            AND (t.typtype = 'c' OR t.typname IN ('record', 'any', 'anyelement', 'anynonarray',
                'anycompatible', 'anycompatiblenonarray') OR b.typtype = 'c'))
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    LEFT JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype
    WHERE n.nspname = ANY (pg_catalog.current_schemas(false)) AND n.nspname <> 'pg_catalog'
    GROUP BY 1, 2
"""
"""Functions that a name alone reaches, whether all of that name are an extension's, and whether one
takes a row."""
_HARMLESS = """
    SELECT p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'pg_catalog'::regnamespace GROUP BY p.proname
    HAVING pg_catalog.bool_and(p.oid < 16384 AND p.provolatile = 'i' AND p.prokind <> 'p'
        AND l.lanname = 'internal' AND NOT (p.proargtypes::oid[] || p.prorettype) && ARRAY(
            SELECT oid FROM pg_catalog.pg_type WHERE typtype = 'p' AND typname NOT LIKE 'any%'
                AND typname NOT LIKE '\\_any%' OR typname ~
                    '^_?(reg.*|oid.*|xid.*|cid|tid|xml|acl.*|pg_.*|refcursor|name|txid_.*)$'))
"""
"""Functions of the server's that it calls immutable, in all forms, and that take and give neither
what stands for an object of the catalogue nor what only its own code can make."""
_CALLABLE = """p.prokind <> 'p' AND p.prorettype NOT IN (
        'pg_catalog.trigger'::regtype, 'pg_catalog.event_trigger'::regtype)
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_t(oast|emp)'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')"""
_STORED = f"""
    SELECT DISTINCT n.nspname, p.proname, pg_catalog.current_schema() FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE {_CALLABLE}
"""
_NAMED = f"""
    SELECT n.nspname, p.proname, pg_catalog.pg_get_function_arguments(p.oid),
        pg_catalog.pg_get_function_result(p.oid), d.description, p.prosecdef,
        p.provolatile = 'v', r.rolname,
        CASE WHEN l.lanpltrusted OR l.lanname = 'internal' THEN '' ELSE l.lanname END,
        EXISTS (SELECT 1 FROM pg_catalog.pg_proc s
            WHERE s.proname = p.proname AND s.pronamespace = 'pg_catalog'::regnamespace),
        CASE WHEN p.proargmodes IS NOT NULL THEN ARRAY(
                SELECT p.proargnames[n] FROM pg_catalog.generate_subscripts(p.proargmodes, 1) AS n
                WHERE p.proargmodes[n] IN ('b', 'o', 't'))
            ELSE ARRAY(SELECT c.attname::text FROM pg_catalog.pg_attribute c
                WHERE c.attrelid = t.typrelid AND t.typrelid <> 0 AND c.attnum > 0
                    AND NOT c.attisdropped) END
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_roles r ON r.oid = p.proowner
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    JOIN pg_catalog.pg_type t ON t.oid = p.prorettype
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.objsubid = 0
        AND d.classoid = 'pg_catalog.pg_proc'::regclass
    WHERE {_CALLABLE} AND p.proname IN ({{places}})
    ORDER BY n.nspname, p.proname, p.pronargs, p.oid
"""


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a database's own."""

    named: tuple[OwnFunction, ...] = ()
    """Those that may be called, with all that differ in their arguments."""
    own: Own = Own()  # noqa: RUF009 - frozen


def stored(connection: RowReader) -> tuple[list[Name], str]:
    """Every function that a query could call, and the usual namespace. Raises ReadFailed."""
    rows = list(connection.rows(_STORED))
    return [(str(space), str(own)) for space, own, _ in rows], str(rows[0][2]) if rows else ""


def read_functions(connection: RowReader, named: Collection[Name]) -> Functions:
    """The functions that are named, and what the guard has to know of all. Raises ReadFailed."""
    reached: defaultdict[str, set[str]] = defaultdict(set)
    others, of_rows = set(), set()
    for space, name, extension, row in connection.rows(_REACHED):
        reached[str(name)].add(str(space))
        if row:
            of_rows.add(fold_name(str(name)))
        if not extension and (str(space), str(name)) not in named:
            others.add(fold_name(str(name)))
    found = list(_named(connection, named))
    calls: set[str] = set()
    columns: dict[str, frozenset[str]] = {}
    for one in found:
        spaces = reached[one.name]
        alone = one.space in spaces and {(space, one.name) for space in spaces} <= set(named)
        for call in (f"{one.space}.{one.name}", *([one.name] if alone and not one.system else [])):
            calls.add(call)
            # Nobody knows which of several by that name is called.
            known = columns.setdefault(fold_name(call), one.columns)
            columns[fold_name(call)] = known & one.columns
    harmless = frozenset(str(name) for (name,) in connection.rows(_HARMLESS)) - reached.keys()
    return Functions(
        tuple(one.told(alone=one.name in calls) for one in found),
        Own(
            frozenset(calls), frozenset(), frozenset(others), frozenset(of_rows), columns, harmless
        ),
    )


@dataclass(frozen=True, slots=True)
class _Function:
    """One of the functions that are named, as stored."""

    space: str
    name: str
    arguments: str
    result: str
    description: str
    cautions: tuple[str, ...]
    system: bool
    """True if the system has one of that name."""
    columns: frozenset[str]
    """Columns of what it gives; empty where that is one value."""

    def told(self, *, alone: bool) -> OwnFunction:
        """The same as others are told of it; `alone` where its name is enough."""
        space = "" if alone else self.space
        return OwnFunction(
            self.name, space, self.arguments, self.result, self.description, self.cautions
        )


def _named(connection: RowReader, named: Collection[Name]) -> Iterator[_Function]:
    if not named:
        return
    names = sorted({own for _, own in named})
    sql = _NAMED.format(places=", ".join("?" * len(names)))
    for (
        space,
        own,
        arguments,
        result,
        told,
        definer,
        volatile,
        owner,
        language,
        *rest,
    ) in connection.rows(sql, names):
        if (space, own) not in named:
            continue
        cautions = {
            f"it runs with the rights of {owner!s}, its owner": definer,
            "it is volatile: it may do anything that a read-only transaction allows": volatile,
            f"it is written in {language!s}, which may reach beyond the database": language,
        }
        system, columns = rest
        yield _Function(
            str(space), str(own), str(arguments), str(result), str(told or ""),
            tuple(words for words, holds in cautions.items() if holds),
            bool(system), frozenset(map(str, columns if isinstance(columns, tuple) else ())),
        )  # fmt: skip
