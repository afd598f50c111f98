"""Questions back in a conversation: the open one, and the choices made before."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.views.asking_back.terminal import number_meant, stems
from sqlwright.types import QuestionBack


@dataclass
class AskedBack:
    """The question of a conversation that is open, and the choices made so far."""

    open: AnswerAndState | None = None
    """The finding whose question waits for the next line."""
    chosen: dict[tuple[str, str], str] = field(default_factory=dict)
    """The text of the choice made, by kind and by the words that can be read in several ways: a
    phrase or, where none stands for it, the whole question."""

    def remembered(self, asked: QuestionBack, question: str) -> int | None:
        """The number of the choice that was made for the same words before; None for none."""
        text = self.chosen.get(_key(asked, question))
        return next((n for n, one in enumerate(asked.choices, 1) if one.text == text), None)

    def unclear(self, line: str) -> QuestionBack | None:
        """The open question, if a line means to answer it and doesn't: another number, or words
        that several of its choices have."""
        asked = None if self.open is None else self.open.answer.question_back
        if asked is None or number_meant(asked, line) is not None:
            return None
        of_choices = frozenset().union(*(stems(one.text) for one in asked.choices))
        said = stems(line)
        return asked if line.isdecimal() or (said and said <= of_choices) else None

    def take(self, line: str) -> tuple[AnswerAndState, int] | None:
        """The open finding and the number that a line chooses; None where it chooses none, which
        drops the question."""
        finding, self.open = self.open, None
        asked = None if finding is None else finding.answer.question_back
        if finding is None or asked is None:
            return None
        number = number_meant(asked, line)
        if number is None:
            return None
        self.chosen[_key(asked, finding.answer.question)] = asked.choices[number - 1].text
        return finding, number


def _key(asked: QuestionBack, question: str) -> tuple[str, str]:
    return asked.kind, " ".join(sorted(stems(asked.phrase or question)))
