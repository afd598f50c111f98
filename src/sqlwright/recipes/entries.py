"""Entries of a recipe file: steps with their options, combinators with steps in them.

Only the form is checked here; `recipes.loading` makes steps of the entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError

from sqlwright.boundary.arguments import shown
from sqlwright.boundary.named import unknown
from sqlwright.errors import ConfigError


@dataclass(frozen=True)
class RecipeEntry:
    """One step of a recipe file: a leaf with options, or a combinator with entries in it."""

    name: str
    where: str
    options: Mapping[str, Any] = field(default_factory=dict)
    inner: Mapping[str, tuple[RecipeEntry, ...]] = field(default_factory=dict)
    branches: tuple[tuple[RecipeEntry, ...], ...] = ()

    def walk(self) -> Iterator[RecipeEntry]:
        """It and all in it, in the order they stand in the file."""
        yield self
        for entries in (*self.inner.values(), *self.branches):
            for entry in entries:
                yield from entry.walk()


COMBINATORS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    # name: the keys that hold steps, the other keys
    "sequence": (frozenset({"steps"}), frozenset()),
    "parallel": (frozenset({"branches"}), frozenset({"workers"})),
    "samples": (frozenset({"steps"}), frozenset({"count", "workers", "first"})),
    "for_each": (frozenset({"steps"}), frozenset({"field", "workers"})),
    "repeat_until": (frozenset({"steps"}), frozenset({"condition", "rounds"})),
    "when": (frozenset({"then", "otherwise"}), frozenset({"condition"})),
    "agent": (frozenset({"steps"}), frozenset({"task", "goal", "turns", "sampling", "prompt"})),
    "tool": (frozenset({"steps"}), frozenset({"name", "purpose"})),
    "by_group": (frozenset({"steps"}), frozenset({"most", "share", "workers"})),
    "stand_in": (frozenset({"steps"}), frozenset()),
    "own_view": (frozenset({"steps"}), frozenset()),
    "second_opinion": (frozenset({"steps"}), frozenset({"seconds"})),
    "sub_questions": (frozenset({"steps"}), frozenset({"most"})),
    "escalate": (frozenset({"steps"}), frozenset({"sure"})),
    "tier": (frozenset({"steps"}), frozenset({"name", "least_calls"})),
}
_OPTIONAL = frozenset({
    "otherwise", "workers", "rounds", "enabled", "goal", "turns", "sampling", "prompt", "most",
    "share", "seconds", "first", "sure", "least_calls",
})  # fmt: skip


def read_entries(listed: Any, where: str) -> tuple[RecipeEntry, ...]:
    """A list of steps as it was loaded. Raises ConfigError saying `where` what doesn't fit."""
    if not isinstance(listed, list):
        raise ConfigError(f"{where}: expected a list of steps, not {listed!r}")
    return tuple(
        _entry(item, f"{where}, step {place}") for place, item in enumerate(listed, start=1)
    )


def _entry(item: Any, where: str) -> RecipeEntry:
    if isinstance(item, str):
        name: Any = item
        body: Any = {}
    elif isinstance(item, dict) and len(item) == 1:
        ((name, body),) = item.items()
    else:
        raise ConfigError(
            f"{where}: expected a step's name, or one name with its options, not {item!r}"
        )
    where = f"{where} ({name})"
    if name in COMBINATORS:
        return _combined(name, body, where)
    if body is None:
        body = {}
    if not isinstance(name, str) or not isinstance(body, dict):
        raise ConfigError(f"{where}: options are a mapping, not {body!r}")
    return RecipeEntry(name, where, body)


def _combined(name: str, body: Any, where: str) -> RecipeEntry:
    holders, others = COMBINATORS[name][0], COMBINATORS[name][1] | {"enabled"}
    if isinstance(body, list):
        body = {next(iter(sorted(holders))): body} if name in {"sequence", "parallel"} else body
    if not isinstance(body, dict):
        keys = ", ".join(sorted(holders | others))
        raise ConfigError(f"{where}: expected the keys {keys}, not {body!r}")
    refuse_unknown(body, holders | others, f"{where}: key")
    needed = (holders | others) - _OPTIONAL
    absent = sorted(needed - set(body))
    if absent:
        raise ConfigError(f"{where}: {', '.join(absent)} is missing")
    options = {key: value for key, value in body.items() if key in others}
    if name == "parallel":
        listed = body["branches"]
        if not isinstance(listed, list) or not listed:
            raise ConfigError(f"{where}: branches are a list of lists of steps")
        branches = tuple(
            read_entries(
                branch if isinstance(branch, list) else [branch], f"{where}, branch {place}"
            )
            for place, branch in enumerate(listed, start=1)
        )
        return RecipeEntry(name, where, options, branches=branches)
    inner = {key: read_entries(body[key], where) for key in sorted(holders) if key in body}
    return RecipeEntry(name, where, options, inner)


def refuse_unknown(given: Mapping[Any, Any], known: Any, what: str) -> None:
    """Raises ConfigError for the first key that isn't known; `what` ends in what a key is called,
    after where it stands."""
    for key in given:
        if key not in known:
            error = unknown(what.rpartition(" ")[2], str(key), sorted(known))
            prefix = what.rpartition(": ")[0]
            raise ConfigError(f"{prefix}: {error}", hint=error.hint)


LARGEST_NUMBER = 1_000_000
"""The largest integer that an option takes; chosen."""

_Number = Annotated[int, Le(LARGEST_NUMBER), Ge(-LARGEST_NUMBER)]


def option_value(value: Any, hint: Any, entry: RecipeEntry, key: str) -> Any:
    """The value as the hint's type. Raises ConfigError."""
    if isinstance(value, Mapping) and is_dataclass(hint):
        refuse_unknown(
            value, [option.name for option in fields(hint)], f"{entry.where}: {key}: field"
        )
    try:
        read = _reader(hint).validate_python(value)
        if isinstance(read, int):
            _reader(_Number).validate_python(read)
    except ValidationError as error:
        raise ConfigError(f"{entry.where}: {key}: {explained(error)}, not {shown(value)}") from None
    return read


def explained(error: ValidationError) -> str:
    """The first thing that a check found, after its place."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"][0].lower() + first["msg"][1:]
    return f"{place}: {message}" if place else message


def _reader(hint: Any) -> TypeAdapter[Any]:
    try:
        return _kept_reader(hint)
    except TypeError:  # an annotation of somebody else's step may hold what has no hash
        return TypeAdapter(hint)


@cache  # making one takes longer than reading a recipe's text
def _kept_reader(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)
