"""Countries with their codes and peoples, states and provinces that go by letters, such cities.

One place a line of `countries.txt` (ISO 3166 codes and usual others), `provinces.txt` (of the
United States, Canada and Australia) and `cities.txt`: codes | names | people and adjectives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Place:
    """A country, a state or province, or a city."""

    codes: tuple[str, ...]
    """In capitals, but for what people call a city."""
    names: tuple[str, ...]
    peoples: tuple[str, ...] = ()
    """Its people and its adjective."""


def countries() -> Iterator[Place]:
    """All countries, in the order of their names."""
    return _listed("countries")


def provinces() -> Iterator[Place]:
    """The states and provinces of three countries."""
    return _listed("provinces")


def cities() -> Iterator[Place]:
    """Cities that go by letters or by half their name."""
    return _listed("cities")


def _listed(kind: str) -> Iterator[Place]:
    text = (files(__package__) / f"{kind}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        codes, *said = line.split(" | ")
        yield Place(tuple(codes.split()), *(tuple(names.split(", ")) for names in said))
