"""The roles by name, imported when they are asked for, and their options, which are the fields of
their dataclasses, from texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from sqlwright.boundary.named import loaded, unknown
from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.roles.role import Role

ROLES: Mapping[str, str] = {
    "linker": "sqlwright.lab.finetuning.roles.linker:ROLE",
    "generator": "sqlwright.lab.finetuning.roles.generator:ROLE",
    "critic": "sqlwright.lab.finetuning.roles.critic:ROLE",
    "selector": "sqlwright.lab.finetuning.roles.selector:ROLE",
}


def find_role(name: str) -> Role:
    """The role of that name. Raises ConfigError."""
    if name not in ROLES:
        raise unknown("role", name, ROLES)
    return cast("Role", loaded(name, ROLES[name]))


def with_options(role: Role, options: Mapping[str, str]) -> Role:
    """The role with other options, lists written with commas. Raises ConfigError."""
    if not options:
        return role
    known: list[str] = [field.name for field in fields(role)] if is_dataclass(role) else []
    if unknown := sorted(set(options) - set(known)):
        raise ConfigError(
            f"the role {role.name} has no option {unknown[0]!r}",
            hint=f"It has {', '.join(known)}." if known else "It has none.",
        )
    hints = get_type_hints(type(role))
    try:
        typed = {name: _typed(text, hints[name]) for name, text in options.items()}
        return replace(role, **typed)  # type: ignore[type-var]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = next(iter(options)) if len(options) == 1 else "/".join(options)
        raise ConfigError(f"{role.name}: {name}: {first['msg']}") from None
    except ValueError as error:
        raise ConfigError(f"{role.name}: {error}") from None


def _typed(text: str, hint: Any) -> object:
    if get_origin(hint) is tuple:
        return TypeAdapter(hint).validate_python([part.strip() for part in text.split(",")])
    return TypeAdapter(hint).validate_strings(text)
