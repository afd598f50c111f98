"""Stored values as a user misremembers them, for measuring a value index. Seeded."""

from __future__ import annotations

import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KINDS = [
    "exact",
    "case",
    "typo1",
    "typo2",
    "drop",
    "reorder",
    "prefix",
    "inner",
    "plural",
    "accent",
    "code",
]


@dataclass(frozen=True)
class Query:
    kind: str
    text: str
    value: str


def make_queries(values: Sequence[str], each: int, seed: int) -> list[Query]:
    """At most `each` queries of every kind, each from another value where possible."""
    rng = random.Random(seed)
    frequency = Counter(word for value in values for word in set(_words(value)))
    order = rng.sample(range(len(values)), len(values))
    out = []
    for kind in KINDS:
        found = 0
        for at in order:
            if found == each:
                break
            text = _MAKERS[kind](values[at], rng, frequency)
            if text and (kind == "exact" or text != values[at]):
                out.append(Query(kind, text, values[at]))
                found += 1
        order = order[each * 3 :] + order[: each * 3]
    return out


def _words(text: str) -> list[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return re.findall(r"[0-9a-z]+", plain.casefold())


def _is_code(value: str) -> bool:
    return " " not in value and any(c.isdigit() for c in value) and len(value) <= 12


def _typos(count: int) -> Callable[[str, random.Random, Counter[str]], str]:
    def make(value: str, rng: random.Random, _: Counter[str]) -> str:
        if _is_code(value) or len(value) < 3 + 3 * count:
            return ""
        chars = list(value)
        for _unused in range(count):
            at = rng.randrange(len(chars) - 1)
            letter = rng.choice(string.ascii_lowercase)
            change = rng.choice(("replace", "delete", "insert", "swap"))
            if change == "replace":
                chars[at] = letter
            elif change == "delete":
                del chars[at]
            elif change == "insert":
                chars.insert(at, letter)
            else:
                chars[at], chars[at + 1] = chars[at + 1], chars[at]
        return "".join(chars)

    return make


def _drop(value: str, rng: random.Random, _: Counter[str]) -> str:
    words = value.split()
    if len(words) < 3:
        return ""
    del words[rng.randrange(len(words))]
    return " ".join(words)


def _inner(value: str, rng: random.Random, frequency: Counter[str]) -> str:
    words = _words(value)
    rare = [word for word in words if frequency[word] <= 4 and len(word) > 3]
    return rng.choice(rare) if rare and len(words) > 1 else ""


def _accent(value: str, rng: random.Random, _: Counter[str]) -> str:
    if not value.isascii():
        decomposed = unicodedata.normalize("NFKD", value)
        return "".join(c for c in decomposed if not unicodedata.combining(c))
    places = [at for at, char in enumerate(value) if char in "aeioun"]
    if len(places) < 2:
        return ""
    chosen, table = set(rng.sample(places, 2)), str.maketrans("aeioun", "áéíöüñ")
    return "".join(c.translate(table) if at in chosen else c for at, c in enumerate(value))


def _prefix(value: str, rng: random.Random, _: Counter[str]) -> str:
    cut = max(6, int(len(value) * rng.uniform(0.5, 0.8)))
    return value[:cut].strip() if len(value) >= 10 else ""


def _plural(value: str, _: random.Random, __: Counter[str]) -> str:
    if not value.strip() or not value.rsplit(maxsplit=1)[-1].isalpha():
        return ""
    return value + ("es" if value[-1] in "sx" else "s")


def _code(value: str, rng: random.Random, _: Counter[str]) -> str:
    changed = [value.lower(), value.replace("-", ""), value.replace("-", " ")]
    return rng.choice(changed) if _is_code(value) else ""


def _reorder(value: str, rng: random.Random, _: Counter[str]) -> str:
    words = value.split()
    return " ".join(rng.sample(words, len(words))) if len(words) > 1 else ""


_MAKERS: dict[str, Callable[[str, random.Random, Counter[str]], str]] = {
    "exact": lambda value, *_: value,
    "case": lambda value, rng, _: rng.choice([value.upper(), value.lower(), value.swapcase()]),
    "typo1": _typos(1),
    "typo2": _typos(2),
    "drop": _drop,
    "reorder": _reorder,
    "prefix": _prefix,
    "inner": _inner,
    "plural": _plural,
    "accent": _accent,
    "code": _code,
}
