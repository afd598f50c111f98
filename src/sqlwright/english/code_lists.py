"""Lists of codes with their meanings, as comments and descriptions of columns have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE = r"'(?P<quoted>[^'\n]{1,12})'|(?P<number>-?\d{1,5})|(?P<letters>[A-Z][A-Z0-9_]{0,3})"
_MEANING = r"(?P<meaning>\b(?!(?:and|or)\s)[^\W\d_]+(?:(?! (?:and|or)\s)[ '’-]+[^\W\d_]+){0,4})"
_END = r"(?=\s*(?:[,;|/.\n)]|$|(?:and|or)\s))"
_ENTRY = re.compile(
    rf"(?:{_CODE})(?!\w)\s*(?P<sign>=>|->|[=:–—-]|(?:for|is|means)\s)?\s*"
    rf"(?P<open>\()?{_MEANING}(?(open)\)){_END}"
)
"""A code, what it means, and the end of the entry: `2 cancelled,`, `'F' = female;`, `0: no (`."""
_TURNED = re.compile(
    rf"{_MEANING}\s*(?:\((?:{_CODE})\)|=\s*(?:{_CODE.replace('?P<', '?P<later_')})){_END}"
)
"""The same the other way round: `cancelled (2)`, `cancelled = 2`."""
_BEFORE = re.compile(r"(?:^|[,;|/.:\n(\[]|\b(?:and|or|is|are))\s*$")
"""The end of a text that an entry may follow."""
_BETWEEN = re.compile(r"(?:[,;|/.\s]|\b(?:and|or)\b)*")
"""Separators between two entries of a list."""


def codes_told(text: str) -> tuple[tuple[str, str], ...]:
    """The codes that a description lists, each with its meaning: of "Sex. F female, M male" F with
    female and M with male. Empty where it lists no two of one kind, or one of them twice."""
    for pattern in (_ENTRY, _TURNED):
        for run in _runs(text, pattern):
            codes = [code for code, _ in run]
            meanings = [meaning.casefold() for _, meaning in run]
            if len(run) > 1 and len({*codes}) == len({*meanings}) == len(run):
                return tuple(run)
    return ()


def _runs(text: str, pattern: re.Pattern[str]) -> Iterator[list[tuple[str, str]]]:
    """Entries that follow one another, their codes all of one kind."""
    run: list[tuple[str, str]] = []
    end, kind = 0, ""
    for match in pattern.finditer(text):
        if not _BEFORE.search(text[: match.start()]):
            continue
        before = kind
        kind, code = _coded(match)
        if run and (kind != before or not _BETWEEN.fullmatch(text[end : match.start()])):
            yield run
            run = []
        run.append((code, match["meaning"].strip()))
        end = match.end()
    yield run


def _coded(match: re.Match[str]) -> tuple[str, str]:
    """The kind of an entry's code, and the code."""
    return next(
        (name.removeprefix("later_"), text)
        for name, text in match.groupdict().items()
        if name not in {"meaning", "sign", "open"} and text is not None
    )
