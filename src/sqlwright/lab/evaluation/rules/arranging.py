"""Partners among candidates: for each gold column a predicted one, for each row another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def assignable(options: Sequence[Sequence[int]]) -> bool:
    """True if each place can have one of its options, each option used once (Kuhn's algorithm)."""
    taken: dict[int, int] = {}
    return all(_assign(place, options, taken, set()) for place in range(len(options)))


def _assign(
    place: int, options: Sequence[Sequence[int]], taken: dict[int, int], seen: set[int]
) -> bool:
    for index in options[place]:
        if index in seen:
            continue
        seen.add(index)
        if index not in taken or _assign(taken[index], options, taken, seen):
            taken[index] = place
            return True
    return False


def choices(options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each place one of its options, each option used once; none is looked for
    in vain where there is none."""
    return _extended(options, ()) if assignable(options) else iter(())


def _extended(
    options: Sequence[Sequence[int]], chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(options):
        yield chosen
        return
    for index in options[len(chosen)]:
        if index not in chosen:
            yield from _extended(options, (*chosen, index))
