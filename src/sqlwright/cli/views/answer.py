"""Renders an answer: its reading, SQL, rows, confidence, other candidates, remarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

from sqlwright.boundary.text import duration, percent
from sqlwright.cli.terminal.console import UNLIMITED, Glyphs, Screen
from sqlwright.cli.terminal.layout import (
    LABEL_WIDTH,
    NARROW,
    PROSE,
    indented,
    labelled,
    rest,
    shorten,
    wrapped,
)
from sqlwright.cli.terminal.table import SHOWN_ROWS, cell_text, shape, table_lines
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.presentation.answer import (
    DOUBTED_ROWS,
    NO_ROWS,
    assumed_words,
    doubt_words,
    rows_words,
    spent_words,
)
from sqlwright.presentation.numbers import cost_words, usage_words
from sqlwright.presentation.sql_text import Cut, in_clauses, sql_pieces
from sqlwright.presentation.sureness import basis_lines
from sqlwright.sql.pieces import cutting
from sqlwright.types import Answer, Candidate, ExecutionResult, Note, QueryPart, ValueMatch


def highlighted(sql: str, cut: Cut) -> Text:
    """`sql`, which must be clean already, with its words coloured; nothing else changes."""
    text = Text(sql)
    for piece in sql_pieces(sql, cut):
        text.stylize(f"sql.{piece.kind}", piece.start, piece.end)
    return text


BAR = 10
"""Characters of the bar of confidence."""
CONSIDERED = 5
"""Other candidates shown of an answer."""
CONSIDERED_IN_VAIN = 2
"""Other candidates shown where there is no answer."""
SQL_LIMIT = 10_000
"""Characters of a query shown for reading; --sql-only prints all of it."""
SQL_LINES = 200
"""Lines of a query shown for reading."""
MENTIONED = 8
"""Parts of a reading, tables and warnings named before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """Width, glyphs, colour and row limits of the output."""

    width: int
    glyphs: Glyphs
    coloured: bool
    rows: int
    """Rows shown at most."""
    doubted: int = UNLIMITED
    """Rows shown at most of an answer that is less than half sure."""
    more: str = "--max-rows"
    """The option that shows more of them; may be empty."""

    @classmethod
    def of(
        cls, screen: Screen, max_rows: int | None = None, more: str = "--max-rows"
    ) -> DisplayOptions:
        """Fitted to a terminal; complete where output is piped."""
        rows = (
            max_rows if max_rows is not None else (SHOWN_ROWS if screen.interactive else UNLIMITED)
        )
        few = max_rows is None and screen.interactive
        doubted = DOUBTED_ROWS if few else UNLIMITED
        return cls(screen.width, screen.glyphs, screen.coloured, rows, doubted, more)


def answer_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """Everything about an answer, blocks divided by blank lines. Doubt comes before what it is
    about, and few rows are shown then."""
    if answer.doubt:
        display = replace(display, rows=min(display.rows, display.doubted))
    blocks = [
        doubt_lines(answer, display),
        understood_lines(answer, display),
        verdict_lines(answer, display),
        sql_lines(answer.sql, display, answer.dialect) if answer.sql else iter(()),
        result_lines(answer, display),
        _certainty_lines(answer, display),
        assumed_lines(answer, display.width),
        cost_lines(answer, display.width),
        _spent_lines(answer, display),
        _considered_lines(answer, display),
        warning_lines(answer.warnings, display),
        _closing_lines(answer, display),
    ]
    first = True
    for block in blocks:
        lines = list(block)
        if lines and not first:
            yield Text()
        first = first and not lines
        yield from lines


def understood_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """The query in words, and the tables it reads."""
    entries = [part_line(part, display.glyphs) for part in answer.reading[:MENTIONED]]
    entries += rest(len(answer.reading) - MENTIONED)
    yield from labelled("understood", entries, display.width, hang=2)
    if answer.used_tables:
        names = Text(", ").join(
            Text(clean(name, 100), style="name") for name in answer.used_tables[:MENTIONED]
        )
        if len(answer.used_tables) > MENTIONED:
            names.append(f" and {len(answer.used_tables) - MENTIONED} more", style="quiet")
        yield from labelled("from", [names], display.width)


def value_line(match: ValueMatch, glyphs: Glyphs) -> Text:
    """`"munich" → customers.city = 'München' (412 rows)`."""
    line = Text(f'"{clean(match.phrase, 80)}"')
    line.append(f" {glyphs.arrow} ", style="quiet")
    line.append(clean(str(match.column), 120), style="name")
    line.append(" = ", style="quiet")
    line.append(f"'{clean(match.value, 120)}'", style="value")
    if match.row_count is not None:
        line.append(f" ({shape(1, match.row_count)})", style="quiet")
    return line


