"""The full reasoning behind an answer: what was matched, every candidate, where the time went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from sqlwright.boundary.text import duration
from sqlwright.cli.terminal.console import UNLIMITED
from sqlwright.cli.terminal.layout import indented, labelled, rest, shorten, wrapped
from sqlwright.cli.terminal.progress import step_words
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import (
    DisplayOptions,
    answer_lines,
    result_summary,
    sql_lines,
    value_line,
)
from sqlwright.presentation.accounting import LEAST
from sqlwright.presentation.numbers import usage_words
from sqlwright.presentation.sureness import interval_words
from sqlwright.types import Answer, Candidate, State, StepTime, UnitTest

LINKS = 12
"""Keywords, values and linked names shown at most, of each."""
CANDIDATES = 20
"""Candidates and unit tests shown at most, of each."""
HISTORY = 10
"""Repairs of a candidate looked back at."""
SQL_SHOWN = 1_000
"""Characters of a query that was replaced."""
BAR = 20
"""Characters of the bar of a step's time."""


def explain_lines(answer: Answer, state: State | None, display: DisplayOptions) -> Iterator[Text]:
    """The answer, then everything known on the way to it."""
    yield from answer_lines(answer, display)
    yield Text()
    yield from reasoning_lines(answer, state, display)


def reasoning_lines(answer: Answer, state: State | None, display: DisplayOptions) -> Iterator[Text]:
    """Sections with a heading each; a section without content is left out."""
    if state is not None:
        yield from _section("Question", _question(state, display), display)
        yield from _section(
            "Stored values that resemble its words", _values(state, display), display
        )
        yield from _section("Tables and columns it may need", _links(state, display), display)
    yield from _section("What answers its words", _account(answer, display), display)
    candidates = state.candidates if state is not None else answer.alternatives
    tests = state.tests if state is not None else ()
    yield from _section(
        "Candidates", _candidates(candidates, tests, answer.sql or "", display), display
    )
    yield from _section("Unit tests", _tests(tests, display), display)
    yield from _section("How sure", _sureness(answer, display), display)
    yield from _section("Time", _times(answer.times, answer.seconds, display), display)
    yield from _section("Language models", _usage(answer, display), display)
    yield from _section("Whether to ask more", _tiers(answer, display), display)


