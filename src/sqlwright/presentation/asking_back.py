"""A question back in words and as JSON types. Nothing here is clean yet: names and values are as
they are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.types.readings import QuestionBack


def assumed_words(asked: QuestionBack) -> str:
    """The reading that the answer goes by, and what the others would give, in a sentence."""
    taken, *others = asked.choices
    told = "; ".join(f"{one.text} gives {one.gives}" for one in others)
    said = f"“{asked.phrase}” is taken as {taken.text}" if asked.phrase else f"taken: {taken.text}"
    return f"{said}; {told}"


def question_back_to_dict(
    asked: QuestionBack | None, readable: Callable[[str], str]
) -> dict[str, Any] | None:
    """A question back as JSON types; `readable` makes text that UTF-8 can carry."""
    if asked is None:
        return None
    return {
        "text": readable(asked.text),
        "kind": asked.kind,
        "phrase": readable(asked.phrase),
        "assumed": readable(assumed_words(asked)),
        "choices": [
            {
                "number": number,
                "text": readable(one.text),
                "gives": readable(one.gives),
                "share": round(one.share, 6),
                "sql": readable(one.candidate.sql),
            }
            for number, one in enumerate(asked.choices, 1)
        ],
    }
