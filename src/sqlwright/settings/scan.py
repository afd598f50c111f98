"""The most that one query may read, as people write it: `10GB`, `5M rows`, or both."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlwright.boundary.arguments import shown
from sqlwright.errors import ConfigError
from sqlwright.protocols import Limits
from sqlwright.types.plans import ScanLimit

_PART = re.compile(r"(\d+(?:[.,_]\d+)*)\s*([A-Za-z]*)\s*(rows?)?", re.IGNORECASE)
_BYTES = {
    "b": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_COUNTS = {"": 1, "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "b": 10**9,
           "billion": 10**9}  # fmt: skip


def parse_scan(text: str) -> ScanLimit:
    """A limit on what one query may read. Raises ConfigError."""
    rows = size = None
    for part in re.split(r"\s*,\s+|\s+and\s+|;", text.strip()):
        found = _PART.fullmatch(part.strip())
        if found is None:
            raise _unfit(text)
        number = float(found[1].replace("_", "").replace(",", ""))
        unit = found[2].lower()
        if unit in {"row", "rows"} and not found[3]:
            unit, counts = "", True
        else:
            counts = bool(found[3])
        factor = (_COUNTS if counts else _BYTES).get(unit)
        if factor is None or number <= 0 or (counts and rows) or (not counts and size):
            raise _unfit(text)
        if counts:
            rows = number * factor
        else:
            size = number * factor
    return ScanLimit(rows, size)


def limits_with(limits: Limits | None, max_scan: str | None) -> Limits:
    """The limits of one query with the most that it may read. Raises ConfigError."""
    given = limits or Limits()
    return given if max_scan is None else replace(given, scan=parse_scan(max_scan))


def _unfit(text: str) -> ConfigError:
    return ConfigError(
        f"the most that a query may read can't be {shown(text)}",
        hint="Write bytes or rows, or both: 10GB, 5M rows, '10GB, 5M rows'.",
    )
