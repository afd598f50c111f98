"""Reads replies of language models: a query, the reasoning around it, JSON, a list.

Replies come in every shape, whatever the prompt asks for: JSON, tags, fences, bare SQL, with
reasoning first and remarks after. A query is taken as it was written, comments and line breaks
included, so that a `--` comment can't swallow what follows it. Nothing is ever evaluated.

What isn't there raises MalformedReply with a reason that can be told to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from sqlwright.errors import MalformedReply
from sqlwright.messages import LONGEST_REPLY
from sqlwright.prompts.bare_sql import (
    FoundQuery,
    Reading,
    first_outside,
    from_html,
    last_in_prose,
    last_statement,
)
from sqlwright.prompts.loose_json import Decoded, structures
from sqlwright.sql.reading import is_query

M = TypeVar("M", bound=BaseModel)

_LONGEST_LIST = 4_000
"""Characters of a reply that may be a list of quoted items."""
_MOST_MARKS = 24
"""Tags and fences looked into, from the end."""
_THOUGHT = re.compile(r"\s*<(think|thinking|thought)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_THINKING = re.compile(r"\s*<(?:think|thinking|thought)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)
_CHAT_MARK = re.compile(r"(?:<\|[\w ]{1,40}\|>|</s>|\[/?INST\])\Z")
"""Marks of a chat that some servers leave at the end of a reply."""
_TAG = re.compile(
    r"<(final[_ -]?answer|final[_ -]?sql|final[_ -]?query|sql[_ -]?query|sql|query|answer)>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:^|(?<=\n))[ \t>]*(```+|~~~+)[ \t]*([\w+-]*)", re.MULTILINE)
_SQL_TAGS = frozenset(
    """
    sql sqlite sqlite3 postgres postgresql pgsql psql plpgsql duckdb mysql mariadb tsql t-sql mssql
    plsql oracle bigquery snowflake redshift clickhouse trino presto athena spark sparksql spark-sql
    hive databricks
    """.split()  # noqa: SIM905 - forty quoted words say less
)
"""Names of languages that fences of a query bear."""
_INLINE_FENCE = re.compile(
    rf"```((?:{'|'.join(sorted(_SQL_TAGS, reverse=True))})\b)?(.*?)```", re.IGNORECASE | re.DOTALL
)
_LEFTOVER = re.compile(r"(?:```\w{0,40}|</?\w{1,40}>|[\s;`])\Z")
_SQL_KEYS = re.compile(
    r"(?:final|revised|corrected|fixed|new|generated|predicted)?(?:(?:sql(?:ite)?|postgres(?:ql)?|duckdb|mysql|mariadb)"
    r"(?:query|code)?|query|answer)"
)
_CANNOT = re.compile(
    r"^[ \t>*#`\"'\-]*(?:<\w+>)?cannot[ \t*]*:[\s*\"']*([^\s`\"'*].*)|^\W*CANNOT\W*\Z",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that says what the database lacks, or the word alone at the end."""
_NO_REASON = "no reason is given"
_LONGEST_REASON = 600
"""Characters of prose that is taken for a reply of its own in place of a query; chosen."""
_NO_PROSE = re.compile(
    r"[{}\[\]<>;|=`]|\n[ \t]*\n|^[ \t]*(?:[-*•]|\(?\d{1,3}[.):])\s", re.MULTILINE
)
_SENTENCES = re.compile(r"\W{0,3}\w.{8,}[.!?。！？][\"'”’)]{0,2}", re.DOTALL)
_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]+(\S.*)$", re.MULTILINE)
_QUOTED_ITEM = re.compile(r"[\"“”]([^\"“”\n]+)[\"“”]|'((?:[^'\n]|'\w)+)'(?!\w)")


class Written(NamedTuple):
    """The parts of a reply that was to hold a query."""

    sql: str
    plan: str
    cannot: str = ""
    """The words for what the database lacks, where they stand in place of the query."""


def written_from(text: str, dialect: str) -> Written:
    """The query of a reply with its reasoning; or what is said in its place, after `CANNOT:` on a
    line or under the key `cannot` in JSON. Of both the last counts. Raises MalformedReply."""
    rest = _split_thought(text[-LONGEST_REPLY:], dialect)[1]
    try:
        found = _found(text, Reading(dialect))
    except MalformedReply:
        if said := _cannot(rest, 0, 0):
            return Written("", "", said)
        raise
    if said := _cannot(rest, found.start, found.end):
        return Written("", "", said)
    return Written(found.sql, plan_from(text, dialect))


