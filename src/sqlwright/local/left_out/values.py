"""Stored values that the question names: left out of the query, or taken for their opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from sqlwright.english.cues import BETWEEN_EQUALS, NEGATION_BEFORE, is_done
from sqlwright.english.vocabulary import FUNCTION_WORDS, MONTHS, OPERATION_WORDS
from sqlwright.english.words import Token, part_of, singular, split_name, stem, tokens
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, selects
from sqlwright.local.left_out.amounts import measured_spans
from sqlwright.local.left_out.asked import negations
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    Span,
    column_words,
    compared,
    conjuncts,
    excludes,
    fault,
    named_words,
    overlaps,
    table_names,
    texts,
    with_condition,
    with_parts,
)
from sqlwright.types import ValueMatch
from sqlwright.types.results import WITHIN


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A stored value that equals a phrase of the question, neither of them in the query."""
    if not read.found:
        return
    # What is stored as “last quarter” may be meant as such.
    told = [moment.span for moment in read.moments if not moment.relative]
    told += measured_spans(read.question)
    told += [_span(match) for match in read.found if _is_used(match, form)]
    tables = table_names(form)
    matches = sorted(read.found, key=_span)
    for span, same in groupby(matches, key=_span):
        if overlaps(span, told):
            continue
        best = _meant(list(same), form, read)
        if _is_no_name(best, form, read):
            continue
        everyday = best.phrase.islower() and " " not in best.phrase
        near = read.is_near(best.column.table, tables)
        # An everyday word that is a value further away is one by chance.
        if everyday and (not near or is_done(read.question, span)):
            continue
        yield _finding(best, form, read, _several(best, read))


def _span(match: ValueMatch) -> Span:
    return match.span or (0, 0)


def several_hold(form: f.Query, read: Reading) -> Iterator[Finding]:
    """One of several stored values that hold a phrase among other words, where the phrase asks for
    all of them: a `Type 1` for every kind of diabetes."""
    for comparison, column, value in compared(form):
        named = [m for m in read.values if (m.column, m.value) == (column.ref, value)]
        wanted = _several(named[0], read) if named and comparison.operator == "=" else None
        if wanted is not None:
            told = f"“{named[0].phrase}” is part of several values of {column.ref}"
            done = f"“{named[0].phrase}” is looked for in {column.ref}"
            yield fault("value", told, done, exchanged(form, comparison, wanted))


def _several(match: ValueMatch, read: Reading) -> f.Like | None:
    """The condition for all values that a phrase is a part of; None where it isn't, or of one."""
    if match.score != WITHIN:
        return None
    same = [one for one in read.values if (one.column, one.span) == (match.column, match.span)]
    if len(same) < 2:
        return None
    part = part_of(match.phrase, match.value)
    return f.Like("contains", f.Column(match.column), f.Literal(part))


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
    named = named_words(form, read.schema, singular)
    # By more than the stem: open tickets name no column “opened”.
    names = [singular(word.text) in named for word in words]
    beside = words_beside(_span(match), read.words)
    by_column = bool({stem(word.text) for word in beside} & column_words(match.column))
    return asks_otherwise(match, words, names, by_column=by_column)


def asks_otherwise(
    match: ValueMatch, words: Sequence[Token], names: Sequence[bool], *, by_column: bool
) -> bool:
    """True if the words of a phrase are numbers, or each a name of something in the query or a word
    of an operation: unless the name of the value's column stands beside it (the high of “high
    priority”), or it is written as a name."""
    if not words or all(word.is_number for word in words):
        return True
    dull = [word.text in FUNCTION_WORDS or word.text in OPERATION_WORDS for word in words]
    if all(dull) and not (_span(match)[0] > 0 and match.phrase[:1].isupper()):
        return all(names) or not by_column
    return all(is_name or is_dull for is_name, is_dull in zip(names, dull, strict=True))


def words_beside(span: Span, words: Sequence[Token]) -> list[Token]:
    """The word before a phrase and the word after it."""
    before = [word for word in words if word.end <= span[0]][-1:]
    return before + [word for word in words if word.start >= span[1]][:1]


def _meant(matches: Sequence[ValueMatch], form: f.Query, read: Reading) -> ValueMatch:
    """Of the columns that hold a value, the one that is meant most probably: of a table that the
    query reads, or that a key joins to one, whose name the question says, then by the linker."""
    tables = table_names(form)

    def weight(match: ValueMatch) -> tuple[bool, int, bool, float, float]:
        table = match.column.table
        said = bool(read.stems & column_words(match.column))
        named = bool(read.stems & set(map(stem, split_name(read.schema.spoken(table)))))
        beside = 0 if not read.is_near(table, tables) else 2 if named else 1
        return (table in tables, beside, said, read.link(match.column), match.score)

    return max(matches, key=weight)


