"""The value of a recipe's option, checked against the type of the field that it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError

from sqlwright.boundary.arguments import shown
from sqlwright.errors import ConfigError
from sqlwright.recipes.entries import RecipeEntry, refuse_unknown

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
