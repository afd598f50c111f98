"""A state as an agent's model sees it: enough to choose the next tool by, never all of it.

Every list is cut and says what is left out. Stored values, results and messages have the origin of
stored data, so they stay at home where values may not leave the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sqlwright.boundary.text import counted
from sqlwright.candidates import deduplicate, group_by_result, normalized_sql, rank, valid
from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import (
    flat,
    literal,
    render_result,
    render_sql,
    roughly,
    shortened,
)
from sqlwright.prompts.templates import model_text, plain_text, schema_text, value_text
from sqlwright.schema import ColumnRef, Detail
from sqlwright.types import TROUBLE, Candidate, State, UnitTest

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
QUERY = 320
"""Characters shown of a query."""
TESTS = 12
"""Unit tests listed at most."""
MESSAGES = 4
"""Notes on failures listed, the last ones."""
HEAD = 240
"""Characters shown of a result or a sentence."""
CELL = 40
"""Characters shown of a value."""

INDENT = "\n   "
"""Begins the lines below a query."""

Listed = tuple[Candidate, Sequence[Candidate]]
"""A query that is shown, and all that it stands for."""

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n\s*")


def summary(state: State, *, grouped: bool = True) -> Text:
    """All that is known so far, by kind: amounts, then what was found itself.

    Queries have the numbers that writers and judges of tests see: first one for each result, the
    shortest that gave it, then those without a result. With `grouped` off each query that differs
    stands for itself, as written: which results are equal is told by the data.
    """
    parts = [plain_text(f"{what}: ") + much for what, much in amounts(state)]
    parts += [
        plain_text(f"\n{title}:\n") + Text.join("\n", lines)
        for title, lines in _details(state, _listed(state, grouped=grouped))
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
        ("columns with names like keywords", plain_text(f"{len(state.similar_columns)}")),
        ("descriptions found", plain_text(f"{len(state.descriptions)}")),
        ("candidates", _candidates(state)),
        ("tests", plain_text(f"{len(state.tests)} ({judged} judged)" if state.tests else "0")),
        ("selected", plain_text("yes" if state.selected is not None else "no")),
    ]


def _details(state: State, listed: Sequence[Listed]) -> list[tuple[str, list[Text]]]:
    return [
        ("Keywords", _keywords(state)),
        ("Stored values found", _values(state)),
        ("Columns with names like keywords", _named(link.column for link in state.similar_columns)),
        ("Columns with descriptions found", _named(match.column for match in state.descriptions)),
        ("Tables and columns in view", _view(state)),
        ("Queries, each with what came of it", _queries(state, listed)),
        ("Unit tests", _tests(state, listed)),
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


def _named(columns: Iterable[ColumnRef]) -> list[Text]:
    refs = list(dict.fromkeys(map(str, columns)))
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
        known = state.view.schema.table(table)
        kind = "view " if known is not None and known.kind == "view" else ""
        lines.append(plain_text(kind) + schema_text(f"{flat(table)}({names}{rest})"))
    if (left := len(tables) - TABLES) > 0:
        lines.append(plain_text(f"and {counted(left, 'more table')}"))
    return lines


def _listed(state: State, *, grouped: bool) -> list[Listed]:
    """The queries in the order of their numbers."""
    ours = state.for_question
    if not grouped:
        return [(one, [other for other in ours if _alike(one, other)]) for one in deduplicate(ours)]
    groups = group_by_result(rank(ours))
    rest = deduplicate(one for one in ours if not valid(one))
    return [(group.shortest, group.candidates) for group in groups] + [
        (one, [other for other in ours if _alike(one, other)]) for one in rest
    ]


def _alike(one: Candidate, other: Candidate) -> bool:
    texts = [normalized_sql(each.sql, each.dialect) for each in (one, other)]
    return texts[0] == texts[1]


def _queries(state: State, listed: Sequence[Listed]) -> list[Text]:
    lines = []
    for number, (one, alike) in enumerate(listed[:QUERIES], start=1):
        chosen = state.selected is not None and state.selected.id in {each.id for each in alike}
        head = plain_text(f"{number}. {'selected: ' if chosen else ''}")
        head += _middle(render_sql(one, state.question), QUERY)
        lines.append(head + plain_text(INDENT) + _outcome(one, alike))
    if (left := len(listed) - QUERIES) > 0:
        kind = "more query" if left == 1 else "more queries"
        lines.append(plain_text(f"and {left} {kind}, numbered on"))
    return lines


def _outcome(candidate: Candidate, alike: Sequence[Candidate]) -> Text:
    if candidate.result is None:
        return plain_text("not run yet")
    outcome = _cut(
        render_result(candidate.result, rows=2, columns=6, limit_cell=CELL), HEAD, INDENT
    )
    different = len(deduplicate(alike))
    if different < 2:
        return outcome
    given = f"given by {len(alike)} queries, {different} of them different:"
    return plain_text(given + INDENT) + outcome


def _tests(state: State, listed: Sequence[Listed]) -> list[Text]:
    return [_test(test, state.candidates, listed) for test in state.tests[:TESTS]] + (
        [plain_text(f"and {len(state.tests) - TESTS} more")] if len(state.tests) > TESTS else []
    )


def _test(test: UnitTest, candidates: Sequence[Candidate], listed: Sequence[Listed]) -> Text:
    text = plain_text("- ") + model_text(shortened(flat(test.text), HEAD))
    if test.passed is None:
        return text + plain_text(" (not judged)")
    passed = {candidates[place].id for place in test.passed if place < len(candidates)}
    places = [
        number
        for number, (_, alike) in enumerate(listed, start=1)
        if any(one.id in passed for one in alike)
    ]
    shown = [str(number) for number in places if number <= QUERIES]
    if left := len(places) - len(shown):
        shown.append(f"{left} not shown")
    return text + plain_text(f" (passed by {', '.join(shown) or 'none of these queries'})")


def _problems(state: State) -> list[Text]:
    """The notes of tools on failures; a message may quote stored data."""
    told = [note.text for note in state.warnings if note.kind in TROUBLE]
    return [value_text(shortened(flat(text), HEAD)) for text in told[-MESSAGES:]]


def _cut(text: Text, limit: int, between: str = " ") -> Text:
    """The text, cut after `limit` characters; `between` stands between its lines."""
    return Text(tuple(_pieces(text, limit, between)))


def _middle(text: Text, limit: int) -> Text:
    """The text on one line; of a long one the beginning and the end, since queries for one question
    often begin alike."""
    flattened = Text(
        tuple(
            span._replace(text=_LINES.sub(" ", _BLANKS.sub(" ", span.text))) for span in text.spans
        )
    )
    length = len(str(flattened))
    if length <= limit:
        return flattened
    half = limit // 2
    return _part(flattened, 0, half) + plain_text(" … ") + _part(flattened, length - half, length)


def _part(text: Text, start: int, end: int) -> Text:
    """The characters from `start` up to `end`, with their origins."""
    spans, place = [], 0
    for span in text.spans:
        piece = span.text[max(start - place, 0) : max(end - place, 0)]
        place += len(span.text)
        if piece:
            spans.append(span._replace(text=piece))
    return Text(tuple(spans))


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
    """The numbers of queries: written, different, and by what came of them."""
    ours = state.for_question
    declined = f"; {len(state.declines)} declined" if state.declines else ""
    if not ours:
        return plain_text(f"0{declined}")
    ran = [candidate for candidate in ours if valid(candidate)]
    failed = sum(1 for c in ours if c.result is not None and not c.result.ok)
    empty = sum(1 for c in ran if c.result is not None and c.result.empty)
    groups, different = len(group_by_result(ran)), len(deduplicate(ours))
    exact = f" ({failed} failed, {empty} found nothing, {counted(groups, 'different result')})"
    rough = (
        f" ({_few(failed)} failed, {_few(empty)} found nothing, "
        f"{roughly(groups, 'different result')})"
    )
    count = Span(f"{len(ours)} written, {different} different", "template")
    return Text((count, Span(exact, "value", rough))) + plain_text(declined)
