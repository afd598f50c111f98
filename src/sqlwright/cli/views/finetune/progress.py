"""The progress of building and training: one line on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.presentation.timing import duration

EVERY = 30.0
"""Seconds between two lines where nobody watches a terminal."""


class Telling:
    """Shows what is under way, with the time left."""

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
