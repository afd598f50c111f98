"""Messages for an endpoint's refusals, and the pauses after them.

A message is in our words, with the server's own where they say more. Servers quote prompts, and
proxies keys, in their errors. So of a body goes only its message into ours: one short line, without
what it repeats of the prompt and what looks like a secret. Nothing of it is told where a key wasn't
accepted.

Local servers take any key, and usual ones are `x`, `EMPTY`, `none` and `ollama`. Such a key is a
word that replies hold for reasons of their own, and no secret. So a reply loses a key only when the
key looks like a secret; an error, which is told to people, loses it wherever it stands as a token
of its own.
"""

from __future__ import annotations

import math
import random
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from sqlwright.boundary.secrets import mask
from sqlwright.llm.endpoint import EndpointError, Throttle

MASK = "***"
SECRET = 16
"""Characters a key has at least that is taken for a secret."""
VARIED = 8
"""Different ones of them."""

_CLASSES = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"))


def looks_secret(key: str) -> bool:
    """True if a key is too long and mixed to be a word: at least 16 characters, 8 different ones,
    and two of small letters, capitals and digits."""
    mixed = sum(bool(each.search(key)) for each in _CLASSES)
    return len(key) >= SECRET and len(set(key)) >= VARIED and mixed > 1


def reply_without_key(text: str, key: str) -> str:
    """A model's reply, unchanged unless it holds a key that looks like a secret."""
    return text.replace(key, MASK) if looks_secret(key) else text


def error_without_key(text: str, key: str) -> str:
    """The text of an error without the key: inside other words, too, where it looks like a secret.
    A part of a name, a path or a host is no token."""
    if looks_secret(key):
        return text.replace(key, MASK)
    if not key:
        return text
    return re.sub(rf"(?<![\w./-]){re.escape(key)}(?![\w/-]|\.\w)", MASK, text)


MARGIN = 0.25
"""Seconds at most on top of what an endpoint asked for, so that not everybody is back at once."""


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds an answer asks to wait, None when it doesn't say, says nothing that can be read, or
    doesn't want any: a wish not to wait at all is none.

    `Retry-After` holds seconds or an HTTP date (RFC 9110, section 10.2.3), `retry-after-ms`
    milliseconds. `headers` has lower-case names; `now` is the time since the epoch in seconds."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds > 0 else None
    try:
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None


def delay(throttle: Throttle, tries: int, asked: float | None, generator: random.Random) -> float:
    """Seconds before the next attempt, after `tries` that failed.

    Without a wish of the endpoint exponential back-off with full jitter: evenly between nothing and
    a ceiling that doubles. With one, at least that, and at least the back-off: an endpoint can't
    have us come back faster. `asked` is 0 only where it is us who changed the request."""
    ceiling = min(throttle.longest_delay, throttle.first_delay * 2.0 ** min(tries - 1, 60))
    if asked is None:
        return generator.uniform(0, ceiling)
    wanted = asked + generator.uniform(0, min(MARGIN, asked / 2))
    return max(wanted, generator.uniform(0, ceiling)) if asked else 0.0


