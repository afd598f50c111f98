"""Tables, views, columns and keys that the login may read, in a handful of statements.

Partitions are hidden behind their table, and what belongs to extensions (their namespaces, too) or
to the system is left out. The usual namespace is the first one of the search path that is there; a
table that a name alone doesn't reach (another of the same name comes before it) counts as one of a
namespace.

And functions of the database's own: PostgreSQL looks for `f(x)` in all namespaces of the search
path at once, its own first, and takes what fits the arguments best. So a name alone may be called
only where everything by that name that it may reach is named, or on the guard's list; otherwise the
namespace has to be written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlwright.database.functions import MOST_LABELS, Name, labels_told
from sqlwright.database.reader import DatabaseReader
from sqlwright.protocols import RowReader
from sqlwright.schema import Column, ForeignKey, Schema, Table, fold_name
from sqlwright.sql.dialects import POSTGRES
from sqlwright.sql.guards.rules import Own, rules_of
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


LONGEST_DEFINITION = 4_000
"""Characters of a view's query that is kept; a longer one isn't, since half of one misleads."""
_READABLE = """
    SELECT c.oid, c.relname, c.relkind, n.nspname, c.whole,
        n.nspname = pg_catalog.current_schema() AND pg_catalog.pg_table_is_visible(c.oid) AS usual
    FROM (
        SELECT oid, relname, relkind, relnamespace,
            pg_catalog.has_table_privilege(oid, 'SELECT') AS whole
        FROM pg_catalog.pg_class
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
            AND relpersistence <> 't'
    ) AS c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_t(oast|emp)'
        AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
        AND (c.whole OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
        AND NOT EXISTS (
            SELECT 1 FROM pg_catalog.pg_depend d
            WHERE d.deptype = 'e'
                AND (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid
                    OR d.classid = 'pg_catalog.pg_namespace'::regclass AND d.objid = n.oid)
        )
"""
_TABLES = f"""
    WITH r AS MATERIALIZED ({_READABLE})
    SELECT r.oid::int8, r.nspname, r.relname, r.relkind, r.usual, d.description,
        CASE WHEN r.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(r.oid, true) END,
        pg_catalog.current_schema(), pg_catalog.current_database()
    FROM r LEFT JOIN pg_catalog.pg_description d ON d.objoid = r.oid AND d.objsubid = 0
        AND d.classoid = 'pg_catalog.pg_class'::regclass
    ORDER BY r.usual DESC, r.nspname, r.oid
"""
_COLUMNS = f"""
    WITH r AS MATERIALIZED ({_READABLE})
    SELECT a.attrelid::int8, a.attnum, a.attname,
        CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod)
            ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END,
        a.attnotnull OR t.typnotnull, a.attgenerated <> '' OR a.attidentity = 'a', d.description,
        CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END::int8, t.typelem::int8
    FROM r JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = r.oid AND d.objsubid = a.attnum
        AND d.classoid = 'pg_catalog.pg_class'::regclass
    WHERE a.attnum > 0 AND NOT a.attisdropped
        AND (r.whole OR pg_catalog.has_column_privilege(r.oid, a.attnum, 'SELECT'))
    ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
    SELECT contype, conrelid::int8, confrelid::int8, conkey, confkey FROM pg_catalog.pg_constraint
    WHERE contype IN ('p', 'f') ORDER BY conrelid, oid
"""
_LABELS = """
    SELECT e.enumtypid::int8, e.enumlabel, n.nspname, t.typname,
        pg_catalog.pg_type_is_visible(t.oid)
    FROM pg_catalog.pg_enum e JOIN pg_catalog.pg_type t ON t.oid = e.enumtypid
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    ORDER BY e.enumtypid, e.enumsortorder
"""
_VIEWED = """
    WITH RECURSIVE held AS (
        SELECT i.inhparent, i.inhrelid FROM pg_catalog.pg_inherits i
        JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid WHERE NOT c.relispartition
    ), below AS (
        SELECT * FROM held
        UNION SELECT b.inhparent, h.inhrelid FROM below b JOIN held h ON h.inhparent = b.inhrelid
    )
    SELECT DISTINCT r.ev_class::int8, d.refobjid::int8 FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass
        AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
        AND d.refobjid <> r.ev_class
    UNION SELECT inhparent::int8, inhrelid::int8 FROM below