def sql_lines(sql: str, display: DisplayOptions, dialect: str) -> Iterator[Text]:
    """The query, highlighted where colours are shown, wrapped to the width."""
    cut = cutting(dialect)
    text = clean_block(in_clauses(sql.strip(), cut), SQL_LIMIT)
    lines = text.split("\n", SQL_LINES)
    left_out = lines[SQL_LINES].count("\n") + 1 if len(lines) > SQL_LINES else 0
    text = "\n".join(lines[:SQL_LINES])
    block = highlighted(text, cut) if display.coloured else Text(text)
    yield from indented(wrapped(block, display.width - 2, hang=2))
    yield from indented(rest(left_out))


def result_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """The rows, and how many of how many they are."""
    if not answer.columns:
        return
    yield from indented(
        table_lines(
            answer.columns,
            answer.rows[: display.rows],
            width=display.width - 2,
            glyphs=display.glyphs,
        )
    )
    yield from indented(_count_lines(answer, display))


def warning_lines(warnings: Sequence[Note], display: DisplayOptions) -> Iterator[Text]:
    """Warnings."""
    entries = [Text(clean(note.text, 400), style="warning") for note in warnings[:MENTIONED]]
    yield from labelled("note", entries + rest(len(warnings) - MENTIONED), display.width)


def confidence_text(confidence: float, glyphs: Glyphs) -> Text:
    """A bar, a percentage and what it means in words."""
    share = min(max(confidence, 0.0), 1.0)
    words, style = _words(share)
    full = round(share * BAR)
    line = Text.assemble((glyphs.full * full, style))
    line.append(glyphs.empty * (BAR - full), style="rule")
    line.append(f" {percent(share)}", style="strong")
    line.append(f" {words}")
    return line


def result_summary(result: ExecutionResult | None, display: DisplayOptions) -> Text:
    """A result in a few words: its only value, its size, or its error."""
    if result is None:
        return Text("not run", style="quiet")
    if result.error is not None:
        return Text(
            shorten(f"{result.error.kind}: {clean(result.error.message)}", 30, display.glyphs),
            style="bad",
        )
    if not result.rows:
        return Text("no rows", style="quiet")
    if len(result.rows) == 1 and len(result.columns) == 1 and not result.truncated:
        value = cell_text(result.rows[0][0])
        return Text(shorten(value.plain, 24, display.glyphs), style=value.style)
    return Text(shape(len(result.columns), len(result.rows), result.truncated))


