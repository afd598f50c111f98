"""`sqlwright trace`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from sqlwright.boundary.text import counted, duration, money, readable, to_json
from sqlwright.cli.failure import UsageError
from sqlwright.cli.opening import settled
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import indented, labelled, rest, shorten, wrapped
from sqlwright.cli.terminal.progress import step_words
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database
from sqlwright.cli.views.answer import DisplayOptions, confidence_text, sql_lines
from sqlwright.presentation.answer import plain
from sqlwright.presentation.sureness import agreement_words
from sqlwright.running.trace import Trace, TraceSummary, find_trace, list_traces, read_trace
from sqlwright.types import Basis

EXAMPLES = """\
sqlwright trace
sqlwright trace show
sqlwright trace show 20261120-2104
sqlwright trace judge --right
sqlwright trace judge 20261120-2104 --wrong --sql "SELECT COUNT(*) FROM orders"
"""


def command(
    *,
    action: Annotated[
        str, typer.Argument(metavar="[list|show|judge]", help="What to do; 'list' unless given.")
    ] = "list",
    run_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A trace id or its beginning; newest if none.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", parser=options.count, help="Traces listed.")
    ] = 20,
    right: Annotated[
        bool, typer.Option("--right", help="With judge: the answer was right.")
    ] = False,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="With judge: the answer was wrong.")
    ] = False,
    sql: Annotated[
        str, typer.Option("--sql", metavar="QUERY", help="With --wrong: a query that is right.")
    ] = "",
    as_json: options.AsJson = False,
) -> int:
    """Look back at a question: what was tried, what it took, and say if it was right.

    Traces stay on this machine. They hold the questions, the queries and the first rows; so does
    what you say of them. `--data traces:FOLDER` measures and trains on it.
    """
    if action not in ("list", "show", "judge"):
        raise UsageError(
            f"trace can't {readable(action)!r}", hint="It knows 'list', 'show ID' and 'judge ID'."
        )
    if action == "judge":
        if right == wrong:
            raise UsageError("judge says one thing", hint="Add --right or --wrong.")
        if right and sql:
            raise UsageError("an answer that was right needs no query", hint="Leave out --sql.")
    elif right or wrong or sql:
        raise UsageError(
            "--right, --wrong and --sql are for 'judge'", hint="trace judge ID --right"
        )

    screen = Screen.open()
    chosen = settled()
    folder = chosen.home_folder / "traces"
    if action == "list":
        summaries = list_traces(folder, limit=limit)
        if as_json:
            write_result(to_json(plain(summaries), indent=2) + "\n")
        else:
            screen.show(list_lines(summaries, DisplayOptions.of(screen)))
        return 0
    path = find_trace(folder, run_id)
    if action == "judge":
        from sqlwright.lab.evaluation.golden.judged import judge

        usual = default_database(os.environ)
        judge(path, right=right, sql=sql, usual=usual, chosen=chosen)
    trace = read_trace(path)
    if as_json:
        write_result(to_json(plain(trace), indent=2) + "\n")
    elif action == "judge":
        screen.show(feedback_lines(trace, DisplayOptions.of(screen)))
    else:
        screen.show(trace_lines(trace, DisplayOptions.of(screen)))
    return 0


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
    return entries + rest(len(items) - ITEMS) or [Text.assemble(("none", "quiet"))]


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


SHOWN = 1_200
"""Characters of a message or reply; `trace show --json` has more."""
REPLIES = 3
"""Replies of one call shown at most."""
ORIGINS = {"value": "value"}
"""Styles of text by where it came from: what the database stores stands out."""


class ShownCalls:
    """Remembers texts of a trace, so that each is shown once, and counts calls."""

    def __init__(self) -> None:
        self._first_call: dict[str, int] = {}
        self._calls = 0
        self._sample = 0

    def begun(self, event: Mapping[str, Any]) -> None:
        """A step begins, in a chain of its own where there are several."""
        sample = event.get("sample")
        self._sample = sample if isinstance(sample, int) else 0

    def called(self) -> str:
        """Number of the next call, and of its candidate where there are several."""
        self._calls += 1
        chain = f", candidate {self._sample}" if self._sample else ""
        return f"call {self._calls}{chain}"

    def before(self, message: Mapping[str, Any]) -> int:
        """The call in which the same was said before; 0 where it wasn't."""
        first = self._first_call.setdefault(str(message.get("text")), self._calls)
        return first if first < self._calls else 0


