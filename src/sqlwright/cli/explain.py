"""The full reasoning behind an answer: what was matched, every candidate, where the time went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from sqlwright.cli.answer import (
    Look,
    answer_lines,
    duration,
    result_summary,
    sql_lines,
    usage_words,
    value_line,
)
from sqlwright.cli.console import UNLIMITED
from sqlwright.cli.layout import indented, labelled, shorten, wrapped
from sqlwright.cli.progress import step_words
from sqlwright.cli.text import clean
from sqlwright.types import Answer, Candidate, State, StepTime

LINKS = 12
CANDIDATES = 20
BAR = 20


def explain_lines(answer: Answer, state: State | None, look: Look) -> Iterator[Text]:
    """The answer, then everything known on the way to it."""
    yield from answer_lines(answer, look)
    yield Text()
    yield from reasoning_lines(answer, state, look)


def reasoning_lines(answer: Answer, state: State | None, look: Look) -> Iterator[Text]:
    """Sections with a heading each; a section without content is left out."""
    if state is not None:
        yield from _section("Question", _question(state, look), look)
        yield from _section("Stored values that resemble its words", _values(state, look), look)
        yield from _section("Tables and columns it may need", _links(state, look), look)
    candidates = state.candidates if state is not None else answer.alternatives
    yield from _section("Candidates", _candidates(candidates, answer.sql or "", look), look)
    yield from _section("Time", _times(answer.times, answer.seconds, look), look)
    yield from _section("Language models", list(_usage(answer)), look)


def _usage(answer: Answer) -> Iterator[Text]:
    if words := usage_words(answer.usage):
        yield Text(words)
    for step, usage in answer.usage_by_step.items():
        line = Text(f"{clean(step, 60)}: ")
        line.append(usage_words(usage), style="quiet")
        yield line


def _section(title: str, lines: Iterator[Text] | Sequence[Text], look: Look) -> Iterator[Text]:
    first = True
    for line in lines:
        if first:
            yield from wrapped(Text.assemble((title, "strong")), look.width)
            first = False
        yield from indented([line])
    if not first:
        yield Text()


def _question(state: State, look: Look) -> Iterator[Text]:
    yield from wrapped(Text(clean(state.question.text, 10_000)), look.width - 2)
    if state.question.evidence:
        yield from labelled(
            "evidence", [Text(clean(state.question.evidence, 10_000))], look.width - 2
        )
    for turn in state.question.history:
        yield from labelled("earlier", [Text(clean(turn.question, 400))], look.width - 2)


def _values(state: State, look: Look) -> Iterator[Text]:
    for match in state.values[:LINKS]:
        line = Text.assemble((f"{match.score:4.2f}  ", "quiet"))
        line.append_text(value_line(match, look.glyphs))
        yield from wrapped(line, look.width - 2, hang=6)
    if len(state.values) > LINKS:
        yield Text.assemble((f"and {len(state.values) - LINKS} more", "quiet"))


def _links(state: State, look: Look) -> Iterator[Text]:
    for heading, names in (
        ("tables", [(clean(link.table, 80), link.score) for link in state.tables]),
        ("columns", [(clean(str(link.column), 120), link.score) for link in state.columns]),
    ):
        entries = [
            Text.assemble((f"{score:4.2f}  ", "quiet"), (name, "name"))
            for name, score in names[:LINKS]
        ]
        if len(names) > LINKS:
            entries.append(Text.assemble((f"and {len(names) - LINKS} more", "quiet")))
        yield from labelled(heading, entries, look.width - 2)


def _candidates(candidates: Sequence[Candidate], chosen: str, look: Look) -> Iterator[Text]:
    for number, candidate in enumerate(candidates[:CANDIDATES], 1):
        if number > 1:
            yield Text()
        head = Text.assemble((f"{number}  ", "quiet"))
        head.append_text(result_summary(candidate.result, look))
        head.append(f"  score {candidate.score:.3f}, by {clean(candidate.source, 60)}", "quiet")
        if candidate.sql == chosen:
            head.append(f"  {look.glyphs.tick} chosen", style="good")
        yield from wrapped(head, look.width - 2, hang=3)
        for note in _history(candidate):
            yield from wrapped(Text.assemble((f"   {note}", "fair")), look.width - 2)
        yield from indented(
            sql_lines(candidate.sql, Look(look.width - 3, look.glyphs, look.coloured, 0)), 1
        )
    if len(candidates) > CANDIDATES:
        yield Text.assemble((f"and {len(candidates) - CANDIDATES} more", "quiet"))


def _history(candidate: Candidate) -> list[str]:
    """What repairs changed, oldest first."""
    notes: list[str] = []
    current: Candidate | None = candidate
    while current is not None and len(notes) < 10:
        if current.note:
            notes.insert(0, clean(current.note, 300))
        current = current.parent
    return notes


def _times(times: Sequence[StepTime], seconds: float, look: Look) -> Iterator[Text]:
    if not times:
        return
    total = sum(time.seconds for time in times)
    room = min(40, look.width - 14)
    names = [shorten(step_words(time.step), room, look.glyphs) for time in times]
    column = max(cell_len(name) for name in names) + 2
    bar = 0 if look.width < column + BAR + 14 and look.width < UNLIMITED else BAR
    for name, time in zip(names, times, strict=True):
        share = time.seconds / total if total else 0.0
        line = Text(name + " " * (column - cell_len(name)) + f"{duration(time.seconds):>8}")
        line.append("  " + look.glyphs.full * round(share * bar), style="name")
        line.rstrip()
        yield line
    yield Text("by the clock" + " " * max(column - 12, 1) + f"{duration(seconds):>8}")
