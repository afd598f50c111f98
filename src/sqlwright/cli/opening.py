"""Settings, opening and asking: where the commands meet the API."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.text import clean, readable
from sqlwright.errors import Cancelled, ConfigError, ModelUnavailable
from sqlwright.protocols import EMBEDDER
from sqlwright.recipes.registry import RECIPES
from sqlwright.types import Answer, State, Turn

if TYPE_CHECKING:
    from sqlwright.api import Session
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.settings import Settings

Opener = Callable[[], "Session"]


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer and everything that was known when it was given."""

    answer: Answer
    state: State | None = None


def settled(
    *,
    recipe: str | None = None,
    overrides: Sequence[str] | None = None,
    descriptions: Path | None = None,
    tables: str | None = None,
    timeout: float | None = None,
    max_rows: int | None = None,
    prepare: bool | None = None,
    llm: Mapping[str, Any] | None = None,
) -> Settings:
    """What holds for this command: options, then environment, then project file.

    More rows are fetched where more are to be shown. Says which project files were left alone, so
    it is called once. Raises ConfigError.
    """
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.settings import load_settings

    flags = {
        "recipe": recipe,
        "overrides": tuple(overrides) if overrides else None,
        "descriptions": None if descriptions is None else str(descriptions),
        "tables": None if tables is None else tuple(tables.split(",")),
        "seconds": timeout,
        "prepare": prepare,
        **(llm or {}),
    }
    settings = load_settings(flags, environ=os.environ, folder=Path.cwd())
    for note in settings.notes:
        Screen.open().note(clean(note, 1_000), style="warning")
    if max_rows is not None and max_rows > settings.limits.rows:
        settings = replace(settings, limits=replace(settings.limits, rows=max_rows))
    return settings


def check_asked(settings: Settings, *, allow_code: bool = False) -> None:
    """Raise UsageError where the command names a model that no step of the recipe would ask: the
    answer would pass for the model's. Steps of others may ask it without saying so beforehand."""
    if settings.origins.get("llm.model") != "flag":
        return
    from sqlwright.recipes.loading import load_recipe
    from sqlwright.running.combinators import leaves

    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=allow_code)
    ours = all(type(step).__module__.startswith("sqlwright.") for step in leaves(recipe.step))
    if "" in recipe.asks or not ours:
        return
    raise UsageError(
        f"the recipe {readable(settings.recipe)} would not ask {readable(settings.llm.model)}",
        hint="Add -r with one that asks a language model, such as chess-ir-cg-ut; "
        "'sqlwright recipes' says which do. Or leave --model out.",
    )


def destinations(settings: Settings, *, allow_code: bool = False) -> Iterator[str]:
    """Where prompts go elsewhere when a file alone decides it, for a person to see before they do:
    a project file by its address, a recipe file by its models. Raises ConfigError."""
    from sqlwright.llm.sending.transport import is_loopback

    url = settings.llm.base_url
    if url and settings.origins.get("llm.base_url") == str(settings.file) and not is_loopback(url):
        yield f"{settings.file} sends what models are asked to {url}"
    if settings.recipe in RECIPES or settings.llm.replay is not None:
        return
    from sqlwright.llm.models import service_for
    from sqlwright.recipes.loading import load_recipe

    recipe = load_recipe(settings.recipe, settings.overrides, allow_code=allow_code)
    for role in recipe.asks:
        name = role.removeprefix(f"{EMBEDDER}/")
        if not name or any(name in override for override in settings.overrides):
            continue
        with suppress(ConfigError):  # told when the session is opened
            service = service_for(name, settings.llm, os.environ)
            if service.address and not is_loopback(service.address):
                yield f"the recipe {settings.recipe} asks {service.name} at {service.address}"


def descriptions_for(database: str, settings: Settings) -> Path | None:
    """The folder of description files; the project file's belongs to its own database."""
    given = settings.origins.get("descriptions") != str(settings.file)
    return settings.descriptions if given or database == settings.database else None


def tables_for(database: str, settings: Settings) -> tuple[str, ...] | None:
    """The only tables that may be read; the project file's belong to its own database, however
    that is named."""
    if settings.tables is None or settings.origins.get("tables") != str(settings.file):
        return settings.tables
    if settings.database is None:
        return settings.tables
    from sqlwright.database.address import parse_address

    ours, theirs = (parse_address(url).resolve() for url in (database, settings.database))
    return settings.tables if ours == theirs else None


def prepared_place(database: str, settings: Settings) -> Path:
    """The folder that holds what was prepared for a database."""
    from sqlwright.prepare import prepared_folder

    folder = prepared_folder(database)
    return folder if settings.home is None else settings.home / "databases" / folder.name


def replies_place(database: str, settings: Settings) -> Path:
    """The folder that holds what language models replied about a database."""
    return home_of(settings) / "replies" / prepared_place(database, settings).name


def home_of(settings: Settings) -> Path:
    """The folder that holds everything sqlwright keeps."""
    from sqlwright.boundary.home import home

    return home() if settings.home is None else settings.home


def history_of(settings: Settings) -> Path:
    """The file with the lines typed in chats."""
    return home_of(settings) / "chat_history"


def opener(database: str, settings: Settings, *, allow_code: bool = False) -> Opener:
    """What opens a session; nothing happens until it is called."""

    def open_session() -> Session:
        from sqlwright import api

        return api.open(
            database,
            recipe=settings.recipe,
            overrides=settings.overrides,
            descriptions=descriptions_for(database, settings),
            tables=tables_for(database, settings),
            limits=settings.limits,
            seconds=settings.seconds,
            home=settings.home,
            prepare=settings.prepare,
            llm=settings.llm,
            allow_code=allow_code,
        )

    return open_session


def warm_session(open_session: Opener, spinner: Spinner) -> Session:
    """A session with its database open. A model that can't be loaded is told with a question.

    Raises KeyboardInterrupt on Ctrl-C.
    """
    from sqlwright.cli.terminal.interrupt import interruptible

    cancelled = threading.Event()

    def warmed() -> Session:
        session = open_session()
        try:
            session.warm(on_event=spinner, cancelled=cancelled)
        except ModelUnavailable:
            return session
        except BaseException:
            session.close()
            raise
        return session

    session, interrupted = interruptible(warmed, cancelled.set)
    if interrupted:
        session.close()
        raise KeyboardInterrupt
    return session


@dataclass
class Asking:
    """One question from opening to closing, which can be cancelled at any moment."""

    opener: Opener
    question: str
    evidence: str = ""
    history: Sequence[Turn] = ()
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, spinner: Spinner) -> Finding:
        """Open, ask, close."""
        with self.opener() as session:
            if self.cancelled.is_set():
                raise Cancelled("interrupted")
            return self.ask(session, spinner)

    def ask(self, session: Session, spinner: Spinner) -> Finding:
        """Ask in a session that stays open."""
        answer, state = session.run(
            self.question,
            evidence=self.evidence,
            history=tuple(self.history),
            on_event=spinner,
            cancelled=self.cancelled,
        )
        return Finding(answer, state)

    def cancel(self) -> None:
        """Ask the work to stop soon."""
        self.cancelled.set()
