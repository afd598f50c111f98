"""Stored values that the question names: left out of the query, or taken for their opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from sqlwright.english.cues import BETWEEN_EQUALS, NEGATION_BEFORE, is_done
from sqlwright.english.dates import moments
from sqlwright.english.vocabulary import FUNCTION_WORDS, MONTHS, OPERATION_WORDS
from sqlwright.english.words import part_of, singular, split_name, stem, tokens
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, selects
from sqlwright.local.left_out.amounts import measured_spans
from sqlwright.local.left_out.reading import (
    FOUND,
    Finding,
    Reading,
    column_words,
    conjunction,
    conjuncts,
    named_words,
    table_names,
    texts,
    with_condition,
)
from sqlwright.types import ValueMatch, Veto
from sqlwright.types.values import WITHIN


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A stored value that equals a phrase of the question, neither of them in the query."""
    matches = [match for match in read.values if match.score >= FOUND and match.span]
    if not matches:
        return
    spans = [moment.span for moment in moments(read.question)]
    spans += measured_spans(read.question)
    used = [match for match in matches if _is_used(match, form)]
    spans += [match.span for match in used if match.span]
    matches.sort(key=lambda match: match.span or (0, 0))
    tables = set(table_names(form))
    for span, group in groupby(matches, key=lambda match: match.span or (0, 0)):
        same = list(group)
        if any(start < span[1] and span[0] < end for start, end in spans):
            continue
        best = _meant(same, form, read)
        if _is_no_name(best, form, read):
            continue
        everyday = best.phrase.islower() and " " not in best.phrase
        if everyday and not _is_near(best.column.table, tables, read):
            continue
        if everyday and is_done(read.question, span):
            continue
        yield _finding(best, form, read, _several(best, read))


def several_hold(form: f.Query, read: Reading) -> Iterator[Finding]:
    """One of several stored values that hold a phrase among other words, where the phrase asks for
    all of them: a `Type 1` for every kind of diabetes."""
    for comparison in inside(form, f.Comparison):
        column, literal = comparison.left, comparison.right
        if not isinstance(column, f.Column) or not isinstance(literal, f.Literal):
            continue
        named = [m for m in read.values if (m.column, m.value) == (column.ref, literal.value)]
        wanted = _several(named[0], read) if named and comparison.operator == "=" else None
        if wanted is not None:
            told = f"“{named[0].phrase}” is part of several values of {column.ref}"
            done = f"“{named[0].phrase}” is looked for in {column.ref}"
            yield Finding(Veto("value", told, done), exchanged(form, comparison, wanted))


def _several(match: ValueMatch, read: Reading) -> f.Like | None:
    """The condition for all values that a phrase is a part of; None where it isn't, or of one."""
    if match.score != WITHIN:
        return None
    same = [one for one in read.values if (one.column, one.span) == (match.column, match.span)]
    if len(same) < 2:
        return None
    part = part_of(match.phrase, match.value)
    return f.Like("contains", f.Column(match.column), f.Literal(part))


def _is_near(table: str, tables: set[str], read: Reading) -> bool:
    """True if a table is one of some, or a key joins it to one, or a table that only links two. An
    everyday word in lower case that is a value further away is one by chance."""
    return table in tables or bool(read.schema.neighbours(table) & tables)


def _is_used(match: ValueMatch, form: f.Query) -> bool:
    """True if a constant of the query holds the value or the phrase, or is part of them; a number
    has to be the value."""
    value, phrase = match.value.strip().casefold(), match.phrase.strip().casefold()
    for text in texts(form):
        said = text.strip(" %").casefold()
        if said and (value in said or phrase in said or said in value or said in phrase):
            return True
    return any(str(literal.value) == match.value for literal in inside(form, f.Literal))


def _is_no_name(match: ValueMatch, form: f.Query, read: Reading) -> bool:
    """True if a phrase asks for a thing, an operation or a number rather than naming a value."""
    words = tokens(match.phrase)
    if not words or all(word.is_number for word in words):
        return True
    dull = [word.text in FUNCTION_WORDS or word.text in OPERATION_WORDS for word in words]
    start = match.span[0] if match.span else 0
    named = named_words(form, read.schema, singular)
    # By more than the stem: open tickets name no column “opened”.
    names = [singular(word.text) in named for word in words]
    if all(dull) and not (start > 0 and match.phrase[:1].isupper()):
        return all(names) or not _beside_its_column(match, read)
    return all(is_name or is_dull for is_name, is_dull in zip(names, dull, strict=True))


def _beside_its_column(match: ValueMatch, read: Reading) -> bool:
    """True if the name of the value's column stands beside the phrase: the high of “high
    priority”."""
    start, end = match.span or (0, 0)
    before = [word for word in read.words if word.end <= start][-1:]
    after = [word for word in read.words if word.start >= end][:1]
    return bool({stem(word.text) for word in (*before, *after)} & column_words(match.column))


def _meant(matches: list[ValueMatch], form: f.Query, read: Reading) -> ValueMatch:
    """Of the columns that hold a value, the one that is meant most probably: of a table that the
    query reads, or that a key joins to one, whose name the question says, then by the linker."""
    tables = set(table_names(form))
    asked = {stem(word.text) for word in read.words}

    def weight(match: ValueMatch) -> tuple[bool, int, bool, float, float]:
        table = match.column.table
        said = bool(asked & column_words(match.column))
        named = bool(asked & set(map(stem, split_name(read.schema.spoken(table)))))
        beside = 0 if not _is_near(table, tables, read) else 2 if named else 1
        return (table in tables, beside, said, read.link(match.column), match.score)

    return max(matches, key=weight)


