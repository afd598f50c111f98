"""Questions back at a terminal: put, and answered by a number or in words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rich.cells import cell_len
from rich.text import Text

from sqlwright.boundary.text import percent
from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.text import clean
from sqlwright.english.words import stem, tokens
from sqlwright.session import Session
from sqlwright.types import QuestionBack

PROMPT = "which? [1] "
LONGEST = 200
"""Characters shown of a choice and of what it gives."""


def can_ask(screen: Screen) -> bool:
    """True if somebody sits at a terminal that shows results and notes and takes lines."""
    seen = screen.interactive and screen.err.is_terminal
    return seen and sys.stdin is not None and sys.stdin.isatty()


def question_lines(asked: QuestionBack, screen: Screen) -> Iterator[Text]:
    """The question and its numbered choices, each with what it would give."""
    texts = [clean(one.text, LONGEST) for one in asked.choices]
    pad = max(map(cell_len, texts))
    entries = [Text(clean(asked.text, 600), style="strong")]
    for number, (text, one) in enumerate(zip(texts, asked.choices, strict=True), 1):
        line = Text.assemble((f"{number}  ", "strong"), (text, "name"))
        line.append(" " * (pad - cell_len(text) + 2))
        line.append(clean(one.gives, LONGEST))
        line.append(f"  {percent(one.share)}", style="quiet")
        entries.append(line)
    yield from labelled("question", entries, screen.width, hang=3)


def number_meant(asked: QuestionBack, line: str) -> int | None:
    """The number of the choice that a line means: the number itself, or words that only one of the
    choices has. None for none of them."""
    if line.isascii() and line.isdecimal():
        number = int(line[:9])
        return number if 1 <= number <= len(asked.choices) else None
    said = stems(line)
    fitting = [n for n, one in enumerate(asked.choices, 1) if said and said <= stems(one.text)]
    exact = [n for n in fitting if stems(asked.choices[n - 1].text) == said]
    found = exact or fitting
    return found[0] if len(found) == 1 else None


def put_question(
    screen: Screen, session: Session | None, finding: AnswerAndState
) -> AnswerAndState:
    """Ask which reading is meant, and give the answer by it. Enter takes the first one.

    Where the input ends the likelier reading stays, with what it assumes. Raises KeyboardInterrupt.
    """
    asked = finding.answer.question_back
    if asked is None or session is None:
        return finding
    screen.say(question_lines(asked, screen))
    while True:
        try:
            line = input(PROMPT).strip()
        except EOFError:
            screen.say([Text(), Text()])  # no line's end was typed
            return finding
        number = number_meant(asked, line) if line else 1
        if number is not None:
            screen.say([Text()])
            return replace(finding, answer=session.choose(finding.answer, number))
        note_unclear(screen, asked)


def note_unclear(screen: Screen, asked: QuestionBack) -> None:
    """Say what would choose a reading, after a line that chose none."""
    screen.note(f"a number from 1 to {len(asked.choices)}, or words of one of them", "warning")


def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text."""
    return frozenset(stem(word.text) for word in tokens(text)) - {"the"}


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
