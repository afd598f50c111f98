"""Passed or failed, by number: read from JSON or from lines, whichever a model replies with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from sqlwright.errors import MalformedReply
from sqlwright.prompts.replies import json_from

_CLOSED = ConfigDict(json_schema_extra={"additionalProperties": False})
_WORDS = {
    "passed": True, "pass": True, "passes": True, "true": True, "yes": True,
    "failed": False, "fail": False, "fails": False, "false": False, "no": False,
}  # fmt: skip
_NUMBERED = ("number", "candidate", "query", "test", "id", "index")
_JUDGED = ("verdict", "passed", "result", "status", "answer")
_LINE = re.compile(
    r"^[^\w\n]*(?:[a-z]+ ){0,3}#?\W{0,3}(\d{1,3})\b[^\w\n]*(?:\([^)\n]*\))?[^\w\n]*"
    r"(passed|failed|passes|fails|pass|fail)\b",
    re.IGNORECASE | re.MULTILINE,
)


class Verdict(BaseModel):
    """One verdict."""

    model_config = _CLOSED
    number: int
    verdict: Literal["passed", "failed"]


class Verdicts(BaseModel):
    """A judge's reply."""

    model_config = _CLOSED
    reasoning: str
    verdicts: list[Verdict]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        reasoning, listed = "", data
        if isinstance(data, Mapping):
            said = data.get("reasoning")
            reasoning = said if isinstance(said, str) else ""
            rest = {key: value for key, value in data.items() if key != "reasoning"}
            listed = next((v for v in rest.values() if isinstance(v, list | Mapping)), rest)
        pairs = list(_pairs(listed))
        return {
            "reasoning": reasoning,
            "verdicts": [
                {"number": number, "verdict": "passed" if passed else "failed"}
                for number, passed in pairs
            ],
        }


def verdicts_from(text: str, count: int) -> dict[int, bool]:
    """True for each of the numbers 1 to `count` that passed; one without a verdict is left out.

    Raises MalformedReply when there is not one verdict.
    """
    try:
        read = [(v.number, v.verdict == "passed") for v in json_from(text, Verdicts).verdicts]
    except MalformedReply:
        read = []
    if not read:
        read = [(int(line[1]), _WORDS[line[2].casefold()]) for line in _LINE.finditer(text)]
    found = {number: passed for number, passed in read if 1 <= number <= count}
    if not found:
        raise MalformedReply("it gives no verdict of 'passed' or 'failed' with a number")
    return found


def _pairs(listed: Any) -> Iterator[tuple[int, bool]]:
    """Numbers with verdicts, from any of the forms they are written in."""
    if isinstance(listed, Mapping):
        yield from _known(listed.items())
    elif isinstance(listed, list):
        for one in listed:
            if isinstance(one, Mapping):
                whole = [(_first(one, _NUMBERED), _first(one, _JUDGED))]
                yield from _known(whole if len(one) > 1 else one.items())


def _known(pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[int, bool]]:
    for key, value in pairs:
        number, passed = _number(key), _passed(value)
        if number is not None and passed is not None:
            yield number, passed


