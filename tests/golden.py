"""Texts compared with the files they were approved as."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlwright.messages import Message

FOLDER = Path(__file__).parent / "cases" / "prompts"


def assert_prompt(name: str, messages: Sequence[Message]) -> None:
    """The messages are those of `cases/prompts/NAME.txt`. A file that isn't there is written, and
    the test fails so that somebody looks at it; to approve a change, delete the file."""
    text = "\n\n".join(f"<<{message.role}>>\n{message.text}" for message in messages) + "\n"
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        raise AssertionError(f"{path} was written; look at it and run again")
    assert text == path.read_text(encoding="utf-8")
