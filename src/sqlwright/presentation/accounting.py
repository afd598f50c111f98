"""Words for the phrases of a question that nothing in a query answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.types.candidates import Account, AskedPhrase

LEAST = 0.2
"""Doubt from which a phrase is named to a person; chosen."""
NAMED = 3
"""Columns and values named of one phrase at most."""

_ASKS_FOR: Mapping[str, str] = {
    "bound": "a comparison",
    "negation": "something to be excluded",
    "pattern": "a part of a text",
    "extreme": "the first of an order",
    "average": "an average",
    "count": "a number",
    "sum": "a sum",
    "order": "an order",
}


def unanswered_words(phrase: AskedPhrase) -> str:
    """A sentence on one phrase that nothing answers, and what could stand for it."""
    said = f"“{phrase.text}”"
    if phrase.kind == "output":
        return f"{said} is asked for and isn't shown"
    if phrase.kind in _ASKS_FOR:
        return f"{said} asks for {_ASKS_FOR[phrase.kind]}, and nothing in this query does that"
    if phrase.value is not None:
        held = f"{phrase.value.column} holds {phrase.value.value!r}"
        return f"nothing in this query stands for {said}; {held}: use it?"
    if phrase.kind in {"quotation", "name"}:
        near = [f"{one.value!r} of {one.column}" for one in phrase.nearest[:NAMED]]
        verb = "is" if len(near) == 1 else "are"
        told = f"; the nearest {verb} {', '.join(near)}" if near else ""
        return f"nothing stored is called {said}{told}"
    called = [str(ref) for ref in phrase.columns] or list(phrase.tables)
    if called:
        names = " and ".join(called[:NAMED])
        verb = "is" if len(called[:NAMED]) == 1 else "are"
        return f"nothing in this query stands for {said}; {names} {verb} called so"
    return f"nothing in this query stands for {said}"


def named_words(account: Account | None, told: Iterable[str]) -> tuple[str, ...]:
    """A sentence on each phrase that nothing answers and that a person should know of, but for
    those that something else that is `told` names."""
    if account is None:
        return ()
    known = [text.casefold() for text in told]
    return tuple(
        unanswered_words(one)
        for one in account.unanswered
        if one.doubt >= LEAST and not any(one.text.casefold() in text for text in known)
    )


def answered_words(phrase: AskedPhrase) -> str:
    """A phrase and the part of the query that answers it, in a few words."""
    return f"“{phrase.text}”: {phrase.answer or 'nothing'}"


def account_to_dict(account: Account | None, match: Callable[[Any], Any]) -> dict[str, Any] | None:
    """An account as JSON types; `match` writes a stored value so."""
    if account is None:
        return None
    return {
        "doubt": round(account.doubt, 6),
        "phrases": [
            {
                "kind": one.kind,
                "text": one.text,
                "span": list(one.span),
                "answer": one.answer or None,
                "doubt": one.doubt,
                "message": unanswered_words(one) if not one.answer else None,
                "value": None if one.value is None else match(one.value),
                "columns": [{"table": ref.table, "column": ref.column} for ref in one.columns],
                "tables": list(one.tables),
                "nearest": [match(near) for near in one.nearest],
            }
            for one in account.phrases
        ],
    }
