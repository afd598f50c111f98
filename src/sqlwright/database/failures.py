"""Failures of statements, as each engine's doorway sorts them; nobody else reads its messages.

Everybody else goes by the kind and the cause. A message is for people and models to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlwright.types import ErrorCause


class Refused(Exception):
    """The guarded connection refused a statement."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a statement gave nothing, as far as the engine tells. Crosses to other
    processes."""

    kind: str
    """An ExecutionError's kind, or "interrupted": the caller knows whether it was time or a
    person."""
    message: str
    cause: ErrorCause = ""
    name: str = ""
    """The table or column that isn't there, as the query names it."""


class ReadFailed(Exception):
    """A statement failed in another process, which sorted it."""

    def __init__(self, failure: Failure, *, copy: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.copy = copy


def no_answer(seconds: float) -> str:
    """The message for a server, or a network, that is silent."""
    return f"the server didn't answer within {seconds:.3g} s"


READ_FAILURES = (ReadFailed, MemoryError, UnicodeEncodeError, OverflowError)
"""Exceptions of reading by a `DatabaseReader`."""


def read_failure(error: BaseException) -> Failure:
    """The failure that one of `READ_FAILURES` stands for."""
    if isinstance(error, ReadFailed):
        return error.failure
    if isinstance(error, MemoryError):
        return Failure("memory", "the query needs more memory than it is allowed")
    if isinstance(error, UnicodeEncodeError):
        return Failure("sql", "the SQL text is not valid Unicode", "syntax")
    return Failure("sql", str(error))