"""
_CALLED = f"""
    SELECT DISTINCT CASE WHEN t.nspname = pg_catalog.current_schema()
            AND pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::text
        ELSE t.nspname || '.' || c.relname END, n.nspname, p.proname
    FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind IN ('v', 'm')
    JOIN pg_catalog.pg_namespace t ON t.oid = c.relnamespace
        AND t.nspname NOT IN ('pg_catalog', 'information_schema')
    CROSS JOIN LATERAL pg_catalog.regexp_matches(
        r.ev_action::text, ':(?:op)?(?:funcid|aggfnoid|winfnoid) (\\d+)', 'g') AS m
    JOIN pg_catalog.pg_proc p ON p.oid = m[1]::oid
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE NOT (p.provolatile = 'i' AND (n.nspname = 'pg_catalog' OR {OF_EXTENSION}))
"""
"""Functions that views call, but for those whose engine or extension says that they depend on
nothing but their arguments."""


@dataclass(frozen=True)
class Known:
    """The schema, and what the server tells beside it."""

    schema: Schema
    viewed: Mapping[str, frozenset[str]]
    """The tables that each view reads, and that inherit from each table, since it shows their rows,
    by their names in the schema; an empty name for others."""
    usual: str = ""
    """The usual namespace."""
    functions: Functions = Functions()
    enumerations: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The names that queries may use for the enumerations among each table's columns."""

    @property
    def readable(self) -> frozenset[tuple[str, ...]]:
        """Every table as queries may name it: one of the usual namespace also with that."""
        paths = [table.path for table in self.schema.tables]
        return frozenset([*paths, *((self.usual, *path) for path in paths if len(path) == 1)])

    @property
    def columns(self) -> frozenset[str]:
        """The names of all columns, of what named functions give, too: PostgreSQL takes `t.f` for a
        call of f where no column is named so."""
        given = self.functions.own.columns.values()
        return frozenset(ref.column for ref in self.schema.columns).union(*given)

    @cached_property
    def own(self) -> Own:
        """Functions that may be called and the enumerations of the tables' columns."""
        types = (self.enumerations.get(table.name, frozenset()) for table in self.schema.tables)
        return replace(self.functions.own, types=frozenset[str]().union(*types))

    def hidden(self, name: str, listed: Collection[str]) -> list[str]:
        """Tables that one shows and that aren't listed. What only a view may read, its owner has
        chosen to show by it."""
        known = {table.name for table in self.schema.tables}
        return sorted((self.viewed.get(name, frozenset()) & known).difference(listed))

    def only(self, names: Collection[str]) -> Known:
        """The same with these tables alone, and without those that show what others hold. A view
        that reads what the login can't read is shown without its query."""
        names = [name for name in names if not self.hidden(name, names)]
        schema = self.schema.only(names)
        return Known(
            Schema(
                schema.name,
                tuple(_without_hidden(table, self.viewed, names) for table in schema.tables),
                schema.foreign_keys,
                schema.dialect,
            ),
            self.viewed,
            self.usual,
            self.functions,
            self.enumerations,
        )


def read_known(connection: DatabaseReader, named: Collection[Name] = ()) -> Known:
    """Read everything, and the functions that are named. Raises ReadFailed."""
    listed = _rows(connection, _TABLES)
    labels = _rows(connection, _LABELS)
    columns, enumerations = _columns(connection, labels)
    keys = _rows(connection, _KEYS)
    primary = {relation: numbers for kind, relation, _, numbers, _ in keys if kind == "p"}
    tables: dict[int, Table] = {}
    names: set[str] = set()
    for oid, namespace, own, kind, usual, description, definition, *_ in listed:
        name = str(own) if usual else f"{namespace!s}.{own!s}"
        if name in names or not columns[oid]:  # "a.b" may be one table's name and two
            continue
        names.add(name)
        text = str(definition or "").strip().removesuffix(";")
        tables[oid] = Table(
            name=name,
            columns=tuple(columns[oid].values()),
            primary_key=_names(columns[oid], primary.get(oid, ())) or (),
            kind="view" if kind in {"v", "m"} else "table",
            namespace="" if usual else str(namespace),
            description=str(description or ""),
            definition=text if len(text) <= LONGEST_DEFINITION else "",
        )
    viewed = _viewed(connection, tables)
    found = tuple(dict.fromkeys(_foreign_keys(keys, tables, columns)))
    usual, name = listed[0][-2:] if listed else ("", "")
    shown = tuple(_without_hidden(table, viewed, names) for table in tables.values())
    schema = Schema(str(name), shown, found, "postgres")
    enums = {table.name: frozenset(enumerations[oid]) for oid, table in tables.items()}
    functions = read_functions(connection, named)
    return Known(schema, viewed, str(usual or ""), functions, enums)


