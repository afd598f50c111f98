"""One query on a connection: its column names, and rows that bear text which isn't valid UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from sqlwright.sql.pieces import without_end

if TYPE_CHECKING:
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _tolerant(sql: str, count: int) -> str:
    """The same query with texts and blobs as hexadecimal digits behind a mark.

    For results with text that isn't valid UTF-8, which the binding can't hand out.
    """
    body = without_end(sql)
    names = [f"c{i}" for i in range(count)]
    cells = ", ".join(
        f"CASE typeof({n}) WHEN 'text' THEN 't' || hex({n}) "
        f"WHEN 'blob' THEN 'b' || hex({n}) ELSE {n} END"
        for n in names
    )
    return f"WITH tolerant({', '.join(names)}) AS ({body}\n) SELECT {cells} FROM tolerant"


def _tolerant_row(row: Row) -> Row:
    return tuple(
        cell
        if not isinstance(cell, str)
        else (bytes.fromhex(cell[1:]) if cell[0] == "b" else _text(bytes.fromhex(cell[1:])))
        for cell in row
    )


class Statement:
    """Runs one query on a connection and remembers its column names, rows or not."""

    def __init__(
        self,
        connection: apsw.Connection,
        check: Callable[[apsw.Cursor, int], None] | None = None,
    ) -> None:
        self._connection = connection
        self._check = check
        self._seen = 0
        self.began = False
        """True once anything has been run, so that what goes wrong may quote stored data."""
        self.names: tuple[str, ...] = ()

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Check and start the query; the rows come lazily. Text that isn't valid UTF-8 comes with
        replacement characters."""
        cursor = self._connection.cursor()
        cursor.exec_trace = self._before
        first: UnicodeDecodeError | None = None
        try:
            cursor.execute(sql, parameters)
        except UnicodeDecodeError as error:
            first = error
        return self._iterate(cursor, sql, parameters, first)

    def _iterate(
        self,
        cursor: apsw.Cursor,
        sql: str,
        parameters: Sequence[Cell],
        failed: UnicodeDecodeError | None,
    ) -> Iterator[Row]:
        given = 0
        if failed is None:
            try:
                for row in cursor:
                    yield row
                    given += 1
            except UnicodeDecodeError:
                pass
            else:
                return
        cursor.close(True)
        self._seen = 0
        names = self.names
        again = self._connection.cursor()
        again.exec_trace = self._before
        again.execute(_tolerant(sql, len(names)), parameters)
        self.names = names
        yield from map(_tolerant_row, islice(again, given, None))

    def _before(self, cursor: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
        if not cursor.has_vdbe:
            return True
        self._seen += 1
        if self._check is not None:
            self._check(cursor, self._seen)
        try:
            self.names = tuple(name for name, *_ in cursor.get_description())
        except UnicodeDecodeError:
            raise apsw.SQLError("a column's name is not valid UTF-8: name the columns") from None
        self.began = True
        return True