def prose_from(text: str) -> Written | None:
    """A reply as declining, if it is nothing but one short paragraph of whole sentences: no mark
    of SQL, JSON, a list or a block in it, and nothing announced that doesn't come. None for others.

    One such reply may be an oversight. Whoever was then told which forms there are, and writes
    sentences again, has declined, whatever the words and the language."""
    rest = _bare_edges(_split_thought(text[-LONGEST_REPLY:])[1])
    if len(rest) > _LONGEST_REASON or _NO_PROSE.search(rest) or not _SENTENCES.fullmatch(rest):
        return None
    return Written("", "", rest)


def _cannot(text: str, start: int, end: int) -> str:
    """The words for what is missing, behind a query or with the query in the midst of them; empty
    where it doesn't."""
    for structure in reversed(list(structures(text[end:]))):
        for key, value in structure.value.items() if isinstance(structure.value, dict) else ():
            if key.strip().lower() == "cannot" and isinstance(value, str) and value.strip():
                return value.strip()
    said = [m for m in _CANNOT.finditer(text) if m.start() >= end or m.start() <= start < m.end()]
    if not said:
        return ""
    reason = _bare_edges(_CHAT_MARK.sub("", (said[-1][1] or "").rstrip()))
    return reason.strip(" *_\"'") or _NO_REASON


def sql_from(text: str, dialect: str = "sqlite") -> str:
    """The query in a dialect a reply ends with. Raises MalformedReply.

    Of several queries in tags, in JSON or in fences the last one counts. The final semicolon is
    cut, and curly quotes are straightened where they stand for SQL's own.
    """
    return _found(text, Reading(dialect)).sql


def plan_from(text: str, dialect: str = "sqlite") -> str:
    """The reasoning of a reply before and after its query. Never raises."""
    thought, rest = _split_thought(text[-LONGEST_REPLY:], dialect)
    try:
        found = _query_in(rest, Reading(dialect))
    except MalformedReply:
        return text[-LONGEST_REPLY:].strip()
    before, after = _bare_edges(rest[: found.start]), _bare_edges(rest[found.end :])
    around = found.reasoning or f"{before}\n{after}"
    return "\n".join(part for part in (thought.strip(), around.strip()) if part)


def json_from(text: str, model: type[M]) -> M:
    """The reply as `model`, from JSON anywhere in it; of several the last one that fits.

    A single object stands for a list of one, a list of one for an object. Raises MalformedReply
    that says what is missing or wrong.
    """
    found = _structures(text)
    if not found:
        raise MalformedReply(f"it holds no JSON{_unread(text)}")
    problem = ""
    for structure in reversed(found):
        if not structure.complete:
            problem = problem or "its JSON ends before it is complete"
            continue
        for value in _readings(structure.value, model):
            try:
                return model.model_validate(value)
            except ValidationError as error:
                problem = problem or _problem_of(error)
            except RecursionError:
                problem = problem or "its JSON is nested too deeply"
    raise MalformedReply(problem)


def items_from(text: str) -> tuple[str, ...]:
    """A list of texts: JSON or Python's notation, bullets, numbered lines, quoted items.

    Each once, in order, without blank ones. Raises MalformedReply when there is no list.
    """
    for structure in reversed(_structures(text)):
        listed = _listed(structure.value)
        if listed is not None:
            return _distinct(str(item) for item in listed if isinstance(item, str | int | float))
    rest = _split_thought(text[-LONGEST_REPLY:])[1]
    bullets = [match[1] for match in _BULLET.finditer(rest)]
    if bullets:
        return _distinct(item.strip("\"'`*“”‘’ ,") for item in bullets)
    short = len(rest) <= _LONGEST_LIST
    quoted = [match[1] or match[2] for match in _QUOTED_ITEM.finditer(rest)] if short else []
    if quoted and not re.sub(r"[\s,;]|\band\b", "", _QUOTED_ITEM.sub("", rest)):
        return _distinct(quoted)
    (line, *others) = rest.strip().splitlines() or [""]
    parts = re.sub(r"\A[\w ]{1,20}:\s", "", line).split(",")
    if len(parts) > 2 and not others and all(0 < len(part.split()) <= 6 for part in parts):
        return _distinct(part.strip(" .\"'`*") for part in parts)
    raise MalformedReply("it holds no list")