def _first(one: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((one[key] for key in keys if key in one), None)


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = re.findall(r"\d{1,4}", value) if isinstance(value, str) else []
    return int(digits[0]) if len(digits) == 1 else None


def _passed(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = re.match(r"\W*([a-z]+)", value, re.IGNORECASE) if isinstance(value, str) else None
    return _WORDS.get(word[1].casefold()) if word else None


def letter_from(text: str, letters: Sequence[str]) -> str:
    """The letter that a judge chose, from JSON, from a reply or line of nothing else, or from a
    sentence such as "Query B is better". Raises MalformedReply when there is none, or no one."""
    one = f"([{''.join(letters)}])"
    alone = f"([{''.join(letters)}{''.join(letters).lower()}])"
    try:
        said = json_from(text, _Chosen).better
    except MalformedReply:
        said = text
    for way in _WAYS_TO_CHOOSE:
        found = re.findall(way.replace("ALONE", alone).replace("LETTER", one), said, re.MULTILINE)
        if found and (way is not _NAMED or len(set(found)) == 1):
            return str(found[-1]).upper()
    raise MalformedReply(f"it doesn't say which one: {' or '.join(letters)}")


_QUERY = r"(?:(?:[Tt]he |SQL )*(?:[Qq]uery|[Cc]andidate|[Oo]ption)\W{1,4})?"
_NAMED = r"\b(?:[Qq]uery|[Cc]andidate|[Oo]ption)\W{1,4}LETTER\b"
_WAYS_TO_CHOOSE = (
    rf"\A\W*{_QUERY}ALONE\W*\Z",
    rf"^\W*{_QUERY}ALONE\W*$",
    rf"(?:[Bb]etter|[Aa]nswer|[Cc]hoice|[Cc]hoose|[Ww]inner|[Cc]orrect)(?: one| query)?"
    rf"(?: is)?\W{{1,6}}{_QUERY}LETTER(?![\w'’])",
    rf"{_NAMED} (?:is (?:right|better|correct)|answers)\b",
    _NAMED,
)
"""Ways in which a letter is chosen, the clearest first; the last one counts only where a reply
names no other letter."""


class _Chosen(BaseModel):
    """Of a JSON object the choice, whatever its key."""

    better: str

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        rest = [v for k, v in data.items() if k != "reasoning" and isinstance(v, str)]
        return {"better": data["better"] if "better" in data else rest[-1] if rest else None}


def number_from(text: str, count: int) -> int:
    """The number, from 1 to `count`, that a judge chose: from JSON, from a reply or line of nothing
    else, or from a sentence such as "Query 2 is right". Raises MalformedReply."""
    try:
        number: int | None = json_from(text, _Numbered).number
    except MalformedReply:
        number = _number_said(text)
    if number is None:
        raise MalformedReply(f"it doesn't say which one: a number from 1 to {count}")
    if not 1 <= number <= count:
        raise MalformedReply(f"there is no query {number}, only 1 to {count}")
    return number


def _number_said(text: str) -> int | None:
    for way in _WAYS_TO_CHOOSE:
        pattern = way.replace("ALONE", r"(\d{1,3})").replace("LETTER", r"(\d{1,3})")
        found = re.findall(pattern, text, re.MULTILINE)
        if found and (way is not _NAMED or len(set(found)) == 1):
            return int(found[-1])
    return None


class _Numbered(BaseModel):
    """Of a JSON object the number, whatever its key."""

    number: int

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        rest = [_number(value) for key, value in data.items() if key != "reasoning"]
        numbers = [value for value in rest if value is not None]
        return {"number": numbers[-1] if numbers else None}


def right_from(text: str) -> bool:
    """True if a judge holds a query for right: from JSON, from a reply, line or first word such as
    "yes", or from a sentence such as "The query is wrong". Raises MalformedReply."""
    try:
        said: str | bool = json_from(text, _Verdict).verdict
    except MalformedReply:
        said = _verdict_said(text)
    verdict = said if isinstance(said, bool) else _RIGHT.get(said.casefold().strip(" .!*\"'"))
    if verdict is None:
        raise MalformedReply("it doesn't say whether the query is right or wrong")
    return verdict


def _verdict_said(text: str) -> str:
    """The word of the verdict; empty where there is none, or where there are two."""
    words = "|".join(_RIGHT)
    for way in _WAYS_TO_SAY:
        found = re.findall(way.replace("WORD", f"({words})"), text, re.MULTILINE | re.IGNORECASE)
        if found:
            meant = {_RIGHT[word.casefold()] for word in found}
            return str(found[-1]) if len(meant) == 1 else ""
    return ""


_WAYS_TO_SAY = (
    r"\A\W*WORD\W*\Z",
    r"^\W*WORD\W*$",
    r"\b(?:verdict|answer)(?: is)?\W{1,6}WORD\b",
    r"\A\W*WORD[.,:;!]",
    r"\bis WORD\b",
)
_RIGHT = _WORDS | {"right": True, "correct": True, "wrong": False, "incorrect": False}


class _Verdict(BaseModel):
    """Of a JSON object the verdict, whatever its key."""

    verdict: str | bool

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        rest = [v for k, v in data.items() if k != "reasoning" and isinstance(v, str | bool)]
        return {"verdict": data["verdict"] if "verdict" in data else rest[-1] if rest else None}
