"""Texts that stand for no value where everything else in a column is numbers, days or the like."""

from __future__ import annotations

MISSING = frozenset({
    "-", "--", "–", "—", ".", "?", "n/a", "#n/a", "na", "n.a.", "nan", "null", "nil", "none",
    "#null!", "#value!", "#ref!", "#div/0!", "#name?", "#num!", "\\n", "(null)", "(blank)",
    "missing", "unknown",
})  # fmt: skip
"""In small letters. A text alone is no proof: the column's other values are."""