def _found(text: str, how: Reading) -> FoundQuery:
    try:
        return _query_in(_split_thought(text[-LONGEST_REPLY:], how.dialect)[1], how)
    except MalformedReply as error:
        raise MalformedReply(f"{error}{_unread(text)}") from None


def _unread(text: str) -> str:
    """The remark that a reply is too long, where it is; else empty."""
    if len(text) < LONGEST_REPLY:
        return ""
    return f", or it is too long: the last {LONGEST_REPLY:,} characters are read"


def _split_thought(text: str, dialect: str = "sqlite") -> tuple[str, str]:
    """Reasoning that a model marks as such, and the reply proper. Raises nothing: reasoning that
    never ends leaves an empty reply."""
    at = 0
    thoughts = []
    while opening := _THOUGHT.match(text, at):
        thoughts.append(opening[2])
        at = opening.end()
    if _THINKING.match(text, at):
        return text[at:], ""
    ends = list(_THOUGHT_END.finditer(text, at))
    if ends and not _fences(text[: ends[-1].start()], dialect):  # its opening stood in the prompt
        thoughts.append(text[at : ends[-1].start()])
        at = ends[-1].end()
    if thoughts and not text[at:].strip():  # all of it was thought: the answer is there or nowhere
        return "", thoughts[-1]
    return "\n".join(thoughts), text[at:]


def _query_in(text: str, how: Reading) -> FoundQuery:
    """The query of a reply without marked reasoning, also where HTML's entities stand for SQL's
    marks. Raises MalformedReply."""
    try:
        found = _query_as_it_is(text, how)
    except MalformedReply:
        if (plain := from_html(text, None, how.dialect)) is None:
            raise
        return _query_as_it_is(plain, how)
    plain = from_html(text, found.sql, how.dialect)
    if plain is None:
        return found
    other = _query_as_it_is(plain, how)
    return other if is_query(other.sql, how.dialect) else found


def _query_as_it_is(text: str, how: Reading) -> FoundQuery:
    text = text.rstrip()
    while mark := _CHAT_MARK.search(text, max(len(text) - 50, 0)):
        text = text[: mark.start()].rstrip()
    ways = [_in_tags, _in_json, _in_fences]
    if text.lstrip().startswith(("{", "[")):
        ways = [_in_json, _in_tags, _in_fences]
    for way in ways:
        found = way(text, how)
        if found is not None:
            return found
    # Half of a query in half of a JSON text isn't one.
    cut = next((s.start for s in structures(text, how.effort) if s.broken_off), None)
    found = last_in_prose(text[:cut], how)
    if found is not None:
        return found
    if not text.strip():
        raise MalformedReply("it is empty, or it ends before its answer begins")
    if cut is not None:
        raise MalformedReply("its JSON ends before the query does")
    raise MalformedReply("it holds no SQL query")


def _in_tags(text: str, how: Reading) -> FoundQuery | None:
    """The query in the last tag that holds one; a tag that isn't closed ends with the text."""
    for tag in reversed(list(_TAG.finditer(text))[-_MOST_MARKS:]):
        closing = re.compile(rf"</\s?{re.escape(tag[1])}\s?>", re.IGNORECASE)
        ends = [end.start() for end in closing.finditer(text, tag.end())]
        end = first_outside(text, tag.end(), ends, how.dialect) or min(ends, default=-1)
        inner = text[tag.end() : end] if end >= 0 else text[tag.end() :]
        found = (
            _in_json(inner, how)
            or _in_fences(inner, how)
            or last_statement(inner, 0, how)
            or last_in_prose(inner, how)
        )
        if found is not None:
            stop = closing.match(text, end) if end >= 0 else None
            return found._replace(start=tag.start(), end=stop.end() if stop else len(text))
    return None


def _in_json(text: str, how: Reading) -> FoundQuery | None:
    """The last text under a key like `sql` that is a query."""
    for structure in reversed(list(structures(text, how.effort))):
        for key_holder, value in reversed(list(_sql_values(structure.value))):
            found = (
                _in_fences(value, how) or last_statement(value, 0, how) or last_in_prose(value, how)
            )
            if found is not None:
                reasoning = [v for v in key_holder.values() if isinstance(v, str) and v != value]
                start, end = _without_fence(text, structure, how.dialect)
                return FoundQuery(found.sql, start, end, "\n".join(reasoning))
    return None


