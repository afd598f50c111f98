"""Settings, opening and asking: where the commands meet the API."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlwright.errors import Cancelled, ModelUnavailable
from sqlwright.types import Answer, State, Turn

if TYPE_CHECKING:
    from sqlwright.api import Session
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.settings.values import Settings

Opener = Callable[[], "Session"]


@dataclass(frozen=True, slots=True)
class AnswerAndState:
    """An answer and everything that was known when it was given."""

    answer: Answer
    state: State | None = None


class Flags(Protocol):
    """A group of options that are settings."""

    def flags(self) -> Mapping[str, Any]:
        """Their values under the names of the settings; None for one that wasn't given."""


def settled(*groups: Flags, max_rows: int | None = None, **more: object) -> Settings:
    """The settings of this command: options, then environment, then project file.

    More rows are fetched where more are to be shown. Says which project files were left alone, so
    it is called once. Raises ConfigError.
    """
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.settings.loading import load_settings

    flags = {name: value for group in groups for name, value in group.flags().items()} | more
    settings = load_settings(flags, environ=os.environ, folder=Path.cwd())
    for note in settings.notes:
        Screen.open().warn(note, 1_000)
    if max_rows is not None and max_rows > settings.limits.rows:
        settings = replace(settings, limits=replace(settings.limits, rows=max_rows))
    return settings


def models_ahead(settings: Settings) -> Mapping[str, Any] | None:
    """The embedded models, loaded in the background from now on where the recipe is the one that
    uses them all: reading and building graphs goes on beside the imports that a session takes."""
    from sqlwright.recipes.registry import default_recipe

    if settings.recipe not in {default_recipe(""), "auto"}:
        return None
    from sqlwright.local.models import EmbeddedModels

    models = EmbeddedModels()
    models.load_ahead()
    return models


def note_destinations(screen: Screen, *settings: Settings, allow_code: bool = False) -> None:
    """Show where prompts go elsewhere when a file alone decides it; of several settings each place
    once. Raises ConfigError."""
    from sqlwright.settings.policy import remote_destinations

    told = [text for one in settings for text in remote_destinations(one, allow_code=allow_code)]
    for leaving in dict.fromkeys(told):
        screen.warn(leaving)


def opener(
    database: str,
    settings: Settings,
    *,
    allow_code: bool = False,
    models: Mapping[str, Any] | None = None,
    stand_in: bool = True,
) -> Opener:
    """A function that opens a session; nothing happens until it is called."""

    def open_session() -> Session:
        import sqlwright

        return sqlwright.open(
            database,
            recipe=settings.recipe,
            overrides=settings.overrides,
            descriptions=settings.descriptions_for(database),
            tables=settings.tables_for(database),
            functions=settings.functions_for(database) or None,
            limits=settings.limits,
            seconds=settings.seconds,
            home=settings.home,
            prepare=settings.prepare,
            llm=settings.llm,
            models=models,
            stand_in=stand_in,
            calibration=settings.calibration,
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
    session: Session | None = None
    """The session, kept open where a question is asked back; whoever reads it closes it."""

    def run(self, spinner: Spinner) -> AnswerAndState:
        """Open, ask, and close unless there is a question back."""
        with ExitStack() as stack:
            session = stack.enter_context(self.opener())
            if self.cancelled.is_set():
                raise Cancelled("interrupted")
            finding = self.ask(session, spinner)
            if finding.answer.question_back is not None:
                self.session = session
                stack.pop_all()
            return finding

    def close(self) -> None:
        """Close a session that was kept open."""
        if self.session is not None:
            self.session.close()

    def ask(self, session: Session, spinner: Spinner) -> AnswerAndState:
        """Ask in a session that stays open."""
        answer, state = session.run(
            self.question,
            evidence=self.evidence,
            history=tuple(self.history),
            on_event=spinner,
            cancelled=self.cancelled,
        )
        return AnswerAndState(answer, state)

    def cancel(self) -> None:
        """Ask the work to stop soon."""
        self.cancelled.set()
