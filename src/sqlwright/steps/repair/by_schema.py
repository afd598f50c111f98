"""Mends a query that failed by what the schema says, without a language model."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice

from sqlwright.candidates import execute, grounded, same_result, valid
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import singular, split_name, tokens
from sqlwright.protocols import Context
from sqlwright.types import Candidate, Note, State

SOURCE = "repair.by_schema"
"""The author of mended queries."""
_READINGS = 4
"""Most readings of a query that are run; chosen."""


def mended(candidate: Candidate, state: State, context: Context) -> Candidate:
    """An executed candidate that failed before it ran, as the schema can mean it, executed: its
    child, which says in notes what was changed. Itself where it runs, where no reading of it does,
    and where several do and their results differ."""
    error = None if candidate.result is None else candidate.result.error
    if error is None or error.kind not in {"sql", "unsafe"} or error.phase != "prepare":
        return candidate
    return context.run.once(lambda: _mended(candidate, state, context), SOURCE, (candidate,))


def _mended(candidate: Candidate, state: State, context: Context) -> Candidate:
    from sqlwright.sql.meant import readings

    workspace = context.workspace
    known = dict.fromkeys((*state.values, *candidate.values))
    words = (token.text for token in tokens(f"{state.question.text} {state.goal}"))
    asked = " ".join(word for word in words if word not in FUNCTION_WORDS)
    for foreign in (False, True):
        found: list[Candidate] = []
        meant = readings(candidate.sql, workspace.schema, likened, asked, foreign=foreign)
        for one in islice(meant, _READINGS):
            notes = tuple(Note("mended", change) for change in one.changes)
            new = replace(
                candidate, sql=one.sql, source=SOURCE, result=None, parent=candidate, tried=(),
                prompt="", note="; ".join(one.changes), warnings=(*candidate.warnings, *notes),
            )  # fmt: skip
            new = grounded(new, known, workspace.schema)
            found += filter(valid, execute([new], workspace.database, context.run))
        if found:
            same = all(same_result(found[0], one) for one in found)
            return found[0] if same else candidate
    return candidate


@lru_cache(maxsize=8192)
def likened(name: str) -> str:
    """The words of a name in the singular, without what stands between them. The whole is looked at
    once more: in `ITEMs` capitals divide what is one word."""
    return singular("".join(map(singular, split_name(name)))) or name.casefold()
