"""Functions of the database's own that a setting names: which of those stored it means."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

from sqlwright.errors import ConfigError
from sqlwright.schema import fold_name

MOST_LABELS = 100
"""Labels of an enumeration that are told and kept."""


def labels_told(labels: Sequence[str]) -> str:
    """The labels of an enumeration as part of a sentence: "one of: new, paid"."""
    more = ", ..." if len(labels) > MOST_LABELS else ""
    return f"one of: {', '.join(labels[:MOST_LABELS])}{more}"


Name = tuple[str, str]
"""Namespace and own name, as stored."""
_SHOWN_MOST = 40
"""Names of functions shown at most where one isn't there."""
_NEAR_MOST = 3
"""Names told that are near one which isn't there."""


def stored_functions(
    names: Collection[str], stored: Collection[Name], usual: str, shown: str
) -> tuple[Name, ...]:
    """The functions that names mean ("f" in the usual namespace, "sales.f" elsewhere), each once:
    the one of exactly that name, else the only one of that name in another case. `shown` is the
    database in messages. Raises ConfigError."""
    found = []
    for name in names:
        space, _, own = name.rpartition(".")
        wanted = (space or usual, own)
        if wanted not in stored:
            folded = tuple(map(fold_name, wanted))
            alike = [one for one in stored if tuple(map(fold_name, one)) == folded]
            if len(alike) != 1:
                raise _no_such_function(name, [written(one, usual) for one in stored], shown)
            wanted = alike[0]
        if "." in "".join(wanted):
            raise ConfigError(
                f"{shown}: a function with a dot in its name can't be among functions"
            )
        found.append(wanted)
    return tuple(dict.fromkeys(found))


def written(name: Name, usual: str) -> str:
    """A function as the setting names it."""
    space, own = name
    return own if space in {"", usual} else f"{space}.{own}"


def no_functions(shown: str, why: str) -> ConfigError:
    """The error for naming functions of a database that can have none to call."""
    return ConfigError(
        f"{shown}: {why}, so functions can't name any", hint="Leave functions out for it."
    )


def _no_such_function(name: str, stored: Collection[str], shown: str) -> ConfigError:
    known = sorted(set(stored))
    by_fold = {fold_name(one): one for one in known}
    near = difflib.get_close_matches(fold_name(name), by_fold, n=_NEAR_MOST, cutoff=0.6)
    meant = f"; did you mean {' or '.join(repr(by_fold[one]) for one in near)}?" if near else ""
    listed = f"There are: {', '.join(known[:_SHOWN_MOST])}." if known else "It has none to call."
    return ConfigError(
        f"{shown} has no function {name!r}, which functions lists{meant}", hint=listed
    )
