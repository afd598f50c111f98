"""Limits of the reading by `prepare`: rows of a table, seconds in all, and rests between."""

from __future__ import annotations

from dataclasses import dataclass

from sqlwright.protocols import Database

MOST_ROWS = 200_000
"""Rows of a table that are read by default of every engine but SQLite; of a larger one as many from
all over it, and each value of columns of texts, counted by the engine."""
PAUSE = 0.25
"""Rest after each chunk of rows from a server, as a share of the time that the chunk took."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Limits of one preparation."""

    rows: int | None = None
    """Rows of each table at most; None is all of them."""
    seconds: float | None = None
    """Seconds for reading all tables; None is no limit."""
    pause: float = 0.0
    """Rest after each chunk of rows, as a share of the time that it took."""
    counting: bool = False
    """True if the engine may count the values of columns of texts of larger tables, for which it
    reads them whole."""

    @property
    def named(self) -> str:
        """The limits by which two preparations are told apart; empty without any."""
        limits = (("rows", self.rows), ("seconds", self.seconds))
        return " ".join(f"{name}={value:g}" for name, value in limits if value is not None)


def reach_into(database: Database, rows: int | None, seconds: float | None) -> Reach:
    """The limits that were asked for, and those that the engine has by default."""
    if database.dialect == "sqlite":
        return Reach(rows, seconds)
    pause = PAUSE if database.path is None else 0.0
    return Reach(MOST_ROWS if rows is None else rows, seconds, pause, counting=rows is None)
