"""Columns of two opposite values, as yes and no, that a query takes for one with empty entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlwright.english.cues import NOT
from sqlwright.english.words import split_name
from sqlwright.form import nodes as f
from sqlwright.form.walking import exchanged, inside
from sqlwright.schema import ColumnRef
from sqlwright.steps.repair.vetoes.reading import Finding, Reading
from sqlwright.types import Veto

_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_OPPOSITES = frozenset({("n", "y"), ("no", "yes"), ("f", "t"), ("false", "true"), ("0", "1")})
"""The texts of no and yes, folded."""


def missing_flag(form: f.Query, read: Reading) -> Iterator[Finding]:
    """IS NULL and IS NOT NULL of a flag that every row has: no right query asks for that, and “not
    active” means no."""
    for condition in inside(form, f.IsNull):
        column = condition.operand
        if not isinstance(column, f.Column) or column.outer:
            continue
        values = _values(column.ref, read)
        if values is None:
            continue
        wanted = f.Literal(values[condition.negated])
        told = f"{column.ref} is never empty: it is {values[0]!r} or {values[1]!r}"
        if not condition.negated and not _says_no(column.ref, read):
            yield Finding(Veto("null", told))
            continue
        yield Finding(
            Veto("null", told, f"{column.ref} is never empty; {wanted.value!r} is meant"),
            exchanged(form, condition, f.Comparison("=", column, wanted)),
        )


def _says_no(ref: ColumnRef, read: Reading) -> bool:
    """True if a question negates something, or the column's name: “not active”, “inactive”."""
    said = {word.text.casefold() for word in read.words}
    opposite = {
        f"{prefix}{word}" for word in split_name(ref.column) for prefix in ("in", "un", "non")
    }
    return bool(said & {*NOT, *opposite}) or _SHORT_NOT.search(read.question) is not None


def _values(ref: ColumnRef, read: Reading) -> tuple[int | str, int | str] | None:
    """The values of a flag for no and yes; None for a column that is none or has empty entries."""
    profile = read.profile(ref)
    if profile is None or profile.nulls or profile.distinct != 2:
        return None
    low, high = profile.minimum, profile.maximum
    if set(profile.storage) == {"integer"} and (low, high) == (0, 1):
        return 0, 1
    if not isinstance(low, str) or not isinstance(high, str):
        return None
    return (low, high) if (low.casefold(), high.casefold()) in _OPPOSITES else None
