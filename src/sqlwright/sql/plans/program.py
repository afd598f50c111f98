"""The structure of a bytecode program: loops, subqueries, and where a jump leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from sqlwright.types.plans import Instruction

ADVANCES = frozenset({"Next", "Prev", "SorterNext", "VNext"})
COMPARISONS = {"Eq": "=", "Ne": "≠", "Lt": "<", "Le": "≤", "Gt": ">", "Ge": "≥"}
JUMPS = frozenset({
    *COMPARISONS, "If", "IfNot", "IsNull", "NotNull", "Found", "NotFound", "NoConflict",
})  # fmt: skip
"""Instructions that jump by a condition on values."""

Fate = Literal["skip", "stop", "unmatched", "inner"]
"""A row's fate where a jump is taken: it is left out; nothing comes after it; it finds no match;
or the program goes on further below."""
RegionKind = Literal["subquery", "stored", "coroutine"]


@dataclass(frozen=True)
class Loop:
    """Instructions from the first of the body to the one that advances."""

    cursor: int
    first: int
    last: int


@dataclass(frozen=True)
class Region:
    """The instructions of a subquery."""

    kind: RegionKind
    first: int
    last: int
    register: int
    resumes: int = 0
    """The address at which the program goes on, for a coroutine."""

    def __contains__(self, address: int) -> bool:
        return self.first <= address <= self.last


class Program:
    """A program's instructions by address, and how they hang together."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.code = tuple(instructions)
        self.end = self.code[0].p2 if self.code else 0
        """The address of what runs first: it loads constants."""

    @property
    def opening(self) -> Iterator[Instruction]:
        """The instructions that run before all others."""
        for one in self.code[self.end :]:
            if one.opcode == "Goto":
                return
            yield one

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Every loop, those within others after them."""
        found = [
            Loop(one.p1, one.p2, one.address)
            for one in self.code
            if one.opcode in ADVANCES and one.p2 <= one.address
        ]
        return tuple(sorted(found, key=lambda loop: (loop.first, -loop.last)))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Every subquery, in the order of their beginnings."""
        found = []
        for one in self.code:
            if one.opcode == "Return" and 0 < one.p2 <= one.address:
                begins = self.code[one.p2 - 1].opcode == "BeginSubrtn"
                kind: RegionKind = "subquery" if begins else "stored"
                found.append(Region(kind, one.p2, one.address, one.p1))
            elif one.opcode == "InitCoroutine" and one.p2:
                last = next(
                    (o.address for o in self.code[one.p3 :]
                     if o.opcode == "EndCoroutine" and o.p1 == one.p1), one.p2 - 1,
                )  # fmt: skip
                found.append(Region("coroutine", one.p3, last, one.p1, one.p2))
        return tuple(sorted(found, key=lambda region: (region.first, -region.last)))

    @cached_property
    def built_once(self) -> tuple[tuple[int, int], ...]:
        """First addresses and ends of what fills a temporary index."""
        return tuple(
            (one.address, one.p2)
            for one, after in pairwise(self.code)
            if one.opcode == "Once" and after.opcode == "OpenAutoindex"
        )

    def around(self, address: int) -> Region | None:
        """The innermost subquery that an instruction belongs to."""
        return next((r for r in reversed(self.regions) if address in r), None)

    def loop_of(self, address: int) -> Loop | None:
        """The innermost loop around an instruction."""
        return next((o for o in reversed(self.loops) if o.first <= address <= o.last), None)

    @cached_property
    def merges(self) -> tuple[tuple[Region, Region], ...]:
        """Pairs of subqueries whose rows are put together in their order."""
        pairs = []
        for second in self.regions:
            if second.kind == "coroutine" and second.resumes > second.last + 1:
                first = next((r for r in self.regions if r.resumes == second.first - 1), None)
                if first is not None:
                    pairs.append((first, second))
        return tuple(pairs)

    def fate(self, address: int, target: int) -> Fate:
        """The meaning of a jump from one address to another for the row at hand."""
        place = self._followed(target)
        if place >= len(self.code):
            return "stop"
        one = self.code[place]
        if one.opcode in ADVANCES:
            loop = next((o for o in self.loops if o.last == place), None)
            return "skip" if loop and loop.first <= address <= loop.last else "inner"
        if one.opcode == "Yield" and place < address:
            return "skip"
        if one.opcode == "IfPos" and self.is_match_flag(place):
            between = self.code[address:place]
            matched = (o.opcode == "Integer" and (o.p1, o.p2) == (1, one.p1) for o in between)
            return "unmatched" if any(matched) else "skip"
        if one.opcode == "Return" and not one.p2:
            return "skip"
        if one.opcode in {"Halt", "EndCoroutine"} or (one.opcode == "Return" and one.p2):
            return "stop"
        inner = self.loop_of(address)
        return "stop" if inner and not inner.first <= target <= inner.last else "inner"

    def is_match_flag(self, place: int) -> bool:
        """True for the instruction that asks whether a row of an outer join has found a match."""
        after = self.code[place + 1 : place + 2]
        return bool(after) and after[0].opcode == "NullRow"

    def _followed(self, target: int) -> int:
        for _ in range(8):
            if target >= len(self.code) or self.code[target].opcode not in {"Goto", "Noop"}:
                return target
            one = self.code[target]
            target = one.p2 if one.opcode == "Goto" else target + 1
        return target

    @cached_property
    def readers(self) -> dict[int, list[Instruction]]:
        """The instructions that read a register, functions and what comes in rows left out."""
        found: dict[int, list[Instruction]] = defaultdict(list)
        for one in self.code:
            for register in read_by(one):
                found[register].append(one)
        return found

    @cached_property
    def written(self) -> dict[int, list[int]]:
        """The addresses at which a register is written."""
        found: dict[int, list[int]] = defaultdict(list)
        for one in self.code:
            for register in written_by(one):
                found[register].append(one.address)
        return found

    def arguments(self, call: Instruction) -> int:
        """The number of arguments of a call. SQLite doesn't tell for those that take any number:
        those that are there are constants (P1 has a bit for each) or values that nothing else
        reads."""
        stated = call.p4.rpartition("(")[2].rstrip(")")
        if stated.isdigit():
            return int(stated)
        count = 0
        while count < 32 and (call.p1 >> count & 1 or self._feeds(call, call.p2 + count)):
            count += 1
        return count

    def _feeds(self, call: Instruction, register: int) -> bool:
        """True when a register was computed for a call and for nothing else."""
        before = [a for a in self.written[register] if a < call.address]
        if not before:
            return False
        last = before[-1]
        if any(o.p3 == register and o.opcode in {"Function", "PureFunc"} and o.address == last
               and last == call.address for o in self.code):  # fmt: skip
            return False
        inner = self.loop_of(call.address)
        if inner and not inner.first <= last:
            return False
        after = next((a for a in self.written[register] if a >= call.address), len(self.code))
        return not any(
            last < o.address <= after and o.address != call.address for o in self.readers[register]
        )


