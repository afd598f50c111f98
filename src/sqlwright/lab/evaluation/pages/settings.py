"""The settings of runs, one line each, and those in which two differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MACHINE = frozenset(
    {"jobs", "workers", "executor", "python", "machine", "system", "processors", "platform"}
)
"""Settings that change times and no answer."""
DIARY = frozenset({"started", "ended", "resumed"})
"""The times at which a run was worked on, in which any two runs differ."""
DATA = frozenset({"dataset", "files", "data", "databases", "descriptions"})
"""Settings that say which questions were asked of which data."""

_DIGEST = re.compile("[0-9a-f]{40,}")


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting in which two runs differ; empty where one has none."""

    name: str
    first: str
    second: str

    @property
    def of_machine(self) -> bool:
        """True if it changes times alone."""
        return self.name.partition(" ")[0] in MACHINE

    @property
    def of_data(self) -> bool:
        """True if it says that other data were asked."""
        return self.name.partition(" ")[0] in DATA


def settings_lines(described: Mapping[str, Any]) -> dict[str, str]:
    """Every setting by its name, what is in another after that one's name; those that aren't set
    left out."""
    return dict(_flat(described, ""))


def setting_differences(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> tuple[SettingDifference, ...]:
    """The settings in which two runs differ, those of the machine last."""
    ours, theirs = settings_lines(first), settings_lines(second)
    found = [
        SettingDifference(name, ours.get(name, ""), theirs.get(name, ""))
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name) and name not in DIARY
    ]
    return tuple(sorted(found, key=lambda one: one.of_machine))


def short(text: str) -> str:
    """A digest by its beginning, anything else as it is."""
    return f"{text[:12]}…" if _DIGEST.fullmatch(text) else text


def _flat(data: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        name = f"{before} {key}".strip()
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            yield from _flat(_named(value), name)
        elif isinstance(value, list):
            if value:
                yield name, ", ".join(map(_text, value))
        elif value is not None and value != "":
            yield name, _text(value)


def _named(items: list[Any]) -> dict[str, Any]:
    """The steps of a list by their names, those that come again with a number."""
    found: dict[str, Any] = {}
    for item in items:
        pairs = item.items() if isinstance(item, Mapping) else [(_text(item), True)]
        for name, value in pairs:
            again = sum(one.partition("#")[0] == name for one in found)
            found[f"{name}#{again + 1}" if again else name] = True if value is None else value
    return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
