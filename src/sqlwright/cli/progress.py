"""What is going on right now: one quiet line on standard error, none when nobody watches."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.status import Status

from sqlwright.cli.console import Screen
from sqlwright.cli.layout import shorten
from sqlwright.cli.text import clean

_WORDS = {
    "retrieval.request": "reading the question",
    "retrieval.values": "looking for stored values",
    "schema_linking.embedded": "choosing tables and columns",
    "generation.embedded": "writing queries",
    "repair.execution_guided": "trying the queries",
    "selection.critic": "choosing the best query",
    "selection.first_valid": "choosing the first query that runs",
}


class Spinner:
    """A context in which one line says which step is at work. Also an event sink for runs."""

    def __init__(self, screen: Screen, first: str = "opening the database") -> None:
        self._screen = screen
        self._status: Status | None = None
        if screen.err.is_terminal and not screen.err.is_dumb_terminal:
            self._status = screen.err.status(
                self._fitted(first),
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

    def __call__(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Take an event of a run: the step that begins is shown."""
        if kind == "begin":
            self.tell(step_words(str(payload.get("step", ""))))

    def tell(self, message: str) -> None:
        """Show another message."""
        if self._status:
            self._status.update(self._fitted(message))

    def stop(self) -> None:
        """Take the line away."""
        if self._status:
            self._status.stop()
            self._status = None

    def _fitted(self, message: str) -> str:
        return shorten(
            clean(message, 200), max(self._screen.err.width - 4, 10), self._screen.glyphs
        )


def step_words(step: str) -> str:
    """What a step does, for a person."""
    return _WORDS.get(step) or clean(step, 80).replace("_", " ").replace(".", ": ")