_TOO_LONG = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "maximum number of tokens",
    "too long",
)
_NO_CREDIT = ("insufficient_quota", "billing", "credit balance", "credits")
_FILTERED = ("content_filter", "content policy", "responsibleaipolicy")
_UNKNOWN = (
    *("support", "unknown", "unrecognized", "unexpected", "permit", "extra input", "deprecated"),
)
_UNFIT = (
    *("should be", "must be", "has to be", "invalid", "only ", "allowed", "implemented", "enabled"),
    *("available", "requires", "between", "out of range", "expected", "at least", "minimum"),
    *("greater than", "positive"),
)
"""Words of servers that refuse a parameter, and its value."""
_ALSO: Mapping[str, str] = {
    "n": r"(?:one|single|multiple) (?:\w+ )?(?:completion|choice|candidate)s?|\bn (?:must|>|=)",
    "response_format": r"json.?schema|json.?mode|json.?object|structured output|guided|grammar",
    "tools": r"tool.?choice|tool.?call|tool.?use|function.?call",
    "reasoning_effort": r"reasoning|thinking",
    "stream": r"streaming",
}
"""Other words for a parameter."""
NO_SYSTEM = re.compile(
    r"(?:system|developer)['\"`]? (?:role|message|prompt|instruction)|role\W{1,3}system"
    r"|only user and ass|roles? must alternate|messages\[0\]\.role|unexpected role|first message"
)
"""Words of servers that take no message of the system's."""
LONGEST_WORDS = 200
"""Characters of a server's own words."""
_NO_MODEL = ("model_not_found", "model not found", "invalid model", "unknown model")
_INVALID = ("validation error",)
"""Words for a request that a server couldn't read; some call that an error of their own (500)."""
_PLACE = re.compile(r"'loc': \('body', '(\w+)'")
"""A place where a validation failed, in a message."""
_DEEPEST = 10
"""Levels of an error's JSON that are searched for words; errors of servers have two to four."""
FEWEST_TOKENS = 256
"""Reply tokens below which no smaller number is tried."""
_LENGTHS = r"max_?(?:completion|output|new)?_?tokens"
_EXCEEDS = r"too large|at most|maximum|exceed|supported range|> \d|less than or equal"
"""Words of servers that refuse a number of reply tokens."""
_CONTEXT = r"context (?:length|size|window)\D{0,30}?(\d[\d,]+)"
_PROMPT = (
    r"(\d[\d,]*) (?:tokens )?(?:in|of|from|for) (?:the |your )?(?:messages|prompt|input)"
    r"|(\d[\d,]*) (?:input|prompt) tokens|(?:prompt|input)\D{0,30}?(\d[\d,]*) tokens"
)
"""Words of servers for the tokens of a context, and of a prompt for which it has too few."""
_OF_KEYS = {401, 402, 403}
_SLOW_DOWN = {429, 529}
_PASSING = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True)
class Address:
    """Parts that a message may name: the model, its URL, and the variable that holds the key."""

    name: str
    """`provider/model`."""
    base_url: str
    key_variable: str = ""
    key_sent: bool = True
    here: bool = False
    """True if it is this machine."""

    @property
    def origin(self) -> str:
        """The base URL without user, password and query."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def refused(
    address: Address,
    status: int,
    headers: Mapping[str, str],
    body: Any,
    now: float,
    *,
    sent: str = "",
) -> EndpointError:
    """The error for an HTTP status that isn't a success. `now` is seconds since the epoch, `sent`
    the prompt."""
    wanted = retry_after({name.lower(): value for name, value in headers.items()}, now)
    # Plain rate limits talk of plans and billing, too: only the code tells them apart.
    spent = "insufficient_quota" in {_field(body, "code"), _field(body, "type")}
    if spent or (status in {400, 402, 403} and mentions(body, _NO_CREDIT)):
        return _final(address, status, "the account has no credit left; see the provider's billing")
    if status in _PASSING or (status >= 500 and not mentions(body, _INVALID)):
        crowded = status in _SLOW_DOWN
        text = "it asks to slow down" if crowded else "it failed for the moment"
        said = "" if crowded else server_words(address, body, sent)
        return EndpointError(f"{text} ({status}){said}", retry_after=wanted, crowded=crowded)
    said = "" if status in _OF_KEYS or status < 400 else server_words(address, body, sent)
    return _final(address, status, _advice(address, status, body), said)


def server_words(address: Address, body: Any, sent: str) -> str:
    """The message of an error's body, quoted, for the end of ours; empty where it has none."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    while isinstance(error, Mapping | list) and error:
        named = error if isinstance(error, list) else [
            error[name] for name in ("message", "msg", "detail", "error") if error.get(name)
        ]  # fmt: skip
        error = named[0] if named else ""
    text = error if isinstance(error, str) and not error.lstrip().startswith("<") else ""
    words = "".join(c if c.isprintable() else " " for c in text[: 20 * LONGEST_WORDS]).split()
    lines = {" ".join(line.split()) for line in sent.splitlines()}
    prompt = " ".join(sent.split())
    shown = [
        "***" if _is_secret(word, address.name) else "…" if _repeats(words, at, prompt) else word
        for at, word in enumerate(words)
    ]
    told = mask(" ".join(shown))
    for line in sorted(lines, key=len, reverse=True):
        told = told.replace(line, "…") if len(line) > 3 else told
    told = re.sub(r"(?:… )+…", "…", told)
    if len(told) > LONGEST_WORDS:
        told = told[:LONGEST_WORDS].rstrip() + "…"
    return f'; it says: "{told}"' if re.search(r"\w", told) else ""