def _finding(
    match: ValueMatch, form: f.Query, read: Reading, wanted: f.Like | None = None
) -> Finding:
    """That a value isn't used; `wanted` is the condition that asks for it, by default equality."""
    negated = is_negated(read.question, match)
    shown = read.shown(match.column, match.value)
    told = (
        f"nothing in this query stands for “{match.phrase}”; {match.column} holds {shown}: use it?"
    )
    if wanted is not None:
        done = f"“{match.phrase}” is looked for in {match.column}"
        added = replace(wanted, negated=negated)
        return Finding(Veto("value", told, done), with_condition(form, added))
    mended = _with_value(form, match, read, negated=negated)
    return Finding(Veto("value", told, f"“{match.phrase}” is read as {match.column} "
                        f"{'≠' if negated else '='} {shown}"), mended)  # fmt: skip


def is_negated(question: str, match: ValueMatch) -> bool:
    """True if the question excludes what a phrase names."""
    return match.span is not None and bool(NEGATION_BEFORE.search(question[: match.span[0]]))


def _both(literal: f.Literal, match: ValueMatch, read: Reading) -> bool:
    """True if the question names two values side by side, as in “Kenya or Norway”."""
    if match.span is None:
        return False
    for other in read.values:
        if other.column == match.column and other.value == literal.value and other.span:
            first, second = sorted((match.span, other.span))
            if BETWEEN_EQUALS.fullmatch(read.question[first[1] : second[0]]):
                return True
    return False


def _with_value(
    form: f.Query, match: ValueMatch, read: Reading, *, negated: bool
) -> f.Query | None:
    """The query that asks for the value, too; for either where it asks for one of the column."""
    if not isinstance(form, f.Select) or form.derived:
        return None
    column, wanted = f.Column(match.column), f.Literal(match.value)
    parts = conjuncts(form.where)
    for place, part in enumerate(parts):
        if isinstance(part, f.Comparison) and part.operator == "=" and part.left == column:
            if (
                negated
                or not isinstance(part.right, f.Literal)
                or not _both(part.right, match, read)
            ):
                return None
            either = f.InList(column, (part.right, wanted))
            return replace(form, where=conjunction((*parts[:place], either, *parts[place + 1 :])))
        if column in set(inside(part, f.Column)):
            return None
    return with_condition(form, f.Comparison("!=" if negated else "=", column, wanted))


_NAMES = re.compile(
    r"\"(?P<double>[^\"]+)\"|“(?P<curly>[^”]+)”|(?<!\w)'(?P<single>[^']+)'(?!\w)"
    r"|(?<=[a-z,] )(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"
)
"""Quotations, and words written as names inside a sentence."""


def unused_name(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A name or quotation of the question that stored values hold among other words, and that
    nothing in the query stands for."""
    if _NAMES.search(read.question) is None:
        return
    told = [moment.span for moment in moments(read.question, read.today)]
    told += measured_spans(read.question)
    told += [match.span for match in read.values if match.span and _is_used(match, form)]
    told += [match.span for match in read.values if match.span and match.score >= FOUND]
    known = named_words(form, read.schema)
    said = " ".join(texts(form)).casefold()
    for found in _NAMES.finditer(read.question):
        name, span = found[found.lastgroup or ""], found.span(found.lastgroup or "")
        words = [word for word in tokens(name) if word.text not in FUNCTION_WORDS]
        if any(low < span[1] and span[0] < high for low, high in told):
            continue
        if not words or any(stem(word.text) in known or word.text in said for word in words):
            continue
        if any(word.text in OPERATION_WORDS or word.text in MONTHS for word in words):
            continue
        holding = [match for match in read.search(name) if _holds_words(match.value, name)]
        if holding:
            best = _meant([replace(match, phrase=name, span=span) for match in holding], form, read)
            yield _finding(
                best, form, read, f.Like("contains", f.Column(best.column), f.Literal(name))
            )


def _holds_words(value: str, name: str) -> bool:
    """True if the words of a name stand in a value, one after another, among others."""
    held, wanted = ([word.text for word in tokens(text)] for text in (value, name))
    starts = range(len(held) - len(wanted) + 1)
    return any(held[start : start + len(wanted)] == wanted for start in starts)


def not_stored(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A column that must equal a text that it doesn't hold, all of its texts being known."""
    for part in (part for select in selects(form) for part in conjuncts(select.where)):
        match part:
            case f.Comparison("=", f.Column(ref), f.Literal(str(text))) if read.knows_all(ref):
                if not any(one.column == ref and one.value == text for one in read.search(text)):
                    yield Finding(Veto("value", f"{ref} holds no {text!r}"))


def taken_for_opposite(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A value that the question excludes (“not shipped”, “outside the USA”) and the query wants."""
    if not isinstance(form, f.Select):
        return
    parts = conjuncts(form.where)
    for place, part in enumerate(parts):
        match part:
            case f.Comparison("=", f.Column(ref), f.Literal(str(text))):
                named = [m for m in read.values if m.column == ref and m.value == text]
                if not named or not all(is_negated(read.question, one) for one in named):
                    continue
                phrase = named[0].phrase
                other = replace(part, operator="!=")
                mended = (*parts[:place], other, *parts[place + 1 :])
                yield Finding(
                    Veto(
                        "negation",
                        f"the question excludes “{phrase}”, and this query wants it",
                        f"“{phrase}” is excluded: {ref} ≠ {text!r}",
                    ),
                    replace(form, where=conjunction(mended)),
                )
