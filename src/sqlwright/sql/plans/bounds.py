"""The bounds of a search of an index or of row numbers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.sql.plans.values import NULL, Value, ignoring_case, made_of, nullness

_STARTS = {"SeekGE": "≥", "SeekGT": ">", "SeekLE": "≤", "SeekLT": "<", "Rewind": "≥", "Last": "≤"}


def bounds(
    opcode: str,
    columns: Sequence[Value],
    starts: Sequence[Value],
    ends: Sequence[Value] | None,
    exclusive: bool,
    *,
    keyed: Sequence[str] = (),
) -> tuple[Value, ...]:
    """Conditions that the rows of a search meet: an equality for each leading column on
    which beginning and end agree, then the bounds of the next one. `keyed` is the order of each."""
    said = _Saying(columns, keyed)
    found = []
    ends = ends or ()
    equal = 0
    for column, start, end in zip(columns, starts, ends, strict=False):
        if start != end or start is NULL:
            break
        found.append(said(column, "=", start))
        equal += 1
    if exclusive and equal == len(starts) == len(ends) and equal:
        found.pop()
        equal -= 1
    upward = opcode in {"SeekGE", "SeekGT", "Rewind"}
    for column, start in zip(columns[equal:], starts[equal:], strict=False):
        if start is NULL:
            found.append(nullness(column).passed)
        else:
            found.append(said(column, _STARTS[opcode], start))
    last = ("<" if exclusive else "≤") if upward else (">" if exclusive else "≥")
    for column, end in zip(columns[equal:], ends[equal:], strict=False):
        if end is NULL:
            found.append(nullness(column).passed)
        else:
            found.append(said(column, last, end))
    return tuple(found)


_FLIPPED = {"=": "=", "<": ">", ">": "<", "≤": "≥", "≥": "≤"}


class _Saying:
    """Says a bound as it holds of values, whichever way an index orders them."""

    def __init__(self, columns: Sequence[Value], keyed: Sequence[str]) -> None:
        self._keyed = dict(zip((column.text for column in columns), keyed, strict=False))

    def __call__(self, column: Value, operator: str, value: Value) -> Value:
        ordered = self._keyed.get(column.text, "")
        if ordered.startswith("-"):
            operator = _FLIPPED[operator]
        if value.of_set and operator == "=":
            return made_of(f"{column.text} is {value.text}", (column, value))
        case = ignoring_case(ordered)
        return made_of(f"{column.text} {operator} {value.bracketed}{case}", (column, value))
