"""A state as an agent's model sees it: enough to choose the next tool by, never all of it.

Every list is cut and says what is left out. Stored values, results and messages have the origin of
stored data, so they stay at home where values may not leave the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlwright.candidates import deduplicate, group_by_result, result_places, valid
from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import flat, literal, render_result, render_sql, shortened
from sqlwright.prompts.templates import model_text, plain_text, schema_text, value_text
from sqlwright.schema import ColumnRef, Detail
from sqlwright.types import Candidate, State, UnitTest

KEYWORDS = 20
"""Keywords listed at most; chosen, as are the next ones."""
VALUES = 15
"""Stored values, and columns with descriptions, listed at most."""
TABLES = 30
"""Tables listed at most."""
COLUMNS = 12
"""Columns named of a table at most."""
QUERIES = 8
"""Queries listed at most."""
TESTS = 12
"""Unit tests listed at most."""
MESSAGES = 4
"""Notes on failures listed, the last ones."""
HEAD = 240
"""Characters shown of a query, a result or a sentence."""
CELL = 40
"""Characters shown of a value."""

INDENT = "\n   "
"""Begins the lines below a query."""

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n\s*")


def summary(state: State) -> Text:
    """All that is known so far, by kind: amounts, then what was found itself."""
    parts = [plain_text(f"{what}: ") + much for what, much in amounts(state)]
    parts += [
        plain_text(f"\n{title}:\n") + Text.join("\n", lines)
        for title, lines in _details(state)
        if lines
    ]
    return Text.join("\n", parts)


def changes(before: State, after: State) -> Text:
    """The amounts a tool changed, in a few words."""
    if after is before:
        return plain_text("changed nothing")
    changed = []
    for (what, was), (_, now) in zip(amounts(before), amounts(after), strict=True):
        if str(was) != str(now):
            changed.append(plain_text(f"{what}: ") + was + plain_text(" -> ") + now)
    return Text.join("; ", changed) or plain_text("changed nothing that is counted")


def amounts(state: State) -> list[tuple[str, Text]]:
    """The kinds of findings in a state, each with its amount."""
    shown = sum(1 for ref in state.view.schema.columns if state.view.detail(ref) != Detail.HIDDEN)
    found, rough = str(len(state.values)), _few(len(state.values))
    judged = sum(test.passed is not None for test in state.tests)
    return [
        ("columns in view", plain_text(f"{shown} of {state.view.schema.column_count}")),
        ("keywords", plain_text(f"{len(state.keywords)}")),
        ("stored values found", Text((Span(found, "value", rough),))),
        ("columns with a similar name", plain_text(f"{len(state.similar_columns)}")),
        ("descriptions found", plain_text(f"{len(state.descriptions)}")),
        ("candidates", _candidates(state)),
        ("tests", plain_text(f"{len(state.tests)} ({judged} judged)" if state.tests else "0")),
        ("selected", plain_text("yes" if state.selected is not None else "no")),
    ]


def _details(state: State) -> list[tuple[str, list[Text]]]:
    return [
        ("Keywords", _keywords(state)),
        ("Stored values found", _values(state)),
        ("Columns with descriptions found", _described(state)),
        ("Tables and columns in view", _view(state)),
        ("Queries, each with what came of it", _queries(state)),
        ("Unit tests", _tests(state)),
        ("What went wrong", _problems(state)),
    ]


def _keywords(state: State) -> list[Text]:
    if not state.keywords:
        return []
    words = [model_text(shortened(flat(word), CELL)) for word in state.keywords[:KEYWORDS]]
    return [Text.join(", ", words) + _more(len(state.keywords) - KEYWORDS)]


def _values(state: State) -> list[Text]:
    """In one piece: the columns that hold what a phrase resembles are told by the data."""
    lines = [
        f"{match.column} = {literal(match.value, CELL)}, for "
        f'"{shortened(flat(match.phrase), CELL)}"'
        for match in state.values[:VALUES]
    ]
    if rest := len(state.values) - len(lines):
        lines.append(f"and {rest} more")
    return [value_text("\n".join(lines))] if lines else []


def _described(state: State) -> list[Text]:
    refs = list(dict.fromkeys(str(match.column) for match in state.descriptions))
    if not refs:
        return []
    return [schema_text(", ".join(refs[:VALUES])) + _more(len(refs) - VALUES)]


def _view(state: State) -> list[Text]:
    tables: dict[str, list[ColumnRef]] = {}
    for ref in state.view.visible:
        tables.setdefault(ref.table, []).append(ref)
    lines = []
    for table, refs in list(tables.items())[:TABLES]:
        names = ", ".join(flat(ref.column) for ref in refs[:COLUMNS])
        rest = f", and {len(refs) - COLUMNS} more" if len(refs) > COLUMNS else ""
        lines.append(schema_text(f"{flat(table)}({names}{rest})"))
    if len(tables) > TABLES:
        lines.append(plain_text(f"and {len(tables) - TABLES} more tables"))
    return lines


def _queries(state: State) -> list[Text]:
    ours = deduplicate(one for one in state.candidates if not one.goal)
    shown = ours[:QUERIES]
    places = result_places(shown)
    lines = []
    for number, (one, place) in enumerate(zip(shown, places, strict=True), start=1):
        chosen = state.selected is not None and one.sql == state.selected.sql
        head = plain_text(f"{number}. {'selected: ' if chosen else ''}")
        head += _cut(render_sql(one, state.question), HEAD)
        lines.append(head + plain_text(INDENT) + _outcome(one, place + 1, number))
    if len(ours) > QUERIES:
        lines.append(plain_text(f"and {len(ours) - QUERIES} more queries"))
    return lines


def _outcome(candidate: Candidate, same_as: int, number: int) -> Text:
    if candidate.result is None:
        return plain_text("not run yet")
    if same_as != number:
        # Whether two results are equal is told by the data.
        return value_text(f"the same result as query {same_as}")
    sketch = render_result(candidate.result, rows=2, columns=6, limit_cell=CELL)
    return _cut(sketch, HEAD, INDENT)


def _tests(state: State) -> list[Text]:
    ours = list(deduplicate(one for one in state.candidates if not one.goal))[:QUERIES]
    return [_test(test, state.candidates, ours) for test in state.tests[:TESTS]] + (
        [plain_text(f"and {len(state.tests) - TESTS} more")] if len(state.tests) > TESTS else []
    )


def _test(test: UnitTest, candidates: Sequence[Candidate], shown: Sequence[Candidate]) -> Text:
    text = plain_text("- ") + model_text(shortened(flat(test.text), HEAD))
    if test.passed is None:
        return text + plain_text(" (not judged)")
    passed = deduplicate(candidates[place] for place in test.passed if place < len(candidates))
    known = [one.sql for one in passed]
    numbers = [str(n) for n, one in enumerate(shown, start=1) if one.sql in known]
    return text + plain_text(f" (passed by {', '.join(numbers) or 'none of these queries'})")


def _problems(state: State) -> list[Text]:
    """The notes of tools on failures; a message may quote stored data."""
    told = [note.text for note in state.warnings if note.kind in {"model", "left_out", "budget"}]
    return [value_text(shortened(flat(text), HEAD)) for text in told[-MESSAGES:]]


def _cut(text: Text, limit: int, between: str = " ") -> Text:
    """The text, cut after `limit` characters; `between` stands between its lines."""
    return Text(tuple(_pieces(text, limit, between)))


def _pieces(text: Text, limit: int, between: str) -> Iterator[Span]:
    left = limit
    for span in text.spans:
        line = _LINES.sub(between, _BLANKS.sub(" ", span.text))
        if len(line) > left:
            yield span._replace(text=line[:left])
            yield Span("…", "template")
            return
        left -= len(line)
        yield span._replace(text=line)


def _more(number: int) -> Text:
    return plain_text(f", and {number} more") if number > 0 else Text()


def _few(number: int) -> str:
    """A count that tells no more of the data than 0, 1 or many."""
    return "many" if number > 1 else str(number)


def _candidates(state: State) -> Text:
    if not state.candidates:
        return plain_text("0")
    ran = [candidate for candidate in state.candidates if valid(candidate)]
    failed = sum(1 for c in state.candidates if c.result is not None and not c.result.ok)
    empty = sum(1 for c in ran if c.result is not None and c.result.empty)
    groups = len(group_by_result(ran))
    exact, rough = (
        f" ({say(failed)} failed, {say(empty)} found nothing, {say(groups)} different results)"
        for say in (str, _few)
    )
    count = Span(str(len(state.candidates)), "template")
    return Text((count, Span(exact, "value", rough)))