def _finding(
    match: ValueMatch, form: f.Query, read: Reading, wanted: f.Like | None = None
) -> Finding:
    """That a value isn't used; `wanted` is the condition that asks for it, by default equality."""
    negated = _is_negated(match, read)
    shown = read.shown(match.column, match.value)
    told = (
        f"nothing in this query stands for “{match.phrase}”; {match.column} holds {shown}: use it?"
    )
    if wanted is not None:
        done = f"“{match.phrase}” is looked for in {match.column}"
        return fault("value", told, done, with_condition(form, replace(wanted, negated=negated)))
    done = f"“{match.phrase}” is read as {match.column} {'≠' if negated else '='} {shown}"
    return fault("value", told, done, _with_value(form, match, read, negated=negated))


def _is_negated(match: ValueMatch, read: Reading) -> bool:
    """True if the question excludes what a phrase names."""
    return bool(NEGATION_BEFORE.search(read.question[: _span(match)[0]]))


def _both(literal: f.Literal, match: ValueMatch, read: Reading) -> bool:
    """True if the question names two values side by side, as in “Kenya or Norway”."""
    for other in read.values:
        if other.column == match.column and other.value == literal.value:
            first, second = sorted((_span(match), _span(other)))
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
    for part in conjuncts(form.where):
        match part:
            case f.Comparison("=", left, right) if left == column:
                if negated or not isinstance(right, f.Literal) or not _both(right, match, read):
                    return None
                return _exchanged(form, part, f.InList(column, (right, wanted)))
        if column in inside(part, f.Column):
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
    told = [*(moment.span for moment in read.moments), *measured_spans(read.question)]
    told += map(_span, read.found)
    told += [_span(match) for match in read.values if _is_used(match, form)]
    known = named_words(form, read.schema)
    said = " ".join(texts(form)).casefold()
    for found in _NAMES.finditer(read.question):
        name, span = found[found.lastgroup or ""], found.span(found.lastgroup or "")
        words = [word.text for word in tokens(name) if word.text not in FUNCTION_WORDS]
        if overlaps(span, told) or not words:
            continue
        if any(stem(word) in known or word in said for word in words):
            continue
        if any(word in OPERATION_WORDS or word in MONTHS for word in words):
            continue
        holding = [match for match in read.search(name) if _holds_words(match.value, name)]
        if holding:
            best = _meant([replace(match, phrase=name, span=span) for match in holding], form, read)
            wanted = f.Like("contains", f.Column(best.column), f.Literal(name))
            yield _finding(best, form, read, wanted)


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
                    yield fault("value", f"{ref} holds no {text!r}")


def taken_for_opposite(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A value that the question excludes (“not shipped”, “outside the USA”) and the query wants."""
    if not isinstance(form, f.Select):
        return
    for part in conjuncts(form.where):
        match part:
            case f.Comparison("=", f.Column(ref), f.Literal(str(text))):
                named = [m for m in read.values if m.column == ref and m.value == text]
                if named and all(_is_negated(one, read) for one in named):
                    told = f"the question excludes “{named[0].phrase}”, and this query wants it"
                    done = f"“{named[0].phrase}” is excluded: {ref} ≠ {text!r}"
                    mended = _exchanged(form, part, replace(part, operator="!="))
                    yield fault("negation", told, done, mended)


def _exchanged(form: f.Select, old: f.Condition, new: f.Condition) -> f.Select:
    """The SELECT with another condition in the place of one of its own."""
    return with_parts(form, (new if part is old else part for part in conjuncts(form.where)))


def excluded_by_name(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Won't fix” or “never married”, excluded although it is a stored value's own name: the
    question excludes nothing."""
    places = [one.span[0] for one in negations(read.question)]
    named = {
        match.value: match
        for match in read.found
        if any(_span(match)[0] <= at < _span(match)[1] for at in places)
    }
    spans = [_span(match) for match in named.values()]
    if not named or any(not any(low <= at < high for low, high in spans) for at in places):
        return
    phrase = next(iter(named.values())).phrase
    told = f"“{phrase}” is a stored value, and this query excludes something"
    if isinstance(form, f.SetOperation):
        if form.operator == "except":
            yield fault("negation", told, f"“{phrase}” is a stored value, not a negation")
    elif any(map(excludes, parts := conjuncts(form.where))):
        turned = (_turned(part, set(named)) if excludes(part) else part for part in parts)
        mended = with_parts(form, (part for part in turned if part is not None))
        yield fault("negation", told, f"“{phrase}” is a stored value, not a negation", mended)


def _turned(part: f.Condition, texts: set[str]) -> f.Condition | None:
    """A negated condition as it is without the negation; None where it isn't about the values."""
    if not any(one.value in texts for one in inside(part, f.Literal)):
        return None
    if isinstance(part, f.InQuery | f.InList | f.Like):
        return replace(part, negated=False)
    return replace(part, operator="=") if isinstance(part, f.Comparison) else None
