"""Checks a caller's arguments against the annotations before anything is done with them.

`checked` stands over a public function, `checked_fields` over a public dataclass. A value that
doesn't fit its annotation is a UserError that names the argument, what is allowed and what was
given. Nothing is converted: a text stays a text where a number is wanted, and is refused. Missing
and unknown arguments are Python's own TypeError.

pydantic does the checking and is loaded with the first call.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Gt, MinLen, Predicate

from sqlwright.errors import UserError

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

__all__ = [
    "Amount",
    "AnyPath",
    "Count",
    "Names",
    "Natural",
    "Positive",
    "Predicate",
    "Private",
    "Unicode",
    "Whole",
    "Words",
    "checked",
    "checked_fields",
]

LONGEST = 60
"""Characters of a value that are repeated."""
LARGEST_BITS = 128
"""Bits of a whole number that is repeated in a message; Python itself refuses to write very large
ones."""


@dataclass(frozen=True, slots=True)
class Words:
    """Part of an annotation: what is allowed, where its type doesn't say it well."""

    text: str


@dataclass(frozen=True, slots=True)
class Private:
    """Part of an annotation: a value that doesn't fit isn't repeated, because a key may stand in
    it."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Part of an annotation: a value that we made, of which the type alone is checked."""


def is_path(path: str | Path) -> bool:
    """True if a file or folder could have that name."""
    text = str(path)
    try:
        Path(text).expanduser()
    except RuntimeError:  # ~someone without a home folder
        return False
    return bool(text) and "\0" not in text


def is_unicode(text: str) -> bool:
    """True if a text consists of characters: half a pair of surrogates is none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def takes_one(function: Callable[..., object]) -> bool:
    """True if a function can be called with one argument, or doesn't say what it takes."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # built in, without a signature
        return True
    return True


Positive = Annotated[float, Gt(0)]
Amount = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]
AnyPath = Annotated[str | Path, Predicate(is_path), Words("a path, as a text or a Path")]
Unicode = Annotated[str, Predicate(is_unicode)]
Names = Annotated[Sequence[str], MinLen(1)]


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called only with arguments that fit their annotations. Raises UserError."""
    name = function.__name__
    check = _Check(name, function, inspect.signature(function))

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        check(args, kwargs)
        return function(*args, **kwargs)

    return call


def checked_fields(kind: type[C]) -> type[C]:
    """The dataclass, made only of values that fit its fields' annotations. Raises UserError."""
    original = cast("Any", kind).__init__
    check = _Check(kind.__name__, kind, inspect.signature(original))

    @wraps(original)
    def made(self: C, *args: Any, **kwargs: Any) -> None:
        check((self, *args), kwargs)
        original(self, *args, **kwargs)

    cast("Any", kind).__init__ = made
    return kind


class _Check:
    """The arguments of one callable; how each is checked is worked out when it is first given."""

    def __init__(self, name: str, annotated: Any, signature: inspect.Signature) -> None:
        self.name = name
        self._annotated = annotated
        self._signature = signature
        self._adapters: dict[str, TypeAdapter[Any]] = {}

    def __call__(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        try:
            given = self._signature.bind(*args, **kwargs).arguments
        except TypeError:
            return  # the call itself says it, with Python's words
        for name, value in given.items():
            if name in self._hints:
                self._check(name, value)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self._annotated, include_extras=True)

    def _check(self, name: str, value: object) -> None:
        from pydantic import ConfigDict, InstanceOf, TypeAdapter, ValidationError

        hint = self._hints[name]
        if Whole() in get_args(hint)[1:]:
            hint = cast("Any", InstanceOf)[get_args(hint)[0]]
        if name not in self._adapters:
            strict = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
            # In a tuple, because a dataclass alone is not let have a configuration of ours.
            self._adapters[name] = TypeAdapter(cast("Any", tuple)[hint], config=strict)
        try:
            self._adapters[name].validate_python((value,))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)
        else:
            return
        raise self._refused(name, value, hint, problems)

    def _refused(
        self, name: str, value: object, hint: Any, problems: Sequence[ErrorDetails]
    ) -> UserError:
        private = Private() in get_args(hint)[1:]
        wanted = f"`{name}` of {self.name} must be {allowed(hint)}"
        for problem in problems:
            index = next((part for part in problem["loc"][1:] if isinstance(part, int)), None)
            if index is not None and not private:
                item = shown(problem["input"])
                return UserError(f"{wanted}, but item {index + 1} is {item}")
        bare = isinstance(value, str) and "a list of texts" in wanted
        advice = f"Write it in brackets: [{shown(value)}]." if bare else ""
        if isinstance(value, str) and not is_unicode(value):
            advice = "There is half a character in it: decode it anew, with errors='replace'."
        return UserError(f"{wanted}, not {shown(value, private=private)}", hint=advice)


def allowed(hint: Any) -> str:
    """The values that an annotation allows, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        wording = next((mark.text for mark in args[1:] if isinstance(mark, Words)), None)
        return wording or allowed(args[0]) + "".join(map(_bound, args[1:]))
    if origin in {Union, types.UnionType}:
        members = [allowed(member) for member in args if member is not types.NoneType]
        return " or ".join(members) + (", or None" if types.NoneType in args else "")
    if origin is Literal:
        return " or ".join(map(repr, args))
    if origin is Sequence:
        return f"a list of {_PLURALS.get(args[0]) or args[0].__name__}"
    return _WORDS.get(hint) or f"of type {(origin or hint).__name__}"


_WORDS: Mapping[Any, str] = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    Path: "a path",
}
_PLURALS: Mapping[Any, str] = {str: "texts"}


def _bound(mark: object) -> str:
    if isinstance(mark, Gt):
        return f" greater than {mark.gt}"
    if isinstance(mark, Ge):
        return f" of at least {mark.ge}"
    return ", at least one" if isinstance(mark, MinLen) else ""


def shown(value: object, *, private: bool = False) -> str:
    """A value for a message: numbers and texts, cut; anything else by its type."""
    plain = value is None or type(value) in {bool, int, float, str}
    huge = isinstance(value, int) and value.bit_length() > LARGEST_BITS
    empty = type(value) in {list, tuple, dict} and not value
    if huge or not (empty or (plain and not private)):
        return f"a value of type {type(value).__name__}"
    text = repr(value[: LONGEST + 1] if isinstance(value, str) else value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
