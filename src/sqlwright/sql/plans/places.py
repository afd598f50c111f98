"""The tables that lines of EXPLAIN QUERY PLAN are about.

A line names a table as the query does, which may be another name than its own. The engine numbers
its lines by their addresses in the program, and the instruction that goes over the rows stands next
to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.sql.plans.program import Program
from sqlwright.types.plans import EnginePlan, Instruction, PlanNode, StoredOrder


class Places:
    """The tables of lines, by the bytecode next to them."""

    def __init__(self, plan: EnginePlan) -> None:
        self._program = Program(plan.instructions)
        self._nodes = {node.number: node for node in plan.outline}
        self._address = _addresses(plan)
        by_root = {one.root: one for one in plan.stored}
        self._opened = {
            one.p1: by_root[one.p2]
            for one in plan.instructions
            if one.opcode == "OpenRead" and one.p2 in by_root
        }
        self._made = {
            one.p1: self._first(plan.instructions[one.address :], any_cursor=True)
            for one in plan.instructions
            if one.opcode == "OpenAutoindex"
        }
        self._tables = {one.table: one for one in plan.stored if not one.index}

    def table(self, node: PlanNode) -> StoredOrder | None:
        """The table that a line goes over; None where it is none, or can't be told."""
        place = self._address.get(node.number, len(self._program.code))
        region = self._program.around(place)
        ahead = [one for one in self._program.code[place:]
                 if self._program.around(one.address) == region]  # fmt: skip
        above = self._nodes.get(node.parent)
        if above and above.detail.startswith("INDEX "):  # a part of an OR stands behind its search
            ahead = list(reversed(self._program.code[:place]))
        cursor = self._first(ahead, any_cursor=node.detail.startswith("SCAN "))
        found = self._opened.get(self._made.get(cursor, cursor))
        return self._tables.get(found.table) if found else None

    def _first(self, code: Iterable[Instruction], *, any_cursor: bool) -> int:
        """The cursor that is gone over first, -1 for none. A search may go over a list of values
        before."""
        for one in code:
            looked_up = any_cursor or one.p1 in self._opened or one.p1 in self._made
            if one.opcode in _BEGINS and looked_up:
                return one.p1
            if one.opcode in _ENDS:
                break
        return -1


def _addresses(plan: EnginePlan) -> dict[int, int]:
    """The address of what follows each line, by the line's number. Lines are instructions of the
    program that they number; few of them are in the one that is listed."""
    found, listed = {}, 0
    code, numbers = plan.instructions, {node.number for node in plan.outline}
    for number in range(max(numbers, default=-1) + 1):
        if number in numbers:
            found[number] = listed
        absent = listed < len(code) and code[listed].opcode != "Explain"
        listed += not (number in numbers and absent)
    return found


_BEGINS = frozenset({
    "Rewind", "Last", "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid", "NotExists", "Count",
})  # fmt: skip
_ENDS = frozenset({"Next", "Prev", "Yield", "InitCoroutine", "VFilter", "ResultRow"})
