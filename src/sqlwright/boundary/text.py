"""Text that is safe to show and to write, and numbers in words.

Texts come from anybody: nothing in them may act on a terminal, a file or a page that shows them.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
"""Characters that act instead of being seen; tab and line feed are left to each form."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_SCRIPT = re.compile("<(?=[!/?a-zA-Z])")


def readable(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def visible(text: str, *, limit: int | None = None, lines: bool = False) -> str:
    """Text with nothing in it that acts: controls as symbols, other invisible ones as escapes.

    Cut after `limit` characters, saying how many there were; line breaks stay only with `lines`.
    """
    cut = text if limit is None or len(text) <= limit else text[:limit]
    shown = _UNSEEN.sub(_symbol, readable(cut).replace("\r\n", "\n"))
    if not lines:
        shown = shown.replace("\n", "\u240a").replace("\t", "\u2409")
    return shown if cut is text else f"{shown}\u2026 ({len(text):,} characters)"


def to_json(value: Any, *, indent: int | None = None) -> str:
    """JSON text of plain types that is safe in a terminal, a file and a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    text = _SCRIPT.sub(r"\\u003c", text)
    return _UNSEEN.sub(_escaped, text)


def counted(number: int, noun: str) -> str:
    """A number of things in words: 1 row, 1,200 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """A share in whole percents, rounded down: only certainty is 100%."""
    return f"{int(share * 100 + 1e-6)}%"


def money(cost: float | None) -> str:
    """US dollars, small sums to two digits that count."""
    if cost is None:
        return "cost unknown"
    return f"${cost:.2f}" if cost >= 1 or not cost else f"${cost:.{2 - min(0, _magnitude(cost))}f}"


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def row_count(number: float) -> str:
    """A number of rows, large ones roughly."""
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:,.{0 if number >= 100 * unit else 1}f} {name} rows"
    return f"{number:,.0f} row{'' if round(number) == 1 else 's'}"


def byte_count(size: float) -> str:
    """A number of bytes in decimal units."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:,.{0 if size >= 100 * unit else 1}f} {name}"
    return f"{size:,.0f} bytes"


def _magnitude(number: float) -> int:
    """The power of ten below it, plus one: 0 for 0.1 to 0.99, -1 for 0.01 to 0.099."""
    return math.floor(math.log10(number)) + 1


def _escaped(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
