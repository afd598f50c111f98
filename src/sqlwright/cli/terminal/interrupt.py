"""Ctrl-C that is heard at once, whatever is being computed.

The work runs in a thread of its own. The main thread looks, twenty times a second, whether it is
done and whether Ctrl-C was pressed, and then asks the work to stop and waits a moment for the best
it has at hand. The signal handler only counts: an exception raised between any two instructions
could leave a lock of the standard library held for ever.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

from sqlwright.cli.terminal.console import Screen

T = TypeVar("T")

POLL_SECONDS = 0.05
"""Seconds between checks for Ctrl-C and for the result."""
GRACE_SECONDS = 0.5
"""Seconds a cancelled question has to end by itself."""


class _Presses:
    """A context that counts Ctrl-C instead of raising. Of use in the main thread only."""

    def __init__(self) -> None:
        self.count = 0
        self._before: Any = None
        self._installed = False

    def __enter__(self) -> _Presses:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.count += 1


class _Outcome(Generic[T]):
    def __init__(self) -> None:
        self.done = threading.Event()
        self.values: list[T] = []
        self.error: BaseException | None = None


def interruptible(work: Callable[[], T], cancel: Callable[[], None]) -> tuple[T, bool]:
    """Run `work`; give its value and whether Ctrl-C cut it short.

    On Ctrl-C `cancel` is called and the work gets a moment to return what it has. Raises
    KeyboardInterrupt when it doesn't, or on a second Ctrl-C, and whatever the work raises.
    """
    outcome: _Outcome[T] = _Outcome()

    def perform() -> None:
        try:
            outcome.values.append(work())
        except BaseException as error:  # noqa: BLE001  (handed to the caller below)
            outcome.error = error
        finally:
            outcome.done.set()

    thread = threading.Thread(target=perform, name="sqlwright-work", daemon=True)
    with _Presses() as presses:
        thread.start()
        while not outcome.done.wait(POLL_SECONDS) and not presses.count:
            pass
        interrupted = presses.count > 0
        if interrupted:
            cancel()
            give_up = time.monotonic() + GRACE_SECONDS
            while not outcome.done.wait(POLL_SECONDS):
                if presses.count > 1 or time.monotonic() > give_up:
                    raise KeyboardInterrupt
    if outcome.error is not None:
        if interrupted:
            raise KeyboardInterrupt from outcome.error
        raise outcome.error
    return outcome.values[0], interrupted


@contextmanager
def noted_interrupt(screen: Screen, option: str = "", *, kept: bool = True) -> Iterator[None]:
    """On Ctrl-C say that the same command goes on, with an option perhaps, where work is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if kept:
            screen.note(f"interrupted; the same command{option} goes on", style="warning")
        raise
