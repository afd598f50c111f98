"""Which columns the parser may work out with."""

from __future__ import annotations

import pytest

from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.symbols import BY_NAME, Symbol
from sqlwright.local.parser.search import Operands
from sqlwright.schema import ColumnRef

SOLD = ColumnRef("sale", "sold_on")
QUANTITY = ColumnRef("sale", "quantity")
TOTAL = ColumnRef("sale", "total")
PRICE = ColumnRef("product", "unit_price")
LIMIT = ColumnRef("customer", "credit_limit")
NODES = (SOLD, QUANTITY, TOTAL, PRICE, LIMIT)

OPERANDS = Operands(NODES, lambda ref: "time-type" if ref == SOLD else "number-type")


@pytest.mark.parametrize(
    ("after", "possible"),
    [
        (("select",), NODES),
        (("max",), NODES),
        (("-",), NODES),
        (("-", SOLD), NODES),
        (("year",), (SOLD,)),
        (("strftime", Literal("%Y")), (SOLD,)),
        (("sum",), (QUANTITY, TOTAL, PRICE, LIMIT)),
        (("ratio",), (QUANTITY, TOTAL, PRICE, LIMIT)),
        (("+", TOTAL), (QUANTITY, TOTAL, PRICE, LIMIT)),
        (("*",), (QUANTITY, TOTAL, PRICE, LIMIT)),
        (("*", QUANTITY), (QUANTITY, TOTAL, PRICE)),
        (("sum", "*", QUANTITY), (TOTAL, PRICE)),
        (("sum", "*", PRICE), (QUANTITY,)),
        (("sum", "*", LIMIT), ()),
        (("*", LIMIT), (LIMIT,)),
    ],
)
def test_what_may_come_next(
    after: tuple[str | Symbol, ...], possible: tuple[ColumnRef, ...]
) -> None:
    symbols: list[Symbol] = [BY_NAME[s] if isinstance(s, str) else s for s in after]
    flags = OPERANDS.possible(symbols)
    kept = (
        NODES if flags is None else [node for node, flag in zip(NODES, flags, strict=True) if flag]
    )
    assert tuple(kept) == possible
