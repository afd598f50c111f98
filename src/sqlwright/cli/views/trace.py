"""Traces for reading: a list of questions, and one run step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import indented, labelled, shorten, wrapped
from sqlwright.cli.terminal.progress import step_words
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions, confidence_text, sql_lines
from sqlwright.cli.views.model_calls import ShownCalls, call_lines
from sqlwright.presentation.numbers import counted
from sqlwright.presentation.sureness import agreement_words
from sqlwright.presentation.timing import duration
from sqlwright.running.trace import Trace, TraceSummary
from sqlwright.types import Basis

STATUS_STYLES = {"answered": "good", "refused": "fair", "failed": "bad"}
FIELD_WORDS = {"sub_question": "sub-question", "sub_questions": "sub-questions"}
"""Words for fields of a state whose names aren't words."""
ITEMS = 6
"""Items shown at most of a list in a trace."""


def list_lines(summaries: Sequence[TraceSummary], display: DisplayOptions) -> Iterator[Text]:
    """One line per question, the newest first."""
    if not summaries:
        yield Text.assemble(("no traces yet: ask something first", "quiet"))
    for summary in summaries:
        line = Text.assemble(
            (clean(summary.id, 40), "name"),
            (f"  {_when(summary.time)}  ", "quiet"),
            (f"{clean(summary.status or 'unfinished', 20):<10}", _style(summary.status)),
        )
        if summary.feedback:
            line.append(f"  {clean(summary.feedback, 20)}", style=_said_style(summary.feedback))
        room = max(display.width - len(line.plain) - 2, 20)
        line.append(f"  {shorten(clean(summary.question, 400), room, display.glyphs)}")
        yield from wrapped(line, display.width, hang=4)


def trace_lines(trace: Trace, display: DisplayOptions) -> Iterator[Text]:
    """A run from its question to its answer."""
    start = trace.start
    yield Text.assemble(
        (clean(str(start.get("question", "")) or "(no question)", 10_000), "strong")
    )
    about = [
        f"{name} {clean(str(start[key]), 200)}"
        for name, key in (("database", "database"), ("at", "time"), ("sqlwright", "sqlwright"))
        if start.get(key)
    ]
    if about:
        yield from wrapped(
            Text.assemble((f" {display.glyphs.dot} ".join(about), "quiet")), display.width
        )
    shown = ShownCalls()
    for event in trace.events:
        yield from _event_lines(event, display, shown)
    yield Text()
    yield from _answer_lines(trace.answer, display)
    if trace.feedback is not None:
        yield from feedback_lines(trace, display)


def feedback_lines(trace: Trace, display: DisplayOptions) -> Iterator[Text]:
    """The user's word on the answer."""
    said = trace.feedback
    if said is None:
        return
    told = Text.assemble((said.word, _said_style(said.word)))
    if said.time:
        told.append(f", said {_when(said.time)}", style="quiet")
    yield from labelled("feedback", [told], display.width)
    if said.sql:
        yield from sql_lines(said.sql, display, str(trace.answer.get("dialect", "sqlite")))


def _event_lines(
    event: Mapping[str, Any], display: DisplayOptions, shown: ShownCalls
) -> Iterator[Text]:
    kind = str(event.get("kind", ""))
    if kind == "begin":
        shown.begun(event)
    if kind == "call":
        yield from call_lines(event, display, shown)
    if kind == "sub_question" and event.get("total") != 1:
        yield Text()
        which = f"sub-question {event.get('number')} of {event.get('total')}: "
        told = Text.assemble((which, "strong"), clean(str(event.get("text")), 2_000))
        yield from wrapped(told, display.width, hang=2)
    if kind == "tier" and isinstance(event.get("tier"), dict):
        yield Text()
        yield from labelled(
            "tier", [Text(shorten(_item_words(event["tier"]), 400, display.glyphs))], display.width
        )
    if kind != "step":
        return
    yield Text()
    line = Text.assemble((step_words(str(event.get("step", ""))), "strong"))
    seconds = event.get("seconds")
    if isinstance(seconds, int | float):
        line.append(f"  {duration(float(seconds))}", style="quiet")
    yield line
    changes = event.get("changes")
    if isinstance(changes, dict):
        for name, value in changes.items():
            yield from indented(
                labelled(
                    FIELD_WORDS.get(name) or clean(str(name), 40).replace("_", " "),
                    _value_entries(value, display),
                    display.width - 2,
                    hang=2,
                )
            )


def _value_entries(value: Any, display: DisplayOptions) -> list[Text]:
    items = value if isinstance(value, list) else [value]
    entries = [Text(shorten(_item_words(item), 400, display.glyphs)) for item in items[:ITEMS]]
    if len(items) > ITEMS:
        entries.append(Text.assemble((f"and {len(items) - ITEMS} more", "quiet")))
    return entries or [Text.assemble(("none", "quiet"))]


def _item_words(item: Any) -> str:
    if not isinstance(item, dict):
        return clean(str(item), 400)
    if "sql" in item:
        return (
            f"{_result_words(item.get('result'))}  {clean(' '.join(str(item['sql']).split()), 300)}"
        )
    if "phrase" in item:
        column = item.get("column")
        where = ".".join(str(v) for v in column.values()) if isinstance(column, dict) else column
        return clean(f'"{item["phrase"]}" = {where}: {item.get("value")}', 300)
    if isinstance(item.get("values"), list) and "column" in item:
        listed = ", ".join(str(value) for value in item["values"])
        return clean(f"{_short(item['column'])}: {listed}", 300)
    pairs = [f"{key} {_short(entry)}" for key, entry in item.items() if entry not in (None, "", [])]
    return clean(", ".join(pairs), 400)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ".".join(str(entry) for entry in value.values())
    if isinstance(value, list):
        return ".".join(str(entry) for entry in value)
    return str(value)


def _result_words(result: Any) -> str:
    if not isinstance(result, dict):
        return "not run"
    error = result.get("error")
    if isinstance(error, dict):
        return clean(f"{error.get('kind')}: {error.get('message')}", 80)
    return counted(result.get("row_count", 0), "row")


def _answer_lines(answer: Mapping[str, Any], display: DisplayOptions) -> Iterator[Text]:
    status = str(answer.get("status", ""))
    if not status:
        yield Text.assemble(("it never came to an answer", "warning"))
        return
    yield Text.assemble((clean(status, 20), _style(status)))
    if answer.get("message"):
        yield from labelled("because", [Text(clean(str(answer["message"]), 2_000))], display.width)
    if answer.get("sql"):
        yield from sql_lines(str(answer["sql"]), display, str(answer.get("dialect", "sqlite")))
    confidence = answer.get("confidence")
    if status == "answered" and isinstance(confidence, int | float):
        yield from labelled(
            "how sure", [confidence_text(float(confidence), display.glyphs)], display.width
        )
    elif status == "answered" and isinstance(basis := answer.get("basis"), Mapping):
        counted = agreement_words(
            Basis(basis.get("kind", "none"), basis.get("agreeing", 0), basis.get("of", 0))
        )
        told = [str(sign.get("text", "")) for sign in basis.get("signs") or ()]
        entries = [Text(clean(text, 400)) for text in (counted, *told)]
        yield from labelled("how sure", entries, display.width)
    if answer.get("doubt"):
        yield from labelled("because", [Text(clean(str(answer["doubt"]), 600))], display.width)


def _style(status: str) -> str:
    return STATUS_STYLES.get(status, "quiet")


def _said_style(word: str) -> str:
    return "good" if word == "right" else "bad"


def _when(time: str) -> str:
    """A moment in the local time zone, to the minute."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return clean(time, 40)
