"""The current step as one quiet line on standard error; none when nobody watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.status import Status
from rich.text import Text

from sqlwright.boundary.text import duration
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.layout import shorten
from sqlwright.cli.terminal.text import clean
from sqlwright.events import (
    BranchesProgressed,
    BranchStepStarted,
    Event,
    ModelAsked,
    ModelCalled,
    PreparationEnded,
    PreparationStarted,
    StepStarted,
)


class TerminalBar:
    """A context that shows one task while it is open: words, a bar, then `column`. Nothing where
    there is no terminal."""

    def __init__(self, screen: Screen, words: str, column: ProgressColumn) -> None:
        self._bar: Progress | None = None
        if screen.err.is_terminal and not screen.err.is_dumb_terminal:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(20),
                column,
                console=screen.err,
                transient=True,
            )
            self._task = self._bar.add_task(words, total=None)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, done: float, of: float | None, words: str | None = None) -> None:
        """Show how much is done, perhaps with other words."""
        if self._bar:
            self._bar.update(self._task, description=words, completed=done, total=of)


_WORDS = {
    "retrieval.request": "reading the question",
    "retrieval.extract_keywords": "picking out keywords",
    "retrieval.question_words": "picking out keywords",
    "retrieval.entities": "looking for stored values",
    "retrieval.context": "looking for descriptions",
    "retrieval.values": "looking for stored values",
    "schema_linking.filter_columns": "leaving out columns",
    "schema_linking.select_tables": "choosing tables",
    "schema_linking.select_columns": "choosing columns",
    "generation.decompose": "taking the question apart",
    "generation.make_examples": "making examples",
    "repair.execute": "running the queries",
    "repair.literals": "mending stored values",
    "repair.execution_guided": "trying the queries",
    "repair.veto": "looking for faults",
    "selection.first_valid": "choosing the first query that runs",
    "selection.generate_tests": "writing unit tests",
    "selection.evaluate_tests": "judging the queries by unit tests",
    "selection.largest_cluster": "choosing the most frequent result",
    "selection.second_opinion": "comparing with the embedded models",
    "selection.pairwise": "comparing the queries by pairs",
    "selection.ranker": "comparing the queries",
}
_STAGES = {
    "retrieval": "looking things up",
    "schema_linking": "choosing tables and columns",
    "generation": "writing queries",
    "repair": "mending queries",
    "selection": "choosing the best query",
}
"""Words for steps without words of their own, by what their names begin with."""
PATIENCE = 3
"""Seconds after which it is told how long it has been."""


class Spinner:
    """A context in which one line says which step is at work. Also an event sink for runs.

    Of branches side by side it tells the step they began with and how many have ended: 'writing
    queries · 7 of 20'. What takes long has its seconds behind it, and what a language model was
    given to read: a slow one says nothing while it does."""

    def __init__(
        self,
        screen: Screen,
        first: str = "opening the database",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._began = clock()
        self._message = first
        self._branches = ""
        self._asked = ""
        """The words on what a language model reads, while it hasn't replied."""
        self.about = ""
        """Name of whatever the steps are part of, told before them; may be empty."""
        self._status: Status | None = None
        if screen.err.is_terminal and not screen.err.is_dumb_terminal:
            self._status = screen.err.status(
                self,
                spinner=screen.glyphs.spinner,
                spinner_style="quiet",
                refresh_per_second=10,
            )

    def __enter__(self) -> Spinner:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __call__(self, event: Event) -> None:
        """Take an event of a run: the step that begins is shown, and how far branches are."""
        if isinstance(event, ModelAsked | ModelCalled):
            waits = isinstance(event, ModelAsked)
            self._asked = f"the model reads {event.prompt_tokens:,} tokens" if waits else ""
        elif isinstance(event, PreparationStarted):
            self.tell(f"preparing {_file_name(event.database)}")
        elif isinstance(event, PreparationEnded):
            self.tell("opening the database")
            if event.first:
                self._screen.note(prepared_words(event))
        elif isinstance(event, BranchesProgressed):
            self._message = self._message if event.ended else ""
            self._branches = f"{event.ended} of {event.total}"
        elif isinstance(event, BranchStepStarted) and not (self._branches and self._message):
            self._message = step_words(event.step)
        elif isinstance(event, StepStarted):
            self.tell(step_words(event.step))

    def tell(self, message: str) -> None:
        """Show another message."""
        self._message, self._branches, self._asked = message, "", ""

    def __rich__(self) -> Text:
        """The line as it is now."""
        seconds = self._clock() - self._began
        parts = [self.about, self._message, self._branches]
        parts += [self._asked, f"{seconds:.0f} s"] if seconds >= PATIENCE else []
        return Text(self._fitted(f" {self._screen.glyphs.dot} ".join(filter(None, parts))))

    def stop(self) -> None:
        """Take the line away."""
        if self._status:
            self._status.stop()
            self._status = None

    def _fitted(self, message: str) -> str:
        return shorten(
            clean(message, 200), max(self._screen.err.width - 4, 10), self._screen.glyphs
        )


EVERY = 30.0
"""Seconds between two lines where nobody watches a terminal."""


class Telling:
    """Shows how far building or training is, with the time left; where nobody watches a terminal,
    by a line now and then."""

    def __init__(
        self, screen: Screen, spinner: Spinner, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._screen = screen
        self._spinner = spinner
        self._clock = clock
        self._began = clock()
        self._told = clock()
        self._first = -1

    def questions(self, done: int, of: int) -> None:
        """Questions that examples were made of."""
        if self._first < 0:
            self._first, self._began = done - 1, self._clock()
        fresh = max(done - self._first, 1)
        left = (self._clock() - self._began) / fresh * (of - done)
        self._tell(f"{done:,} of {of:,} questions, {duration(left)} left", ends=done >= of)

    def step(self, step: int, of: int, loss: float, left: float) -> None:
        """Steps of a training."""
        self._tell(
            f"step {step:,} of {of:,}, loss {loss:.3f}, {duration(left)} left", ends=step >= of
        )

    def _tell(self, words: str, *, ends: bool) -> None:
        self._spinner.tell(words)
        late = self._clock() - self._told >= EVERY
        if not self._screen.err.is_terminal and (late or ends):
            self._told = self._clock()
            self._screen.note(words)


def prepared_words(event: PreparationEnded) -> str:
    """The note that a database was prepared: time, folder, and how to remove it."""
    kept = event.folder.parents[1]
    home = Path.home()
    shown = f"~/{kept.relative_to(home)}" if kept.is_relative_to(home) else str(kept)
    return (
        f"prepared {_file_name(event.database)} in {duration(event.seconds)} "
        f"(kept in {clean(shown, 200)}; 'sqlwright purge' removes it)"
    )


def _file_name(database: str) -> str:
    return clean(Path(database).name, 80)


def step_words(step: str) -> str:
    """A step's activity in words for a person."""
    told = _WORDS.get(step) or _STAGES.get(step.partition(".")[0])
    return told or clean(step, 80).replace("_", " ").replace(".", ": ")
