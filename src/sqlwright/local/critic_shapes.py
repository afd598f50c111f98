"""Does what a query shows, groups and compares fit the question, given the schema?

Read from the query's text, so that queries of any author can be described; what can't be read
counts as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlwright.local.lexical import split_name, stem
from sqlwright.schema import ColumnRef, Schema

Features = dict[str, float]

_AGGREGATE = re.compile(
    r"^\s*(?:distinct\s+)?(?:count|sum|avg|min|max|cast|round)\s*\(", re.IGNORECASE
)
_NAME = r"(?:\"(?:[^\"]|\"\")+\"|`[^`]+`|\w+)"
_COLUMN = re.compile(
    rf"^\s*(?:distinct\s+)?(?:({_NAME})\.)?({_NAME})\s*(?:\bas\b.*)?$", re.IGNORECASE
)
_SHOWN = re.compile(r"^\s*select\b(.*?)\bfrom\b", re.IGNORECASE | re.DOTALL)
_GROUPED = re.compile(
    r"\bgroup\s+by\s+(.+?)(?:\bhaving\b|\border\b|\blimit\b|[()]|$)", re.IGNORECASE | re.DOTALL
)
_COUNTED = re.compile(r"\border\s+by\s+count\s*\(", re.IGNORECASE)
_ASKS_ID = re.compile(r"\b(?:ids?|codes?|numbers?|keys?|identifiers?|nums?|no)\b|#", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\b(?:how many|(?:total )?(?:numbers?|amount|quantity) of)\s+(\w+)(?:\s+(\w+))?",
    re.IGNORECASE,
)

_MORE = re.compile(
    r"(?:(?<!no )(?<!not )more than|greater than|larger than|bigger than|"
    r"higher than|older than|longer than|heavier than|taller than|later than|above|over|"
    r"exceed\w*|after|since|at least|"
    r"no (?:less|fewer) than|not (?:less|fewer) than|minimum of)\W*(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"(?:(?<!no )(?<!not )(?:less|fewer) than|smaller than|lower than|younger than|"
    r"shorter than|cheaper than|lighter than|earlier than|below|under|before|"
    r"at most|up to|no more than|not more than|"
    r"maximum of)\W*(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_INCLUSIVE = re.compile(
    r"(?:at least|at most|since|up to|no \w+ than|not \w+ than)\W*(?:\w+\W+){0,2}$", re.IGNORECASE
)
_OR_MORE = re.compile(
    r"^\W*(?:\w+\W+){0,2}?or (?:more|above|over|later|older|greater|higher)", re.IGNORECASE
)
_OR_LESS = re.compile(
    r"^\W*(?:\w+\W+){0,2}?or (?:less|fewer|below|under|earlier|lower)", re.IGNORECASE
)
_RANGE = re.compile(r"\b(?:between|from|range)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")


def shape_features(question: str, sql: str, schema: Schema, used: Sequence[ColumnRef]) -> Features:
    """What a query over the columns `used` shows and groups, beside what the question asks for."""
    shown = _columns(_parts(_SHOWN.search(sql)), used)
    grouped = _columns(_parts(_GROUPED.search(sql)), used)
    near = {pair[0] for pair in schema.key_pairs}
    keys = schema.key_columns | {
        ColumnRef(table.name, column) for table in schema.tables for column in table.primary_key
    }
    words = {stem(word) for word in re.findall(r"\w+", question.casefold())}
    asks_id = bool(_ASKS_ID.search(question))
    shapes = {
        "foreign keys shown": float(min(sum(ref in near for ref in shown), 2)),
        "keys shown unasked": float(min(sum(ref in keys and not asks_id for ref in shown), 2)),
        "shown unnamed": float(min(sum(not _named(ref.column, words) for ref in shown), 3)),
        "grouped elsewhere": float(
            bool(shown and grouped) and not {r.table for r in shown} & {r.table for r in grouped}
        ),
        "grouped by foreign key": float(any(ref in near for ref in grouped)),
        "grouped by lone key": float(_lone_key(schema, grouped, sql)),
        "groups counted": float(bool(_COUNTED.search(sql))),
        "grouped unnamed": float(any(not _named(ref.column, words) for ref in grouped)),
    }
    shapes |= _tables_named(schema, used, sql, words)
    return shapes | _numbers_named(question, sql, schema, used)


def comparison_features(question: str, sql: str) -> Features:
    """Does each number that the question names stand behind the comparison that is asked for?"""
    wrong = unasked = lost = strict = 0
    for number in _NUMBER.finditer(question):
        found = re.search(rf"(>=|<=|<>|!=|=|>|<)\s*'?{re.escape(number.group())}(?![\d.])", sql)
        before, after = question[: number.start()][-40:], question[number.end() :][:24]
        if not found or _RANGE.search(before):
            continue
        own = found.group(1)
        more = bool(_MORE.search(before) or _OR_MORE.search(after))
        less = bool(_LESS.search(before) or _OR_LESS.search(after))
        if more == less:
            unasked += own in {">", "<", ">=", "<="}
            continue
        wrong += own[0] == ("<" if more else ">") and own != "<>"
        lost += own in {"=", "!=", "<>"}
        including = bool(
            _INCLUSIVE.search(before) or _OR_MORE.search(after) or _OR_LESS.search(after)
        )
        strict += own in {">", "<", ">=", "<="} and (own in {">=", "<="}) != including
    return {
        "compared wrongly": float(min(wrong, 2)),
        "compared unasked": float(min(unasked, 2)),
        "comparison lost": float(min(lost, 2)),
        "bound in doubt": float(min(strict, 2)),
    }


def _parts(found: re.Match[str] | None) -> list[str]:
    """A list's items, split at commas that no parenthesis encloses."""
    if not found:
        return []
    items, depth = [""], 0
    for letter in found.group(1):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            items.append("")
        else:
            items[-1] += letter
    return items


