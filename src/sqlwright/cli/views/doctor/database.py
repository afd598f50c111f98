"""The checks of `doctor` that ask a database."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.doctor.check import Check, State
from sqlwright.cli.views.files import how_to_correct, table_line
from sqlwright.errors import SqlwrightError
from sqlwright.presentation.numbers import counted
from sqlwright.sql.dialects import SQLITE, dialect_named

if TYPE_CHECKING:
    from sqlwright.database.guarded import GuardedDatabase
    from sqlwright.database.readings import Readings

VERSION_SECONDS = 5.0
"""Seconds in which a server says its version."""


def database_checks(target: str, functions: Collection[str] = ()) -> Iterator[Check]:
    """Checks of a database: connection, engine, layers of the guard, login, and `functions` of its
    own that queries may call."""
    from sqlwright.database import open_database
    from sqlwright.protocols import Run

    try:
        database = open_database(target, functions=functions)
    except SqlwrightError as error:
        yield Check("database", "bad", str(error), error.hint)
        return
    try:
        schema = database.schema()
        views = sum(table.kind == "view" for table in schema.tables)
        yield Check(
            "database",
            "good" if schema.tables else "fair",
            f"{database.url}: "
            + ", ".join(
                counted(number, noun)
                for number, noun in (
                    (len(schema.tables) - views, "table"),
                    (views, "view"),
                    (schema.column_count, "column"),
                    (len(schema.foreign_keys), "declared key"),
                )
            ),
            "" if schema.tables else "There is nothing in it to ask about.",
        )
        for note in database.noticed(()) if database.path is None else ():
            yield Check("address", "fair", note)
        readings = database.readings()
        if readings is not None:
            yield from _readings(readings, target)
        result = database.execute("SELECT 1 AS one", Run())
        if result.error is not None:
            yield Check("database", "bad", f"SELECT 1 failed: {result.error.message}")
        if database.dialect != SQLITE.name:
            yield _engine(database)
            yield _layers(database)
            yield from _login(database)
            yield from _functions(database)
    except SqlwrightError as error:
        yield Check("database", "bad", str(error), error.hint)
    finally:
        database.close()


def _readings(readings: Readings, target: str) -> Iterator[Check]:
    """The way in which each table was read, and what was left out."""
    for one in readings.tables:
        state: State = "fair" if one.notes else "good"
        yield Check("table", state, table_line(one), "\n".join((*one.notes, *one.details)))
    for note in readings.notes:
        yield Check("left out", "fair", note)
    yield Check("guesses", "good", how_to_correct(readings, target))


def _engine(database: GuardedDatabase) -> Check:
    """The engine's own word on its version."""
    from sqlwright.database.failures import READ_FAILURES

    title = dialect_named(database.dialect).title
    try:
        with database.reader(seconds=VERSION_SECONDS) as reader:
            ((version,),) = reader.rows("SELECT version()")
    except READ_FAILURES:
        return Check("engine", "fair", f"{title}, which doesn't tell its version")
    told = str(version)
    return Check("engine", "good", told if title.lower() in told.lower() else f"{title} {told}")


def _layers(database: GuardedDatabase) -> Check:
    """The layers besides the check of each query's parse tree, seen at the process that ran one."""
    words = {
        "limits": "can't write files",
        "no_new_privs": "gains no rights",
        "landlock": "opens no other files (Landlock)",
        "seccomp": "starts no programs" if database.path is None else "has no network (seccomp)",
    }
    held = [words.get(name, name.replace("_", " ")) for name in database.confinement]
    opened = "the server is asked in read-only transactions, under its own time limit"
    if database.path is not None:
        opened = "the file is opened read-only"
    process = f"; the process that asks {', '.join(held)}" if held else ""
    return Check("layers", "good", f"each query's parse tree is checked; {opened}{process}")


def _login(database: GuardedDatabase) -> Iterator[Check]:
    """The rights of the login by itself, and how to make one that only reads."""
    rights = database.rights()
    if rights is None:
        return
    name = clean(rights.name, 120)
    if not rights.more:
        yield Check("login", "good", f"{name} can only read, whatever it is asked")
        return
    found = f"{name} could do more than read, if the guard failed: {'; '.join(rights.more)}"
    made = "\n".join(rights.statements)
    yield Check("login", "fair", found, f"A login that can only read is made by:\n{made}")


def _functions(database: GuardedDatabase) -> Iterator[Check]:
    """The functions of the database's own that queries may call, and what naming each means."""
    told: dict[str, tuple[str, ...]] = {}
    for function in database.functions:
        name = clean(function.shown, 120)
        told[name] = tuple(dict.fromkeys((*told.get(name, ()), *function.cautions)))
    if not told:
        return
    careful = {name: cautions for name, cautions in told.items() if cautions}
    more = "\n".join(
        f"{name}: {clean('; '.join(cautions), 400)}" for name, cautions in careful.items()
    )
    yield Check(
        "functions",
        "fair" if careful else "good",
        f"queries may call {', '.join(told)}, which the database defines",
        more,
    )
