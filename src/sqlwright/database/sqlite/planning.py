"""The tables and indexes by the pages they begin at, so that a plan's numbers get names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from sqlwright.database.reader import DatabaseReader
from sqlwright.protocols import Limits
from sqlwright.schema import fold_name
from sqlwright.types.plans import StoredOrder

PLAN_ROWS = 20_000
"""Instructions of a plan at most."""
PLAN_LIMITS = Limits(seconds=5.0, rows=PLAN_ROWS)
"""Nothing of a query runs when it is explained; compiling one is a matter of milliseconds."""

_TABLES = """
    SELECT s.name, s.rootpage, l.wr
    FROM sqlite_schema AS s JOIN pragma_table_list AS l ON l.name = s.name AND l.schema = 'main'
    WHERE s.type = 'table' AND s.rootpage > 0
"""
_COLUMNS = """
    SELECT s.name, x.name, x.type, x.pk, x.hidden
    FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
    WHERE s.type = 'table' AND s.rootpage > 0 ORDER BY s.rowid, x.cid
"""
_INDEXES = """
    SELECT s.name, i.name, i.origin, x.cid, x.name,
        (SELECT r.rootpage FROM sqlite_schema AS r WHERE r.type = 'index' AND r.name = i.name)
    FROM sqlite_schema AS s, pragma_index_list(s.name) AS i, pragma_index_xinfo(i.name) AS x
    WHERE s.type = 'table' AND s.rootpage > 0 ORDER BY s.rowid, i.seq, x.seqno
"""
_VIRTUAL = 2  # of `hidden`: computed when it is read, so that no row holds it
_ROWID = -1  # of `cid`: the row's number


def read_stored_orders(
    connection: DatabaseReader, tables: Collection[str] | None
) -> tuple[StoredOrder, ...]:
    """The rows of each table and index, in the order in which they hold columns; with `tables`, of
    those only. Raises the binding's errors."""
    roots = {str(name): (root, wr) for name, root, wr in connection.rows(_TABLES)}
    columns: dict[str, list[str]] = defaultdict(list)
    keys: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for table, name, declared, key, hidden in connection.rows(_COLUMNS):
        if hidden != _VIRTUAL:
            columns[str(table)].append(str(name))
        if key:
            keys[str(table)].append((str(name), str(declared).upper()))
    rowids = {table: _rowid(keys[table], without) for table, (_, without) in roots.items()}
    found: list[StoredOrder] = []
    indexes: dict[tuple[str, str, str, int], list[str]] = defaultdict(list)
    for table, index, origin, column, name, root in connection.rows(_INDEXES):
        shown = rowids[str(table)] if column == _ROWID else str(name or "")
        place = root if isinstance(root, int) else 0
        indexes[str(table), str(index), str(origin), place].append(shown)
    for (table, index, origin, root), held in indexes.items():
        if not root and origin == "pk":  # a table without row numbers is its own index
            columns[table] = held
        elif root:
            found.append(StoredOrder(root, table, index, tuple(held), rowids[table]))
    for table, (root, _) in roots.items():
        if isinstance(root, int):
            found.append(StoredOrder(root, table, "", tuple(columns[table]), rowids[table]))
    return tuple(_listed(found, tables))


def _rowid(keys: list[tuple[str, str]], without: object) -> str:
    if without:
        return ""
    if len(keys) == 1 and keys[0][1] == "INTEGER":
        return keys[0][0]
    return "rowid"


def _listed(
    found: Collection[StoredOrder], tables: Collection[str] | None
) -> Iterator[StoredOrder]:
    names = None if tables is None else set(map(fold_name, tables))
    for one in found:
        if names is None or fold_name(one.table) in names:
            yield one