def one_line_sql(sql: str, beside: str, width: int, glyphs: Glyphs) -> str:
    """`sql` in one line, starting shortly before it departs from `beside` if it must be cut."""
    text, other = " ".join(sql.split()), " ".join(beside.split())
    text, other = clean(text, 10_000), clean(other, 10_000)
    if len(text) <= width:
        return text
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(text))
    start = text.rfind(" ", 0, max(same - width // 3, 0)) + 1
    if same < width * 2 // 3 or start == 0:
        return shorten(text, width, glyphs)
    return shorten(f"{glyphs.ellipsis} {text[start:]}", width, glyphs)


def verdict_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """The reason why there is no answer, and the nearest thing that could be done; nothing if there
    is."""
    if answer.status == "answered":
        return
    refused = answer.status == "refused"
    message = Text(clean_block(answer.message, 600))
    yield from labelled(
        "no answer" if refused else "failed",
        [message],
        display.width,
        style="fair" if refused else "bad",
    )
    if answer.suggestion:
        yield from labelled("instead", [Text(clean_block(answer.suggestion, 2_000))], display.width)


def doubt_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    """The doubt about an answer, with the main reason; nothing if it is likely right."""
    if answer.doubt:
        line = Text(clean(doubt_words(answer), 600), style="fair")
        yield from wrapped(line, display.width)


def assumed_lines(answer: Answer, width: int) -> Iterator[Text]:
    """The reading that an answer goes by, and what the others would give; nothing where nothing was
    assumed."""
    if answer.question_back is not None:
        words = Text(clean(assumed_words(answer.question_back), 600), style="fair")
        yield from labelled("assumed", [words], width)


def _count_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    total = len(answer.rows)
    if not total:
        if answer.doubt != NO_ROWS:
            yield Text("no rows", style="quiet")
        return
    shown = min(total, display.rows)
    words = shape(1, total)
    if shown < total:
        words = f"{display.glyphs.ellipsis} {total - shown:,} more of {words}"
        words += f": {display.more}" if display.more else ""
    line = Text.assemble((words, "quiet"))
    if answer.truncated:
        line.append(f" {display.glyphs.dot} ", style="quiet")
        line.append("cut off here, there are more", style="warning")
    yield from wrapped(line, display.width - 2)


def _certainty_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    if answer.status == "answered" and answer.confidence is not None and not answer.doubt:
        bar = confidence_text(answer.confidence, display.glyphs)
        rests = [Text(clean(text, 400), style="quiet") for text, _ in basis_lines(answer)]
        yield from labelled("how sure", [bar, *rests], display.width)
        return
    entries = [
        Text(clean(text, 400), style="warning" if against else "")
        for text, against in basis_lines(answer)
    ]
    yield from labelled("how sure", entries, display.width)


def cost_lines(answer: Answer, width: int) -> Iterator[Text]:
    """The rows and bytes that the query reads, by the engine's estimate, where it gives one."""
    if answer.cost is not None:
        words = f"about {cost_words(answer.cost)}, by the database's estimate"
        yield from labelled("reads", [Text(words)], width)


def _spent_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    if words := spent_words(answer):
        yield from labelled("spent", [Text(clean(words, 1_000))], display.width)


def _considered_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    shown = CONSIDERED if answer.status == "answered" else CONSIDERED_IN_VAIN
    entries = considered(answer.alternatives[:shown], answer.sql or "", display)
    entries += rest(len(answer.alternatives) - shown)
    yield from labelled("considered", entries, display.width)


def considered(others: Sequence[Candidate], sql: str, display: DisplayOptions) -> list[Text]:
    """One line per alternative: its number, its result, where its SQL differs."""
    summaries = [result_summary(other.result, display) for other in others]
    pad = max((cell_len(summary.plain) for summary in summaries), default=0)
    entries = []
    for number, (other, summary) in enumerate(zip(others, summaries, strict=True), 1):
        line = Text.assemble((f"{number}  ", "quiet"))
        line.append_text(summary)
        if display.width < NARROW:
            line.append("\n   ")
            room = display.width - 5
        else:
            line.append(" " * (pad - cell_len(summary.plain) + 2))
            room = display.width - LABEL_WIDTH
            room = (room if room >= UNLIMITED // 2 else min(room, PROSE)) - cell_len(line.plain)
        line.append(one_line_sql(other.sql, sql, max(room, 8), display.glyphs), style="quiet")
        entries.append(line)
    return entries


def _closing_lines(answer: Answer, display: DisplayOptions) -> Iterator[Text]:
    parts = [duration(answer.seconds)] if answer.times else []
    if used := usage_words(answer.usage):
        parts.append(used)
    if answer.recipe:
        parts.append(f"recipe {clean(answer.recipe, 60)}")
    if answer.trace_id:
        parts.append(f"trace {clean(answer.trace_id, 60)}")
    if parts:
        line = Text(f" {display.glyphs.dot} ".join(parts), style="quiet")
        yield from wrapped(line, display.width)


def _words(share: float) -> tuple[str, str]:
    if share >= 0.9:
        return "very likely right", "good"
    if share >= 0.75:
        return "likely right", "good"
    if share >= 0.5:
        return "more likely right than not; check the SQL", "fair"
    if share >= 0.25:
        return "doubtful; check the SQL", "fair"
    return "a guess; check the SQL", "bad"


SAID = 400
"""Characters shown of one side of a condition, or of a part that is none."""


def part_line(part: QueryPart, glyphs: Glyphs) -> Text:
    """`"munich" → customers.city = 'München' (412 rows)`, set in by its depth."""
    line = Text("  " * part.depth)
    condition = part.condition
    if condition is None:
        line.append(clean(part.text, SAID))
        return line
    if part.lead:
        line.append(f"{part.lead} ")
    phrases = dict.fromkeys(clean(match.phrase, 80) for match in condition.matches)
    if phrases:
        line.append(", ".join(f'"{phrase}"' for phrase in phrases))
        line.append(f" {glyphs.arrow} ", style="quiet")
    line.append(clean(condition.subject, SAID), style="name")
    if condition.operator:
        line.append(f" {condition.operator}", style="quiet")
    if condition.object:
        line.append(" ")
        line.append(clean(condition.object, SAID), style="value")
    if rows := rows_words(condition):
        line.append(f" ({rows})", style="quiet")
    if part.text.endswith(":"):
        line.append(":")
    return line