def read_called(connection: DatabaseReader, named: Collection[Name]) -> dict[str, str]:
    """The views that call a function which may read any table, with its name: one of the database's
    own that isn't named, or of the server's one that isn't harmless. Raises ReadFailed."""
    rules = rules_of(POSTGRES)
    found = {}
    for view, space, own in map(tuple, _rows(connection, _CALLED)):
        if space != "pg_catalog":
            harmless = (space, own) in named
        else:
            harmless = own in rules.functions or not rules.dangerous.fullmatch(str(own))
        if not harmless:
            found[str(view)] = f"{space}.{own}"
    return found


Columns = dict[int, Column]
"""The columns of one table by their numbers, which may have gaps."""
_UNREADABLE = ""
"""Stands for a table that a view reads and the login may not."""


def _rows(connection: DatabaseReader, sql: str) -> list[tuple[Any, ...]]:
    return list(connection.rows(sql))


def _columns(
    connection: DatabaseReader, listed: Sequence[tuple[Any, ...]]
) -> tuple[defaultdict[Any, Columns], defaultdict[Any, set[str]]]:
    """Columns by table, and the names of the enumerations among their types."""
    labels = _labels(listed)
    called = {
        oid: {f"{space!s}.{own!s}", *([str(own)] if alone else [])}
        for oid, _, space, own, alone in listed
        if "." not in f"{space!s}{own!s}"
    }
    columns: defaultdict[Any, Columns] = defaultdict(dict)
    enumerations: defaultdict[Any, set[str]] = defaultdict(set)
    for oid, number, name, kind, required, generated, description, type_oid, within in _rows(
        connection, _COLUMNS
    ):
        enumerations[oid] |= called.get(type_oid, set()) | called.get(within, set())
        columns[oid][number] = Column(
            name=str(name),
            type=str(kind),
            nullable=not required,
            generated=bool(generated),
            description=str(description or ""),
            value_description=labels_told(labels[type_oid]) if type_oid in labels else "",
            labels=labels.get(type_oid, ())[:MOST_LABELS],
        )
    return columns, enumerations


def _labels(listed: Sequence[tuple[Any, ...]]) -> dict[Any, tuple[str, ...]]:
    """The values of each enumeration, by its number."""
    found: defaultdict[Any, list[str]] = defaultdict(list)
    for oid, label, *_ in listed:
        found[oid].append(str(label))
    return {oid: tuple(labels) for oid, labels in found.items()}


def _viewed(connection: DatabaseReader, tables: Mapping[int, Table]) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for view, read in _rows(connection, _VIEWED):
        if view in tables:
            known = tables.get(read)
            found[tables[view].name].add(known.name if known else _UNREADABLE)
    return {view: frozenset(read) for view, read in found.items()}


def _without_hidden(
    table: Table, viewed: Mapping[str, frozenset[str]], names: Collection[str]
) -> Table:
    """The table; a view that reads what isn't among the names without its query."""
    if not table.definition or viewed.get(table.name, frozenset()) <= set(names):
        return table
    return Table(
        table.name,
        table.columns,
        table.primary_key,
        table.kind,
        table.namespace,
        table.description,
        table.label,
    )


def _foreign_keys(
    keys: Iterable[tuple[Any, ...]],
    tables: Mapping[int, Table],
    columns: Mapping[Any, Columns],
) -> Iterator[ForeignKey]:
    for kind, near, far, near_numbers, far_numbers in keys:
        if kind == "f" and near in tables and far in tables:
            near_names = _names(columns[near], near_numbers)
            far_names = _names(columns[far], far_numbers)
            if near_names and far_names:
                yield ForeignKey(tables[near].name, near_names, tables[far].name, far_names)


def _names(columns: Columns, numbers: Iterable[int]) -> tuple[str, ...]:
    """The names of numbered columns; none where one of them may not be read."""
    found = [columns.get(number) for number in numbers]
    return () if None in found else tuple(column.name for column in found if column is not None)