def read_by(one: Instruction) -> Iterator[int]:
    """The registers that an instruction reads, arguments of functions left out."""
    code = one.opcode
    if code in COMPARISONS:
        yield from (one.p1, one.p3)
    elif code in {"If", "IfNot", "IsNull", "NotNull", "SCopy", "IntCopy", "Cast", "Not", "IsTrue",
                  "IfPos", "DecrJumpZero", "IfNotZero"}:  # fmt: skip
        yield one.p1
    elif code in {"Add", "Subtract", "Multiply", "Divide", "Remainder", "Concat", "And", "Or"}:
        yield from (one.p1, one.p2)
    elif code == "Copy":
        yield from range(one.p1, one.p1 + one.p3 + 1)
    elif code == "Move":
        yield from range(one.p1, one.p1 + one.p3)
    elif code in {"MakeRecord", "ResultRow"}:
        yield from range(one.p1, one.p1 + one.p2)
    elif code in {"SeekRowid", "NotExists"}:
        yield one.p3
    elif code == "Compare":
        yield from (*range(one.p1, one.p1 + one.p3), *range(one.p2, one.p2 + one.p3))
    elif code in {"AggStep", "AggInverse"}:
        yield from range(one.p2, one.p2 + one.p5)
    elif code in {"SeekGE", "SeekGT", "SeekLE", "SeekLT", "Found", "NotFound", "IdxGT", "IdxGE",
                  "IdxLT", "IdxLE"}:  # fmt: skip
        yield from range(one.p3, one.p3 + max(1, int(one.p4) if one.p4.isdigit() else 1))


def written_by(one: Instruction) -> Iterator[int]:
    """The registers that an instruction writes."""
    code = one.opcode
    if code in {"Column", "Function", "PureFunc", "Add", "Subtract", "Multiply", "Divide",
                "Remainder", "Concat", "And", "Or", "VColumn", "MakeRecord",
                "AggValue"}:  # fmt: skip
        yield one.p3
    elif code in {"Rowid", "IdxRowid", "Integer", "Int64", "Real", "String8", "SCopy", "IntCopy",
                  "Not", "Sequence", "IsTrue", "Count"}:  # fmt: skip
        yield one.p2
    elif code == "Null":
        yield from range(one.p2, max(one.p2, one.p3) + 1)
    elif code == "Copy":
        yield from range(one.p2, one.p2 + one.p3 + 1)
    elif code == "Move":
        yield from range(one.p2, one.p2 + one.p3)
    elif code in {"AggFinal", "Cast"}:
        yield one.p1
