"""Overrides of a recipe's options: `step.option=value`.

`step[2].option=value` is for the second step of that name. One field of an option that has several
is `step.option.field=value`: `generation.direct.sampling.model=small` leaves the rest of the
sampling as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, is_dataclass, replace
from dataclasses import Field as DataclassField
from typing import Any

from sqlwright.boundary.named import unknown
from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.errors import ConfigError
from sqlwright.recipes.entries import RecipeEntry

_OVERRIDE = re.compile(r"^(?P<step>.+?)(?:\[(?P<place>\d+)\])?\.(?P<option>[\w.]+)$")


@dataclass(frozen=True)
class Override:
    """A change of one option, or of one field of it."""

    step: str
    option: str
    value: Any
    place: int | None = None
    """Number of the step among those of its name, from 1; None is all of them."""
    field: str = ""
    """The field of the option that is changed; empty is the whole option."""

    def __str__(self) -> str:
        where = f"[{self.place}]" if self.place is not None else ""
        return ".".join(filter(None, (f"{self.step}{where}", self.option, self.field)))


@dataclass(frozen=True)
class ChangedFields:
    """An option's value, MISSING where the recipe leaves it to its default, with other values of
    some fields."""

    value: Any
    fields: Mapping[str, Any]

    def whole(self, default: Any, where: str) -> dict[str, Any]:
        """All fields, those left to `default` included. Raises ConfigError for an option that has
        no fields."""
        value = default if self.value is MISSING else self.value
        if is_dataclass(value) and not isinstance(value, type):
            value = asdict(value)
        if not isinstance(value, Mapping):
            names = ", ".join(self.fields)
            raise ConfigError(f"{where} has no {names}: it is a single value")
        return {**value, **self.fields}


def parse_override(text: str) -> Override:
    """`step.option=value`; the value is read as YAML. Raises ConfigError."""
    key, equals, value = text.partition("=")
    match = _OVERRIDE.match(key.strip())
    if not equals or match is None or "" in match["option"].split("."):
        raise ConfigError(
            f"{text!r} is not an override",
            hint="Write step.option=value, for example generation.embedded.beam=4.",
        )
    step, option, part = match["step"], match["option"], ""
    if match["place"] is None:  # then all but the last word is the step's, until it is aimed
        more, _, option = option.rpartition(".")
        step = f"{step}.{more}" if more else step
    else:
        option, _, part = option.partition(".")
    place = int(match["place"]) if match["place"] else None
    return Override(step, option, read_yaml(value, f"override {key}"), place, part)


def aimed(
    overrides: Sequence[Override], entries: Sequence[RecipeEntry], origin: str
) -> list[Override]:
    """The overrides, told which of their names are the step's. Raises ConfigError for a step that
    isn't in the recipe."""
    counts: dict[str, int] = {}
    for entry in entries:
        for one in entry.walk():
            counts[one.name] = counts.get(one.name, 0) + 1
    return [_aimed(override, counts, origin) for override in overrides]


def _aimed(override: Override, counts: Mapping[str, int], origin: str) -> Override:
    shorter, _, option = override.step.rpartition(".")
    if override.step not in counts and shorter in counts and not override.field:
        override = replace(override, step=shorter, option=option, field=override.option)
    if override.step not in counts:
        error = unknown("step", override.step, counts)
        raise ConfigError(
            f"override {override}: {origin} has no such step; {error}", hint=error.hint
        )
    if override.place is not None and not 1 <= override.place <= counts[override.step]:
        raise ConfigError(
            f"override {override}: {origin} has {counts[override.step]} of that step",
            hint="Positions count from 1.",
        )
    return override


def changed_options(
    options: Mapping[str, Any], overrides: Sequence[Override], step: str, place: int
) -> dict[str, Any]:
    """The options of the `place`-th step of that name, changed in the order of the overrides."""
    changed = dict(options)
    for override in overrides:
        if override.step != step or override.place not in {None, place}:
            continue
        if not override.field:
            changed[override.option] = override.value
            continue
        before = changed.get(override.option, MISSING)
        earlier = before if isinstance(before, ChangedFields) else ChangedFields(before, {})
        fields = {**earlier.fields, override.field: override.value}
        changed[override.option] = ChangedFields(earlier.value, fields)
    return changed


def with_whole_options(
    options: Mapping[str, Any], known: Mapping[str, DataclassField[Any]], where: str
) -> dict[str, Any]:
    """The options, those of which fields were changed with all of their fields. Raises
    ConfigError."""
    return {
        name: value.whole(_default(known.get(name)), f"{where}: {name}")
        if isinstance(value, ChangedFields)
        else value
        for name, value in options.items()
    }


def _default(option: DataclassField[Any] | None) -> Any:
    if option is None:
        return {}
    if option.default_factory is not MISSING:
        return option.default_factory()
    return {} if option.default is MISSING else option.default
