"""Checks of an installation and a database: each says what it found, and what to do when that is
bad."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlwright.boundary.home import HOME_VARIABLE
from sqlwright.boundary.text import counted, duration, visible
from sqlwright.database import open_database
from sqlwright.database.address import shown_address
from sqlwright.errors import ConfigError, DatabaseUnavailable, SqlwrightError, WorkspaceError
from sqlwright.prepare.storage.paths import (
    OWN_FILE,
    make_private,
    remove,
    untrusted,
    write_private,
)
from sqlwright.sql.dialects import SQLITE, dialect_named

if TYPE_CHECKING:
    from sqlwright.database.guarded import GuardedDatabase, Readings, TableReading
    from sqlwright.settings.values import Settings

LEAST_FREE = 200 * 1024 * 1024
"""Bytes on the disk that a larger database's prepared data may need."""
FULL = 10 * 1024 * 1024
"""Free bytes. With less, not even a small database can be prepared."""


def checks(
    database: str | None, settings: Settings, *, models: Check, silent: bool
) -> Iterator[Check]:
    """All checks in turn; `database` may be None when none is configured. `models` is that of the
    embedded models; `silent` is true where their runtime reports to nobody."""
    yield _program()
    yield from _libraries()
    yield models
    yield _language_models(settings, os.environ)
    yield from (_entry(name, settings, os.environ) for name in settings.llm.models)
    yield _network(settings, os.environ, silent=silent)
    yield _folder(settings)
    yield from _guard()
    if database is not None:
        try:
            folder = settings.prepared_folder(database)
        except ConfigError:  # told of the folder
            return
        except DatabaseUnavailable as error:
            yield Check("database", "bad", str(error), error.hint)
            return
        yield from database_checks(database, settings.functions_for(database))
        yield _prepared(database, folder)
        yield from _calibrations(settings.calibration or folder / OWN_FILE)


def _program() -> Check:
    from sqlwright import __version__

    return Check(
        "sqlwright",
        "good",
        f"{__version__} on Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} CPUs",
    )


def _libraries() -> Iterator[Check]:
    versions, missing = [], []
    for name in required():
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Check(
            "libraries",
            "bad",
            f"missing: {', '.join(missing)}",
            f"Install them: {sys.executable} -m pip install {' '.join(missing)}",
        )
        return
    from sqlwright.database.sqlite.probe import engine_version

    yield Check("libraries", "good", ", ".join(versions))
    yield Check("SQLite", "good", f"{engine_version()}, its own copy within apsw")


def required() -> list[str]:
    """The names of the libraries that the installed package can't do without, by its metadata."""
    needs = importlib.metadata.requires("sqlwright") or ()
    names = (re.match(r"[\w.-]+", need) for need in needs if "extra ==" not in need)
    return [name.group() for name in names if name]


def _language_models(settings: Settings, environ: Mapping[str, str]) -> Check:
    """Language models that could be asked, by the keys that are there; never the keys. Nothing is
    sent."""
    from sqlwright.llm.vendors.providers import PROVIDERS

    name = "providers"
    keyed = [row.name for row in PROVIDERS.values() if environ.get(row.key_variable or " ")]
    found = f"keys for {', '.join(keyed)}" if keyed else "no keys of language models' vendors"
    chosen = settings.llm.model
    if not chosen:
        return Check(name, "good", f"{found}; none is used unless -m names one")
    if chosen in settings.llm.models:
        return Check(name, "good", f"{chosen} is asked where a step names no other; {found}")
    where = _where(chosen, settings, environ)
    return where if where.state == "bad" else Check(name, "good", f"{where.found}; {found}")


def _entry(name: str, settings: Settings, environ: Mapping[str, str]) -> Check:
    """One of several models of a project file."""
    return replace(_where(name, settings, environ), name=f"model {name}")


def _where(model: str, settings: Settings, environ: Mapping[str, str]) -> Check:
    """The address of a language model, its price and the state of its key. Nothing is sent."""
    from sqlwright.llm.prices import load_prices
    from sqlwright.llm.vendors.connecting import check
    from sqlwright.llm.vendors.services import price_of, service_for
    from sqlwright.llm.vendors.weights_folder import folder_of, told_of

    file = settings.llm.prices
    try:
        service = service_for(model, settings.llm, environ)
        where = service.address
        price = price_of(service, load_prices(None if file is None else Path(file).expanduser()))
        if service.label or service.provider.in_process:
            check(service)
    except ConfigError as error:
        return Check("providers", "bad", str(error), error.hint)
    if service.provider.in_process:
        told = told_of(folder_of(service.model))
        return Check("providers", "good", f"{service.name}: {told}, loaded when first asked")
    if service.provider.needs_key and not service.sendable_key:
        advice = f"Set {service.key_variable or service.provider.key_variable}."
        return Check(
            "providers", "bad", f"{service.name} at {where}: there is no key for it", advice
        )
    keyless = "" if service.sendable_key else ", without a key"
    costs = "its price isn't known" if price is None else "costs nothing" if price.free else price
    return Check("providers", "good", f"{service.name} at {where}{keyless}; {costs}")


