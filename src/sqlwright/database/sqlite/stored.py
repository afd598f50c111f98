"""Names of a file's tables and views, and which of them a query may read."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, replace

from sqlwright.database.reader import DatabaseReader
from sqlwright.database.sqlite.allowed import TABLE_FUNCTIONS
from sqlwright.schema import fold_name


@dataclass(frozen=True)
class Stored:
    """Names of a file's tables and views."""

    names: frozenset[str]
    """Names of tables and views."""
    views: Mapping[str, str]
    """Their CREATE VIEW texts."""
    hidden: Container[str] = frozenset()
    """Names that may not be read, as `fold_name` gives it."""

    def without(self, tables: Collection[str]) -> Stored:
        """The same with everything hidden but these tables, the schema's own included. A stored
        table that bears a table function's name takes its place."""
        functions = TABLE_FUNCTIONS.difference(map(fold_name, self.names))
        return replace(self, hidden=Others(frozenset(map(fold_name, tables)) | functions))


@dataclass(frozen=True)
class Others:
    """All names but the listed ones: whether something of that name is stored makes no difference,
    so that no answer can tell."""

    listed: frozenset[str]
    """The names as `fold_name` gives them."""

    def __contains__(self, name: object) -> bool:
        return name not in self.listed


def read_stored(connection: DatabaseReader, tables: Collection[str] | None) -> Stored:
    """As SQLite reads its schema: whatever is stored is text up to a NUL, and the kind's case
    makes no difference."""
    rows = [
        (str(name).partition("\0")[0], fold_name(str(kind).partition("\0")[0]), str(sql))
        for name, kind, sql in connection.rows(
            "SELECT CAST(name AS TEXT), CAST(type AS TEXT), CAST(sql AS TEXT) FROM sqlite_schema"
        )
    ]
    views = {name: sql for name, kind, sql in rows if kind == "view"}
    stored = Stored(frozenset(name for name, kind, _ in rows if kind in {"table", "view"}), views)
    return stored if tables is None else stored.without(tables)
