"""Encodings of text files: guessed by their bytes, since DuckDB guesses everything but that."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from sqlwright.database.failures import Failure, ReadFailed

_PAGES = (
    "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "mac-roman",
    "cp850", "cp437",
)  # fmt: skip
"""Of two in which a text reads equally well the first is taken."""
_COMMON = frozenset("äöüßéèêëàâçñáíóúôîïåæøÄÖÜÉÅØÆÁÓÍÚÀÈÇãõąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůýžČŘŠŽőűğışİŞĞ")
"""Letters that languages of these pages write often."""
_COMMONEST = frozenset("äöüßéñóáøåæÄÖÜÅÉ")
_SIGNS = frozenset("€£°§²³µ–—“”‘’„…™®©·•½«»\xa0")
"""Signs that stand beside words and numbers."""
_CLOSE = 0.15
"""Points of a letter by which a page may be worse and still be meant."""


def best_page(words: bytes) -> tuple[str, str, list[tuple[str, str]]]:
    """The page in which words (one a line) read best, the first of them that reads otherwise in
    another that is about as good, and those others with what they make of it."""
    told = words.split(b"\n")[:2_000]
    scores: dict[str, float] = {}
    for page in _PAGES:
        try:
            scores[page] = sum(_score(word.decode(page)) for word in told)
        except UnicodeDecodeError:
            continue
    if not scores:
        return "latin-1", "", []
    best = max(scores, key=lambda page: scores[page])
    near = scores[best] - _CLOSE * max(len(words) - words.count(b"\n"), 1)
    others = []
    first = ""
    for page, score in scores.items():
        differ = [word for word in told if word.decode(page) != word.decode(best)]
        if page != best and score >= near and differ:
            first = first or differ[0].decode(best)
            others.append((page, differ[0].decode(page)))
    if best == "windows-1252" and not re.search(rb"[\x80-\x9f]", words):
        best = "latin-1"  # DuckDB reads it by itself
    return best, first, others[:2]


def _score(word: str) -> float:
    """The degree to which a word reads like one: letters of one script, small after large ones, no
    sign between them; letters beyond ASCII are rare side by side but in other scripts than Latin.
    What stands alone tells nothing: it may be a letter or a sign.
    """
    if len(word) < 2:
        return 0.0
    score = 0.0
    before = ""
    scripts = set()
    for letter in word:
        script = "" if not letter.isalpha() else "L" if letter < "\u0370" else (
            "G" if letter < "\u0400" else "C"
        )  # fmt: skip
        if script:
            scripts.add(script)
        if letter > "\x7f":
            score += 0.1 * (letter in _COMMONEST) + 0.2 * (not before and letter.isupper())
            score += 1.0 if script in {"G", "C"} or letter in _COMMON else 0.3 if script else (
                0.2 if letter in _SIGNS and not before.isalpha() else -1.0
            )  # fmt: skip
            score -= script == "L" and before > "\x7f" and before.isalpha()
        score -= letter.isupper() and before.islower()
        before = letter
    return score - 2 * (len(scripts) > 1)


SCHEME = "decoded"
"""Scheme of addresses by which DuckDB is handed a file as UTF-8."""
OWN = ("utf-8", "utf-16", "latin-1")
"""Encodings that DuckDB reads by itself."""
DECODED = (
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "iso-8859-2",
    "iso-8859-15", "cp437", "cp850", "mac-roman", "shift-jis", "gb18030", "big5", "euc-kr",
    "utf-8-sig", "utf_16", "utf_16_le", "utf_16_be",
)  # fmt: skip
"""Encodings that files are handed to it in as UTF-8."""
_MOST_BYTES = 256 * 1024 * 1024
"""Bytes of a file that are looked at."""
_MOST_UNPACKED = 16 * 1024 * 1024
"""Bytes of a file that are looked at where it has to be unpacked."""
_CHUNK = 1 << 20
"""Bytes that are read at a time."""
_HIGH = re.compile(rb"[A-Za-z]{0,12}[\x80-\xff][A-Za-z\x80-\xff]{0,30}")
"""Words with letters that aren't ASCII's."""
_MOST_WORDS = 20_000
"""Such words of a chunk that are looked at."""
MOST_LINE_BYTES = 2_000_000
"""Bytes of a line at most; DuckDB's own limit, which it notices only at the line's end."""


def address_of(path: Path, encoding: str) -> str:
    """The name by which DuckDB reads a text file."""
    return f"{SCHEME}://{encoding}{path}" if encoding in DECODED else str(path)


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding, and what people have to know of the guess."""

    name: str = "utf-8"
    notes: tuple[str, ...] = ()