def _is_secret(word: str, name: str) -> bool:
    """True if a part of a word might be a key; a model's name might, too, and is none."""
    parts = re.findall(r"[\w.~+/=-]{16,}", word)
    return any(looks_secret(part) and part.strip(".") not in name for part in parts)


def _repeats(words: Sequence[str], at: int, prompt: str) -> bool:
    """True if a word stands in the prompt: with two beside it, or alone where it has digits."""
    starts = range(max(at - 2, 0), min(at, len(words) - 3) + 1)
    runs = [" ".join(words[start : start + 3]) for start in starts]
    bare = words[at].strip("\"'`.,:;()[]{}<>")
    if len(bare) >= 6 and re.search(r"\d", bare):
        runs.append(bare)
    return any(run in prompt for run in runs)


def unreachable(
    address: Address, cause: BaseException | None = None, *, timed_out: bool = False
) -> EndpointError:
    """The error for a connection that couldn't be made or broke.

    Where nothing listens on this machine, or no such host is known, asking again soon is no use."""
    for reason in _reasons(cause):
        if isinstance(reason, EndpointError):
            return reason  # ours, which a vendor's package has wrapped
        if address.here and isinstance(reason, ConnectionRefusedError):
            text = f"{address.name}: nothing answers at {address.origin}; is its server running?"
            return EndpointError(text, kind="gone", retryable=False)
        if isinstance(reason, socket.gaierror) and reason.errno == socket.EAI_NONAME:
            text = f"{address.name}: no host is known by the name in {address.origin}"
            return EndpointError(text, kind="gone", retryable=False)
    what = "timed out" if timed_out else "failed or was broken off"
    return EndpointError(f"the connection to {address.origin} {what}")


def silent(address: Address, seconds: float) -> EndpointError:
    """The error for a server from which nothing comes any more. It may be at work, so that it isn't
    asked often."""
    return EndpointError(f"nothing came from {address.origin} for {seconds:.3g} s", failures=3)


