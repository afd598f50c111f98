"""Ways to pick for each gold column a predicted one, shared by the rules that compare columns by
their content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def choices(options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each place one of its options, each option used once."""
    return _extended(options, ())


def _extended(
    options: Sequence[Sequence[int]], chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(options):
        yield chosen
        return
    for index in options[len(chosen)]:
        if index not in chosen:
            yield from _extended(options, (*chosen, index))
