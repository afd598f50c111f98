"""A request to a language model and its replies, from a trace, for reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import indented, labelled, wrapped
from sqlwright.cli.terminal.progress import step_words
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.presentation.numbers import money
from sqlwright.presentation.timing import duration

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
    if len(listed) > REPLIES:
        rest = Text(f"and {len(listed) - REPLIES} more replies", style="quiet")
        yield from indented(labelled("", [rest], display.width - 2))


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