def _network(settings: Settings, environ: Mapping[str, str], *, silent: bool) -> Check:
    """Requests that a question would send. Nothing is sent to find out."""
    try:
        sent = _sent(settings, environ)
    except ConfigError as error:
        return Check("network", "bad", str(error), error.hint)
    if not silent:
        return Check("network", "bad", f"{sent}; onnxruntime may report to its vendor",
                     "Set ORT_DISABLE_TELEMETRY=1.")  # fmt: skip
    return Check("network", "good", f"{sent}; onnxruntime's telemetry is off")


def _sent(settings: Settings, environ: Mapping[str, str]) -> str:
    from sqlwright.llm.vendors.services import service_for
    from sqlwright.recipes.loading import load_recipe

    recipe = load_recipe(settings.recipe, settings.overrides)
    if not recipe.asks:
        return f"nothing is sent: the recipe {recipe.name} asks embedded models only"
    named = [name or settings.llm.model for name in recipe.asks]
    services = [service_for(name, settings.llm, environ) for name in dict.fromkeys(named) if name]
    if not services:
        return f"nothing is sent: the recipe {recipe.name} asks a language model, and none is named"
    away = [service for service in services if not service.provider.in_process]
    if not away:
        asked = " and ".join(service.title for service in services)
        return f"nothing is sent: {asked} runs in this process"
    asked = " and ".join(f"{service.title} at {service.address}" for service in away)
    return f"only what is asked of {asked} is sent"


def _folder(settings: Settings) -> Check:
    """The folder of prepared data, traces and history."""
    try:
        home = settings.home_folder
        tried = home / f"doctor-{os.getpid()}"
        make_private(tried)
        write_private(tried / "doctor", bytes(64 * 1024))
        remove(tried)
    except (ConfigError, WorkspaceError) as error:
        return Check("folder", "bad", str(error), error.hint)
    return room(home, shutil.disk_usage(home).free)


def room(home: Path, free: int) -> Check:
    """The check of a writable folder on a disk with `free` bytes left."""
    if free >= LEAST_FREE:
        private = not home.stat().st_mode & 0o077
        who = "private" if private else "private folders in one that others may enter"
        return Check("folder", "good", f"{home}: {who}, writable, {_size(free)} free")
    full = free < FULL
    return Check(
        "folder",
        "bad" if full else "fair",
        f"{home}: the disk is {'full' if full else 'nearly full'}, {_size(free)} free",
        f"Make room, or choose another place with {HOME_VARIABLE}.",
    )


def _guard() -> Iterator[Check]:
    """Try forbidden things on a throw-away database, and see that its bytes stay the same."""
    from sqlwright.database.sqlite.probe import PROBES, probe_guard

    try:
        probe = probe_guard()
    except DatabaseUnavailable as error:
        yield Check("guard", "bad", str(error), error.hint)
        return
    if probe.passed:
        yield Check(
            "guard", "bad", f"let through: {', '.join(probe.passed)}", "Please report this."
        )
    elif probe.changed:
        yield Check("guard", "bad", "the probe database was changed", "Please report this.")
    else:
        yield Check("guard", "good", f"refused {', '.join(what for what, _ in PROBES)}")
    yield confinement(probe.confinement, platform.system())
    endless, works = probe.endless, probe.works
    stopped = endless.error is not None and endless.error.kind == "timeout"
    if stopped and works.ok:
        yield Check(
            "limits",
            "good",
            f"an endless query was stopped after {duration(endless.elapsed)}; the next one worked",
        )
    elif works.error is not None and works.error.kind == "unavailable":
        yield Check("limits", "bad", works.error.message)
    else:
        yield Check(
            "limits", "bad", "an endless query was not stopped cleanly", "Please report it."
        )


