"""Text as it is compared: without case, accents and punctuation.

`fold` is the form the value index stores tokens of; `soften` keeps punctuation and decides what
counts as equal. Both are idempotent.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

SPACE = 0x20
"""The byte between words."""

# Letters that Unicode does not decompose although readers take them for their plain form.
_PLAIN = {
    "ł": "l",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "ħ": "h",
}

_ASCII_TABLE = bytes(
    code + 32
    if 0x41 <= code <= 0x5A
    else code
    if code == 0 or code >= 0x80 or chr(code).isalnum()
    else SPACE
    for code in range(256)
)


@lru_cache(maxsize=16_384)
def _fold_character(char: str) -> str:
    if char in _PLAIN:
        return _PLAIN[char]
    if unicodedata.combining(char):
        return ""
    if "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff":
        return f" {char} "  # ideographs stand without spaces: each is a token of its own
    if char.isalnum() or unicodedata.category(char).startswith("M"):
        return char
    return char if char == "\0" else " "


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())


def soften(text: str) -> str:
    """`text` without case, accents and surplus spaces; punctuation stays."""
    if text.isascii():
        return " ".join(text.lower().split())
    bare = "".join(c for c in _decomposed(text) if not unicodedata.combining(c))
    return " ".join("".join(_PLAIN.get(c, c) for c in bare).split())


def fold(text: str) -> str:
    """`text` as single-spaced words of lower-case letters and digits.

    A text without any letter or digit keeps its symbols, so that `+` can be found.
    """
    if text.isascii():
        folded = text.encode().translate(_ASCII_TABLE).decode()
    else:
        folded = "".join(map(_fold_character, _decomposed(text)))
    return " ".join(folded.replace("\0", " ").split()) or _symbols(text)


def _symbols(text: str) -> str:
    return "".join(char for char in soften(text) if char > " ")


def squash(folded: str) -> str:
    """A folded text without its spaces, so that `AB-12`, `AB 12` and `AB12` are one."""
    return folded.replace(" ", "")


def fold_all(texts: Sequence[str], encoded: bytes) -> tuple[Bytes, Offsets, Offsets]:
    """`fold` of every text, many at once.

    `encoded` is the texts in UTF-8, each followed by a NUL; no text contains one. Returns one
    UTF-8 blob, and where each folded text starts and ends in it; a NUL lies between two texts.
    """
    raw = encoded.translate(_ASCII_TABLE)
    if not encoded.isascii():
        parts = raw.split(b"\0")
        codes = np.frombuffer(encoded, np.uint8)
        ends, high = np.flatnonzero(codes == 0), np.flatnonzero(codes >= 0x80)
        foreign = np.unique(np.searchsorted(ends, high)).tolist()
        folded = _fold_foreign([texts[i] for i in foreign])
        for i, part in zip(foreign, folded, strict=True):
            parts[i] = part
        raw = b"\0".join(parts)
    blob = _single_spaced(np.frombuffer(raw, np.uint8))
    starts, ends = _spans(blob)
    silent = np.flatnonzero(starts == ends)
    if len(silent):
        parts = blob.tobytes().split(b"\0")
        for i in silent.tolist():
            parts[i] = fold(texts[i]).encode("utf-8", "surrogatepass")
        blob = np.frombuffer(b"\0".join(parts), np.uint8)
        starts, ends = _spans(blob)
    return blob, starts, ends


def _fold_foreign(texts: Sequence[str]) -> list[bytes]:
    """Every text folded but for surplus spaces; all at once, since a call for each is slow."""
    folded = "".join(map(_fold_character, _decomposed("\0".join(texts))))
    return folded.encode("utf-8", "surrogatepass").split(b"\0")


def _single_spaced(raw: Bytes) -> Bytes:
    """Drop every space that is not the only one between two words of a text."""
    starts, _ = words_of(raw)
    nul = raw == 0
    text = np.cumsum(nul, dtype=np.int32)[starts]
    keep = (raw > SPACE) | nul
    keep[starts[1:][text[1:] == text[:-1]] - 1] = True
    out: Bytes = raw[keep]
    return out


def _spans(blob: Bytes) -> tuple[Offsets, Offsets]:
    ends = np.flatnonzero(blob == 0)
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    return starts, ends


def words_of(blob: Bytes) -> tuple[Offsets, Offsets]:
    """Starts and ends of the words of a folded blob, in order."""
    word = np.zeros(len(blob) + 2, np.int8)
    word[1:-1] = blob > SPACE
    change = np.diff(word)
    return np.flatnonzero(change == 1), np.flatnonzero(change == -1)