def _sql_values(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Texts under keys that name SQL, with the objects that hold them."""
    if isinstance(value, list):
        for item in value:
            yield from _sql_values(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                if _SQL_KEYS.fullmatch(re.sub(r"[^a-z]", "", key.lower())):
                    yield value, item
            else:
                yield from _sql_values(item)


def _without_fence(text: str, structure: Decoded, dialect: str) -> tuple[int, int]:
    """Start and end of a structure with the fence around it."""
    for block in _fences(text, dialect):
        if block.start <= structure.start and structure.end <= block.end:
            return block.start, block.end
    return structure.start, structure.end


class _Block(NamedTuple):
    """A fenced block, its marks included."""

    language: str
    inner: int
    """Index at which its content begins."""
    content: str
    start: int
    end: int


def _fences(text: str, dialect: str) -> list[_Block]:
    """Fenced blocks in order; one that isn't closed ends with the text."""
    blocks: list[_Block] = []
    at = 0
    while opening := _FENCE.search(text, at):
        inner = opening.end()
        closing_mark = re.compile(rf"^[ \t>]*{opening[1]}[ \t]*\r?$", re.MULTILINE)
        closings = list(islice(closing_mark.finditer(text, inner), 8))
        line_end = text.find("\n", inner)
        inline = text.find(opening[1], inner, line_end if line_end >= 0 else len(text))
        if inline >= 0:
            end, after = inline, inline + len(opening[1])
        elif closings:
            # A line of marks may stand in a string of the query.
            whole = first_outside(text, inner, (c.start() for c in closings), dialect)
            closing = next((c for c in closings if c.start() == whole), closings[0])
            end, after = closing.start(), closing.end()
        else:
            end = after = len(text)
        blocks.append(_Block(opening[2].lower(), inner, text[inner:end], opening.start(), after))
        at = max(after, inner)
    return blocks


def _in_fences(text: str, how: Reading) -> FoundQuery | None:
    """The last query in a block of SQL, else in a block of anything, else in marks on one line."""
    blocks = _fences(text, how.dialect)
    ordered = sorted(blocks, key=lambda block: block.language in _SQL_TAGS)
    for block in reversed(ordered[-_MOST_MARKS:]):
        found = last_statement(block.content, block.inner, how)
        if (found is None and block.language in _SQL_TAGS) or not block.language:
            found = last_in_prose(block.content, how)
        if found is not None:
            return found._replace(start=block.start, end=block.end)
    for match in reversed(list(_INLINE_FENCE.finditer(text))[-_MOST_MARKS:]):
        found = last_statement(match[2], match.start(2), how)
        if found is not None:
            return found._replace(start=match.start(), end=match.end())
    return None


def _bare_edges(text: str) -> str:
    """Running text without marks that a query left behind at its end."""
    text = re.sub(r"\A[\s;`]+", "", text)
    while mark := _LEFTOVER.search(text, max(len(text) - 50, 0)):
        text = text[: mark.start()]
    return text


def _structures(text: str) -> list[Decoded]:
    return list(structures(_split_thought(text[-LONGEST_REPLY:])[1]))


def _readings(value: Any, model: type[BaseModel]) -> Iterator[Any]:
    """A value as it is, then as the list or object it may stand for."""
    yield value
    if issubclass(model, RootModel):
        if isinstance(value, dict):
            inner = _listed(value)
            if inner is not None:
                yield inner
        yield [value]
    elif isinstance(value, list) and len(value) == 1:
        yield value[0]
    elif isinstance(value, dict) and len(value) == 1:
        yield from (inner for inner in value.values() if isinstance(inner, dict))
    elif isinstance(value, list) and len(model.model_fields) == 1:
        yield {next(iter(model.model_fields)): value}


def _listed(value: Any) -> list[Any] | None:
    """The list that a value is, or the only list in an object."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) == 1:
            return lists[0]
    return None


def _problem_of(error: ValidationError) -> str:
    """The first thing that is wrong, in words that say where."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"its JSON has no field {where!r}"
    return f"its JSON doesn't fit{f' at {where!r}' if where else ''}: {first['msg'].lower()}"


def _distinct(items: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))