def _sureness(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """The confidence, where it may lie, and what it was fitted to."""
    if words := interval_words(answer):
        yield from wrapped(Text(clean(words, 400)), display.width - 2)


def _usage(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    if words := usage_words(answer.usage):
        yield from wrapped(Text(words), display.width - 2)
    for step, usage in answer.usage_by_step.items():
        line = Text(f"{clean(step, 60)}: ")
        line.append(usage_words(usage), style="quiet")
        yield from wrapped(line, display.width - 2, hang=2)


def _tiers(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """Each decision, and what it took."""
    for tier in answer.tiers:
        line = Text(f"{clean(tier.name, 80)}: ")
        ends = {"sure": "sure enough without", "budget": "the budget didn't reach"}
        line.append(ends.get(tier.end, f"entered, {tier.end.replace('_', ' ')}"))
        if words := usage_words(tier.usage):
            line.append(f", {words}", style="quiet")
        yield from wrapped(line, display.width - 2, hang=2)


def _section(
    title: str, lines: Iterator[Text] | Sequence[Text], display: DisplayOptions
) -> Iterator[Text]:
    first = True
    for line in lines:
        if first:
            yield from wrapped(Text.assemble((title, "strong")), display.width)
            first = False
        yield from indented([line])
    if not first:
        yield Text()


def _question(state: State, display: DisplayOptions) -> Iterator[Text]:
    yield from wrapped(Text(clean(state.question.text, 10_000)), display.width - 2)
    if state.question.evidence:
        yield from labelled(
            "evidence", [Text(clean(state.question.evidence, 10_000))], display.width - 2
        )
    if state.keywords:
        words = ", ".join(clean(word, 80) for word in state.keywords[:LINKS])
        yield from labelled("keywords", [Text(words)], display.width - 2)
    for turn in state.question.history:
        yield from labelled("earlier", [Text(clean(turn.question, 400))], display.width - 2)


def _values(state: State, display: DisplayOptions) -> Iterator[Text]:
    for match in state.values[:LINKS]:
        line = Text.assemble((f"{match.score:4.2f}  ", "quiet"))
        line.append_text(value_line(match, display.glyphs))
        yield from wrapped(line, display.width - 2, hang=6)
    yield from rest(len(state.values) - LINKS)


def _account(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """Each phrase of the question with what answers it; those that nothing does stand out."""
    for phrase in answer.account.phrases if answer.account is not None else ():
        line = Text(f'"{clean(phrase.text, 80)}"')
        line.append(f" {display.glyphs.arrow} ", style="quiet")
        if phrase.answer:
            line.append(clean(phrase.answer, 120), style="name")
        else:
            line.append("nothing", style="fair" if phrase.doubt >= LEAST else "quiet")
        yield from wrapped(line, display.width - 2, hang=6)


def _links(state: State, display: DisplayOptions) -> Iterator[Text]:
    for heading, names in (
        ("tables", [(clean(link.table, 80), link.score) for link in state.tables]),
        ("columns", [(clean(str(link.column), 120), link.score) for link in state.columns]),
    ):
        entries = [
            Text.assemble((f"{score:4.2f}  ", "quiet"), (name, "name"))
            for name, score in names[:LINKS]
        ]
        yield from labelled(heading, entries + rest(len(names) - LINKS), display.width - 2)


def _candidates(
    candidates: Sequence[Candidate], tests: Sequence[UnitTest], chosen: str, display: DisplayOptions
) -> Iterator[Text]:
    # Scores are shown where their author gave some: those of language models are all alike.
    scored = len({candidate.score for candidate in candidates}) > 1
    picked = next((c for c in candidates if c.sql == chosen), None)
    for number, candidate in enumerate(candidates[:CANDIDATES], 1):
        if number > 1:
            yield Text()
        head = Text.assemble((f"{number}  ", "quiet"))
        head.append_text(result_summary(candidate.result, display))
        score = f"score {candidate.score:.3f}, " if scored or candidate.score else ""
        told = [name for name in (candidate.source, candidate.prompt, candidate.model) if name]
        head.append(f"  {score}by {clean(', '.join(told), 160)}", "quiet")
        judged = [test.passed for test in tests if test.passed is not None]
        if judged:
            passed = sum(number - 1 in passed_by for passed_by in judged)
            head.append(f", passed {passed} of {len(judged)} tests", "quiet")
        if candidate is picked:
            head.append(f"  {display.glyphs.tick} chosen", style="good")
        yield from wrapped(head, display.width - 2, hang=3)
        yield from _sql_within(candidate, display)
        yield from _history(candidate, display)
    yield from rest(len(candidates) - CANDIDATES)


def _sql_within(candidate: Candidate, display: DisplayOptions) -> Iterator[Text]:
    narrow = DisplayOptions(display.width - 3, display.glyphs, display.coloured, 0)
    yield from indented(sql_lines(candidate.sql, narrow, candidate.dialect), 1)


def _history(candidate: Candidate, display: DisplayOptions) -> Iterator[Text]:
    """Changes by repairs, the latest first: the reason, the query before it and its result."""
    current: Candidate | None = candidate
    for _ in range(HISTORY):
        if current is None:
            return
        for vain in current.tried:
            yield from _aside(f"tried in vain: {vain.note}".rstrip(": "), vain, display)
        if current.parent is not None:
            yield from _aside(current.note or "written in place of", current.parent, display)
        elif current.note:
            yield from wrapped(Text(f"   {clean(current.note, 300)}", "fair"), display.width - 2)
        current = current.parent


def _aside(why: str, other: Candidate, display: DisplayOptions) -> Iterator[Text]:
    """Another query of the same line: why it is told, what it gave, its text in one line."""
    line = Text.assemble((f"   {clean(why, 300)}", "fair"))
    if other.sql:
        error = other.result.error if other.result is not None else None
        if error is not None:
            line.append(f": {clean(error.message, 200)}")
        elif other.result is not None and other.result.rows:
            line.append_text(Text(": ") + result_summary(other.result, display))
    yield from wrapped(line, display.width - 2, hang=2)
    if other.sql:
        text = Text(clean(" ".join(other.sql.split()), SQL_SHOWN), style="quiet")
        yield from wrapped(Text("     ") + text, display.width - 2, hang=2)


def _tests(tests: Sequence[UnitTest], display: DisplayOptions) -> Iterator[Text]:
    """Each unit test and the numbers of the candidates that passed it."""
    for number, test in enumerate(tests[:CANDIDATES], 1):
        line = Text.assemble((f"{number}  ", "quiet"), clean(test.text, 400))
        yield from wrapped(line, display.width - 2, hang=3)
        yield from wrapped(Text(f"   {_passed(test)}", style="quiet"), display.width - 2, hang=2)
    yield from rest(len(tests) - CANDIDATES)


def _passed(test: UnitTest) -> str:
    if test.passed is None:
        return "not judged"
    numbers = ", ".join(str(index + 1) for index in test.passed)
    return f"passed by {numbers}" if numbers else "passed by none"


def _times(times: Sequence[StepTime], seconds: float, display: DisplayOptions) -> Iterator[Text]:
    if not times:
        return
    total = sum(time.seconds for time in times)
    room = min(40, display.width - 14)
    by_step: dict[str, list[float]] = {}
    for time in times:
        by_step.setdefault(step_words(time.step), []).append(time.seconds)
    names = [
        shorten(
            f"{words} {display.glyphs.times} {len(each)}" if len(each) > 1 else words,
            room,
            display.glyphs,
        )
        for words, each in by_step.items()
    ]
    column = max(cell_len(name) for name in names) + 2
    bar = 0 if display.width < column + BAR + 14 and display.width < UNLIMITED else BAR
    for name, each in zip(names, by_step.values(), strict=True):
        share = sum(each) / total if total else 0.0
        line = Text(name + " " * (column - cell_len(name)) + f"{duration(sum(each)):>8}")
        line.append("  " + display.glyphs.full * round(share * bar), style="name")
        line.rstrip()
        yield line
    yield Text("by the clock" + " " * max(column - 12, 1) + f"{duration(seconds):>8}")