def encoding_of(path: Path, *, csv: bool = True) -> Encoding:
    """UTF-8 unless the bytes say otherwise: then UTF-16 by its mark, else the code page whose text
    reads best. "utf-8-sig" for UTF-8 that DuckDB doesn't read by itself, since its lines end in
    several ways or, in JSON, for its mark. Raises ReadFailed for lines that are too long."""
    if path.suffix.lower() == ".zst":
        return Encoding()
    packed = path.suffix.lower() == ".gz"
    try:
        with cast("BinaryIO", gzip.open(path) if packed else path.open("rb")) as file:
            return _of(file, _MOST_UNPACKED if packed else _MOST_BYTES, csv=csv)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return Encoding()  # DuckDB says what is wrong with it


def _of(file: BinaryIO, left: int, *, csv: bool) -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, ends, line, lines = True, set[bytes](), 0, 1
    high = bytearray()
    chunk = file.read(_CHUNK)
    if wide := _wide(chunk, csv=csv):
        return Encoding(wide)
    marked = chunk.startswith(codecs.BOM_UTF8)
    while chunk and left > 0:
        left -= len(chunk)
        if valid:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                valid = False
        if len(high) < _CHUNK and not chunk.isascii():
            high += b"\n".join([*_HIGH.findall(chunk)[:_MOST_WORDS], b""])
        if csv:
            both = chunk.count(b"\r\n")
            ends |= {end for end in (b"\r", b"\n") if chunk.count(end) > both}
            ends |= {b"\r\n"} if both else set()
            line, lines = _longest(chunk, line, lines)
        chunk = file.read(_CHUNK)
    if not valid:
        name, shown, others = best_page(bytes(high))
        told = f"Its encoding isn't UTF-8; it is read as {name.title()}"
        if not others:
            return Encoding(name, (f"{told}.",))
        words = "; ".join(f"as {other.title()} it would be {text!r}" for other, text in others)
        return Encoding(name, (f"{told}: {shown!r}; {words}: correct by encoding.",))
    return Encoding("utf-8-sig" if len(ends) > 1 or (marked and not csv) else "utf-8")


def _longest(chunk: bytes, before: int, lines: int) -> tuple[int, int]:
    """The bytes of the line that a chunk ends in, and its number. Raises ReadFailed for a line that
    DuckDB doesn't take."""
    first = chunk.find(b"\n")
    last = chunk.rfind(b"\n")
    if before + (len(chunk) if first < 0 else first) > MOST_LINE_BYTES and b"\r" not in chunk:
        message = f"line {lines:,} is longer than the {MOST_LINE_BYTES:,} bytes that are read"
        raise ReadFailed(Failure("unavailable", f"{message}; break it, or save it as Parquet"))
    lines += chunk.count(b"\n")
    return (before + len(chunk) if last < 0 else len(chunk) - last - 1), lines


def _wide(chunk: bytes, *, csv: bool) -> str:
    """UTF-16 by its mark or by every other byte; empty for another encoding."""
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if csv else "utf_16"
    head = chunk[:1_000]
    for name, zeros in (("utf_16_le", head[1::2]), ("utf_16_be", head[::2])):
        if (
            len(zeros) > 3
            and 2 * zeros.count(0) > len(zeros) > 0
            and head.count(0) == zeros.count(0)
        ):
            return name
    return ""
