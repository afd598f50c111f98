"""The table of roles by name. Only strings live here; a role is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlwright.boundary.named import loaded, unknown
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