def _reasons(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that led to it."""
    waiting = [error]
    seen: set[int] = set()
    while waiting:
        reason = waiting.pop()
        if reason is None or id(reason) in seen:
            continue
        seen.add(id(reason))
        yield reason
        waiting += [reason.__cause__, reason.__context__]
        waiting += reason.exceptions if isinstance(reason, BaseExceptionGroup) else ()


def left_out(parameter: str) -> EndpointError:
    """The error for a parameter that isn't taken; it is left out, or changed, from now on."""
    return EndpointError(f"it doesn't take {parameter!r}", retry_after=0.0, left_out=parameter)


def unreadable() -> EndpointError:
    """The error for a body that isn't the JSON it should be."""
    return EndpointError("the answer was no valid JSON of the expected form")


def too_large(most: int) -> EndpointError:
    """The error for an answer that is larger than any that is asked for."""
    return EndpointError(f"the answer is larger than is taken ({most:,} bytes)", retryable=False)


def compressed() -> EndpointError:
    """The error for an answer in an encoding that wasn't asked for."""
    return EndpointError("the answer is compressed, which wasn't asked for", retryable=False)


def unsupported(status: int, body: Any, sent: Iterable[str]) -> str | None:
    """The sent parameter that the server says it doesn't take; None if none."""
    refusing = status in {400, 422, 501} or (status == 500 and mentions(body, _INVALID))
    if not refusing or not mentions(body, (*_UNKNOWN, *_UNFIT)):
        return None
    text, sent = _text(body), list(sent)
    named = re.match(r"\w*", str(_field(body, "param") or "").lower())
    places = {*_places(body), *_PLACE.findall(text), named[0] if named else ""} - {""}
    if places:
        return next((parameter for parameter in sent if parameter in places), None)
    for parameter in sent:
        name = re.escape(parameter)
        loose = rf"|\b{name}\b" if len(parameter) > 2 else ""
        if re.search(rf"['\"`]{name}['\"`]{loose}", text):
            return parameter
    return next((p for p in sent if p in _ALSO and re.search(_ALSO[p], text)), None)


def refuses_value(body: Any) -> bool:
    """True if an error is about a parameter's value, not about the parameter."""
    return mentions(body, _UNFIT) and not mentions(body, (*_UNKNOWN, "default"))


def refuses_system(status: int, body: Any) -> bool:
    """True if a server says that it takes no message of the system's."""
    return status in {400, 422, 500, 501} and NO_SYSTEM.search(_text(body)) is not None


def ran_out(status: int, body: Any) -> bool:
    """True where a server says by an error that a reply ended before anything of it was seen."""
    return status == 400 and mentions(body, ("output limit was reached",))


def told_context(status: int, body: Any, sent: int) -> tuple[int, int] | None:
    """The tokens of the context and of the prompt where a server says that they leave less than was
    `sent` for the reply. None where it says something else, or few are left."""
    text = _text(body)
    context, prompt = (re.search(pattern, text) for pattern in (_CONTEXT, _PROMPT))
    if status not in {400, 413, 422} or not context or not prompt:
        return None
    counted = next(filter(None, prompt.groups()))
    size, taken = (int(number.replace(",", "")) for number in (context[1], counted))
    return (size, taken) if FEWEST_TOKENS < size - taken < sent else None


def fewer_tokens(status: int, body: Any, sent: int) -> int | None:
    """The reply tokens to ask for where the server says that those sent are too many: the most it
    names, else half as many. None where it says something else, or few are left."""
    text = _text(body)
    if status not in {400, 422} or not re.search(_LENGTHS, text) or not re.search(_EXCEEDS, text):
        return None
    named = [int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]{2,8}\b", text)]
    fitting = [number for number in named if FEWEST_TOKENS <= number < sent]
    most = max(fitting, default=sent // 2)
    return most if most >= FEWEST_TOKENS else None


def mentions(body: Any, words: Iterable[str]) -> bool:
    """True if an error's code, type or message holds one of the words."""
    text = _text(body)
    return any(word in text for word in words)


def _text(body: Any, depth: int = 0) -> str:
    """All strings of an error, in lower case; what is nested deeper than any error says nothing."""
    if depth > _DEEPEST:
        return ""
    parts = body.values() if isinstance(body, Mapping) else body
    if isinstance(body, Mapping | list | tuple):
        return " ".join(_text(part, depth + 1) for part in parts)
    return body.lower() if isinstance(body, str) else ""


def _places(body: Any, depth: int = 0) -> Iterator[str]:
    """The parameters at which a validation failed, where the server lists them as `loc`."""
    if depth > _DEEPEST or not isinstance(body, Mapping | list):
        return
    if isinstance(body, Mapping) and isinstance(place := body.get("loc"), list):
        yield from (str(part) for part in place[:2])
        return
    for part in body.values() if isinstance(body, Mapping) else body:
        yield from _places(part, depth + 1)


def _field(body: Any, name: str) -> Any:
    error = body.get("error", body) if isinstance(body, Mapping) else None
    return error.get(name) if isinstance(error, Mapping) else None


def _advice(address: Address, status: int, body: Any) -> str:
    if status == 401 and not address.key_sent and address.key_variable:
        return f"it wants a key; put it into the variable {address.key_variable}"
    if status == 401:
        return f"the key wasn't accepted; check the variable {address.key_variable or 'of the key'}"
    if status == 402:
        return "the account has no credit left; see the provider's billing"
    if status == 403:
        return "access was refused: the key may not be allowed to use this model"
    if status in {404, 405, 410}:
        return f"not found: check the model's name and the base URL {address.origin}"
    if 300 <= status < 400:
        return f"{address.origin} redirects, which isn't followed: name the final base URL"
    if status == 413 or mentions(body, _TOO_LONG):
        return "the prompt is too long for this model"
    if mentions(body, _FILTERED):
        return "the provider's content filter refused the prompt"
    if mentions(body, _NO_MODEL) or _quotes(body, address.name.partition("/")[2]):
        return f"not found: check the model's name and the base URL {address.origin}"
    return "the request was refused"


def _quotes(body: Any, model: str) -> bool:
    """True if an error has the model's name in quotes, as one does that doesn't know it."""
    name = re.escape(model.lower())
    return re.search(rf"['\"`]{name}['\"`]", _text(body)) is not None


def _final(address: Address, status: int, advice: str, said: str = "") -> EndpointError:
    text = f"{address.name}: {advice} ({status}){said}"
    return EndpointError(text, kind="rejected", retryable=False)