def confinement(holds: Sequence[str], system: str) -> Check:
    """The check of the processes that run queries, by the rights that they have given up."""
    words = {
        "limits": "write files",
        "no_new_privs": "gain rights",
        "landlock": "open files outside the database's folder (Landlock)",
        "seccomp": "use the network or start programs (seccomp)",
    }
    held = ", ".join(words[name] for name in holds) or "grow beyond SQLite's own limit of memory"
    found = f"the processes that run queries can't {held}"
    lacking = [name for name in ("landlock", "seccomp") if name not in holds]
    if system != "Linux":
        return Check("confinement", "fair", f"{found}; {system} has no more to offer here")
    if lacking:
        advice = "The two layers of the guard hold without it; a newer kernel adds it."
        return Check("confinement", "fair", f"{found}; without {' and '.join(lacking)}", advice)
    return Check("confinement", "good", found)


def _prepared(target: str, folder: Path) -> Check:
    from sqlwright.prepare.storage.manifest import read_manifest

    if folder.exists() and (reason := untrusted(folder)):
        advice = "Remove it, or make it yours and writable by nobody else."
        return Check("prepared", "bad", f"{folder} isn't used: {reason}", advice)
    try:
        manifest = read_manifest(folder)
    except SqlwrightError as error:
        return Check("prepared", "bad", str(error), error.hint)
    if manifest is None:
        advice = f"sqlwright prepare {shlex.quote(shown_address(target))}"
        return Check("prepared", "fair", "not yet: the first question learns what it can", advice)
    return Check("prepared", "good", str(folder))


def _calibrations(path: Path) -> Iterator[Check]:
    """The user's own calibrations of a database, if there are any."""
    from sqlwright.confidence.own import figure_words, read_own

    try:
        known = read_own(path)
    except SqlwrightError as error:
        yield Check("confidence", "bad", str(error), error.hint)
        return
    for one in (own.report for own in known.values()):
        asked = f"{one.recipe} with {one.model}" if not one.embedded else one.recipe
        words = f"{asked}: fitted to {one.words}, calibration error {figure_words(one.after)}"
        yield Check("confidence", "good", words)


def _size(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"


State = Literal["good", "fair", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: State
    found: str
    advice: str = ""


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
    """The rights of the login by itself."""
    rights = database.rights()
    if rights is None:
        return
    name = visible(rights.name, limit=120)
    if not rights.more:
        yield Check("login", "good", f"{name} can only read, whatever it is asked")
        return
    found = f"{name} could do more than read, if the guard failed: {'; '.join(rights.more)}"
    advice = "Give it a login that can only read: see docs/engines.md, Reading logins."
    yield Check("login", "fair", found, advice)


def _functions(database: GuardedDatabase) -> Iterator[Check]:
    """The functions of the database's own that queries may call, and what naming each means."""
    told: dict[str, tuple[str, ...]] = {}
    for function in database.functions:
        name = visible(function.shown, limit=120)
        told[name] = tuple(dict.fromkeys((*told.get(name, ()), *function.cautions)))
    if not told:
        return
    careful = {name: cautions for name, cautions in told.items() if cautions}
    more = "\n".join(
        f"{name}: {visible('; '.join(cautions), limit=400)}" for name, cautions in careful.items()
    )
    yield Check(
        "functions",
        "fair" if careful else "good",
        f"queries may call {', '.join(told)}, which the database defines",
        more,
    )


SHOWN = 40
"""Columns of a table that are listed at most."""


def reading_lines(readings: Readings, target: str) -> Iterator[str]:
    """The way in which each table was read, what was noticed, and how to put it right."""
    for one in readings.tables:
        yield table_line(one)
        yield from (f"  ! {note}" for note in one.notes)
        yield from (f"    {detail}" for detail in one.details)
    yield from readings.notes
    yield how_to_correct(readings, target)


def table_line(one: TableReading) -> str:
    """A table, its files with their settings, and its columns."""
    columns = ", ".join(f"{name} {kind}" for name, kind in one.columns[:SHOWN])
    more = f" and {len(one.columns) - SHOWN} more" if len(one.columns) > SHOWN else ""
    return f"{one.name}: {one.told} {columns}{more}"


def how_to_correct(readings: Readings, target: str) -> str:
    """The way to put a wrong guess right."""
    command = f"sqlwright doctor {shlex.quote(target)} --corrections"
    if readings.place.exists():
        return f"corrected by {readings.place}; what holds now: {command}"
    return f"a wrong guess is put right in {readings.place}; its lines: {command}"


def corrections_of(target: str | None) -> str:
    """All that was guessed of files, as a file of corrections. Raises ConfigError where nothing
    was."""
    if target is None:
        raise ConfigError("no files were named", hint="sqlwright doctor FOLDER --corrections")
    with open_database(target) as database:
        readings = database.readings()
    if readings is None:
        raise ConfigError(
            f"{target} says its columns and types itself; nothing is guessed",
            hint="Corrections are for CSV, JSON, Parquet and Excel files.",
        )
    return readings.corrections