def call_lines(
    event: Mapping[str, Any], display: DisplayOptions, shown: ShownCalls
) -> Iterator[Text]:
    """Lines of a call: step, prompt, replies, time, tokens."""
    yield Text()
    line = Text.assemble(
        (f"{clean(str(event.get('model', '')), 80)}", "name"),
        (f" for {step_words(str(event.get('step', '')))}", "strong"),
        (f"  {shown.called()} {display.glyphs.dot} {_taken(event, display)}", "quiet"),
    )
    yield from wrapped(line, display.width, hang=2)
    messages = event.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            earlier = shown.before(message)
            text = _message_text(message)
            if earlier:
                text = Text(f"the same as in call {earlier}", style="quiet")
            label = clean(str(message.get("role", "")), 10)
            yield from indented(labelled(label, [text], display.width - 2))
    replies = event.get("replies")
    listed = replies if isinstance(replies, list) else []
    for reply in listed[:REPLIES]:
        if isinstance(reply, dict):
            yield from indented(_reply_lines(reply, display))
    more = rest(len(listed) - REPLIES, "more replies")
    yield from indented(labelled("", more, display.width - 2))


def _taken(event: Mapping[str, Any], display: DisplayOptions) -> str:
    parts = []
    seconds, cost = event.get("seconds"), event.get("cost")
    if isinstance(seconds, int | float) and seconds:
        parts.append(duration(float(seconds)))
    parts.append(f"temperature {event.get('temperature', 0)}")
    tokens = f"{event.get('prompt_tokens', 0):,} tokens in, {event.get('reply_tokens', 0):,} out"
    if event.get("reasoning_tokens"):
        tokens += f" ({event['reasoning_tokens']:,} of them reasoning)"
    parts.append(tokens)
    if event.get("left_out"):
        parts.append(f"left out: {clean(', '.join(map(str, event['left_out'])), 80)}")
    if event.get("cached"):
        parts.append(f"{event['cached']} cached")
    if cost is None or cost:
        parts.append(money(cost))
    return f" {display.glyphs.dot} ".join(parts)


def _message_text(message: Mapping[str, Any]) -> Text:
    text, room = Text(), SHOWN
    spans = message.get("text")
    for span in spans if isinstance(spans, list) else ():
        if not isinstance(span, list) or len(span) != 2:
            continue
        origin, words = str(span[0]), str(span[1])
        text.append(clean_block(words, max(room, 0)) if room > 0 else "", ORIGINS.get(origin))
        room -= len(words)
    return text


def _reply_lines(reply: Mapping[str, Any], display: DisplayOptions) -> Iterator[Text]:
    if "text" not in reply:
        kind = clean(str(reply.get("kind", "missing")), 20)
        why = Text(f"{kind}: {clean(str(reply.get('message', '')), 400)}", style="warning")
        yield from labelled("no reply", [why], display.width - 2)
        return
    entries = [Text(clean_block(str(reply["text"]), SHOWN))]
    calls = [call for call in reply.get("tool_calls") or () if isinstance(call, dict)]
    entries += [Text(f"calls {clean(str(c.get('name')), 80)}", style="quiet") for c in calls]
    if reply.get("finish") not in {"stop", None}:
        entries.append(Text(f"ended by: {clean(str(reply['finish']), 40)}", style="quiet"))
    yield from labelled("reply", entries, display.width - 2)
