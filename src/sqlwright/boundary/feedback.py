"""Feedback of the user on an answer, kept beside its trace: right, wrong, or wrong with a right
query.

A file of a few lines in the traces' folder, private as they are. The newest feedback on a trace
takes the place of the one before.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlwright.boundary.home import make_private
from sqlwright.errors import WorkspaceError

ENDING = ".feedback.json"
"""The end of the file's name, behind the trace's id."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """An answer called right or wrong by the user."""

    right: bool
    sql: str = ""
    """A query that would have been right, where the answer wasn't; empty where none was given."""
    time: str = ""
    """ISO 8601, UTC."""

    @property
    def word(self) -> str:
        """Right, wrong or corrected."""
        return "right" if self.right else "corrected" if self.sql else "wrong"


def feedback_file(trace: Path) -> Path:
    """The place of the feedback on a trace."""
    return trace.with_name(trace.stem + ENDING)


def keep_feedback(trace: Path, feedback: Feedback) -> None:
    """Write it, whole or not at all. Raises WorkspaceError."""
    path = feedback_file(trace)
    aside = path.with_name(f"{path.name}.part")
    try:
        make_private(path.parent)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(json.dumps(asdict(feedback), ensure_ascii=False, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise WorkspaceError(f"{path} can't be written: {error.strerror}") from None


def feedback_on(trace: Path) -> Feedback | None:
    """The feedback on a trace; None without any. Raises WorkspaceError."""
    path = feedback_file(trace)
    try:
        told = json.loads(path.read_text("utf-8"))
        right, sql, time = told["right"], told.get("sql", ""), told.get("time", "")
        if not (isinstance(right, bool) and isinstance(sql, str) and isinstance(time, str)):
            raise ValueError("right is no truth value, or sql or time no text")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WorkspaceError(
            f"{path} is no feedback: {error}", hint="Say it again with `sqlwright trace judge`."
        ) from None
    return Feedback(right, sql, time)