def _columns(items: Iterable[str], used: Sequence[ColumnRef]) -> list[ColumnRef]:
    """The plain columns among the items; without a table's name, the first used one that fits."""
    found = []
    for item in items:
        match = None if _AGGREGATE.match(item) else _COLUMN.match(item)
        if not match:
            continue
        table, column = (_bare(part) for part in match.groups())
        for ref in used:
            if ref.column.casefold() == column and table in {"", ref.table.casefold()}:
                found.append(ref)
                break
    return found


def _bare(name: str | None) -> str:
    return "" if name is None else name.strip('"`').replace('""', '"').casefold()


def _named(name: str, words: set[str]) -> bool:
    """Whether the question holds any word of a name."""
    return any(stem(word) in words for word in split_name(name))


def _lone_key(schema: Schema, grouped: Sequence[ColumnRef], sql: str) -> bool:
    """Groups of a single table's primary key have one row each."""
    if len(grouped) != 1 or " join " in sql.casefold():
        return False
    table = schema.table(grouped[0].table)
    return table is not None and table.primary_key == (grouped[0].column,)


def _tables_named(schema: Schema, used: Sequence[ColumnRef], sql: str, words: set[str]) -> Features:
    """Tables whose whole name the question holds: in use, and left."""
    lowered = sql.casefold()
    taken = {ref.table for ref in used}
    named = [
        table.name
        for table in schema.tables
        if (own := {stem(word) for word in split_name(table.name)}) and own <= words
    ]
    there = [name for name in named if name in taken or _within(name, lowered)]
    return {
        "named tables used": float(min(len(there), 3)),
        "named tables left": float(min(len(named) - len(there), 3)),
    }


def _within(name: str, lowered: str) -> bool:
    return bool(re.search(rf"(?:from|join)\s+[\"`]?{re.escape(name.casefold())}\b", lowered))


def _numbers_named(question: str, sql: str, schema: Schema, used: Sequence[ColumnRef]) -> Features:
    """“How many degrees” where a number column is called degrees: is it that, or a count?"""
    found = _HOW_MANY.search(question)
    if not found:
        return {"named number used": 0.0, "named number left": 0.0}
    asked = {stem(word.casefold()) for word in found.groups() if word}
    tables = {ref.table for ref in used}
    numbers = [
        ColumnRef(table.name, column.name)
        for table in schema.tables
        if table.name in tables or _within(table.name, sql.casefold())
        for column in table.columns
        if re.search(r"int|num|real|floa|doub|dec", column.type, re.IGNORECASE)
        and {stem(word) for word in split_name(column.name)} & asked
    ]
    free = [ref for ref in numbers if ref not in schema.key_columns]
    return {
        "named number used": float(any(ref in used for ref in free)),
        "named number left": float(bool(free) and not any(ref in used for ref in free)),
    }
