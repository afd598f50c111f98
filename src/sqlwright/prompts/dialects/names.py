"""Names of a schema as prompts show them: as a query of its dialect would write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import Dialect, dialect_of, written_name
from sqlwright.sql.tokens import quote_name


@dataclass(frozen=True)
class Names:
    """Writes the names of one schema, quoted where they have to be."""

    schema: Schema

    def own(self, name: str) -> str:
        """A column's name, or a table's without its namespace."""
        dialect = self._dialect
        return quote_name(name) if dialect.name == "sqlite" else written_name(dialect, name)

    def table(self, name: str) -> str:
        """A table by its stored name, with its namespace where it isn't the usual one."""
        table = self.schema.table(name)
        if table is None or not table.namespace:
            return self.own(name)
        return f"{self.own(table.namespace)}.{self.own(table.own_name)}"

    def column(self, ref: ColumnRef) -> str:
        """A column behind its table."""
        return f"{self.table(ref.table)}.{self.own(ref.column)}"

    def listed(self, names: Iterable[str]) -> str:
        """Columns with commas between them."""
        return ", ".join(map(self.own, names))

    @cached_property
    def _dialect(self) -> Dialect:
        return dialect_of(self.schema)
