"""Functions of the database's own as prompts tell them, behind the schema."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import flat, shortened
from sqlwright.prompts.dialects.names import Names
from sqlwright.types.functions import OwnFunction

LONGEST_COMMENT = 300
"""Characters of a function's comment that are shown."""
_OPENING = "\n\nFunctions of the database's own that a query may call besides the usual ones:"


def functions_text(functions: Sequence[OwnFunction], names: Names) -> Text:
    """Each function with its arguments, result and comment on a line; empty without any."""
    if not functions:
        return Text()
    lines = "".join(f"\n- {_line(function, names)}" for function in functions)
    return Text((Span(_OPENING, "template"), Span(lines, "schema")))


def _line(function: OwnFunction, names: Names) -> str:
    called = names.own(function.name)
    if function.namespace:
        called = f"{names.own(function.namespace)}.{called}"
    told = f"{called}({flat(function.arguments)})"
    if function.result:
        told += f" returns {flat(function.result)}"
    comment = shortened(flat(function.description), LONGEST_COMMENT)
    return f"{told}: {comment}" if comment else told
