"""JSON as language models write it: read where it is well-formed, and where it nearly is.

Beyond JSON it takes single and curly quotes, quotes that should have been escaped, line breaks in
strings, trailing commas, comments, bare keys, Python's True, False and None, and structures that
end too early (which it says). Nothing is ever evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

DEEPEST = 64
"""Nesting beyond which a text isn't taken for JSON."""
_MOST_TRIES = 200
"""Brackets of a text tried as the beginning of a structure."""


@dataclass
class Effort:
    """Characters of one reply that may still be read. A failed attempt is followed by one from
    another position: a text of nothing but beginnings would take the square of its length."""

    json: int = 400_000
    """Characters for the reader of loose JSON."""
    pieces: int = 400_000
    """Cut into the pieces of SQL."""
    sql: int = 30_000
    """Characters for the parser of SQL."""


_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:\d{1,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?(?![\w.])")
_WORD = re.compile(r"[^\W\d][\w-]*")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_CLOSING = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’‘'", "’": "’'", "`": "`"}
_AFTER_STRING = re.compile(r"\s*(?:[,:\]}]|\Z|//|#)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Decoded(NamedTuple):
    """A structure found in a text, and where it lies."""

    value: Any
    start: int
    end: int
    complete: bool
    """False when the text ends before the structure does; what was whole by then is in it."""

    @property
    def broken_off(self) -> bool:
        """True if it is an object that the end of the text cuts off."""
        return isinstance(self.value, dict) and not self.complete


class NotJson(ValueError):
    """There is no structure at this position; so many characters were read to find out."""

    read = 0


def structures(text: str, effort: Effort | None = None) -> Iterator[Decoded]:
    """The outermost objects and lists of a text, in order, as far as the effort reaches."""
    effort = effort or Effort()
    at = tries = 0
    while tries < _MOST_TRIES and effort.json > 0:
        opening = re.compile(r"[\[{]").search(text, at)
        if opening is None:
            return
        tries += 1
        try:
            found = decode(text, opening.start())
        except NotJson as error:
            at = opening.end()
            effort.json -= error.read
            continue
        effort.json -= found.end - found.start
        yield found
        at = max(found.end, opening.end())


def decode(text: str, start: int = 0) -> Decoded:
    """The object or list that begins at `start`. Raises NotJson."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        return Decoded(_valid(value), start, end, True)
    except (ValueError, RecursionError):
        reader = _JsonReader(text, start)
        try:
            value = reader.value(0)
        except NotJson as error:
            error.read = reader.at - start
            raise
        except _Ended:
            ended = NotJson("the text has ended")
            ended.read = len(text) - start
            raise ended from None
        return Decoded(_valid(value), start, reader.at, reader.complete)


def completed(text: str) -> str:
    """The last structure of a text as JSON, each item of a list once, where the text breaks it off;
    else the text."""
    last = next(reversed([*structures(text)]), None)
    return text if last is None or last.complete else json.dumps(_each_once(last.value))


def _each_once(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _each_once(item) for key, item in value.items()}
    if isinstance(value, list):
        return list({json.dumps(item): _each_once(item) for item in value}.values())
    return value


class _Ended(Exception):
    """The text ended inside a value."""


class _JsonReader:
    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at
        self.complete = True

    def value(self, depth: int) -> Any:
        """The value at the current position. Raises NotJson, and _Ended inside a string."""
        if depth > DEEPEST:
            raise NotJson("it is nested too deeply")
        char = self._peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._list(depth)
        if char in _CLOSING:
            return self._string()
        number = _NUMBER.match(self._text, self.at)
        if number:
            self.at = number.end()
            return json.loads(number[0]) if not re.match(r"-?0\d", number[0]) else number[0]
        word = _WORD.match(self._text, self.at)
        if word and word[0].lower() in _CONSTANTS:
            self.at = word.end()
            return _CONSTANTS[word[0].lower()]
        raise NotJson("a value is expected")

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        try:
            while self._more("}"):
                key = self._key()
                if self._peek() != ":":
                    raise NotJson("a colon is expected")
                self.at += 1
                found[key] = self.value(depth + 1)
                if not self.complete:
                    break
        except _Ended:
            self._stop()
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        try:
            while self._more("]"):
                found.append(self.value(depth + 1))
                if not self.complete:
                    break
        except _Ended:
            self._stop()
        return found

    def _stop(self) -> None:
        self.complete = False
        self.at = len(self._text)

    def _more(self, closing: str) -> bool:
        """True if another member follows; else the structure's end has been read."""
        while self._peek() == ",":
            self.at += 1
        if self._peek() == closing:
            self.at += 1
            return False
        return True

    def _peek(self) -> str:
        space = _SPACE.match(self._text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self._text):
            raise _Ended
        return self._text[self.at]

    def _key(self) -> str:
        if self._peek() in _CLOSING:
            return self._string()
        word = _WORD.match(self._text, self.at)
        if word is None:
            raise NotJson("a key is expected")
        self.at = word.end()
        return word[0]

    def _string(self) -> str:
        text = self._text
        opening = text[self.at]
        if text.startswith('"""', self.at):
            end = text.find('"""', self.at + 3)
            if end < 0:
                raise _Ended
            found, self.at = text[self.at + 3 : end], end + 3
            return found
        closing = _CLOSING[opening]
        parts: list[str] = []
        at = self.at + 1
        while at < len(text):
            char = text[at]
            if char == "\\":
                part, at = _escaped(text, at)
                parts.append(part)
                continue
            # A quote inside a text that should have been escaped is followed by more of the text.
            if char in closing and _AFTER_STRING.match(text, at + 1):
                self.at = at + 1
                return "".join(parts)
            parts.append(char)
            at += 1
        raise _Ended


def _escaped(text: str, at: int) -> tuple[str, int]:
    """The character that an escape stands for, and the index after it."""
    code = text[at + 1 : at + 2]
    if code == "u":
        digits = re.compile(r"[0-9a-fA-F]{4}").match(text, at + 2)
        if digits:
            return chr(int(digits[0], 16)), at + 6
    if code in _ESCAPES:
        return _ESCAPES[code], at + 2
    if code and code in "\"'\\/`“”‘’":
        return code, at + 2
    return "\\" + code, at + 1 + len(code)


def _valid(value: Any) -> Any:
    """The value with half surrogate pairs replaced, so that it can be stored and sent."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_valid(item) for item in value]
    if isinstance(value, dict):
        return {_valid(key): _valid(item) for key, item in value.items()}
    return value
