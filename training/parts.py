"""Databases that are set apart, and the purpose of each.

Nothing learns from a database that is set apart, and whoever writes its questions has seen neither
the other questions nor the query language of the parser.
"""

from __future__ import annotations

from typing import Literal

SET_APART = frozenset(
    {"playhouse", "river_gauges", "csu_1", "customers_and_invoices", "phone_1", "small_bank_1"}
)
"""For measuring only. Those of Spider are of the split's `valid` part."""
PROBABILITIES = frozenset(
    {"gym_chain", "coop_laitiere", "department_management", "student_1", "sakila_1", "wrestler"}
)
"""For fitting probabilities only. Those of Spider are of the split's `calib` part."""

Part = Literal["fit", "probabilities", "set_apart"]


def part_of(database: str) -> Part:
    """The purpose of the questions over a database."""
    if database in SET_APART:
        return "set_apart"
    return "probabilities" if database in PROBABILITIES else "fit"
