"""The ablations that ship: named lists of overrides of a recipe, a file in `ablations/` a paper
and one for `local`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, TypeAdapter

from sqlwright.boundary.named import unknown
from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import ConfigError
from sqlwright.recipes import registry


@dataclass(frozen=True)
class Ablation:
    """A variant of a recipe, or a shipped recipe as it is."""

    name: str
    recipe: str
    overrides: tuple[str, ...] = ()
    paper: str = ""
    """The place of its figure in the paper; empty for a recipe as it is, and of no paper's."""
    about: str = ""
    """The difference from `against`, in words."""
    against: str = ""
    """The ablation or recipe it is compared with; empty for none."""
    listed: str = ""
    """The paper in whose list it stands, as `chess`, or `local`."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    recipe: str
    paper: str = ""
    about: str
    against: str | None = None
    set: list[str]


@cache
def ablations() -> Mapping[str, Ablation]:
    """All that ship, by name, in the order of their files."""
    found = {}
    for name, path in registry.ABLATIONS.items():
        text = files("sqlwright").joinpath(path).read_text(encoding="utf-8")
        entries = TypeAdapter(dict[str, _Entry]).validate_python(read_yaml(text, name))
        for key, entry in entries.items():
            against = entry.recipe if entry.against is None else entry.against
            found[key] = Ablation(
                key, entry.recipe, tuple(entry.set), entry.paper, entry.about, against, name
            )
    return found


def find_ablation(name: str) -> Ablation:
    """The ablation of that name, or the shipped recipe as it is. Raises ConfigError."""
    if name in ablations():
        return ablations()[name]
    if name in registry.RECIPES:
        return Ablation(name, name)
    raise unknown("ablation", name, (*ablations(), *registry.RECIPES))


def with_compared(names: Iterable[str]) -> tuple[Ablation, ...]:
    """These ablations and what they are compared with, each once, the latter first. Raises
    ConfigError."""
    listed: dict[str, Ablation] = {}

    def add(name: str) -> None:
        one = find_ablation(name)
        if one.against and one.against not in listed:
            add(one.against)
        listed.setdefault(name, one)

    for name in names:
        add(name)
    if not listed:
        raise ConfigError("no ablation is named", hint="'sqlwright lab ablate --list' lists them.")
    return tuple(listed.values())
